/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What drivers tell through ethtool's ioctl: needs no privilege. */
#ifndef LIB_ETHTOOL_H
#define LIB_ETHTOOL_H

#include <stdbool.h>
#include <stdint.h>

struct ethtool_drvinfo;

/* One command of <linux/ethtool.h> to that interface. false: there is none, or its driver cannot. */
bool ethtool(const char *interface, void *command);

/* All zero where the driver tells nothing. */
void ethtool_driver(const char *interface, struct ethtool_drvinfo *info);

/* The driver's own counters (`ethtool -S`), one after the other, always in the same order. false: it has none. */
bool ethtool_statistics(const char *interface, void (*take)(void *context, const char *name, uint64_t value), void *context);

#endif
