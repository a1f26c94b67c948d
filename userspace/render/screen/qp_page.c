// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page of one QP: everything that is known of it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/address.h"
#include "userspace/render/screen/grid.h"
#include "userspace/render/screen/qp_screen.h"

#define LIST 300 /* bytes of a list of figures */

#define add_line(l, label, ...) lines_add(l, STYLE_PLAIN, label, __VA_ARGS__)

/* Adds to a list of figures, with a comma between two. */
__attribute__((format(printf, 2, 3))) static void list(char to[LIST], const char *format, ...)
{
	size_t length = strlen(to);
	va_list arguments;

	length += snprintf(to + length, LIST - length, "%s", length ? ", " : "");
	va_start(arguments, format);
	if (length < LIST)
		vsnprintf(to + length, LIST - length, format, arguments);
	va_end(arguments);
}

/* ---- who it is, and how ---- */

static void add_title(struct lines *l, const struct qp_row *r, const struct verbs_shown *v)
{
	const struct verbs_qp *q = r->qp;
	char since[CELL] = "", time[CELL], words[VERBS_REMARK];
	bool fault = verbs_remark(words, r);

	if (q->gone || q->state_since) {
		format_time(time, (q->gone ?: q->state_since) + v->realtime_offset);
		snprintf(since, sizeof(since), " since %.20s", time);
	}
	lines_add(l, STYLE_TITLE, NULL, "%s QPN %u (0x%x)  %s  %s%s  %s%s", q->qp.device, q->qp.qpn, q->qp.qpn, host_type_name(q->qp.type),
		  host_state_name(q->gone ? HOST_QP_GONE : q->qp.state), since, verbs_peer(q).text[0] ? "to " : "", verbs_peer(q).text);
	if (words[0])
		lines_add(l, fault ? STYLE_FAULT : STYLE_HINT, NULL, "%s", words);
	lines_raw(l, STYLE_PLAIN, "");
	if (q->qp.pid)
		add_line(l, "process", "%s (%u)%s%s", q->qp.program[0] ? q->qp.program : "?", q->qp.pid, q->container[0] ? " in " : "", q->container);
	else
		add_line(l, "process", "none: the kernel's own (%s)", q->qp.program[0] ? q->qp.program : "?");
	if (q->interface[0])
		add_line(l, "interface", "%s, port %u", q->interface, q->qp.port);
	if (q->qp.sq_psn != HOST_NO_PSN)
		add_line(l, "PSN", "%u (0x%06x) is the next to be sent%s", q->qp.sq_psn, q->qp.sq_psn, q->psn_moved ? "; it moves" : "");
	if (q->qp.rq_psn != HOST_NO_PSN)
		add_line(l, "", "%u (0x%06x) is expected of the peer", q->qp.rq_psn, q->qp.rq_psn);
}

/* As `rocescope verbs why` says it, which has more to go by. */
static void add_why(struct lines *l, const struct qp_row *r, const struct verbs_shown *v)
{
	struct why_verdict verdict;

	if (!v->why || r->condition > QP_STALLED)
		return;
	v->why(v->context, r->qp, &verdict);
	if (verdict.nothing_wrong)
		return;
	lines_add(l, STYLE_FAULT, "why", verdict.cause == WHY_unknown ? "%s" : "%s (%s, %s)", verdict.sentence, why_cause_name(verdict.cause),
		  why_confidence_name(verdict.confidence));
	if (verdict.line_count)
		add_line(l, verdict.lines[0].source, "%s", verdict.lines[0].text);
}

static void add_path(struct lines *l, const struct verbs_attributes *a)
{
	if (a->known & VERBS_KNOWS_PATH)
		add_line(l, "path", "GID %u %s (%s) to %s%s%s, traffic class %u, hop limit %u", a->sgid_index, address_text(a->sgid).text,
			 verbs_gid_type_name(a->gid_type), address_text(a->dgid).text,
			 a->known & VERBS_KNOWS_DMAC ? ", " : "", a->known & VERBS_KNOWS_DMAC ? mac_text(a->dmac).text : "",
			 a->tclass, a->hop_limit);
	if (a->known & VERBS_KNOWS_MTU)
		add_line(l, "path MTU", "%u bytes", a->path_mtu);
}

static void add_timeouts(struct lines *l, const struct verbs_attributes *a)
{
	char once[CELL] = "", all[CELL] = "";

	if (!(a->known & VERBS_KNOWS_TIMEOUT))
		return;
	format_latency(once, verbs_timeout_ns(a));
	format_latency(all, verbs_gives_up_ns(a));
	if (a->timeout)
		add_line(l, "timeout", "%u: again after %s, %u times; it gives up after %s at the earliest", a->timeout, once, a->retry_cnt, all);
	else
		add_line(l, "timeout", "none: it waits for ever");
	add_line(l, "not ready", a->rnr_retry == 7 ? "the peer may be not ready for ever" : "it asks %u times more when the peer is not ready",
		 a->rnr_retry);
}

