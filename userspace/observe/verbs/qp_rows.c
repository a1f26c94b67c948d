// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "userspace/observe/verbs/qp_filter.h"
#include "userspace/observe/verbs/qp_rows.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum { STATE_SQE = 5, STATE_ERR = 6 }; /* enum ib_qp_state */
enum { WC_SUCCESS = 0, WC_WR_FLUSH_ERR = 5 }; /* enum ibv_wc_status */

const char *const qp_condition_names[QP_CONDITIONS] = {
	[QP_ERROR] = "error", [QP_STALLED] = "stalled", [QP_BUSY] = "busy", [QP_IDLE] = "idle", [QP_ENDED] = "ended",
};

const char *const verbs_counter_names[VERBS_COUNTERS] = {
#define VERBS_COUNTER(name, unit, words) #name,
#include "bpf/verbs_counter.def"
#undef VERBS_COUNTER
};

const char *const verbs_counter_words[VERBS_COUNTERS] = {
#define VERBS_COUNTER(name, unit, words) words,
#include "bpf/verbs_counter.def"
#undef VERBS_COUNTER
};

const char *const verbs_counter_units[VERBS_COUNTERS] = {
#define VERBS_COUNTER(name, unit, words) unit,
#include "bpf/verbs_counter.def"
#undef VERBS_COUNTER
};

static const struct {
	const char *name, *words;
} blind[] = {
	[VERBS_SEEN] = { "seen", "its calls are counted" },
	[VERBS_NOT_ASKED] = { "not_asked", "its calls are not counted (--calls)" },
	[VERBS_KERNEL_USER] = { "kernel_user", "the kernel's own QP: it makes no calls" },
	[VERBS_NO_PROVIDER] = { "no_provider", "no ibv_context was found in its process: it may have its own provider" },
	[VERBS_EXPENSIVE] = { "expensive", "each of its calls would be single-stepped (--expensive)" },
	[VERBS_NO_CALL] = { "no_call", "its PSN moves, and no call is seen: it posts by itself (DEVX, GPU, ...)" },
	[VERBS_STOPPED] = { "stopped", "the probes cost more than --most" },
	[VERBS_REFUSED] = { "refused", "the system refuses the probes" },
	[VERBS_PASSIVE] = { "passive", "it makes no calls: the passive side of WRITE and READ does not" },
};

const char *qp_blind_name(enum verbs_blind b)
{
	return b < ARRAY_SIZE(blind) ? blind[b].name : "?";
}

const char *qp_blind_words(enum verbs_blind b)
{
	return b < ARRAY_SIZE(blind) ? blind[b].words : "?";
}

/* ---- how a QP is ---- */

bool qp_has_failed(const struct verbs_qp *q)
{
	return q->has_calls && q->calls.error_time && q->calls.error_status != WC_SUCCESS &&
	       q->calls.error_status != WC_WR_FLUSH_ERR;
}

__u64 qp_outstanding(const struct verbs_qp *q)
{
	__u64 posted = q->calls.count[VERBS_wrs], taken = q->calls.resolved + q->calls.count[VERBS_wrs_refused];

	return q->has_calls && posted > taken ? posted - taken : 0;
}

static __u64 waits(const struct verbs_qp *q, __u64 now)
{
	return q->has_calls && !q->gone && q->calls.oldest_post && now > q->calls.oldest_post ? now - q->calls.oldest_post : 0;
}

enum qp_condition qp_condition(const struct verbs_qp *q, bool moved, __u64 now)
{
	if (qp_has_failed(q))
		return QP_ERROR;
	if (q->gone || q->qp.state == HOST_QP_GONE)
		return QP_ENDED;
	if (q->qp.state == STATE_ERR || q->qp.state == STATE_SQE)
		return QP_ERROR;
	if (waits(q, now) >= QP_STALLED_NS)
		return QP_STALLED;
	return moved ? QP_BUSY : QP_IDLE;
}

__u64 qp_latency(const struct verbs_calls *c, double share)
{
	__u64 sum = 0;

	for (int i = 0; i < VERBS_LATENCY; i++) {
		__u64 end = (2ull << i) - 1;

		sum += c->latency[i];
		if (sum && sum >= share * c->latency_count)
			return end < c->latency_most ? end : c->latency_most;
	}
	return sum ? c->latency_most : 0;
}

/* ---- rates ---- */

struct qp_before {
	char device[HOST_NAME];
	__u32 qpn;
	__u64 first_seen; /* a QPN is used again */
	bool has_calls;
	__u64 wrs, bytes, completions, received, received_bytes;
};

static __u64 sum(const __u64 *of, size_t count)
{
	__u64 all = 0;

	for (size_t i = 0; i < count; i++)
		all += of[i];
	return all;
}

