/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU used over a run, in cores: by this process (getrusage), and by the whole machine, because kernel UDP and rxe do
 * most of their work in softirq, charged to no process. The machine's is its CPUs less the idle, iowait and steal of
 * /proc/stat: the kernel measures idle time, but samples the others by timer ticks, which miss work that is woken by
 * timers, and are themselves missed in a virtual machine.
 */
#ifndef LIB_CPU_H
#define LIB_CPU_H

#include <stdint.h>

struct cpu_sample {
	uint64_t wall_ns, process_ns, idle_ns;
};

struct cpu_meter {
	struct cpu_sample start, end;
};

void cpu_meter_start(struct cpu_meter *m);

/* The run reaches at least until now; call it again as the run goes on. */
void cpu_meter_mark(struct cpu_meter *m);

/* 0 for a run without length; system_cores is negative when /proc/stat cannot be read. */
double cpu_process_cores(const struct cpu_meter *m);
double cpu_system_cores(const struct cpu_meter *m);

#endif
