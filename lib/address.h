/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_ADDRESS_H
#define LIB_ADDRESS_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "roce/packet/base.h"

struct address_text {
	char text[INET6_ADDRSTRLEN];
};

/* Addresses are the engine's 16 bytes: ::ffff:a.b.c.d (RFC 4291, 2.5.5.2) is the IPv4 address a.b.c.d. */
static const __u8 address_ipv4_prefix[12] = { [10] = 0xff, [11] = 0xff };

static inline bool address_is_ipv4(const __u8 address[16])
{
	return !memcmp(address, address_ipv4_prefix, sizeof(address_ipv4_prefix));
}

/* As text, for display. */
static inline struct address_text address_text(const __u8 address[16])
{
	struct address_text a;

	if (address_is_ipv4(address))
		inet_ntop(AF_INET, address + sizeof(address_ipv4_prefix), a.text, sizeof(a.text));
	else
		inet_ntop(AF_INET6, address, a.text, sizeof(a.text));
	return a;
}

struct mac_text {
	char text[sizeof("00:00:00:00:00:00")];
};

static inline struct mac_text mac_text(const __u8 m[6])
{
	struct mac_text t;

	snprintf(t.text, sizeof(t.text), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	return t;
}

static inline void address_from_ipv4(__u8 address[16], const void *ipv4)
{
	memcpy(address, address_ipv4_prefix, sizeof(address_ipv4_prefix));
	memcpy(address + sizeof(address_ipv4_prefix), ipv4, 4);
}

/* Of a socket: its own, its peer's, or that of a route. false: it is neither IPv4 nor IPv6. */
static inline bool address_from_socket(__u8 address[16], const struct sockaddr *socket)
{
	if (socket->sa_family == AF_INET)
		address_from_ipv4(address, &((const struct sockaddr_in *)socket)->sin_addr);
	else if (socket->sa_family == AF_INET6)
		memcpy(address, &((const struct sockaddr_in6 *)socket)->sin6_addr, 16);
	return socket->sa_family == AF_INET || socket->sa_family == AF_INET6;
}

/* false: text is not an address. */
static inline bool address_parse(const char *text, __u8 address[16])
{
	struct in_addr ipv4;

	if (strchr(text, ':'))
		return inet_pton(AF_INET6, text, address) == 1;
	if (inet_pton(AF_INET, text, &ipv4) != 1)
		return false;
	address_from_ipv4(address, &ipv4);
	return true;
}

#endif