static void list_room(char text[LIST], bool shared, __u32 requests, __u32 receives, __u32 bytes)
{
	list(text, "%u requests", requests);
	if (!shared)
		list(text, "%u receives", receives);
	list(text, "%u bytes inline", bytes);
}

static void add_limits(struct lines *l, const struct verbs_attributes *a)
{
	char text[LIST] = "", asked[LIST] = "";

	if (a->known & VERBS_KNOWS_LIMITS)
		list_room(text, a->has_srq, a->max_send_wr, a->max_recv_wr, a->max_inline);
	if (a->known & VERBS_KNOWS_CAPABILITIES && a->has_srq)
		list(text, "shared receives");
	if (a->known & VERBS_KNOWS_CAPABILITIES && a->sq_sig_all)
		list(text, "every request is signalled");
	if (a->known & VERBS_KNOWS_TIMEOUT)
		list(text, "%u READs and atomics of its own", a->max_rd_atomic);
	if (a->known & VERBS_KNOWS_RESPONDER)
		list(text, "%u of the peer", a->max_dest_rd_atomic);
	if (text[0])
		add_line(l, "limits", "%s", text);
	if (a->known & VERBS_KNOWS_ASKED) {
		list_room(asked, a->has_srq, a->asked_send_wr, a->asked_recv_wr, a->asked_inline);
		add_line(l, "asked for", "%s", asked);
	}
}

/* ---- calls ---- */

static void add_opcodes(struct lines *l, const struct verbs_calls *c)
{
	char bytes[CELL];

	for (int i = 0; i < VERBS_OPCODES; i++) {
		if (!c->wrs[i])
			continue;
		format_bytes(bytes, c->bytes[i]);
		add_line(l, "posted", "%llu %s, %s", c->wrs[i], verbs_opcode_name(i), bytes);
	}
	if (!c->received[0] && !c->received[1])
		return;
	format_bytes(bytes, c->received_bytes[0] + c->received_bytes[1]);
	add_line(l, "received", "%llu RECV, %llu RECV_RDMA_WITH_IMM, %s", c->received[0], c->received[1], bytes);
}

static void add_counters(struct lines *l, const struct verbs_calls *c)
{
	char text[LIST] = "";

	for (int i = 0; i < VERBS_COUNTERS; i++)
		if (c->count[i])
			list(text, "%s %llu", verbs_counter_names[i], c->count[i]);
	if (text[0])
		add_line(l, "counted", "%s", text);
	text[0] = '\0';
	for (int i = 0; i < VERBS_STATUSES; i++)
		if (c->status[i])
			list(text, "%s %llu", verbs_status_name(i), c->status[i]);
	if (text[0])
		lines_add(l, c->error_time ? STYLE_FAULT : STYLE_PLAIN, "completed", "%s", text);
}

static void add_error(struct lines *l, const struct verbs_calls *c, const struct verbs_shown *v)
{
	const struct verbs_request *w = &c->error_request;
	char time[CELL], bytes[CELL];

	if (!c->error_time)
		return;
	format_time(time, c->error_time + v->realtime_offset);
	lines_add(l, STYLE_FAULT, "first error", "%s (%u)%s, vendor error %u, at %s, %llu flushes before it", verbs_status_name(c->error_status),
		  c->error_status, c->error_is_receive ? " of a receive" : "", c->error_vendor, time, c->error_flushes_before);
	if (w->opcode >= VERBS_OPCODES)
		return;
	format_bytes(bytes, w->bytes);
	add_line(l, "", "its request: %s of %s to 0x%llx, rkey 0x%08x, wr_id 0x%llx", verbs_opcode_name(w->opcode), bytes, w->remote_addr, w->rkey,
		 w->wr_id);
}

static void label_latency(char to[CELL], int i)
{
	format_latency(to, 1ull << i);
	strcat(to, " on");
}

static void add_latency(struct lines *l, const struct verbs_calls *c)
{
	char half[CELL], late[CELL], most[CELL];

	if (!c->latency_count)
		return;
	format_latency(half, qp_latency(c, 0.5));
	format_latency(late, qp_latency(c, 0.99));
	format_latency(most, c->latency_most);
	add_line(l, "latency", "from post to completion: half within %s, 99 %% within %s, %s at most, of %llu signalled requests", half, late, most,
		 c->latency_count);
	if (!c->paired)
		lines_add(l, STYLE_HINT, "", "which completion is of which request is not known for all of them");
	grid_histogram(l, c->latency, VERBS_LATENCY, label_latency);
}

