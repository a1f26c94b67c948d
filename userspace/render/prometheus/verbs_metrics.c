// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "userspace/render/prometheus/metrics.h"
#include "userspace/render/prometheus/text.h"
#include "userspace/render/prometheus/verbs_metrics.h"

#define STATES 8 /* enum ib_qp_state, and those that have gone */
#define GONE 7

/* The QPs of a device together. */
struct sums {
	__u64 states[STATES], conditions[QP_CONDITIONS], outstanding, unseen;
	__u64 counters[VERBS_COUNTERS], statuses[VERBS_STATUSES], latency[VERBS_LATENCY], latency_sum;
};

struct writer {
	FILE *out;
	const struct verbs_shown *shown;
	struct verbs_metrics_memory *memory;
	struct sums *sums; /* of memory->devices */
};

/* ---- sums by device ---- */

/* The device's place; VERBS_METRICS_DEVICES: there is no room. */
static size_t find_device(struct verbs_metrics_memory *m, const char *name)
{
	size_t i = 0;

	while (i < m->count && strcmp(m->devices[i].name, name))
		i++;
	if (i == m->count && i < VERBS_METRICS_DEVICES)
		snprintf(m->devices[m->count++].name, HOST_NAME, "%s", name);
	return i;
}

static void add_all(__u64 *to, const __u64 *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] += from[i];
}

static void add(struct sums *to, const struct qp_row *r)
{
	const struct verbs_qp *q = r->qp;
	const struct verbs_calls *c = &q->calls;

	to->states[q->gone ? GONE : q->qp.state < GONE ? q->qp.state : GONE]++;
	to->conditions[r->condition]++;
	to->unseen += qp_is_unseen(q);
	if (!q->has_calls)
		return;
	to->outstanding += q->gone ? 0 : r->outstanding;
	add_all(to->counters, c->count, VERBS_COUNTERS);
	add_all(to->statuses, c->status, VERBS_STATUSES);
	add_all(to->latency, c->latency, VERBS_LATENCY);
	to->latency_sum += c->latency_sum;
}

static void sum_up(struct writer *w)
{
	const struct qp_rows *r = w->shown->rows;

	for (size_t i = 0; i < r->of; i++) {
		size_t device = find_device(w->memory, r->row[i].qp->qp.device);

		if (device < VERBS_METRICS_DEVICES)
			add(&w->sums[device], &r->row[i]);
	}
}

static struct text_labels label_device(const struct writer *w, size_t device)
{
	struct text_labels l = { "" };

	text_label(&l, "device", w->memory->devices[device].name);
	return l;
}

/* A figure of each device with one more label. `skip`: those that are 0 are left out. */
static void write_by(const struct writer *w, const char *name, const char *label, const char *value, size_t device, __u64 n)
{
	struct text_labels l = label_device(w, device);

	text_label(&l, label, value);
	text_count(w->out, name, l.text, n);
}

static void write_states(const struct writer *w)
{
	text_family(w->out, "verbs_qps", "gauge", "queue pairs by state; GONE: destroyed a short while ago");
	for (size_t d = 0; d < w->memory->count; d++)
		for (int i = 0; i < STATES; i++)
			write_by(w, "verbs_qps", "state", host_state_name(i == GONE ? HOST_QP_GONE : i), d, w->sums[d].states[i]);
	text_family(w->out, "verbs_qps_by_condition", "gauge", "queue pairs by how they are");
	for (size_t d = 0; d < w->memory->count; d++)
		for (int i = 0; i < QP_CONDITIONS; i++)
			write_by(w, "verbs_qps_by_condition", "condition", qp_condition_names[i], d, w->sums[d].conditions[i]);
}

static void write_counters(const struct writer *w)
{
	char name[64];

	for (int i = 0; i < VERBS_COUNTERS; i++) {
		snprintf(name, sizeof(name), "verbs_%s_total", verbs_counter_names[i]);
		text_family(w->out, name, "counter", verbs_counter_words[i]);
		for (size_t d = 0; d < w->memory->count; d++)
			text_count(w->out, name, label_device(w, d).text,
				   memory_add(&w->memory->devices[d].counters[i], w->sums[d].counters[i]));
	}
}

