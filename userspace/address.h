/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USERSPACE_ADDRESS_H
#define USERSPACE_ADDRESS_H

#include <arpa/inet.h>
#include <string.h>

#include "roce/base.h"

struct address_text {
	char text[INET6_ADDRSTRLEN];
};

/* The engine's 16 bytes for people: ::ffff:a.b.c.d (RFC 4291, 2.5.5.2) is the IPv4 address a.b.c.d. */
static inline struct address_text address_text(const __u8 address[16])
{
	static const __u8 ipv4[12] = { [10] = 0xff, [11] = 0xff };
	struct address_text a;

	if (!memcmp(address, ipv4, sizeof(ipv4)))
		inet_ntop(AF_INET, address + sizeof(ipv4), a.text, sizeof(a.text));
	else
		inet_ntop(AF_INET6, address, a.text, sizeof(a.text));
	return a;
}

#endif
