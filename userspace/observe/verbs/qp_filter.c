// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "roce/packet/base.h"
#include "userspace/observe/verbs/qp_filter.h"
#include "userspace/observe/verbs/qp_rows.h"

enum { PEER, QPN, PID, DEVICE, PROGRAM, CONTAINER, TYPE, STATE, CONDITION, FAULTY, UNSEEN, COUNTER, OUTSTANDING };

/* Numbers of types and states: enum ib_qp_type, enum ib_qp_state (include/rdma/ib_verbs.h) */
static const struct filter_word words[] = {
	{ "rc", TYPE, 2, false }, { "uc", TYPE, 3, false }, { "ud", TYPE, 4, false }, { "xrc_ini", TYPE, 9, false },
	{ "xrc_tgt", TYPE, 10, false }, { "smi", TYPE, 0, false }, { "gsi", TYPE, 1, false }, { "raw_packet", TYPE, 8, false },
	{ "reset", STATE, 0, false }, { "init", STATE, 1, false }, { "rtr", STATE, 2, false }, { "rts", STATE, 3, false },
	{ "sqd", STATE, 4, false }, { "sqe", STATE, 5, false }, { "err", STATE, 6, false }, { "gone", STATE, HOST_QP_GONE, false },
	{ "error", CONDITION, QP_ERROR, false }, { "stalled", CONDITION, QP_STALLED, false }, { "busy", CONDITION, QP_BUSY, false },
	{ "idle", CONDITION, QP_IDLE, false }, { "ended", CONDITION, QP_ENDED, false },
	{ "faulty", FAULTY, 0, false }, { "unseen", UNSEEN, 0, false }, { "outstanding", OUTSTANDING, 0, true },
#define VERBS_COUNTER(name, unit, words) { #name, COUNTER, VERBS_##name, true },
#include "bpf/verbs_counter.def"
#undef VERBS_COUNTER
};

#define QPN_VALUE "QPN", "qpn=258", "QPN: those have 24 bits"

static const struct filter_named named[] = {
	{ "peer", PEER, FILTER_TAKES_ADDRESS, 0, "IP address", "peer=10.9.0.1", NULL },
	{ "qpn", QPN, FILTER_TAKES_NUMBER, 0, QPN_VALUE },
	{ "pid", PID, FILTER_TAKES_NUMBER, 0, "process", "pid=4711", "process: those have 22 bits" },
	{ "device", DEVICE, FILTER_TAKES_TEXT, 0, "name", "device=rxe0", NULL },
	{ "program", PROGRAM, FILTER_TAKES_TEXT, 0, "name", "program=ib_*", NULL },
	{ "container", CONTAINER, FILTER_TAKES_TEXT, 0, "name", "container=*ab12*", NULL },
	{ "type", TYPE, FILTER_TAKES_WORD, 0, "type", "type=rc", NULL },
	{ "state", STATE, FILTER_TAKES_WORD, 0, "state", "state=rts", NULL },
};

static const struct filter_language language = {
	.words = words, .word_count = ROCE_ARRAY_SIZE(words),
	.named = named, .named_count = ROCE_ARRAY_SIZE(named),
	.address = { .kind = PEER },
	.number = { "", QPN, FILTER_TAKES_NUMBER, 0, QPN_VALUE },
	.term = "stalled", .terms = "10.9.0.1, qpn=258 or stalled",
};

struct filter *qp_filter_parse(const char *text, char mistake[FILTER_MISTAKE])
{
	return filter_make(&language, text, mistake);
}

/* A QP that has gone has that state, and no other one. */
static __u8 state_of(const struct verbs_qp *q)
{
	return q->gone ? HOST_QP_GONE : q->qp.state;
}

static bool holds(const struct filter_term *t, const void *context)
{
	const struct qp_row *r = context;
	const struct verbs_qp *q = r->qp;

	switch (t->kind) {
	case PEER:
		return q->attributes.known & VERBS_KNOWS_PATH && filter_has_prefix(t, q->attributes.dgid);
	case QPN:
		return q->qp.qpn == t->number || (q->qp.peer_qpn && q->qp.peer_qpn == t->number);
	case PID:
		return q->qp.pid == t->number;
	case DEVICE:
		return filter_matches(t, q->qp.device);
	case PROGRAM:
		return filter_matches(t, q->qp.program);
	case CONTAINER:
		return filter_matches(t, q->container);
	case TYPE:
		return q->qp.type == t->compared.which;
	case STATE:
		return state_of(q) == t->compared.which;
	case CONDITION:
		return (int)r->condition == t->compared.which;
	case FAULTY:
		return r->condition == QP_ERROR || r->condition == QP_STALLED;
	case UNSEEN:
		return qp_is_unseen(q);
	case OUTSTANDING:
		return q->has_calls && filter_compares(t, r->outstanding);
	default:
		return q->has_calls && filter_compares(t, q->calls.count[t->compared.which]);
	}
}

bool qp_filter_wants(const struct filter *f, const struct qp_row *r)
{
	return filter_selects(f, holds, r);
}
