// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope.verbs/1 and rocescope.qpchange/1 (docs/json.md, docs/schema/verbs.schema.json, docs/schema/qpchange.schema.json) */
#include <string.h>

#include "lib/address.h"
#include "lib/json.h"
#include "userspace/render/output/json_text.h"
#include "userspace/render/output/view.h"
#include "userspace/render/output/view_verbs.h"

/* enum ib_qp_attr_mask (linux/include/rdma/ib_verbs.h) */
static const char *const mask_names[] = {
	"state", "cur_state", "en_sqd_async_notify", "access", "pkey_index", "port", "qkey", "path", "path_mtu", "timeout",
	"retry_cnt", "rnr_retry", "rq_psn", "max_rd_atomic", "alternate_path", "min_rnr_timer", "sq_psn", "max_dest_rd_atomic",
	"path_mig_state", "capabilities", "dest_qpn",
};

/* enum ib_access_flags, the first ones */
static const char *const access_names[] = { "local_write", "remote_write", "remote_read", "remote_atomic", "mw_bind",
					    "zero_based", "on_demand", "hugetlb" };

/* enum ibv_wc_opcode of requests; SEND and those of RDMA have other numbers than enum ibv_wr_opcode. */
static const char *const done_names[VERBS_WC_OPCODES] = { "SEND", "RDMA_WRITE", "RDMA_READ", "COMP_SWAP", "FETCH_ADD", "BIND_MW",
							  "LOCAL_INV", "TSO", [9] = "ATOMIC_WRITE" };

static const char *time_text(const struct verbs_shown *s, __u64 when, struct view_time *room)
{
	*room = view_time(when + s->realtime_offset);
	return when ? room->text : NULL;
}

static void put_time(struct json_text *t, const char *key, const struct verbs_shown *s, __u64 when)
{
	struct view_time room;

	json_text_string(t, key, time_text(s, when, &room));
}

/* Text that others chose. */
static void put_name(struct json_text *t, const char *key, const char *name)
{
	if (name[0])
		json_text_value(t, key, json_text(name));
	else
		json_text_string(t, key, NULL);
}

static void put_names(struct json_text *t, const char *key, __u32 set, const char *const *names, unsigned int count)
{
	json_text_value(t, key, json_names(set, names, count));
}

/* ---- what the kernel knows ---- */

static void put_path(struct json_text *t, const struct verbs_attributes *a)
{
	bool known = a->known & VERBS_KNOWS_PATH;

	json_text_string(t, "sgid", known ? address_text(a->sgid).text : NULL);
	json_text_string(t, "dgid", known ? address_text(a->dgid).text : NULL);
	json_text_number_or_null(t, "sgid_index", known, a->sgid_index);
	json_text_string(t, "gid_type", known ? verbs_gid_type_name(a->gid_type) : NULL);
	json_text_number_or_null(t, "traffic_class", known, a->tclass);
	json_text_number_or_null(t, "flow_label", known, a->flow_label);
	json_text_number_or_null(t, "hop_limit", known, a->hop_limit);
	json_text_number_or_null(t, "sl", known, a->sl);
	if (a->known & VERBS_KNOWS_DMAC)
		json_text_mac(t, "dmac", a->dmac);
	else
		json_text_string(t, "dmac", NULL);
}

static void put_timeouts(struct json_text *t, const struct verbs_attributes *a)
{
	bool known = a->known & VERBS_KNOWS_TIMEOUT;

	json_text_number_or_null(t, "timeout", known, a->timeout);
	json_text_number_or_null(t, "timeout_ns", known && verbs_timeout_ns(a), known ? verbs_timeout_ns(a) : 0);
	json_text_number_or_null(t, "retry_cnt", known, a->retry_cnt);
	json_text_number_or_null(t, "rnr_retry", known, a->rnr_retry);
	json_text_number_or_null(t, "gives_up_ns", known && verbs_gives_up_ns(a), known ? verbs_gives_up_ns(a) : 0);
	json_text_number_or_null(t, "max_rd_atomic", known, a->max_rd_atomic);
	json_text_number_or_null(t, "sq_psn_first", a->known & VERBS_KNOWS_SQ_PSN, a->sq_psn_first);
}

