/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The network set-up of this network namespace (rtnetlink): interfaces, addresses, and neighbours that do not answer. */
#ifndef USERSPACE_OBSERVE_HOST_PLACES_H
#define USERSPACE_OBSERVE_HOST_PLACES_H

#include <net/if.h>
#include <string.h>

#include "userspace/observe/host/rdma.h"

struct place_link {
	char name[IF_NAMESIZE];
	unsigned int index;
	unsigned int below;  /* the interface below a VLAN, macvlan, ...; 0: none */
	unsigned int master; /* its bond or bridge; 0: none */
	__u8 mac[6];	     /* zero: none */
	bool promiscuous;    /* it takes frames for other MACs, for whatever reason (lo has no MAC) */
	bool up, carrier, vlan;
	unsigned int mtu;
	__u64 refused;	     /* frames that driver and kernel did not take, for their length or for another reason */
	__u64 devices;	     /* bit i: RDMA device i has the addresses of this interface */
};

struct place_address {
	__u8 address[16];
	unsigned int interface;
	__u64 devices; /* as above */
};

/* A neighbour that does not answer ARP or neighbour discovery. */
struct place_silent {
	__u8 address[16];
	unsigned int interface;
	bool leads; /* it is the router to an end of a stream; places_read() does not know that */
};

struct places {
	struct place_link *links;
	struct place_address *addresses; /* sorted */
	struct place_silent *silent;
	size_t link_count, address_count, silent_count;
};

/* Reads the set-up again. What cannot be read is empty. */
void places_read(struct places *p, const struct rdma_host_device *devices, size_t count);
void places_free(struct places *p);

const struct place_link *places_link(const struct places *p, unsigned int index);

/* Whether some interface has the MAC address. */
static inline bool places_has_mac(const struct places *p, const __u8 mac[6])
{
	for (size_t i = 0; i < p->link_count; i++)
		if (!memcmp(p->links[i].mac, mac, sizeof(p->links[i].mac)))
			return true;
	return false;
}

/* The way of packets to an address. Addresses are of its family; leaves_by 0: there is none. */
struct place_route {
	unsigned int leaves_by;
	bool has_source, has_gateway;
	__u8 source[16], gateway[16];
};

void places_route(struct place_route *r, const __u8 to[16]);

/* Whether the address is local, and which RDMA devices have it. */
bool places_has(const struct places *p, const __u8 address[16], __u64 *devices);

#endif
