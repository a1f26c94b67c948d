/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this machine knows about an interface and its neighbours. All return false if the value is unknown. */
#ifndef LIB_MACHINE_H
#define LIB_MACHINE_H

#include <stdbool.h>

#include <linux/types.h>

/*
 * An address of the interface in the family of `to`; IPv4 as ::ffff:a.b.c.d. An IPv6 address is link-local if and only if `to`
 * is.
 */
bool machine_address(const char *interface, const __u8 to[16], __u8 address[16]);

/* The interface's Ethernet address. */
bool machine_mac(const char *interface, __u8 mac[6]);

/* The neighbour's Ethernet address, from the kernel's table. */
bool machine_neighbour(const char *interface, const __u8 address[16], __u8 mac[6]);

#endif
