// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/clock.h"
#include "userspace/traffic/streams/cpu.h"

static uint64_t process_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * NSEC_PER_USEC;
}

/* Idle, iowait and steal time of all CPUs together (proc(5)). UINT64_MAX: not readable. */
static uint64_t idle_ns(void)
{
	unsigned long long idle, iowait, steal = 0;
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
	if (sscanf(line, "cpu %*u %*u %*u %llu %llu %*u %*u %llu", &idle, &iowait, &steal) < 2)
		return UINT64_MAX;
	return (idle + iowait + steal) * (NSEC_PER_SEC / sysconf(_SC_CLK_TCK));
}

static struct cpu_sample sample(void)
{
	return (struct cpu_sample){ now_ns(), process_ns(), idle_ns() };
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
	double busy;

	if (m->start.idle_ns == UINT64_MAX || m->end.idle_ns == UINT64_MAX)
		return -1;
	if (!wall)
		return 0;
	busy = sysconf(_SC_NPROCESSORS_ONLN) - ((double)m->end.idle_ns - m->start.idle_ns) / wall;
	return busy > 0 ? busy : 0;
}
