/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queries of drivers by ethtool's ioctl. They need no privilege. */
#ifndef LIB_ETHTOOL_H
#define LIB_ETHTOOL_H

#include <stdbool.h>
#include <stdint.h>

struct ethtool_drvinfo;

/* Sends a command of <linux/ethtool.h> to the interface. false: no such interface, or its driver does not support it. */
bool ethtool(const char *interface, void *command);

/* All zero if the driver gives no information. */
void ethtool_driver(const char *interface, struct ethtool_drvinfo *info);

/* Passes the driver's own counters (`ethtool -S`) to `take`, always in the same order. false: it has none. */
bool ethtool_statistics(const char *interface, void (*take)(void *context, const char *name, uint64_t value), void *context);

#endif
