// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/interfaces.h"

bool interface_ask(const char *name, unsigned long question, struct ifreq *request)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return false;
	snprintf(request->ifr_name, sizeof(request->ifr_name), "%s", name);
	error = ioctl(fd, question, request) ? errno : 0;
	close(fd);
	errno = error;
	return !error;
}
