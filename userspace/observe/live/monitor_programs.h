/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs that only count: those of bpf/monitor.bpf.c, or the one of bpf/monitor_old.bpf.c. */
#ifndef USERSPACE_OBSERVE_LIVE_MONITOR_PROGRAMS_H
#define USERSPACE_OBSERVE_LIVE_MONITOR_PROGRAMS_H

#include "userspace/observe/live/live.h"

/*
 * Opens the programs for this kernel and these options. The object is the caller's (bpf_object__close()). false: it failed,
 * which is reported in one line.
 */
bool monitor_programs_open(const struct live_options *o, struct live_programs *to);

/* The same of one of the two objects. loops: that for kernels with bpf_loop(). false: an errno says why. */
bool monitor_programs_open_object(bool loops, struct live_programs *to);

#endif
