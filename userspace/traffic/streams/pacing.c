// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <sys/prctl.h>

#include "userspace/traffic/streams/pacing.h"

static uint64_t duration_ns(double units, double rate)
{
	return (uint64_t)(units * 1e9 / rate);
}

void pacer_start(struct pacer *p, double rate, uint64_t now)
{
	*p = (struct pacer){ .rate = rate, .start = now, .limit = now };
}

void pacer_start_turn(struct pacer *p, double rate, uint64_t now, uint64_t units, unsigned int turn, unsigned int pacers)
{
	pacer_start(p, rate, now + (rate ? duration_ns((double)units * turn / pacers, rate) : 0));
}

static uint64_t scheduled(const struct pacer *p)
{
	return p->start + duration_ns(p->units, p->rate);
}

uint64_t pacer_departure(const struct pacer *p)
{
	uint64_t by_schedule, by_burst;

	if (!p->rate)
		return 0;
	by_schedule = scheduled(p);
	by_burst = p->limit - PACER_BURST_NS;
	return by_schedule > by_burst ? by_schedule : by_burst;
}

bool pacer_due(struct pacer *p, uint64_t now)
{
	uint64_t overdue;

	if (!p->rate)
		return true;
	if (now < pacer_departure(p))
		return false;
	overdue = now - scheduled(p);
	if (overdue > PACER_BACKLOG_NS) {
		p->start += overdue - PACER_BACKLOG_NS;
		p->slipped_ns += overdue - PACER_BACKLOG_NS;
	}
	return true;
}

void pacer_sent(struct pacer *p, uint64_t units, uint64_t now)
{
	p->units += units;
	if (!p->rate)
		return;
	if (p->limit < now)
		p->limit = now;
	p->limit += duration_ns(units, 2 * p->rate);
}

void pacer_end(struct pacer *p, uint64_t now)
{
	if (p->rate && now > scheduled(p) + 2 * PACER_BURST_NS)
		p->slipped_ns += now - scheduled(p);
}

void pacer_precise_sleep(void)
{
	prctl(PR_SET_TIMERSLACK, 1ul);
}
