/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs `rocescope receive`: the monitor with a receiver's programs, memory and report. */
#ifndef USERSPACE_COMMAND_RECEIVE_H
#define USERSPACE_COMMAND_RECEIVE_H

#include "userspace/command/monitor.h"
#include "userspace/traffic/receive/setup.h"

struct receive_command {
	struct monitor_options monitor;
	struct receive_options receive;
	const char *unpin; /* remove this pin and do nothing else; NULL: no */
	bool watch; /* the monitor's table or lines */
};

/* Runs until the end. Returns the exit status. Errors are printed. */
int receive_run(struct receive_command *c);

#endif
