/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets of the kernel's transports. What cannot be had ends the program. type: SOCK_STREAM or SOCK_DGRAM. */
#ifndef LIB_STREAM_SOCKET_H
#define LIB_STREAM_SOCKET_H

#include <netdb.h>
#include <stdint.h>

/* For freeaddrinfo(). option: what the user calls the host. */
struct addrinfo *stream_address(const char *option, const char *host, uint16_t port, int type);

/* A socket bound to that address. NULL: every address, IPv6 and IPv4. */
int stream_bound_socket(const char *address, uint16_t port, int type);

#endif
