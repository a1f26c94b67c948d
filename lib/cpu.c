// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/cpu.h"

static uint64_t process_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * NSEC_PER_USEC;
}

/* user nice system idle iowait irq softirq, in clock ticks (proc(5)). UINT64_MAX: cannot be read. */
static uint64_t system_ns(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	char line[256];
	int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return UINT64_MAX;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return UINT64_MAX;
	line[n] = 0;
	if (sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu",
		   &user, &nice, &system, &idle, &iowait, &irq, &softirq) != 7)
		return UINT64_MAX;
	return (user + nice + system + irq + softirq) * (NSEC_PER_SEC / sysconf(_SC_CLK_TCK));
}

static struct cpu_sample sample(void)
{
	return (struct cpu_sample){ now_ns(), process_ns(), system_ns() };
}

void cpu_meter_start(struct cpu_meter *m)
{
	m->start = m->end = sample();
}

void cpu_meter_mark(struct cpu_meter *m)
{
	m->end = sample();
}

double cpu_process_cores(const struct cpu_meter *m)
{
	uint64_t wall = m->end.wall_ns - m->start.wall_ns;

	return wall ? (double)(m->end.process_ns - m->start.process_ns) / wall : 0;
}

double cpu_system_cores(const struct cpu_meter *m)
{
	uint64_t wall = m->end.wall_ns - m->start.wall_ns;

	if (m->start.system_ns == UINT64_MAX || m->end.system_ns == UINT64_MAX)
		return -1;
	return wall ? (double)(m->end.system_ns - m->start.system_ns) / wall : 0;
}
