/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Departure times. Unit k (a byte or a packet) leaves no earlier than start + k / rate, so late wake-ups do not change the mean
 * rate. Overdue units are sent at twice the rate, in bursts of at most 2 ms' worth (timers of virtual machines may be that
 * late permanently). Units that are overdue by more than PACER_BACKLOG_NS, or at the end, are given up (`slipped_ns`), and the
 * mean rate falls.
 */
#ifndef USERSPACE_TRAFFIC_STREAMS_PACING_H
#define USERSPACE_TRAFFIC_STREAMS_PACING_H

#include <stdbool.h>
#include <stdint.h>

#define PACER_BURST_NS		1000000ull	/* how far catching up may run ahead of twice the rate */
#define PACER_BACKLOG_NS	1000000000ull

struct pacer {
	double rate;		/* units per second; 0: unlimited */
	uint64_t start;		/* ns */
	uint64_t units;		/* since start */
	uint64_t limit;		/* ns: departure of all units so far at twice the rate */
	uint64_t slipped_ns;
};

void pacer_start(struct pacer *p, double rate, uint64_t now);

/*
 * The same for number `turn` of several pacers with an equal rate, each for messages of so many units. Their first messages are spread
 * over the time that one message takes: else all would leave at once, on top of the rate.
 */
void pacer_start_turn(struct pacer *p, double rate, uint64_t now, uint64_t units, unsigned int turn, unsigned int pacers);

/* Earliest departure of the next unit, ns; 0 if unpaced. */
uint64_t pacer_departure(const struct pacer *p);

/* Whether a unit may leave now. */
bool pacer_due(struct pacer *p, uint64_t now);

/* Records that `units` leave now. */
void pacer_sent(struct pacer *p, uint64_t units, uint64_t now);

/* Nothing is sent any more: gives up what is overdue now, if that is more than a burst. */
void pacer_end(struct pacer *p, uint64_t now);

/* Makes this process's sleeps precise, instead of 50 us late. */
void pacer_precise_sleep(void);

#endif