static void add_calls(struct lines *l, const struct qp_row *r, const struct verbs_shown *v)
{
	const struct verbs_calls *c = &r->qp->calls;
	char waits[CELL] = "";

	lines_raw(l, STYLE_PLAIN, "");
	if (!r->qp->has_calls) {
		lines_add(l, STYLE_DIM, "calls", "%s", qp_blind_words(r->qp->blind));
		return;
	}
	if (r->waits) {
		format_latency(waits, r->waits);
		strcat(waits, " for the oldest");
	}
	if (r->has_rates)
		add_line(l, "rate", "%.0f requests/s, %.3f Gbit/s; %.0f receives/s, %.3f Gbit/s", r->wrs, r->bits / 1e9, r->received,
			 r->received_bits / 1e9);
	lines_add(l, r->condition == QP_STALLED ? STYLE_FAULT : STYLE_PLAIN, "waiting", "%llu now, %llu at most%s%s", r->outstanding,
		  c->outstanding_most, waits[0] ? "; " : "", waits);
	add_opcodes(l, c);
	add_counters(l, c);
	add_line(l, "threads", "%u that posted; the longest list had %llu requests", c->threads, c->list_most);
	add_error(l, c, v);
	add_latency(l, c);
}

/* ---- history ---- */

static void add_history(struct lines *l, const struct verbs_qp *q, const struct verbs_shown *v)
{
	unsigned int steps = q->steps < VERBS_HISTORY ? q->steps : VERBS_HISTORY;
	char words[VERBS_EVENT_WORDS], time[CELL];

	if (!steps)
		return;
	lines_raw(l, STYLE_PLAIN, "");
	add_line(l, "history", "the newest first%s", q->steps_forgotten ? "; older changes are forgotten" : "");
	for (unsigned int i = steps; i-- > 0;) {
		verbs_step_words(words, &q->history[i]);
		format_time(time, q->history[i].time + v->realtime_offset);
		add_line(l, time, "%s", words);
	}
}

void qp_page(struct lines *l, const struct qp_row *r, const struct verbs_shown *shown)
{
	add_title(l, r, shown);
	add_why(l, r, shown);
	add_path(l, &r->qp->attributes);
	add_timeouts(l, &r->qp->attributes);
	add_limits(l, &r->qp->attributes);
	add_calls(l, r, shown);
	add_history(l, r->qp, shown);
}

/* ---- what is known besides ---- */

void qp_host_page(struct lines *l, const struct verbs_shown *shown)
{
	lines_add(l, STYLE_TITLE, NULL, "What is missing, and why");
	for (size_t i = 0; i < shown->note_count; i++)
		lines_add(l, STYLE_HINT, "note", "%s", shown->notes[i]);
	if (!shown->note_count)
		lines_add(l, STYLE_DIM, NULL, "Nothing.");
	lines_raw(l, STYLE_PLAIN, "");
	lines_add(l, STYLE_TITLE, NULL, "Counters of devices that have moved since the start");
	for (size_t i = 0; i < shown->counter_count; i++)
		lines_add(l, shown->counters[i].dropped ? STYLE_FAULT : STYLE_PLAIN, shown->counters[i].where, "%12llu  %s",
			  shown->counters[i].value, shown->counters[i].name);
	if (!shown->counter_count)
		lines_add(l, STYLE_DIM, NULL, "None has moved, or there is none.");
	if (shown->cq_count || shown->srq_count) {
		lines_raw(l, STYLE_PLAIN, "");
		lines_add(l, STYLE_TITLE, NULL, "Queues of programs");
	}
	for (size_t i = 0; i < shown->cq_count; i++) {
		const struct verbs_cq *c = &shown->cqs[i];

		lines_add(l, STYLE_PLAIN, "CQ", "of process %u: %llu polls, %llu of them empty; %llu completions, %llu at most at a time; asked %llu "
			  "times to be notified", c->pid, c->polls, c->empty, c->completions, c->batch_most, c->notified);
	}
	for (size_t i = 0; i < shown->srq_count; i++) {
		const struct verbs_srq *q = &shown->srqs[i];

		lines_add(l, q->refused ? STYLE_FAULT : STYLE_PLAIN, "SRQ", "of process %u: %llu receives posted by %llu calls, %llu bytes; %llu "
			  "refused", q->pid, q->wrs, q->posts, q->bytes, q->refused);
	}
}
