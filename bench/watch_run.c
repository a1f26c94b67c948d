// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watch_run: what others took of this machine's CPUs while a run went. It prints "watching", waits for SIGTERM, and prints
 *
 *   [{"cpu": 0, "busy_ms": 970, "idle_ms": 20, "steal_ms": 10, "adds": 3.81, "probes": 48}, ...]
 *
 * of each CPU: its time by /proc/stat since then (ticks of 10 ms), and the mean of the probes (bench/probe.h). compare/disturbed.py
 * reads it. adds is 0 where the probe would tell of the load itself, or knows nothing:
 * - on a machine that is not virtual, or emulated. Who else uses a core there is one of its own processes.
 * - on a CPU whose core has other CPUs of this machine: these may be the load's.
 * A probe every 20 ms, some 35 us with cold caches and the switch to it and back, takes 0.2 % of each CPU, also of idle ones: which
 * CPUs the load uses is known at the end.
 */
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <err.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/probe.h"

#define MOST_CPUS 256 /* more are not watched */
#define SELDOM_NS 20000000ull

/* Ticks. Guests' time is in user time (proc(5)). */
struct cpu_time {
	bool known;
	unsigned long long busy, idle, steal;
};

static void read_times(struct cpu_time *times)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
	FILE *f = fopen("/proc/stat", "re");
	char line[512];
	int cpu;

	if (!f)
		err(1, "/proc/stat");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &user, &nice, &system, &idle, &iowait, &irq,
			   &softirq, &steal) != 9 || cpu < 0 || cpu >= MOST_CPUS)
			continue;
		times[cpu] = (struct cpu_time){ true, user + nice + system + irq + softirq, idle + iowait, steal };
	}
	fclose(f);
}

#ifdef __x86_64__
/* The hypervisor's bit and its name, by cpuid. QEMU without KVM executes no instruction of ours: there is nothing to probe. */
static bool has_other_guests(void)
{
	unsigned int unused, flags, name[3];

	__cpuid(1, unused, unused, flags, unused);
	if (!(flags >> 31))
		return false;
	__cpuid(0x40000000, unused, name[0], name[1], name[2]);
	return memcmp(name, "TCGTCGTCGTCG", sizeof(name)) != 0;
}
#else
static bool has_other_guests(void)
{
	return false; /* the probe knows nothing here */
}
#endif

/* A list of several: "0,4" or "0-1". */
static bool shares_its_core(int cpu)
{
	char path[PATH_MAX], line[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		*line = 0;
	fclose(f);
	return strpbrk(line, ",-");
}

static void start_probes(struct probe **probes, const struct cpu_time *times)
{
	if (!has_other_guests())
		return;
	for (int cpu = 0; cpu < MOST_CPUS; cpu++)
		if (times[cpu].known && !shares_its_core(cpu))
			probes[cpu] = probe_start(cpu, SELDOM_NS); /* NULL: a CPU that we may not use */
}

/* A counter may fall (idle, iowait: proc(5)). */
static unsigned long long grown_ms(unsigned long long before, unsigned long long after)
{
	return after > before ? (after - before) * 1000 / (unsigned long long)sysconf(_SC_CLK_TCK) : 0;
}

static void print(const struct cpu_time *before, const struct cpu_time *after, struct probe *const *probes)
{
	const char *between = "[";

	for (int cpu = 0; cpu < MOST_CPUS; cpu++) {
		struct probe_reading r = { 0 };

		if (!before[cpu].known || !after[cpu].known)
			continue;
		if (probes[cpu])
			r = probe_take(probes[cpu]);
		printf("%s{\"cpu\": %d, \"busy_ms\": %llu, \"idle_ms\": %llu, \"steal_ms\": %llu, \"adds\": %.3f, \"probes\": %u}", between, cpu,
		       grown_ms(before[cpu].busy, after[cpu].busy), grown_ms(before[cpu].idle, after[cpu].idle),
		       grown_ms(before[cpu].steal, after[cpu].steal), r.adds, r.count);
		between = ", ";
	}
	puts(*between == '[' ? "[]" : "]");
}

int main(void)
{
	static struct cpu_time before[MOST_CPUS], after[MOST_CPUS];
	static struct probe *probes[MOST_CPUS];
	sigset_t end;
	int number;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	read_times(before);
	start_probes(probes, before);
	puts("watching");
	fflush(stdout);
	sigwait(&end, &number);
	read_times(after);
	print(before, after, probes);
	fflush(stdout);
	_exit(0); /* the probes still run */
}
