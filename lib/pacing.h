/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Departure times. The k-th unit (a byte, or a packet) leaves no earlier than start + k / rate, so the mean rate is
 * exact however late single wake-ups are. What is overdue after a late wake-up is caught up at twice the rate, with
 * bursts of at most 2 ms' worth at the rate (timers of virtual machines may be that late all the time); what is more
 * than PACER_BACKLOG_NS overdue is given up (`slipped_ns`), and the mean rate shows it.
 */
#ifndef LIB_PACING_H
#define LIB_PACING_H

#include <stdbool.h>
#include <stdint.h>

#define PACER_BURST_NS		1000000ull	/* how far catching up may run ahead of twice the rate */
#define PACER_BACKLOG_NS	1000000000ull

struct pacer {
	double rate;		/* units a second; 0: everything may leave at once */
	uint64_t start;		/* ns */
	uint64_t units;		/* since start */
	uint64_t limit;		/* ns: when the units so far would have left at twice the rate */
	uint64_t slipped_ns;
};

void pacer_start(struct pacer *p, double rate, uint64_t now);

/* When the next unit may leave, ns; 0 if unpaced. */
uint64_t pacer_departure(const struct pacer *p);

/* May something leave now? */
bool pacer_due(struct pacer *p, uint64_t now);

/* That many units leave now. */
void pacer_sent(struct pacer *p, uint64_t units, uint64_t now);

/* Let this process's sleeps end on time rather than 50 us late. */
void pacer_precise_sleep(void);

#endif
