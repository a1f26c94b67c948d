/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether answers leave: by XDP_TX, out of the interface from which the request came. */
#ifndef USERSPACE_TRAFFIC_RECEIVE_TRANSMIT_H
#define USERSPACE_TRAFFIC_RECEIVE_TRANSMIT_H

#include <linux/types.h>
#include <stdbool.h>

#define TRANSMIT_TEXT 256

/*
 * Sends a few frames out of the interface as answers leave in native mode, which nobody takes (EtherType 0x88b5, from and to the
 * interface's own address), and looks at the device's counters. The XDP program must be attached. false: they were all lost, and
 * `why` says what is missing, in one line. true if it cannot be tried.
 */
bool transmit_probe(const char *interface, char why[TRANSMIT_TEXT]);

/* Frames that the device could not send since it exists, by its own counters: whoever sent them. */
__u64 transmit_errors(const char *interface);

#endif
