// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/interfaces.h"

static bool ends(const char *name, size_t length, const char *ending)
{
	size_t bytes = strlen(ending);

	return length > bytes && !memcmp(name + length - bytes, ending, bytes);
}

bool name_is_capture(const char *name)
{
	static const char *const packed[] = { ".gz", ".xz", ".zst", ".lz4" };
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(packed) / sizeof(*packed); i++)
		if (ends(name, length, packed[i]))
			length -= strlen(packed[i]);
	return ends(name, length, ".pcap") || ends(name, length, ".pcapng");
}

bool name_is_file(const char *name)
{
	struct stat about;

	return !if_nametoindex(name) && (name_is_capture(name) || (!stat(name, &about) && S_ISREG(about.st_mode)));
}

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