static void put_responder(struct json_text *t, const struct verbs_attributes *a)
{
	bool known = a->known & VERBS_KNOWS_RESPONDER;

	json_text_number_or_null(t, "min_rnr_timer", known, a->min_rnr_timer);
	json_text_number_or_null(t, "max_dest_rd_atomic", known, a->max_dest_rd_atomic);
	json_text_number_or_null(t, "rq_psn_first", a->known & VERBS_KNOWS_RQ_PSN, a->rq_psn_first);
}

static void put_capabilities(struct json_text *t, const struct verbs_attributes *a)
{
	bool known = a->known & VERBS_KNOWS_CAPABILITIES, made = a->known & VERBS_KNOWS_LIMITS, asked = a->known & VERBS_KNOWS_ASKED;

	json_text_number_or_null(t, "max_send_wr", made, a->max_send_wr);
	json_text_number_or_null(t, "max_recv_wr", made, a->max_recv_wr);
	json_text_number_or_null(t, "max_inline", made, a->max_inline);
	json_text_number_or_null(t, "asked_send_wr", asked, a->asked_send_wr);
	json_text_number_or_null(t, "asked_recv_wr", asked, a->asked_recv_wr);
	json_text_number_or_null(t, "asked_inline", asked, a->asked_inline);
	json_text_value(t, "sq_sig_all", known ? json_boolean(a->sq_sig_all) : json_null());
	json_text_value(t, "srq", known ? json_boolean(a->has_srq) : json_null());
}

static void put_attributes(struct json_text *t, const struct verbs_attributes *a)
{
	if (!a->known) {
		json_text_string(t, "attributes", NULL);
		return;
	}
	json_text_open(t, "attributes", '{');
	put_path(t, a);
	json_text_number_or_null(t, "path_mtu", a->known & VERBS_KNOWS_MTU, a->path_mtu);
	put_timeouts(t, a);
	put_responder(t, a);
	if (a->known & VERBS_KNOWS_ACCESS)
		put_names(t, "access", a->access, access_names, ROCE_ARRAY_SIZE(access_names));
	else
		json_text_string(t, "access", NULL);
	put_capabilities(t, a);
	json_text_close(t, '}');
}

static void put_step(struct json_text *t, const struct verbs_step *s, __u64 realtime_offset)
{
	bool change = s->kind == VERBS_MODIFIED;

	json_text_string(t, "time", view_time(s->time + realtime_offset).text);
	json_text_string(t, "kind", verbs_step_name(s));
	json_text_string(t, "state_before", change ? host_state_name(s->state_before) : NULL);
	json_text_string(t, "state", change ? host_state_name(s->state) : NULL);
	put_names(t, "set", s->mask, mask_names, ROCE_ARRAY_SIZE(mask_names));
	json_text_value(t, "error", s->error ? json_integer(s->error) : json_null());
	json_text_number_or_null(t, "async_event", s->kind == VERBS_ASYNC, s->async_event);
	json_text_number_or_null(t, "pid", s->pid, s->pid);
	json_text_number_or_null(t, "signal", s->signal, s->signal);
	json_text_bool(t, "noticed", s->by_netlink);
}

static void put_history(struct json_text *t, const struct verbs_qp *q, const struct verbs_shown *s)
{
	json_text_open(t, "history", '[');
	for (unsigned int i = 0; i < q->steps && i < VERBS_HISTORY; i++) {
		json_text_open(t, NULL, '{');
		put_step(t, &q->history[i], s->realtime_offset);
		json_text_close(t, '}');
	}
	json_text_close(t, ']');
	json_text_number(t, "history_forgotten", q->steps_forgotten);
}

/* ---- calls ---- */

static void put_opcodes(struct json_text *t, const struct verbs_calls *c)
{
	json_text_open(t, "opcodes", '{');
	for (int i = 0; i < VERBS_OPCODES; i++) {
		if (!c->wrs[i])
			continue;
		json_text_open(t, verbs_opcode_name(i), '{');
		json_text_number(t, "wrs", c->wrs[i]);
		json_text_number(t, "bytes", c->bytes[i]);
		json_text_close(t, '}');
	}
	json_text_close(t, '}');
}