static void write_statuses(const struct writer *w)
{
	text_family(w->out, "verbs_statuses_total", "counter", "completions by their status");
	for (size_t d = 0; d < w->memory->count; d++) {
		for (int i = 0; i < VERBS_STATUSES; i++) {
			__u64 n = memory_add(&w->memory->devices[d].statuses[i], w->sums[d].statuses[i]);
			char number[16];

			snprintf(number, sizeof(number), "%d", i);
			if (n)
				write_by(w, "verbs_statuses_total", "status", strcmp(verbs_status_name(i), "?") ? verbs_status_name(i) : number,
					 d, n);
		}
	}
}

static void write_latency(const struct writer *w)
{
	text_family(w->out, "verbs_latency_seconds", "histogram", "from post to completion, of signalled requests that succeeded");
	for (size_t d = 0; d < w->memory->count; d++) {
		struct verbs_metrics_device *of = &w->memory->devices[d];
		char end[32];
		__u64 n = 0;

		for (int i = 0; i < VERBS_LATENCY; i++) {
			n += memory_add(&of->latency[i], w->sums[d].latency[i]);
			if (i < 8 || i % 2 == 0) /* nothing completes within 512 ns; two buckets are one */
				continue;
			snprintf(end, sizeof(end), "%.9f", (2ull << i) / 1e9);
			write_by(w, "verbs_latency_seconds_bucket", "le", end, d, n);
		}
		write_by(w, "verbs_latency_seconds_bucket", "le", "+Inf", d, n);
		text_seconds(w->out, "verbs_latency_seconds_sum", label_device(w, d).text, memory_add(&of->latency_sum, w->sums[d].latency_sum));
		text_count(w->out, "verbs_latency_seconds_count", label_device(w, d).text, n);
	}
}

static void write_calls(const struct writer *w)
{
	write_counters(w);
	write_statuses(w);
	write_latency(w);
	text_family(w->out, "verbs_outstanding", "gauge", "requests posted and not known to be completed");
	for (size_t d = 0; d < w->memory->count; d++)
		text_count(w->out, "verbs_outstanding", label_device(w, d).text, w->sums[d].outstanding);
	text_family(w->out, "verbs_qps_unseen", "gauge", "queue pairs whose calls should be counted, and are not");
	for (size_t d = 0; d < w->memory->count; d++)
		text_count(w->out, "verbs_qps_unseen", label_device(w, d).text, w->sums[d].unseen);
}

static void write_cost(FILE *out, const struct verbs_cost *c)
{
	if (!c)
		return;
	text_gauge(out, "verbs_probes_stopped", "1: the probes have cost more than --most, and were taken away", c->stopped);
	text_gauge(out, "verbs_probed_calls_per_second", "calls with a probe in the last interval", c->calls);
	text_family(out, "verbs_probe_seconds", "gauge", "what a probe costs, about");
	text_seconds(out, "verbs_probe_seconds", "", c->ns);
}

/* ---- single QPs ---- */

static struct text_labels label_qp(const struct verbs_qp *q)
{
	struct text_labels l = { "" };

	text_label(&l, "device", q->qp.device);
	text_label_number(&l, "qpn", q->qp.qpn);
	text_label_number(&l, "pid", q->qp.pid);
	return l;
}

static void write_info(const struct writer *w, size_t count)
{
	text_family(w->out, "verbs_qp_info", "gauge", "what is known of a queue pair; always 1");
	for (size_t i = 0; i < count; i++) {
		const struct qp_row *r = &w->shown->rows->row[i];
		struct text_labels l = label_qp(r->qp);

		text_label(&l, "type", host_type_name(r->qp->qp.type));
		text_label(&l, "state", host_state_name(r->qp->gone ? HOST_QP_GONE : r->qp->qp.state));
		text_label(&l, "condition", qp_condition_names[r->condition]);
		text_label(&l, "program", r->qp->qp.program);
		text_label(&l, "container", r->qp->container);
		text_label(&l, "peer", verbs_peer(r->qp).text);
		text_label(&l, "calls", qp_blind_name(r->qp->blind));
		text_count(w->out, "verbs_qp_info", l.text, 1);
	}
}

