// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <linux/types.h>
#include <pthread.h>
#include <stdlib.h>

#include "bench/pin.h"
#include "bench/probe.h"
#include "lib/clock.h"

#define CHAINS 8
#define SLICES 3

struct probe {
	__u64 interval; /* ns */
	__u64 cycles; /* ns of the dependent loop: the least that was seen */
	pthread_mutex_t mutex;
	struct probe_reading sum;
	unsigned int count;
};

#ifdef __x86_64__
#define DEPENDENT 4096	 /* about a microsecond */
#define INDEPENDENT 8192 /* about two */

#define FOUR_TIMES(text) text text text text
#define SIXTEEN_TIMES(text) FOUR_TIMES(FOUR_TIMES(text))

/* Adds registers: some CPUs add small constants before the instruction is executed, several a cycle even if they depend. */
static void add_dependent(void)
{
	unsigned long sum = 0;

	for (int i = 0; i < DEPENDENT / 16; i++)
		asm volatile(SIXTEEN_TIMES("add %1, %0\n\t") : "+r"(sum) : "r"(1ul));
}

/* Eight chains, so that the core is the limit and not the chains: Zen 5 starts more than five adds a cycle. */
static void add_independent(void)
{
	unsigned long a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;

	for (int i = 0; i < INDEPENDENT / (16 * CHAINS); i++)
		asm volatile(SIXTEEN_TIMES("add %8, %0\n\tadd %8, %1\n\tadd %8, %2\n\tadd %8, %3\n\t"
					   "add %8, %4\n\tadd %8, %5\n\tadd %8, %6\n\tadd %8, %7\n\t")
			     : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h) : "r"(1ul));
}

static int by_size(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * The ratio of both loops needs no clock frequency. Interruptions lengthen a loop: the shortest of three times is right for the
 * dependent one, whose speed does not depend on others. Of the other loop the middle one counts. false: all three were
 * interrupted, or the clock is much slower than before; the ratio would be too large.
 */
static bool read_once(struct probe *p, struct probe_reading *r)
{
	__u64 dependent[SLICES], independent[SLICES];

	for (int i = 0; i < SLICES; i++) {
		__u64 start = now_ns(), between;

		add_dependent();
		between = now_ns();
		add_independent();
		dependent[i] = between - start;
		independent[i] = now_ns() - between;
	}
	qsort(dependent, SLICES, sizeof(*dependent), by_size);
	qsort(independent, SLICES, sizeof(*independent), by_size);
	if (!p->cycles || p->cycles > dependent[0])
		p->cycles = dependent[0];
	if (dependent[0] > p->cycles + p->cycles / 8)
		return false;
	r->adds = (double)INDEPENDENT / DEPENDENT * dependent[0] / independent[SLICES / 2];
	r->mhz = DEPENDENT * 1e3 / dependent[0];
	return true;
}
#else
static bool read_once(struct probe *p, struct probe_reading *r)
{
	(void)p;
	(void)r;
	return false;
}
#endif

static void *work(void *argument)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct probe *p = argument;
	struct probe_reading r;

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &first); /* without permission: fewer probes in a measurement */
	for (;;) {
		sleep_until_ns(now_ns() + p->interval);
		if (!read_once(p, &r))
			continue;
		pthread_mutex_lock(&p->mutex);
		p->sum.adds += r.adds;
		p->sum.mhz += r.mhz;
		p->count++;
		pthread_mutex_unlock(&p->mutex);
	}
	return NULL;
}

struct probe *probe_start(int cpu, unsigned long long interval)
{
	struct probe *p = calloc(1, sizeof(*p));
	pthread_attr_t attributes;
	pthread_t thread;
	cpu_set_t set;
	int error;

	if (!p)
		return NULL;
	p->interval = interval;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_mutex_init(&p->mutex, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
	error = pthread_create(&thread, &attributes, work, p);
	pthread_attr_destroy(&attributes);
	if (!error)
		return p;
	free(p);
	errno = error;
	return NULL;
}

struct probe_reading probe_take(struct probe *p)
{
	struct probe_reading mean = { 0 };

	pthread_mutex_lock(&p->mutex);
	if (p->count)
		mean = (struct probe_reading){ p->sum.adds / p->count, p->sum.mhz / p->count, p->count };
	p->sum = (struct probe_reading){ 0 };
	p->count = 0;
	pthread_mutex_unlock(&p->mutex);
	return mean;
}
