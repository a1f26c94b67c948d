// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/faults.h"

/* Whether sequence events are faults. They are not where missing packets cannot be recognized. */
static bool is_judged(bool trusted, enum roce_service service)
{
	return trusted && service != SERVICE_UD;
}

/* A packet waits for the next ones to say whether it is a stray. It is an event already; no counter has it yet. */
static bool has_waiting(const struct roce_stream *s)
{
	return is_judged(s->trusted, s->service) && (s->probation == PROBATION_GAP || s->probation == PROBATION_ELSEWHERE);
}

/* ---- events ---- */

__u32 faults_of_event(__u32 kinds, bool trusted, enum roce_service service)
{
	kinds &= FAULT_EVENTS;
	return is_judged(trusted, service) ? kinds : kinds & ~ROCE_EVENTS_OF_SEQUENCE;
}

void faults_count(struct roce_stream *s, const struct roce_event *e, __u32 kinds)
{
	__u64 *v = s->counters.value;

#define EVENT(...)
#define ADDS(event, counter, n) v[COUNTER_##counter] += kinds & ROCE_EVENT(event) ? (n) : 0;
#include "roce/event/event.def"
#undef EVENT
	for (int i = 0; i < ROCE_LINTS; i++)
		stream_lint_add(&s->lint[i], kinds & ROCE_EVENT(lint) && e->lints >> i & 1);
}

/* ---- counters ---- */

/* The counter, and its sum over the streams of --udp. */
static void add_counter(struct faults *f, enum roce_counter c)
{
	f->counter[c] = true;
	for (int i = 0; i < ROCE_COUNTERS; i++)
		f->counter[i] |= counter_sums[i].is_sum && counter_sums[i].service == SERVICE_UDP && counter_sums[i].counter == c;
}

struct faults faults_default(void)
{
	struct faults f = { 0 };

	for (int c = 0; c < ROCE_COUNTERS; c++)
		if (counter_facts[c].severity == SEVERITY_FAULT)
			add_counter(&f, c);
	return f;
}

bool faults_highlights(enum roce_counter c)
{
	return counter_facts[counter_sums[c].service == SERVICE_UDP ? counter_sums[c].counter : c].red;
}

/* The place of a name in a list of them, -1: it has none. */
static int find_name(const char *const *names, int count, const char *name, size_t length)
{
	for (int i = 0; i < count; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], name, length))
			return i;
	return -1;
}

static bool is_word(const char *word, const char *name, size_t length)
{
	return !find_name(&word, 1, name, length);
}

static bool add_name(struct faults *f, const char *name, size_t length)
{
	int counter = find_name(counter_names, ROCE_COUNTERS, name, length), lint = find_name(lint_names, ROCE_LINTS, name, length);
	bool refused = f->receives && is_word("refused", name, length), incomplete = f->receives && is_word("incomplete", name, length);

	if (is_word("lint", name, length))
		counter = COUNTER_lints;
	if (counter >= 0)
		add_counter(f, counter);
	if (lint >= 0)
		f->lint[lint] = true;
	f->refused |= refused;
	f->incomplete |= incomplete;
	return counter >= 0 || lint >= 0 || refused || incomplete;
}

bool faults_parse(struct faults *f, const char *list, const char **bad)
{
	*f = (struct faults){ .receives = f->receives };
	for (const char *name = list;; name++) {
		size_t length = strcspn(name, ",");

		*bad = name;
		if (!add_name(f, name, length))
			return false;
		name += length;
		if (!*name)
			return true;
	}
}

/* What the totals do not tell. */
static bool has_more(const struct faults *f, const struct roce_stream *s)
{
	if (f->counter[COUNTER_psn_strays] && has_waiting(s))
		return true;
	for (int i = 0; i < ROCE_LINTS; i++)
		if (f->lint[i] && s->lint[i] && !stream_is_habit(s, i))
			return true;
	return false;
}

bool faults_seen(const struct faults *f, const struct snapshot *s)
{
	for (int i = 0; i < ROCE_COUNTERS; i++)
		if (f->counter[i] && s->totals.value[i])
			return true;
	for (size_t i = 0; i < s->stream_count; i++)
		if (has_more(f, &s->streams[i].stream))
			return true;
	return false;
}

bool faults_rose(const struct roce_stream *s, const struct roce_stream *before)
{
	for (int c = 0; c < ROCE_STREAM_COUNTERS; c++)
		if (counter_facts[c].severity && s->counters.value[c] > (before ? before->counters.value[c] : 0))
			return true;
	for (int i = 0; i < ROCE_LINTS; i++)
		if (s->lint[i] > (before ? before->lint[i] : 0) && !stream_is_habit(s, i))
			return true;
	return false;
}

/* ---- streams ---- */

struct fault_rank fault_rank(const struct roce_stream *s)
{
	struct fault_rank r = { .packets = snapshot_packets(s), .lesser = has_waiting(s) };
	bool judged = is_judged(s->trusted, s->service);

	for (int c = 0; c < ROCE_STREAM_COUNTERS; c++) {
		const struct counter_facts *facts = &counter_facts[c];
		/* the counter is up to date only in a finished snapshot */
		__u64 n = c == COUNTER_psn_lost ? snapshot_lost(&s->counters) : s->counters.value[c];

		if (facts->scope != SCOPE_PACKET && !judged)
			continue;
		r.faults += facts->severity == SEVERITY_FAULT ? n : 0;
		r.lesser += facts->severity == SEVERITY_LESSER ? n : 0;
	}
	for (int i = 0; i < ROCE_LINTS; i++)
		r.lesser += stream_is_habit(s, i) ? 0 : s->lint[i];
	return r;
}

static int more_first(__u64 a, __u64 b)
{
	return a > b ? -1 : a < b;
}

int fault_rank_compare(const struct fault_rank *a, const struct fault_rank *b)
{
	return more_first(a->faults, b->faults) ?: more_first(a->lesser, b->lesser) ?: more_first(a->packets, b->packets);
}
