/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_STOP_H
#define LIB_STOP_H

#include <signal.h>

/* Set by SIGINT and SIGTERM. */
extern volatile sig_atomic_t stop;

/* From now on these two end the run instead of the process; they interrupt system calls (EINTR). */
void stop_on_signals(void);

#endif
