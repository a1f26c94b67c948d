// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ethtool.h"
#include "lib/interfaces.h"

bool ethtool(const char *interface, void *command)
{
	struct ifreq request = { .ifr_data = command };

	return interface_ask(interface, SIOCETHTOOL, &request);
}

void ethtool_driver(const char *interface, struct ethtool_drvinfo *info)
{
	*info = (struct ethtool_drvinfo){ .cmd = ETHTOOL_GDRVINFO };
	if (!ethtool(interface, info))
		*info = (struct ethtool_drvinfo){ 0 };
}

bool ethtool_statistics(const char *interface, void (*take)(void *context, const char *name, uint64_t value), void *context)
{
	char name[ETH_GSTRING_LEN + 1] = "";
	struct ethtool_gstrings *names;
	struct ethtool_drvinfo info;
	struct ethtool_stats *values;
	uint32_t count;
	bool good;

	ethtool_driver(interface, &info);
	count = info.n_stats;
	/* twice the size: the kernel fills in the current number, and queues may be added meanwhile */
	names = calloc(1, sizeof(*names) + 2 * (size_t)count * ETH_GSTRING_LEN);
	values = calloc(1, sizeof(*values) + 2 * (size_t)count * sizeof(values->data[0]));
	good = count && names && values;
	if (good) {
		*names = (struct ethtool_gstrings){ .cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = count };
		*values = (struct ethtool_stats){ .cmd = ETHTOOL_GSTATS, .n_stats = count };
		good = ethtool(interface, names) && ethtool(interface, values) && names->len <= count &&
		       values->n_stats <= count;
	}
	for (uint32_t i = 0; good && i < names->len && i < values->n_stats; i++) {
		memcpy(name, names->data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
		take(context, name, values->data[i]);
	}
	free(names);
	free(values);
	return good;
}
