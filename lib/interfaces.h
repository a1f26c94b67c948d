/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Network interfaces. */
#ifndef LIB_INTERFACES_H
#define LIB_INTERFACES_H

#include <stdbool.h>

/*
 * Upper bound of the interfaces that a command watches, one of our capture files lists, or pinned state remembers. A packet does not
 * cost more by it: the kernel's programs know an interface by its index.
 */
#define INTERFACES_MOST 64

struct ifreq;

/*
 * Sends one of the SIOC* questions of netdevice(7) to an interface. The caller fills in the request, but not its name. false with
 * errno: no answer.
 */
bool interface_ask(const char *name, unsigned long question, struct ifreq *request);

#endif