static void put_done(struct json_text *t, const struct verbs_calls *c)
{
	char other[16];

	json_text_open(t, "completed", '{');
	for (int i = 0; i < VERBS_WC_OPCODES; i++) {
		snprintf(other, sizeof(other), "opcode_%d", i);
		if (c->done[i])
			json_text_number(t, done_names[i] ?: other, c->done[i]);
	}
	json_text_close(t, '}');
	json_text_open(t, "received", '{');
	json_text_number(t, "RECV", c->received[0]);
	json_text_number(t, "RECV_RDMA_WITH_IMM", c->received[1]);
	json_text_number(t, "bytes", c->received_bytes[0] + c->received_bytes[1]);
	json_text_close(t, '}');
	json_text_open(t, "statuses", '{');
	for (int i = 0; i < VERBS_STATUSES; i++) {
		snprintf(other, sizeof(other), "status_%d", i);
		if (c->status[i])
			json_text_number(t, strcmp(verbs_status_name(i), "?") ? verbs_status_name(i) : other, c->status[i]);
	}
	json_text_close(t, '}');
}

static void put_request(struct json_text *t, const char *key, const struct verbs_request *r)
{
	if (r->opcode >= VERBS_OPCODES) {
		json_text_string(t, key, NULL);
		return;
	}
	json_text_open(t, key, '{');
	json_text_hexadecimal_or_null(t, "wr_id", true, r->wr_id);
	json_text_string(t, "opcode", verbs_opcode_name(r->opcode));
	json_text_number(t, "bytes", r->bytes);
	json_text_hexadecimal_or_null(t, "remote_address", true, r->remote_addr);
	json_text_hexadecimal_or_null(t, "rkey", true, r->rkey);
	json_text_close(t, '}');
}

/* The first completion that was no success. */
static void put_error(struct json_text *t, const struct verbs_calls *c, const struct verbs_shown *s)
{
	if (!c->error_time) {
		json_text_string(t, "error", NULL);
		return;
	}
	json_text_open(t, "error", '{');
	put_time(t, "time", s, c->error_time);
	json_text_string(t, "status", verbs_status_name(c->error_status));
	json_text_number(t, "status_number", c->error_status);
	json_text_number(t, "vendor_error", c->error_vendor);
	json_text_bool(t, "receive", c->error_is_receive);
	json_text_number(t, "flushes_before", c->error_flushes_before);
	put_request(t, "request", &c->error_request);
	json_text_close(t, '}');
}

static void put_latency(struct json_text *t, const struct verbs_calls *c)
{
	bool known = c->latency_count;

	json_text_open(t, "latency", '{');
	json_text_bool(t, "paired", c->paired);
	json_text_number(t, "count", c->latency_count);
	json_text_number_or_null(t, "mean_ns", known, known ? c->latency_sum / c->latency_count : 0);
	json_text_number_or_null(t, "half_ns", known, qp_latency(c, 0.5));
	json_text_number_or_null(t, "p99_ns", known, qp_latency(c, 0.99));
	json_text_number_or_null(t, "most_ns", known, c->latency_most);
	json_text_open(t, "from_ns", '[');
	for (int i = 0; i < VERBS_LATENCY; i++) {
		if (!c->latency[i])
			continue;
		json_text_open(t, NULL, '[');
		json_text_number(t, NULL, 1ull << i);
		json_text_number(t, NULL, c->latency[i]);
		json_text_close(t, ']');
	}
	json_text_close(t, ']');
	json_text_close(t, '}');
}

static void put_calls(struct json_text *t, const struct qp_row *r, const struct verbs_shown *s)
{
	const struct verbs_calls *c = &r->qp->calls;

	if (!r->qp->has_calls) {
		json_text_string(t, "calls", NULL);
		return;
	}
	json_text_open(t, "calls", '{');
	put_time(t, "since", s, c->since);
	for (int i = 0; i < VERBS_COUNTERS; i++)
		json_text_number(t, verbs_counter_names[i], c->count[i]);
	put_opcodes(t, c);
	put_done(t, c);
	json_text_number(t, "outstanding", r->outstanding);
	json_text_number(t, "outstanding_most", c->outstanding_most);
	json_text_number_or_null(t, "oldest_waits_ns", r->waits, r->waits);
	json_text_number(t, "list_most", c->list_most);
	put_time(t, "first_post", s, c->first_post);
	put_time(t, "last_post", s, c->last_post);
	put_time(t, "last_completion", s, c->last_completion);
	json_text_number(t, "threads", c->threads);
	json_text_value(t, "sig_all", c->sig_all ? json_boolean(c->sig_all == 1) : json_null());
	put_error(t, c, s);
	put_request(t, "newest_good", &c->good_request);
	json_text_hexadecimal_or_null(t, "reached_from", c->good_high, c->good_low);
	json_text_hexadecimal_or_null(t, "reached_to", c->good_high, c->good_high);
	json_text_bool(t, "from_birth", c->born && c->born == r->qp->born && c->whole);
	put_latency(t, c);
	json_text_close(t, '}');
}

