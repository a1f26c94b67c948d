/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where this machine is: its interfaces, addresses, and neighbours that do not answer, of this network namespace (rtnetlink). */
#ifndef USERSPACE_HOST_PLACES_H
#define USERSPACE_HOST_PLACES_H

#include <net/if.h>

#include "userspace/host/rdma.h"

struct place_link {
	char name[IF_NAMESIZE];
	unsigned int index;
	unsigned int below;  /* the interface of which it is a VLAN (or macvlan, ...); 0: none */
	unsigned int master; /* a bond or bridge; 0: none */
	__u8 mac[6];	     /* zero: none */
	bool promiscuous;    /* it takes frames for other MACs as well, whoever wants that (or has none: lo) */
	bool up, vlan;
	__u64 devices;	     /* RDMA devices that have the addresses of this interface: bit i, the i-th */
};

struct place_address {
	__u8 address[16];
	unsigned int interface;
	__u64 devices; /* as above */
};

/* Nobody answers ARP or neighbour discovery for it. */
struct place_silent {
	__u8 address[16];
	unsigned int interface;
};

struct places {
	struct place_link *links;
	struct place_address *addresses; /* sorted */
	struct place_silent *silent;
	size_t link_count, address_count, silent_count;
};

/* Looks again. What cannot be had is empty. */
void places_look(struct places *p, const struct rdma_host_device *devices, size_t count);
void places_free(struct places *p);

const struct place_link *places_link(const struct places *p, unsigned int index);

/* Which RDMA devices have that address; false: it is not this machine's. */
bool places_has(const struct places *p, const __u8 address[16], __u64 *devices);

#endif
