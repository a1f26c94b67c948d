/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The round trip to a peer, and the largest packet that passes, by ICMP echoes with DF set. */
#ifndef USERSPACE_DIAGNOSE_PATH_PROBE_H
#define USERSPACE_DIAGNOSE_PATH_PROBE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct path_peer {
	struct sockaddr_storage address;
	socklen_t length;
};

/* false: there is no such host. */
bool path_peer_find(struct path_peer *p, const char *name, unsigned int ifindex);

#define PATH_WHY 192

struct path_probe {
	bool answered;	    /* the peer answers echoes at all */
	uint64_t rtt_ns;    /* least round trip of a small packet */
	bool known;	    /* what follows is known */
	char why[PATH_WHY]; /* if not */
	bool nobody;	    /* it was said that the peer, or the next hop to it, is not there; by `teller` */
	unsigned int passes; /* bytes of the largest IP packet that was answered */
	unsigned int fails; /* the smallest that was never answered, or of which a router told; 0: all up to the MTU pass */
	bool told;	    /* a router told of it */
	char teller[INET6_ADDRSTRLEN]; /* which one; "": unknown, or this machine, where its neighbour does not answer ARP */
};

/*
 * Probes packets of up to `mtu` bytes by this interface. Takes about 40 round trips and half a second, ten seconds at most;
 * progress is shown. A signal (lib/stop.h) ends it.
 */
void path_probe(struct path_probe *to, const char *interface, const struct path_peer *peer, unsigned int mtu);

#endif
