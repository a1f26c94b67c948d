/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_STOP_H
#define LIB_STOP_H

#include <signal.h>

/* Set by signals that end the run. */
extern volatile sig_atomic_t stop;

/*
 * From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored) end the run, not the process. They interrupt system calls
 * (EINTR).
 */
void stop_on_signals(void);

/* From now on the first SIGINT ends the run, and a second one the process, in case the run does not end. */
void stop_on_interrupt(void);

#endif
