// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>

#include "lib/stream_socket.h"

struct addrinfo *stream_address(const char *option, const char *host, uint16_t port, int type)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = type }, *found;
	char service[8];
	int error;

	snprintf(service, sizeof(service), "%u", port);
	error = getaddrinfo(host, service, &hints, &found);
	if (error)
		errx(1, "--%s %s: %s", option, host, gai_strerror(error));
	return found;
}

int stream_bound_socket(const char *address, uint16_t port, int type)
{
	struct addrinfo *found = stream_address("bind", address ? address : "::", port, type);
	int fd = socket(found->ai_family, type | SOCK_CLOEXEC, 0), on = 1, off = 0;

	if (fd < 0 && !address && errno == EAFNOSUPPORT) {
		freeaddrinfo(found);
		return stream_bound_socket("0.0.0.0", port, type);
	}
	if (fd < 0)
		err(1, "socket");
	if (type == SOCK_STREAM)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!address)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, found->ai_addr, found->ai_addrlen))
		err(1, "%s port %u", type == SOCK_STREAM ? "TCP" : "UDP", port);
	freeaddrinfo(found);
	return fd;
}
