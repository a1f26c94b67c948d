// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/cause.h"

/* 0: none. */
static unsigned long long limit_of(int resource)
{
	struct rlimit l;

	return getrlimit(resource, &l) || l.rlim_cur == RLIM_INFINITY ? 0 : l.rlim_cur;
}

struct cause cause(int error)
{
	unsigned long long memory = limit_of(RLIMIT_AS);
	struct cause c;

	if (error == EMFILE)
		snprintf(c.text, sizeof(c.text), "too many open files: this process may have %llu (`ulimit -n` raises it)",
			 limit_of(RLIMIT_NOFILE));
	else if (error == ENFILE)
		snprintf(c.text, sizeof(c.text), "too many open files on this machine (`sysctl fs.file-max`)");
	else if (error == ENOMEM && memory)
		snprintf(c.text, sizeof(c.text), "there is not enough memory: this process may have %llu MiB (`ulimit -v` raises it)",
			 memory >> 20);
	else if (error == ENOMEM)
		snprintf(c.text, sizeof(c.text), "there is not enough memory");
	else if (error == EAGAIN && limit_of(RLIMIT_NPROC))
		snprintf(c.text, sizeof(c.text), "%s; this user may have %llu processes (`ulimit -u` raises it)", strerror(error),
			 limit_of(RLIMIT_NPROC));
	else
		snprintf(c.text, sizeof(c.text), "%s", strerror(error));
	return c;
}

static struct cause words(const char *text)
{
	struct cause c;

	snprintf(c.text, sizeof(c.text), "%s", text);
	return c;
}

struct cause cause_of_interface(int error)
{
	switch (error) {
	case EPERM:
		return words("no permission: run as root, or with CAP_NET_RAW");
	case ENOBUFS:
		return words("no memory may be locked: `ulimit -l unlimited`");
	case ENXIO:
	case ENODEV:
		return words("the interface is gone");
	case ENETDOWN:
		return words("the interface is down");
	}
	return cause(error);
}

bool cause_files(const char *who, unsigned int count)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= count)
		return true;
	if (l.rlim_max >= count) {
		l.rlim_cur = count;
		if (!setrlimit(RLIMIT_NOFILE, &l))
			return true;
	}
	fprintf(stderr, "rocescope: %s: it needs up to %u open files, and this process may have %llu: `ulimit -n %u` raises that (of a "
		"service LimitNOFILE=)\n", who, count, (unsigned long long)l.rlim_max, count);
	return false;
}
