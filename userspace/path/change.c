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
#include "userspace/path/change.h"
#include "userspace/path/files.h"

static struct file_path sysctl_path(const char *name)
{
	struct file_path p = file_path("/proc/sys/%s", name);
	char *at = p.text + strlen(p.text) - strlen(name);

	while ((at = strchr(at, '.')))
		*at = '/';
	return p;
}

void change_command(const struct path_change *c, char *command, size_t size)
{
	unsigned int rx = 0, tx = 0;

	switch (c->kind) {
	case CHANGE_NOTHING:
		command[0] = 0;
		break;
	case CHANGE_SYSCTL:
		snprintf(command, size, strchr(c->after, ' ') ? "sysctl -w %s='%s'" : "sysctl -w %s=%s", c->what, c->after);
		break;
	case CHANGE_MTU:
		snprintf(command, size, "ip link set dev %s mtu %s", c->what, c->after);
		break;
	case CHANGE_RING:
		sscanf(c->after, "%u %u", &rx, &tx);
		snprintf(command, size, "ethtool -G %s rx %u tx %u", c->what, rx, tx);
		break;
	case CHANGE_GRO:
		snprintf(command, size, "ethtool -K %s gro %s", c->what, c->after);
		break;
	}
}

static bool is_there(const struct path_change *c)
{
	if (c->kind == CHANGE_SYSCTL || if_nametoindex(c->what) == c->ifindex)
		return true;
	errno = ENODEV;
	return false;
}

bool change_read(const struct path_change *c, char value[CHANGE_VALUE])
{
	struct ethtool_ringparam ring = { .cmd = ETHTOOL_GRINGPARAM };
	struct ethtool_value gro = { .cmd = ETHTOOL_GGRO };
	struct ifreq mtu = { 0 };
	bool good = false;

	if (!is_there(c))
		return false;
	switch (c->kind) {
	case CHANGE_NOTHING:
		break;
	case CHANGE_SYSCTL:
		good = file_line(sysctl_path(c->what).text, value, CHANGE_VALUE);
		while (good && strchr(value, '\t'))
			*strchr(value, '\t') = ' ';
		break;
	case CHANGE_MTU:
		good = interface_ask(c->what, SIOCGIFMTU, &mtu);
		snprintf(value, CHANGE_VALUE, "%d", mtu.ifr_mtu);
		break;
	case CHANGE_RING:
		good = ethtool(c->what, &ring);
		snprintf(value, CHANGE_VALUE, "%u %u", ring.rx_pending, ring.tx_pending);
		break;
	case CHANGE_GRO:
		good = ethtool(c->what, &gro);
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

	if (!is_there(c))
		return false;
	switch (c->kind) {
	case CHANGE_NOTHING:
		break;
	case CHANGE_SYSCTL:
		return file_write(sysctl_path(c->what).text, value);
	case CHANGE_MTU:
		return interface_ask(c->what, SIOCSIFMTU, &mtu);
	case CHANGE_RING:
		if (!ethtool(c->what, &ring) || sscanf(value, "%u %u", &ring.rx_pending, &ring.tx_pending) != 2)
			return false;
		ring.cmd = ETHTOOL_SRINGPARAM;
		return ethtool(c->what, &ring);
	case CHANGE_GRO:
		return ethtool(c->what, &gro);
	}
	return false;
}
