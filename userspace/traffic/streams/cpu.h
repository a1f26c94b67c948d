/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU use of a run, in cores: of this process (getrusage), and of the whole machine, because kernel UDP and rxe do most of
 * their work in softirqs, which are charged to no process. The machine's use is its CPUs minus the idle, iowait and steal time
 * of /proc/stat. The kernel measures idle time, but samples the other times by timer ticks. Ticks miss work that timers wake,
 * and a virtual machine misses ticks.
 */
#ifndef USERSPACE_TRAFFIC_STREAMS_CPU_H
#define USERSPACE_TRAFFIC_STREAMS_CPU_H

#include <stdint.h>

struct cpu_sample {
	uint64_t wall_ns, process_ns, idle_ns;
};

struct cpu_meter {
	struct cpu_sample start, end;
};

void cpu_meter_start(struct cpu_meter *m);

/* Extends the run until now. Call again as the run continues. */
void cpu_meter_mark(struct cpu_meter *m);

/* 0 for a run of no length. The system's is negative if /proc/stat cannot be read. */
double cpu_process_cores(const struct cpu_meter *m);
double cpu_system_cores(const struct cpu_meter *m);

#endif