static void put_rates(struct json_text *t, const struct qp_row *r)
{
	if (!r->has_rates) {
		json_text_string(t, "rates", NULL);
		return;
	}
	json_text_open(t, "rates", '{');
	json_text_real(t, "wrs_per_s", r->wrs);
	json_text_real(t, "gbps", r->bits / 1e9);
	json_text_real(t, "received_per_s", r->received);
	json_text_real(t, "received_gbps", r->received_bits / 1e9);
	json_text_close(t, '}');
}

/* ---- a QP ---- */

static void put_identity(struct json_text *t, const struct verbs_qp *q)
{
	const struct host_qp *h = &q->qp;

	put_name(t, "device", h->device);
	json_text_number_or_null(t, "port", h->port, h->port);
	json_text_number(t, "qpn", h->qpn);
	json_text_number_or_null(t, "peer_qpn", h->peer_qpn, h->peer_qpn);
	json_text_string(t, "type", host_type_name(h->type));
	json_text_number_or_null(t, "pid", h->pid, h->pid);
	put_name(t, "program", h->program);
	put_name(t, "container", q->container);
	put_name(t, "interface", q->interface);
}

static void put_qp(struct json_text *t, const struct qp_row *r, const struct verbs_shown *s)
{
	const struct verbs_qp *q = r->qp;

	json_text_open(t, NULL, '{');
	put_identity(t, q);
	json_text_string(t, "condition", qp_condition_names[r->condition]);
	json_text_string(t, "state", host_state_name(q->gone ? HOST_QP_GONE : q->qp.state));
	put_time(t, "state_since", s, q->state_since);
	put_time(t, "first_seen", s, q->first_seen);
	put_time(t, "created", s, q->born);
	put_time(t, "destroyed", s, q->gone);
	json_text_bool(t, "killed", q->killed);
	json_text_number_or_null(t, "sq_psn", q->qp.sq_psn != HOST_NO_PSN, q->qp.sq_psn);
	json_text_number_or_null(t, "rq_psn", q->qp.rq_psn != HOST_NO_PSN, q->qp.rq_psn);
	put_attributes(t, &q->attributes);
	json_text_string(t, "calls_seen", qp_blind_name(q->blind));
	put_calls(t, r, s);
	put_rates(t, r);
	put_history(t, q, s);
	json_text_close(t, '}');
}

/* ---- the rest ---- */

static void put_cqs(struct json_text *t, const struct verbs_shown *s)
{
	json_text_open(t, "cqs", '[');
	for (size_t i = 0; i < s->cq_count; i++) {
		const struct verbs_cq *c = &s->cqs[i];

		json_text_open(t, NULL, '{');
		json_text_number(t, "pid", c->pid);
		json_text_hexadecimal_or_null(t, "address", true, c->address);
		json_text_number(t, "polls", c->polls);
		json_text_number(t, "empty", c->empty);
		json_text_number(t, "failed", c->failed);
		json_text_number(t, "completions", c->completions);
		json_text_number(t, "batch_most", c->batch_most);
		json_text_number(t, "notified", c->notified);
		json_text_close(t, '}');
	}
	json_text_close(t, ']');
}

static void put_srqs(struct json_text *t, const struct verbs_shown *s)
{
	json_text_open(t, "srqs", '[');
	for (size_t i = 0; i < s->srq_count; i++) {
		const struct verbs_srq *q = &s->srqs[i];

		json_text_open(t, NULL, '{');
		json_text_number(t, "pid", q->pid);
		json_text_hexadecimal_or_null(t, "address", true, q->address);
		json_text_number(t, "posts", q->posts);
		json_text_number(t, "wrs", q->wrs);
		json_text_number(t, "bytes", q->bytes);
		json_text_number(t, "refused", q->refused);
		json_text_close(t, '}');
	}
	json_text_close(t, ']');
}

static void put_cost(struct json_text *t, const struct verbs_cost *c)
{
	if (!c) {
		json_text_string(t, "cost", NULL);
		return;
	}
	json_text_open(t, "cost", '{');
	json_text_real(t, "calls_per_s", c->calls);
	json_text_real(t, "ns_per_call", c->ns);
	json_text_real(t, "share", c->share);
	json_text_real(t, "empty_polls_per_s", c->empty_calls);
	json_text_real(t, "empty_share", c->empty_share);
	json_text_bool(t, "stopped", c->stopped);
	json_text_close(t, '}');
}

