/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this machine knows about an interface and who is behind it. false: it does not know. */
#ifndef USERSPACE_SEND_MACHINE_H
#define USERSPACE_SEND_MACHINE_H

#include <stdbool.h>

#include <linux/types.h>

/*
 * An address of the interface, IPv4 as ::ffff:a.b.c.d, of the family of `to`; of IPv6 addresses one that is link-local if `to`
 * is, and only then.
 */
bool machine_address(const char *interface, const __u8 to[16], __u8 address[16]);

/* Its Ethernet address. */
bool machine_mac(const char *interface, __u8 mac[6]);

/* The neighbour's Ethernet address, from the kernel's table. */
bool machine_neighbour(const char *interface, const __u8 address[16], __u8 mac[6]);

#endif
