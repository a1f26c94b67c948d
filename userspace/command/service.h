/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages to a service manager (sd_notify(3)). Without one the functions do nothing. */
#ifndef USERSPACE_COMMAND_SERVICE_H
#define USERSPACE_COMMAND_SERVICE_H

/* The interfaces are watched now. words: for `systemctl status`. */
void service_ready(const char *words);

/* Tells the watchdog that we are alive. Call it several times in the period of the watchdog. */
void service_alive(void);

void service_stopping(void);

#endif