static struct qp_before remember(const struct verbs_qp *q)
{
	const struct verbs_calls *c = &q->calls;
	struct qp_before b = { .qpn = q->qp.qpn, .first_seen = q->first_seen, .has_calls = q->has_calls };

	memcpy(b.device, q->qp.device, sizeof(b.device));
	if (!q->has_calls)
		return b;
	b.wrs = c->count[VERBS_wrs] - c->count[VERBS_wrs_refused];
	b.completions = c->count[VERBS_completions];
	b.bytes = sum(c->bytes, VERBS_OPCODES);
	b.received = sum(c->received, 2);
	b.received_bytes = sum(c->received_bytes, 2);
	return b;
}

static int by_identity(const void *a, const void *b)
{
	const struct qp_before *x = a, *y = b;

	if (strcmp(x->device, y->device))
		return strcmp(x->device, y->device);
	if (x->qpn != y->qpn)
		return x->qpn < y->qpn ? -1 : 1;
	return x->first_seen < y->first_seen ? -1 : x->first_seen > y->first_seen;
}

static double rate(__u64 now, __u64 before, double seconds)
{
	return now > before ? (now - before) / seconds : 0;
}

struct qp_row qp_row(const struct verbs_qp *q, __u64 now)
{
	return (struct qp_row){ .qp = q, .outstanding = qp_outstanding(q), .waits = waits(q, now),
				.condition = qp_condition(q, q->psn_moved, now) };
}

static struct qp_row make_row(const struct qp_rows *r, const struct verbs_qp *q, __u64 now)
{
	struct qp_before here = remember(q);
	const struct qp_before *b = r->before ? bsearch(&here, r->before, r->before_count, sizeof(here), by_identity) : NULL;
	struct qp_row row = qp_row(q, now);
	double seconds = (now - r->time) / 1e9;
	bool moved = q->psn_moved;

	if (b && b->has_calls && here.has_calls && now > r->time) {
		row.has_rates = true;
		row.wrs = rate(here.wrs, b->wrs, seconds);
		row.bits = rate(here.bytes, b->bytes, seconds) * 8;
		row.received = rate(here.received, b->received, seconds);
		row.received_bits = rate(here.received_bytes, b->received_bytes, seconds) * 8;
		moved |= row.wrs > 0 || row.received > 0 || here.completions > b->completions;
	}
	row.condition = qp_condition(q, moved, now);
	return row;
}

/* ---- rows ---- */

/* Those that are wanted come before the others. Equal ones are ordered by device and QPN, so that rows stay where they are. */
static int worst_first(const void *a, const void *b)
{
	const struct qp_row *x = a, *y = b;
	double more = y->bits + y->received_bits - x->bits - x->received_bits;

	if (x->wanted != y->wanted)
		return x->wanted ? -1 : 1;
	if (x->condition != y->condition)
		return x->condition < y->condition ? -1 : 1;
	if (more != 0)
		return more > 0 ? 1 : -1;
	if (x->waits != y->waits)
		return x->waits > y->waits ? -1 : 1;
	return strcmp(x->qp->qp.device, y->qp->qp.device) ?: x->qp->qp.qpn < y->qp->qp.qpn ? -1 : x->qp->qp.qpn > y->qp->qp.qpn;
}

void qp_rows_filter(struct qp_rows *r, const struct filter *filter)
{
	r->count = 0;
	for (size_t i = 0; i < r->of; i++) {
		r->row[i].wanted = qp_filter_wants(filter, &r->row[i]);
		r->count += r->row[i].wanted;
	}
	if (r->of)
		qsort(r->row, r->of, sizeof(*r->row), worst_first);
}

bool qp_rows_update(struct qp_rows *r, const struct verbs_qp *const *list, size_t count, const struct filter *filter, __u64 now)
{
	struct qp_row *all = calloc(count + 1, sizeof(*all));
	struct qp_before *before = calloc(count + 1, sizeof(*before));
	bool good = all && before;

	for (size_t i = 0; i < count && good; i++) {
		all[i] = make_row(r, list[i], now);
		before[i] = remember(list[i]);
	}
	if (good)
		qsort(before, count, sizeof(*before), by_identity);
	free(r->before);
	r->before = before;
	r->before_count = good ? count : 0;
	r->time = now;
	r->of = good ? count : 0;
	free(r->row);
	r->row = all;
	memset(r->condition, 0, sizeof(r->condition));
	for (size_t i = 0; i < r->of; i++)
		r->condition[all[i].condition]++;
	qp_rows_filter(r, filter);
	return good;
}

void qp_rows_free(struct qp_rows *r)
{
	free(r->row);
	free(r->before);
	*r = (struct qp_rows){ 0 };
}