static void put_counters(struct json_text *t, const struct verbs_shown *s)
{
	json_text_open(t, "counters", '[');
	for (size_t i = 0; i < s->counter_count; i++) {
		json_text_open(t, NULL, '{');
		put_name(t, "where", s->counters[i].where);
		put_name(t, "name", s->counters[i].name);
		json_text_number(t, "value", s->counters[i].value);
		json_text_bool(t, "dropped", s->counters[i].dropped);
		json_text_close(t, '}');
	}
	json_text_close(t, ']');
	json_text_open(t, "notes", '[');
	for (size_t i = 0; i < s->note_count; i++)
		put_name(t, NULL, s->notes[i]);
	json_text_close(t, ']');
}

static void put_totals(struct json_text *t, const struct verbs_shown *s)
{
	json_text_open(t, "totals", '{');
	json_text_number(t, "qps", s->rows->of);
	for (int c = 0; c < QP_CONDITIONS; c++)
		json_text_number(t, qp_condition_names[c], s->rows->condition[c]);
	json_text_close(t, '}');
	if (!s->filter)
		return;
	json_text_open(t, "filter", '{');
	put_name(t, "text", s->filter);
	json_text_number(t, "qps", s->rows->count);
	json_text_number(t, "of", s->rows->of);
	json_text_close(t, '}');
}

/* ---- devices and their memory ---- */

#define MRS 4096 /* that are printed */

static void put_mr(struct json_text *t, const struct host_mr *m)
{
	json_text_open(t, NULL, '{');
	put_name(t, "device", m->device);
	json_text_hexadecimal_or_null(t, "rkey", m->has_keys, m->rkey);
	json_text_hexadecimal_or_null(t, "lkey", m->has_keys, m->lkey);
	json_text_hexadecimal_or_null(t, "iova", m->has_iova, m->iova);
	json_text_number(t, "length", m->length);
	json_text_number_or_null(t, "pid", m->pid, m->pid);
	json_text_close(t, '}');
}

static void put_resources(struct json_text *t, const struct verbs_resources *r)
{
	json_text_open(t, "devices", '[');
	for (size_t i = 0; r && i < r->device_count; i++) {
		json_text_open(t, NULL, '{');
		put_name(t, "name", r->devices[i].name);
		json_text_string(t, "driver", verbs_resources_driver(r, r->devices[i].name));
		json_text_close(t, '}');
	}
	json_text_close(t, ']');
	json_text_open(t, "mrs", '[');
	for (size_t i = 0; r && i < r->mr_count && i < MRS; i++)
		put_mr(t, &r->mrs[i]);
	json_text_close(t, ']');
	json_text_number(t, "mrs_of", r ? r->mr_count : 0);
}

static int end_line(struct json_text *t, FILE *out)
{
	json_text_close(t, '}');
	return json_text_end(t) && fputc('\n', out) != EOF && !ferror(out) ? 0 : -1;
}

int verbs_json(FILE *out, const struct verbs_shown *s)
{
	struct json_text t;

	json_text_begin(&t, out);
	json_text_open(&t, NULL, '{');
	json_text_string(&t, "schema", "rocescope.verbs/1");
	put_time(&t, "time", s, s->now);
	json_text_real(&t, "seconds", s->seconds);
	put_totals(&t, s);
	json_text_open(&t, "qps", '[');
	for (size_t i = 0; i < s->rows->count && !t.error; i++)
		put_qp(&t, &s->rows->row[i], s);
	json_text_close(&t, ']');
	put_cqs(&t, s);
	put_srqs(&t, s);
	put_cost(&t, s->cost);
	put_counters(&t, s);
	put_resources(&t, s->resources);
	return end_line(&t, out);
}

int verbs_event_json(FILE *out, const struct verbs_event *e, __u64 realtime_offset)
{
	char words[VERBS_EVENT_WORDS];
	struct json_text t;

	json_text_begin(&t, out);
	json_text_open(&t, NULL, '{');
	json_text_string(&t, "schema", "rocescope.qpchange/1");
	put_step(&t, &e->step, realtime_offset);
	verbs_step_words(words, &e->step);
	json_text_string(&t, "text", words);
	json_text_open(&t, "qp", '{');
	put_identity(&t, e->qp);
	put_attributes(&t, &e->qp->attributes);
	json_text_close(&t, '}');
	return end_line(&t, out);
}
