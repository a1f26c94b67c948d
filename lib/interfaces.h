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

/* Whether it is the name of a capture file, by its ending: run.pcap, run.pcapng.gz. */
bool name_is_capture(const char *name);

/* Whether the name, where an interface's is wanted, is a file's: no interface has it, and a file has it, or it is a capture's. */
bool name_is_file(const char *name);

/*
 * Sends one of the SIOC* questions of netdevice(7) to an interface. The caller fills in the request, but not its name. false with
 * errno: no answer.
 */
bool interface_ask(const char *name, unsigned long question, struct ifreq *request);

#endif