static void write_qp_counters(const struct writer *w, size_t count)
{
	char name[64];

	for (int c = 0; c < VERBS_COUNTERS; c++) {
		snprintf(name, sizeof(name), "verbs_qp_%s_total", verbs_counter_names[c]);
		text_family(w->out, name, "counter", verbs_counter_words[c]);
		for (size_t i = 0; i < count; i++)
			if (w->shown->rows->row[i].qp->has_calls)
				text_count(w->out, name, label_qp(w->shown->rows->row[i].qp).text, w->shown->rows->row[i].qp->calls.count[c]);
	}
	text_family(w->out, "verbs_qp_outstanding", "gauge", "requests posted and not known to be completed");
	for (size_t i = 0; i < count; i++)
		if (w->shown->rows->row[i].qp->has_calls)
			text_count(w->out, "verbs_qp_outstanding", label_qp(w->shown->rows->row[i].qp).text, w->shown->rows->row[i].outstanding);
	text_family(w->out, "verbs_qp_oldest_wait_seconds", "gauge", "how long the oldest signalled request waits; 0: none does");
	for (size_t i = 0; i < count; i++)
		if (w->shown->rows->row[i].qp->has_calls)
			text_seconds(w->out, "verbs_qp_oldest_wait_seconds", label_qp(w->shown->rows->row[i].qp).text, w->shown->rows->row[i].waits);
	text_family(w->out, "verbs_qp_latency_seconds", "summary", "from post to completion, of signalled requests that succeeded");
	for (size_t i = 0; i < count; i++) {
		const struct verbs_qp *q = w->shown->rows->row[i].qp;

		if (!q->has_calls)
			continue;
		text_seconds(w->out, "verbs_qp_latency_seconds_sum", label_qp(q).text, q->calls.latency_sum);
		text_count(w->out, "verbs_qp_latency_seconds_count", label_qp(q).text, q->calls.latency_count);
	}
}

static int by_identity(const void *a, const void *b)
{
	const struct verbs_qp *x = ((const struct qp_row *)a)->qp, *y = ((const struct qp_row *)b)->qp;

	if (strcmp(x->qp.device, y->qp.device))
		return strcmp(x->qp.device, y->qp.device);
	if (x->qp.qpn != y->qp.qpn)
		return x->qp.qpn < y->qp.qpn ? -1 : 1;
	return x->qp.pid < y->qp.pid ? -1 : x->qp.pid > y->qp.pid;
}

static int by_identity_worst_first(const void *a, const void *b)
{
	const struct qp_row *x = a, *y = b;

	return by_identity(a, b) ?: (int)x->condition - (int)y->condition;
}

/*
 * The worst ones that the filter wants. A QPN is used again, so one that has gone may have the labels of another: of such QPs only the
 * first one, which is the worst, has series. Returns how many are at the beginning of *to, which the caller frees.
 */
static size_t choose(const struct qp_rows *r, size_t most, struct qp_row **to)
{
	size_t count = 0, wanted = r->count < most ? r->count : most;

	*to = calloc(wanted + 1, sizeof(**to));
	if (!*to)
		return 0;
	for (size_t i = 0; i < wanted; i++)
		(*to)[i] = r->row[i];
	qsort(*to, wanted, sizeof(**to), by_identity_worst_first);
	for (size_t i = 0; i < wanted; i++)
		if (!count || by_identity(&(*to)[count - 1], &(*to)[i]))
			(*to)[count++] = (*to)[i];
	return count;
}

static int write_qps(const struct writer *w, size_t most, bool calls)
{
	struct qp_row *chosen;
	size_t count = choose(w->shown->rows, most, &chosen);
	struct qp_rows rows = { .row = chosen, .count = count, .of = count };
	struct verbs_shown shown = *w->shown;
	struct writer of_them = *w;

	if (!chosen)
		return -1;
	shown.rows = &rows;
	of_them.shown = &shown;
	text_gauge(w->out, "verbs_qps_wanted", "queue pairs that --filter wants", w->shown->rows->count);
	text_gauge(w->out, "verbs_qps_exported", "of these, those with series of their own: --prometheus-qps, the worst ones", count);
	if (count)
		write_info(&of_them, count);
	if (count && calls)
		write_qp_counters(&of_them, count);
	free(chosen);
	return 0;
}

int verbs_metrics(FILE *out, const struct verbs_shown *s, size_t qps, bool calls, struct verbs_metrics_memory *memory)
{
	struct writer w = { .out = out, .shown = s, .memory = memory };
	__u64 begin = now_ns();
	int result;

	w.sums = calloc(VERBS_METRICS_DEVICES, sizeof(*w.sums));
	if (!w.sums)
		return -1;
	sum_up(&w);
	write_states(&w);
	if (calls)
		write_calls(&w);
	write_cost(out, s->cost);
	result = write_qps(&w, qps, calls);
	metrics_write_counters(out, s->counters, s->counter_count);
	text_gauge(out, "verbs_notes", "lines of what is missing, and why", s->note_count);
	metrics_write_process(out, s->seconds, now_ns() - begin);
	free(w.sums);
	return result || ferror(out) ? -1 : 0;
}
