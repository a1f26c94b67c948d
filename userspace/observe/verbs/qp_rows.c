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
	const char *name, *words, *brief;
} blind[] = {
	[VERBS_SEEN] = { "seen", "its calls are counted", "" },
	[VERBS_NOT_ASKED] = { "not_asked", "its calls are not counted (--calls)", "" },
	[VERBS_KERNEL_USER] = { "kernel_user", "the kernel's own QP: it makes no calls", "" },
	[VERBS_NO_PROVIDER] = { "no_provider", "no ibv_context was found in its process: it may have its own provider", "no provider found" },
	[VERBS_EXPENSIVE] = { "expensive", "each of its calls would be single-stepped (--expensive)", "needs --expensive" },
	[VERBS_NO_CALL] = { "no_call", "its PSN moves, and no call is seen: it posts by itself (DEVX, GPU, ...)", "posts by itself" },
	[VERBS_STOPPED] = { "stopped", "the probes cost more than --most", "probes stopped" },
	[VERBS_REFUSED] = { "refused", "the system refuses the probes", "probes refused" },
	[VERBS_PASSIVE] = { "passive", "it makes no calls: the passive side of WRITE and READ does not", "" },
};

const char *qp_blind_name(enum verbs_blind b)
{
	return b < ARRAY_SIZE(blind) ? blind[b].name : "?";
}

const char *qp_blind_words(enum verbs_blind b)
{
	return b < ARRAY_SIZE(blind) ? blind[b].words : "?";
}

const char *qp_blind_brief(enum verbs_blind b)
{
	return b < ARRAY_SIZE(blind) ? blind[b].brief : "?";
}

bool qp_is_unseen(const struct verbs_qp *q)
{
	return *qp_blind_brief(q->blind);
}

/* ---- how a QP is ---- */

bool qp_has_failed(const struct verbs_qp *q)
{
	return q->has_calls && q->calls.error_time && q->calls.error_status != WC_SUCCESS &&
	       q->calls.error_status != WC_WR_FLUSH_ERR;
}

__u64 qp_outstanding(const struct verbs_qp *q)
{
	return q->has_calls && q->calls.tail > q->calls.head ? q->calls.tail - q->calls.head : 0;
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

struct qp_figures {
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

static struct qp_figures remember(const struct verbs_qp *q)
{
	const struct verbs_calls *c = &q->calls;
	struct qp_figures b = { .qpn = q->qp.qpn, .first_seen = q->first_seen, .has_calls = q->has_calls };

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
	const struct qp_figures *x = a, *y = b;

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

static const struct qp_figures *find(const struct qp_reading *r, const struct qp_figures *q)
{
	return r->count ? bsearch(q, r->qps, r->count, sizeof(*q), by_identity) : NULL;
}

static struct qp_row make_row(const struct qp_rows *r, const struct verbs_qp *q)
{
	struct qp_figures key = remember(q);
	const struct qp_figures *b = find(&r->before, &key), *n = find(&r->now, &key);
	struct qp_row row = qp_row(q, r->now.time);
	double seconds = (r->now.time - r->before.time) / 1e9;

	if (!b || !n || !b->has_calls || !n->has_calls || seconds <= 0)
		return row;
	row.has_rates = true;
	row.wrs = rate(n->wrs, b->wrs, seconds);
	row.bits = rate(n->bytes, b->bytes, seconds) * 8;
	row.received = rate(n->received, b->received, seconds);
	row.received_bits = rate(n->received_bytes, b->received_bytes, seconds) * 8;
	if (row.condition == QP_IDLE && (row.wrs > 0 || row.received > 0 || n->completions > b->completions))
		row.condition = QP_BUSY;
	return row;
}

static void forget(struct qp_reading *r)
{
	free(r->qps);
	*r = (struct qp_reading){ 0 };
}

static bool take_reading(struct qp_reading *r, const struct verbs_qp *const *list, size_t count, __u64 now)
{
	*r = (struct qp_reading){ .qps = calloc(count + 1, sizeof(*r->qps)), .count = count, .time = now };
	if (!r->qps) {
		r->count = 0;
		return false;
	}
	for (size_t i = 0; i < count; i++)
		r->qps[i] = remember(list[i]);
	qsort(r->qps, count, sizeof(*r->qps), by_identity);
	return true;
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

bool qp_rows_again(struct qp_rows *r, const struct verbs_qp *const *list, size_t count, const struct filter *filter)
{
	free(r->row);
	r->row = calloc(count + 1, sizeof(*r->row));
	r->of = r->row ? count : 0;
	memset(r->condition, 0, sizeof(r->condition));
	for (size_t i = 0; i < r->of; i++) {
		r->row[i] = make_row(r, list[i]);
		r->condition[r->row[i].condition]++;
	}
	qp_rows_filter(r, filter);
	return r->row;
}

bool qp_rows_update(struct qp_rows *r, const struct verbs_qp *const *list, size_t count, const struct filter *filter, __u64 now)
{
	bool good;

	forget(&r->before);
	r->before = r->now;
	good = take_reading(&r->now, list, count, now);
	return qp_rows_again(r, list, count, filter) && good;
}

void qp_rows_free(struct qp_rows *r)
{
	free(r->row);
	forget(&r->before);
	forget(&r->now);
	*r = (struct qp_rows){ 0 };
}
