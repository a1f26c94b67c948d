// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters of streams: their terms, and whether these hold. */
#include <stdlib.h>

#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/filter.h"

enum { ADDRESS, QPN, SERVICE, SIDE, FAULTY, UNTRUSTED, COUNTER, LINT, PACKETS, CLASSES };
enum { END_SRC = 1, END_DST = 2 };

static const struct filter_word words[] = {
	{ "rc", SERVICE, SERVICE_RC, false }, { "uc", SERVICE, SERVICE_UC, false }, { "rd", SERVICE, SERVICE_RD, false },
	{ "ud", SERVICE, SERVICE_UD, false }, { "xrc", SERVICE, SERVICE_XRC, false }, { "udp", SERVICE, SERVICE_UDP, false },
	{ "request", SIDE, SIDE_REQUEST, false }, { "response", SIDE, SIDE_RESPONSE, false },
	{ "faulty", FAULTY, 0, false }, { "untrusted", UNTRUSTED, 0, false }, { "packets", PACKETS, 0, true }, { "lint", LINT, ROCE_LINTS, true },
	{ "classes", CLASSES, 0, true },
	{ "lost", COUNTER, COUNTER_psn_lost, true }, { "gap", COUNTER, COUNTER_psn_gaps, true }, { "gaps", COUNTER, COUNTER_psn_gaps, true },
	{ "skipped", COUNTER, COUNTER_psn_skipped, true }, { "recovered", COUNTER, COUNTER_psn_recovered, true },
	{ "dup", COUNTER, COUNTER_psn_duplicates, true }, { "duplicate", COUNTER, COUNTER_psn_duplicates, true },
	{ "duplicates", COUNTER, COUNTER_psn_duplicates, true }, { "resync", COUNTER, COUNTER_psn_resyncs, true },
	{ "resyncs", COUNTER, COUNTER_psn_resyncs, true }, { "icrc", COUNTER, COUNTER_icrc_bad, true },
	{ "badicrc", COUNTER, COUNTER_icrc_bad, true }, { "broken", COUNTER, COUNTER_messages_broken, true },
	{ "imm", COUNTER, COUNTER_imm_gaps, true }, { "ack", COUNTER, COUNTER_acks, true }, { "nak", COUNTER, COUNTER_naks, true },
	{ "rnr", COUNTER, COUNTER_rnr_naks, true }, { "cnp", COUNTER, COUNTER_cnps, true }, { "ecn", COUNTER, COUNTER_ecn_ce, true },
	{ "ce", COUNTER, COUNTER_ecn_ce, true }, { "unknown", COUNTER, COUNTER_unknown_opcodes, true },
#define LINT(name, ...) { #name, LINT, LINT_##name, true },
#include "roce/stream/lint.def"
#undef LINT
	{ "psn_lost", COUNTER, COUNTER_psn_lost, true },
	/* counters of scope FRAME do not belong to streams */
#define FRAME(name)
#define PACKET(name) { #name, COUNTER, COUNTER_##name, true },
#define STREAM(name) { #name, COUNTER, COUNTER_##name, true },
#define SEEN(name) { #name, COUNTER, COUNTER_##name, true },
#define REPORT(name)
#define COUNTER(name, unit, kind, scope, ...) scope(name)
#include "roce/stream/counters.def"
#undef COUNTER
#undef FRAME
#undef PACKET
#undef STREAM
#undef SEEN
#undef REPORT
};

#define QPN_VALUE "QPN", "qpn=258", "QPN: those have 24 bits, and flows of --udp 32"

static const struct filter_named named[] = {
	{ "src", ADDRESS, FILTER_TAKES_ADDRESS, END_SRC, "IP address", "src=10.9.0.1", NULL },
	{ "dst", ADDRESS, FILTER_TAKES_ADDRESS, END_DST, "IP address", "dst=10.9.0.2", NULL },
	{ "qpn", QPN, FILTER_TAKES_NUMBER, 0, QPN_VALUE },
	{ "service", SERVICE, FILTER_TAKES_WORD, 0, "service", "service=uc", NULL },
	{ "side", SIDE, FILTER_TAKES_WORD, 0, "side", "side=response", NULL },
};

