/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_STOP_H
#define LIB_STOP_H

#include <signal.h>

/* Set by the signals that end a run. */
extern volatile sig_atomic_t stop;

/*
 * From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored) end the run instead of the process; they interrupt system
 * calls (EINTR).
 */
void stop_on_signals(void);

/* From now on the first SIGINT ends the run; the second one ends the process, should the first one be waited for in vain. */
void stop_on_interrupt(void);

#endif
