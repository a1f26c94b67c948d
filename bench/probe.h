/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does another guest use the physical core? Its other hardware thread takes a share of what the core can start in a cycle, and
 * nothing in this machine shows that: the clock and a chain of dependent instructions stay as they are. Independent adds
 * become fewer a cycle.
 */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include <stdbool.h>

/*
 * A sample is quiet if the mean of its probes is at least this share of the best mean of the run. docs/performance.md says why;
 * bench/quiet.py has the same number.
 */
#define QUIET_SHARE 0.95

/* Means of all probes between two calls of probe_take(). */
struct probe_reading {
	double adds; /* independent adds a cycle; 0: not known */
	double mhz;  /* the clock, from dependent adds: one a cycle */
	unsigned int count; /* probes that they are means of */
};

struct probe;

#define PROBE_OFTEN_NS 2000000ull /* for `make bench` */

/*
 * Begins to probe that CPU, some 8 us each interval (ns), in a thread that displaces what runs there: so the core is probed during
 * a measurement, whose clock stops meanwhile. NULL with errno. On other CPUs than x86-64 it never knows.
 */
struct probe *probe_start(int cpu, unsigned long long interval);

/* What the probes found since the last call. */
struct probe_reading probe_take(struct probe *p);

#endif
