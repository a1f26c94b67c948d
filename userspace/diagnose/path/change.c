// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ethtool.h"
#include "lib/interfaces.h"
#include "lib/shell.h"
#include "userspace/diagnose/path/change.h"
#include "userspace/diagnose/path/files.h"

static struct file_path sysctl_path(const char *name)
{
	struct file_path p = file_path("/proc/sys/%s", name);
	char *at = p.text + strlen(p.text) - strlen(name);

	while ((at = strchr(at, '.')))
		*at = '/';
	return p;
}

struct now {
	char name[IF_NAMESIZE];
};

/* What the interface is called by now. "": it is gone, with errno ENXIO. */
static struct now now_named(const struct path_change *c)
{
	struct now n = { "" };

	if (c->kind == CHANGE_MTU || c->kind == CHANGE_RING || c->kind == CHANGE_GRO)
		if (!if_indextoname(c->ifindex, n.name))
			n.name[0] = 0;
	return n;
}

bool change_is_gone(const struct path_change *c)
{
	return c->kind != CHANGE_NOTHING && c->kind != CHANGE_SYSCTL && !now_named(c).name[0] && errno == ENXIO;
}

void change_command(const struct path_change *c, char *command, size_t size)
{
	struct now now = now_named(c);
	struct shell_name name = shell_name(now.name[0] ? now.name : c->what);

	switch (c->kind) {
	case CHANGE_NOTHING:
		command[0] = 0;
		break;
	case CHANGE_SYSCTL:
		snprintf(command, size, strchr(c->after, ' ') ? "sysctl -w %s='%s'" : "sysctl -w %s=%s", c->what, c->after);
		break;
	case CHANGE_MTU:
		snprintf(command, size, "ip link set dev %s mtu %s", name.text, c->after);
		break;
	case CHANGE_RING:
		snprintf(command, size, "ethtool -G %s rx %s", name.text, c->after);
		break;
	case CHANGE_GRO:
		snprintf(command, size, "ethtool -K %s gro %s", name.text, c->after);
		break;
	}
}

bool change_read(const struct path_change *c, char value[CHANGE_VALUE])
{
	struct ethtool_ringparam ring = { .cmd = ETHTOOL_GRINGPARAM };
	struct ethtool_value gro = { .cmd = ETHTOOL_GGRO };
	struct ifreq mtu = { 0 };
	struct now now = now_named(c);
	bool good = false;

	switch (c->kind) {
	case CHANGE_NOTHING:
		break;
	case CHANGE_SYSCTL:
		good = file_line(sysctl_path(c->what).text, value, CHANGE_VALUE);
		while (good && strchr(value, '\t'))
			*strchr(value, '\t') = ' ';
		break;
	case CHANGE_MTU:
		good = interface_ask(now.name, SIOCGIFMTU, &mtu);
		snprintf(value, CHANGE_VALUE, "%d", mtu.ifr_mtu);
		break;
	case CHANGE_RING:
		good = ethtool(now.name, &ring);
		snprintf(value, CHANGE_VALUE, "%u", ring.rx_pending);
		break;
	case CHANGE_GRO:
		good = ethtool(now.name, &gro);
		snprintf(value, CHANGE_VALUE, "%s", gro.data ? "on" : "off");
		break;
	}
	return good;
}

bool change_write(const struct path_change *c, const char *value)
{
	struct ethtool_ringparam ring = { .cmd = ETHTOOL_GRINGPARAM };
	struct ethtool_value gro = { .cmd = ETHTOOL_SGRO, .data = !strcmp(value, "on") };
	struct ifreq mtu = { .ifr_mtu = atoi(value) };
	struct now now = now_named(c);

	switch (c->kind) {
	case CHANGE_NOTHING:
		break;
	case CHANGE_SYSCTL:
		return file_write(sysctl_path(c->what).text, value);
	case CHANGE_MTU:
		return interface_ask(now.name, SIOCSIFMTU, &mtu);
	case CHANGE_RING:
		if (!ethtool(now.name, &ring))
			return false;
		ring.cmd = ETHTOOL_SRINGPARAM;
		ring.rx_pending = atoi(value);
		return ethtool(now.name, &ring);
	case CHANGE_GRO:
		return ethtool(now.name, &gro);
	}
	return false;
}
