/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a service manager wants to hear (sd_notify(3)); nothing happens where there is none. */
#ifndef USERSPACE_COMMAND_SERVICE_H
#define USERSPACE_COMMAND_SERVICE_H

/* Watching has begun; words: for `systemctl status`. */
void service_ready(const char *words);

/* Once an interval, at least: still at work. */
void service_alive(void);

void service_stopping(void);

#endif
