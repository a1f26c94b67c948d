// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/model/faults.h"
#include "userspace/model/snapshot.h"

/* Whether sequence events are faults. They are not where missing packets cannot be recognized. */
static bool is_judged(bool trusted, enum roce_service service)
{
	return trusted && service != SERVICE_UD;
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

#define ADD(event, counter, n) v[COUNTER_##counter] += kinds & ROCE_EVENT(event) ? (n) : 0
	ADD(psn_gap, psn_gaps, 1);
	ADD(psn_gap, psn_skipped, e->skipped);
	ADD(psn_gap, psn_lost, e->skipped);
	ADD(psn_recovered, psn_recovered, e->recovered);
	ADD(psn_duplicate, psn_duplicates, 1);
	ADD(psn_resync, psn_resyncs, 1);
	ADD(psn_stray, psn_strays, 1);
	ADD(message_broken, messages_broken, e->broken);
	ADD(imm_gap, imm_gaps, 1);
	ADD(imm_gap, imm_skipped, e->imm_skipped);
	ADD(imm_gap, blocks_missing, e->imm_skipped);
	ADD(block_incomplete, blocks_incomplete, 1);
	ADD(icrc_bad, icrc_bad, 1);
	ADD(unknown_opcode, unknown_opcodes, 1);
	ADD(nak, naks, 1);
	ADD(rnr_nak, rnr_naks, 1);
#undef ADD
	for (int i = 0; i < ROCE_LINTS; i++)
		stream_lint_add(&s->lint[i], kinds & ROCE_EVENT(lint) && e->lints >> i & 1);
}

/* ---- counters ---- */

/* All counters of faults. */
static const struct fault_counter {
	enum roce_counter counter;
	enum { FAULT, LESSER, SIGN /* SIGN: another counter already counts the fault itself */ } weight;
	bool sequence; /* only for streams that are judged */
} table[] = {
	{ COUNTER_psn_lost, FAULT, true },
	{ COUNTER_messages_broken, FAULT, true },
	{ COUNTER_psn_resyncs, FAULT, true },
	{ COUNTER_icrc_bad, FAULT, false },
	{ COUNTER_unknown_opcodes, FAULT, false },
	{ COUNTER_malformed, FAULT, false },
	{ COUNTER_psn_gaps, LESSER, true },
	{ COUNTER_psn_duplicates, LESSER, true },
	{ COUNTER_psn_strays, LESSER, true },
	{ COUNTER_psn_interleaved, LESSER, true },
	{ COUNTER_imm_gaps, LESSER, true },
	{ COUNTER_naks, LESSER, false },
	{ COUNTER_rnr_naks, LESSER, false },
	{ COUNTER_psn_recovered, SIGN, true },
	{ COUNTER_blocks_incomplete, LESSER, true },
	{ COUNTER_blocks_missing, SIGN, true },
};

struct faults faults_default(void)
{
	struct faults f = { 0 };

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(table); i++)
		f.counter[table[i].counter] = table[i].weight == FAULT;
	return f;
}

bool faults_highlights(enum roce_counter c)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(table); i++)
		if (table[i].counter == c && table[i].weight == FAULT)
			return true;
	switch (c) {
	case COUNTER_naks:
	case COUNTER_rnr_naks:
	case COUNTER_imm_skipped:
	case COUNTER_blocks_incomplete:
	case COUNTER_blocks_missing:
	case COUNTER_ip_fragments:
	case COUNTER_ring_missed:
	case COUNTER_untracked_packets:
	case COUNTER_streams_evicted:
	case COUNTER_events_lost:
		return true;
	default:
		return false;
	}
}

static int find_counter(const char *name, size_t length)
{
	for (int i = 0; i < ROCE_COUNTERS; i++)
		if (strlen(counter_names[i]) == length && !memcmp(counter_names[i], name, length))
			return i;
	return -1;
}

bool faults_parse(struct faults *f, const char *list, const char **bad)
{
	*f = (struct faults){};
	for (const char *name = list;; name++) {
		size_t length = strcspn(name, ",");
		int counter = find_counter(name, length);

		*bad = name;
		if (counter < 0)
			return false;
		f->counter[counter] = true;
		name += length;
		if (!*name)
			return true;
	}
}

bool faults_seen(const struct faults *f, const struct roce_totals *totals)
{
	for (int i = 0; i < ROCE_COUNTERS; i++)
		if (f->counter[i] && totals->value[i])
			return true;
	return false;
}

bool faults_rose(const struct roce_stream *s, const struct roce_stream *before)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(table); i++) {
		enum roce_counter c = table[i].counter;

		if (roce_counter(&s->counters, c) > (before ? roce_counter(&before->counters, c) : 0))
			return true;
	}
	for (int i = 0; i < ROCE_LINTS; i++)
		if (s->lint[i] > (before ? before->lint[i] : 0) && !stream_is_habit(s, i))
			return true;
	return false;
}

/* ---- streams ---- */

struct fault_rank fault_rank(const struct roce_stream *s)
{
	struct fault_rank r = { .packets = snapshot_packets(s) };
	bool judged = is_judged(s->trusted, s->service);

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(table); i++) {
		enum roce_counter c = table[i].counter;
		/* the counter is up to date only in a finished snapshot */
		__u64 n = c == COUNTER_psn_lost ? snapshot_lost(&s->counters) : roce_counter(&s->counters, c);

		if (table[i].sequence && !judged)
			continue;
		r.faults += table[i].weight == FAULT ? n : 0;
		r.lesser += table[i].weight == LESSER ? n : 0;
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