static const struct filter_language language = {
	.words = words, .word_count = ROCE_ARRAY_SIZE(words),
	.named = named, .named_count = ROCE_ARRAY_SIZE(named),
	.address = { .kind = ADDRESS, .ends = END_SRC | END_DST },
	.number = { "", QPN, FILTER_TAKES_NUMBER, 0, QPN_VALUE },
	.term = "lost>0", .terms = "10.9.0.1, qpn=258 or lost>0",
};

struct filter *filter_parse(const char *text, char mistake[FILTER_MISTAKE])
{
	return filter_make(&language, text, mistake);
}

/* ---- evaluation ---- */

struct subject {
	const struct roce_key *key;
	const struct roce_stream *stream; /* NULL: only the addresses are known */
};

static bool has_address(const struct filter_term *t, const struct roce_key *key, const struct roce_stream *s)
{
	const __u8 *dst = s && key->kind == KEY_DATAGRAM ? s->ud.dst : key->dst;

	return (t->address.ends & END_SRC && filter_has_prefix(t, key->src)) ||
	       (t->address.ends & END_DST && filter_has_prefix(t, dst));
}

static bool has_qpn(__u32 qpn, const struct roce_key *key, const struct roce_stream *s)
{
	return key->qpn == qpn || (key->kind == KEY_DATAGRAM && s->ud.dqpn == qpn) || (s->pair.from && s->pair.peer_qpn == qpn);
}

static bool is_faulty(const struct roce_stream *s)
{
	struct fault_rank rank = fault_rank(s);

	return fault_rank_any(&rank) || !s->trusted;
}

static __u64 lints(const struct roce_stream *s, int which)
{
	__u64 sum = 0;

	if (which < ROCE_LINTS)
		return s->lint[which];
	for (int i = 0; i < ROCE_LINTS; i++)
		sum += s->lint[i];
	return sum;
}

static __u64 value(const struct filter_term *t, const struct roce_stream *s)
{
	if (t->kind == LINT)
		return lints(s, t->compared.which);
	if (t->kind == PACKETS)
		return snapshot_packets(s);
	if (t->kind == CLASSES)
		return s->class_changes;
	/* valid only in a finished snapshot */
	return t->compared.which == COUNTER_psn_lost ? snapshot_lost(&s->counters) : s->counters.value[t->compared.which];
}

static bool holds(const struct filter_term *t, const void *context)
{
	const struct subject *of = context;
	const struct roce_stream *s = of->stream;

	if (t->kind == ADDRESS)
		return has_address(t, of->key, s);
	if (!s)
		return false;
	switch (t->kind) {
	case QPN:
		return has_qpn(t->number, of->key, s);
	case SERVICE:
		return s->service == t->compared.which;
	case SIDE:
		return of->key->side == t->compared.which;
	case FAULTY:
		return is_faulty(s);
	case UNTRUSTED:
		return !s->trusted;
	default:
		return filter_compares(t, value(t, s));
	}
}

bool filter_wants_stream(const struct filter *f, const struct roce_key *key, const struct roce_stream *s)
{
	return filter_selects(f, holds, &(struct subject){ key, s });
}

bool filter_wants(const struct filter *f, const struct snapshot_stream *s)
{
	return filter_wants_stream(f, &s->key, &s->stream);
}

bool filter_snapshot(const struct filter *f, struct snapshot *s)
{
	if (!f)
		return true;
	s->filter = filter_text(f);
	s->shown = malloc((s->stream_count ?: 1) * sizeof(*s->shown));
	if (!s->shown)
		return false;
	for (size_t i = 0; i < s->stream_count; i++)
		if (filter_wants(f, &s->streams[i]))
			s->shown[s->shown_count++] = i;
	return true;
}
