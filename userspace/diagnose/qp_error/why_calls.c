// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules for what this host knows by itself: calls and completions, states and their history, counters. */
#include <stdio.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "lib/shown.h"
#include "roce/packet/base.h"
#include "userspace/diagnose/qp_error/judge.h"
#include "userspace/observe/verbs/qp_rows.h"

#define ACCESS_READ IB_UVERBS_ACCESS_REMOTE_READ
#define ACCESS_WRITE IB_UVERBS_ACCESS_REMOTE_WRITE
#define NEVER_S 1000000000ull /* ns after which a QP to which nothing came is worth a word */

static const struct {
	const char *name;
	enum why_told means;
} counters[] = {
#define CAUSE(name, statuses, words, fix)
#define PROVIDER(driver, status, vendor_err, cause, words)
#define COUNTER(name, means) { #name, means },
#include "userspace/diagnose/qp_error/cause.def"
};

static bool is_known(const struct verbs_request *r)
{
	return r->opcode < VERBS_OPCODES;
}

/* Whether the request addresses memory of the peer. */
static bool has_rkey(const struct verbs_request *r)
{
	return is_known(r) && r->opcode != IB_UVERBS_WR_SEND && r->opcode != IB_UVERBS_WR_SEND_WITH_IMM && r->opcode < IB_UVERBS_WR_LOCAL_INV;
}

struct judge_request_text judge_request_text(const struct verbs_request *r)
{
	struct judge_request_text t;
	int length;

	if (!is_known(r)) {
		snprintf(t.text, sizeof(t.text), "a request that was not seen");
		return t;
	}
	length = snprintf(t.text, sizeof(t.text), "%s of %llu bytes", verbs_opcode_name(r->opcode), r->bytes);
	if (has_rkey(r))
		snprintf(t.text + length, sizeof(t.text) - length, " at 0x%llx with rkey 0x%x", r->remote_addr, r->rkey);
	return t;
}

__u32 judge_status_of(const struct verbs_qp *q)
{
	const struct verbs_calls *c = &q->calls;

	return q->has_calls && c->error_time && c->error_status != STATUS_SUCCESS && c->error_status != STATUS_WR_FLUSH_ERR ?
	       c->error_status : STATUS_NONE;
}

/* ---- calls ---- */

static void tell_error(struct judge *j)
{
	const struct verbs_calls *c = j->calls;
	__u64 flushed = c->status[STATUS_WR_FLUSH_ERR];

	if (c->error_is_receive)
		judge_line(j, "calls", "the first error is that of a receive: %s (%u), vendor error 0x%x; %llu flushed after it",
			   verbs_status_name(j->status), j->status, c->error_vendor, flushed);
	else
		judge_line(j, "calls", "the first error is %s (%u), vendor error 0x%x, of %s; %llu flushed after it",
			   verbs_status_name(j->status), j->status, c->error_vendor, judge_request_text(&c->error_request).text, flushed);
}

static void find_stall(struct judge *j)
{
	const struct verbs_calls *c = j->calls;
	__u64 least = j->e->stall_ns ?: WHY_STALL_NS;

	if (j->q->gone || j->q->qp.state == QP_ERR || !c->oldest_post || !qp_outstanding(j->q) || j->e->own.now < c->oldest_post + least)
		return;
	j->stalls = true;
	j->waits = j->e->own.now - c->oldest_post;
	judge_line(j, "calls", "%llu requests wait for their completion, the oldest one for %.1f s", qp_outstanding(j->q),
		   (double)j->waits / 1e9);
}

void judge_calls(struct judge *j)
{
	const struct verbs_calls *c = j->calls;

	j->status = judge_status_of(j->q);
	if (!c)
		return;
	j->worked = c->status[STATUS_SUCCESS] > c->received[0] + c->received[1] || c->latency_count || is_known(&c->good_request);
	j->never_worked = !j->worked && c->count[VERBS_wrs] && c->born && c->whole;
	if (j->status != STATUS_NONE)
		tell_error(j);
	else if (c->status[STATUS_WR_FLUSH_ERR])
		judge_line(j, "calls", "%llu requests and receives were flushed, and there was no error before", c->status[STATUS_WR_FLUSH_ERR]);
	if (j->status == STATUS_NONE)
		find_stall(j);
}

/* ---- states ---- */

static bool ends_it(const struct verbs_step *s)
{
	return s->kind == VERBS_MODIFIED && s->state == QP_ERR && s->state_before != QP_ERR && !s->error && !s->by_netlink && s->pid;
}

bool judge_knows_requests(const struct judge *j)
{
	return j->calls && (j->calls->whole || j->calls->status[STATUS_SUCCESS]);
}

static void judge_history(struct judge *j)
{
	for (unsigned int i = 0; i < j->q->steps && i < VERBS_HISTORY; i++) {
		const struct verbs_step *s = &j->q->history[i];

		if (s->kind == VERBS_ASYNC)
			judge_line(j, "kernel", "asynchronous event: %s", verbs_step_name(s));
		if (!ends_it(s) || (j->status != STATUS_NONE && s->time > j->calls->error_time))
			continue;
		judge_line(j, "kernel", "process %u has moved it to ERR", s->pid);
		/* programs also do so when a completion tells them of an error */
		judge_weigh(j, WHY_own_end, judge_knows_requests(j) ? WEIGHT_PROOF : WEIGHT_STRONG);
		judge_detail(j, WHY_own_end, "its own program has moved it to ERR; what was posted is flushed");
	}
}

struct judge_signal_text judge_signal_text(const struct verbs_qp *q)
{
	struct judge_signal_text t = { "" };

	for (unsigned int i = 0; i < q->steps && i < VERBS_HISTORY; i++)
		if (q->history[i].kind == VERBS_DESTROYED && q->history[i].signal)
			snprintf(t.text, sizeof(t.text), ", by signal %u", q->history[i].signal);
	return t;
}

bool judge_was_seen_going(const struct verbs_qp *q)
{
	for (unsigned int i = 0; i < q->steps && i < VERBS_HISTORY; i++)
		if (q->history[i].kind == VERBS_DESTROYED)
			return !q->history[i].by_netlink;
	return false;
}

bool judge_came_to_error(const struct verbs_qp *q)
{
	if (q->qp.state == QP_ERR)
		return true;
	for (unsigned int i = 0; i < q->steps && i < VERBS_HISTORY; i++) {
		const struct verbs_step *s = &q->history[i];

		if (!s->error && ((s->kind == VERBS_MODIFIED && s->state == QP_ERR) || (s->kind == VERBS_DESTROYED && s->state_before == QP_ERR)))
			return true;
	}
	return false;
}

/* It was not in error before. */
static void judge_gone(struct judge *j)
{
	if (!judge_was_seen_going(j->q)) {
		judge_line(j, "netlink", "it is not there any more");
		judge_detail(j, WHY_unknown, "nobody saw how");
		return;
	}
	judge_line(j, "kernel", "its program has destroyed it");
	judge_weigh(j, WHY_own_end, judge_knows_requests(j) ? WEIGHT_PROOF : WEIGHT_STRONG);
	j->suspects |= 1u << WHY_own_end;
	judge_detail(j, WHY_own_end, "its own program has destroyed it");
}

void judge_state(struct judge *j)
{
	const struct verbs_qp *q = j->q;

	judge_history(j);
	if (q->killed && j->status == STATUS_NONE) {
		judge_line(j, "kernel", "it was destroyed because its process ended%s", judge_signal_text(q).text);
		judge_weigh(j, WHY_killed, 2 * WEIGHT_PROOF);
	} else if (j->errs && j->status == STATUS_NONE) {
		judge_line(j, "netlink", "its state %s ERR, and no error of a request of its own is known", q->gone ? "was" : "is");
		if (q->born && q->steps && !q->steps_forgotten && !j->v->weight[WHY_own_end]) {
			judge_line(j, "kernel", "nobody on this host has moved it to ERR: the device did");
			judge_weigh(j, WHY_own_end, WEIGHT_NEVER);
		}
	} else if (q->gone && j->status == STATUS_NONE) {
		judge_gone(j);
	}
}

/* ---- counters ---- */

bool judge_shares(const struct why_host *h, const struct verbs_qp *q)
{
	for (size_t i = 0; i < h->qp_count; i++)
		if (h->qps[i] != q && h->qps[i]->qp.qpn > 1 && !strcmp(h->qps[i]->qp.device, q->qp.device))
			return true;
	return false;
}

bool judge_has_no_receive(const struct verbs_qp *q)
{
	const struct verbs_calls *c = &q->calls;

	return q->has_calls && c->born && c->whole && c->count[VERBS_recv_wrs] && !q->attributes.has_srq &&
	       c->count[VERBS_recv_wrs] <= c->count[VERBS_recv_completions] + c->count[VERBS_recv_refused];
}

static bool of_device(const struct host_counter *c, const struct host_qp *q)
{
	return !strcmp(c->where, q->device);
}

/* Packets came to the device, and no request of the QP has succeeded. With other QPs on it that tells less. */
static void weigh_answers(struct judge *j)
{
	if (!j->told[SAID])
		return;
	if (!j->told[HEARD]) {
		judge_weigh(j, WHY_psn_mismatch, -WEIGHT_HINT);
		return;
	}
	judge_weigh(j, WHY_psn_mismatch, judge_shares(&j->e->own, j->q) ? WEIGHT_HINT : WEIGHT_STRONG);
	judge_detail(j, WHY_psn_mismatch, "answers come, and none of them is for a PSN of its requests");
}

static void weigh_counters(struct judge *j)
{
	if (j->told[TOLD_RNR] && (j->stalls || j->blind)) {
		judge_weigh(j, WHY_no_receive, WEIGHT_STRONG);
		if (j->stalls && j->q->attributes.known & VERBS_KNOWS_TIMEOUT && j->q->attributes.rnr_retry == 7)
			judge_detail(j, WHY_no_receive, "the peer has posted no receive, and with rnr_retry 7 it tries for ever");
	}
	if (j->told[TOLD_SEQUENCE] && (j->asks || j->blind)) {
		judge_weigh(j, j->worked ? WHY_loss : WHY_psn_mismatch, j->worked ? WEIGHT_HINT : WEIGHT_STRONG);
		judge_detail(j, WHY_psn_mismatch, "the peer answers that it expects another PSN, and no request has ever been completed");
	}
	if (j->asks && j->never_worked)
		weigh_answers(j);
	if (!j->blind)
		return;
	if (j->told[GAVE_UP])
		judge_weigh(j, WHY_refused, -2 * WEIGHT_HINT);
	if (j->told[TOLD_INVALID])
		judge_weigh(j, WHY_no_access, WEIGHT_HINT);
	if (j->told[TOLD_ACCESS])
		judge_weigh(j, WHY_wrong_rkey, WEIGHT_HINT);
}

bool judge_has_told(const struct host_counter *list, size_t count, const struct host_qp *q, enum why_told what)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < ROCE_ARRAY_SIZE(counters); k++)
			if (list[i].value && counters[k].means == what && of_device(&list[i], q) && !strcmp(list[i].name, counters[k].name))
				return true;
	return false;
}

void judge_counters(struct judge *j)
{
	for (size_t i = 0; i < j->e->own.counter_count; i++) {
		const struct host_counter *c = &j->e->own.counters[i];

		for (size_t k = 0; k < ROCE_ARRAY_SIZE(counters); k++) {
			if (!c->value || !of_device(c, &j->q->qp) || strcmp(c->name, counters[k].name))
				continue;
			j->told[counters[k].means] += c->value;
			if (counters[k].means != SAID && (counters[k].means != HEARD || j->never_worked))
				judge_line(j, "counters", "%s %s +%llu, of all its QPs", shown_text(c->where).text, c->name, c->value);
		}
	}
	weigh_counters(j);
}

/* ---- the request that failed, and those that did not ---- */

/* A refusal that names memory: was it ever right? */
static void judge_key(struct judge *j)
{
	const struct verbs_request *bad = &j->calls->error_request, *good = &j->calls->good_request;

	if (!has_rkey(bad))
		return;
	if (!is_known(good)) {
		judge_weigh(j, WHY_wrong_rkey, WEIGHT_HINT);
		return;
	}
	if (good->rkey != bad->rkey) {
		judge_line(j, "calls", "requests with rkey 0x%x have succeeded, and none with 0x%x", good->rkey, bad->rkey);
		judge_weigh(j, WHY_wrong_rkey, WEIGHT_STRONG);
		judge_detail(j, WHY_wrong_rkey, "the peer has no memory with rkey 0x%x, or none that allows it", bad->rkey);
	} else if (bad->remote_addr < j->calls->good_low || bad->remote_addr > j->calls->good_high ||
		   bad->bytes > j->calls->good_high - bad->remote_addr) {
		judge_line(j, "calls", "this rkey has succeeded from 0x%llx to 0x%llx, and this request reaches beyond", j->calls->good_low,
			   j->calls->good_high);
		judge_weigh(j, WHY_out_of_bounds, WEIGHT_STRONG);
		judge_weigh(j, WHY_no_access, -WEIGHT_HINT);
		judge_detail(j, WHY_out_of_bounds, "%s reaches outside of the peer's memory region", judge_request_text(bad).text);
	} else {
		judge_line(j, "calls", "the same rkey and place have succeeded before");
		judge_weigh(j, WHY_wrong_rkey, WEIGHT_STRONG);
		judge_detail(j, WHY_wrong_rkey, "the peer has deregistered the memory of rkey 0x%x since", bad->rkey);
	}
}

/* The same operation at the same memory was allowed before. */
static bool was_allowed(const struct judge *j)
{
	const struct verbs_request *bad = &j->calls->error_request, *good = &j->calls->good_request;

	return has_rkey(bad) && is_known(good) && good->opcode == bad->opcode && good->rkey == bad->rkey;
}

static void judge_invalid(struct judge *j)
{
	const struct verbs_request *bad = &j->calls->error_request;

	if (!is_known(bad))
		return;
	if (was_allowed(j)) {
		judge_line(j, "calls", "%s with this rkey, of %llu bytes, has succeeded before", verbs_opcode_name(bad->opcode),
			   j->calls->good_request.bytes);
		judge_weigh(j, WHY_no_access, WEIGHT_NEVER);
		judge_weigh(j, WHY_mtu_mismatch, WEIGHT_HINT);
	} else {
		judge_weigh(j, WHY_no_access, has_rkey(bad) ? WEIGHT_STRONG : WEIGHT_NEVER);
	}
	judge_detail(j, WHY_no_access, "the peer's QP does not allow %s", verbs_opcode_name(bad->opcode));
	if (bad->opcode == IB_UVERBS_WR_RDMA_WRITE || (has_rkey(bad) && bad->opcode != IB_UVERBS_WR_RDMA_WRITE_WITH_IMM))
		judge_weigh(j, WHY_receive_too_small, WEIGHT_NEVER);
	else
		judge_weigh(j, WHY_receive_too_small, WEIGHT_STRONG);
	if (bad->bytes <= j->q->attributes.path_mtu)
		judge_weigh(j, WHY_mtu_mismatch, WEIGHT_NEVER);
}

static void tell_timeout(struct judge *j)
{
	const struct verbs_attributes *a = &j->q->attributes;
	__u64 once, all;

	if (!(a->known & VERBS_KNOWS_TIMEOUT))
		return;
	once = verbs_timeout_ns(a);
	all = verbs_gives_up_ns(a);
	if (!once)
		judge_line(j, "kernel", "timeout 0: it waits for ever for an answer, and sends nothing again");
	else if (!all)
		judge_line(j, "kernel", "timeout %u is %.3g ms, retry_cnt %u: it never gives up", a->timeout, (double)once / 1e6, a->retry_cnt);
	else
		judge_line(j, "kernel", "timeout %u is %.3g ms, retry_cnt %u: it gives up after %.3g s; devices may take four times as long",
			   a->timeout, (double)once / 1e6, a->retry_cnt, (double)all / 1e9);
}

/* No answer came: what has worked before tells what cannot be. */
static void judge_silence(struct judge *j)
{
	const struct verbs_calls *c = j->calls;
	__u64 size = is_known(&c->error_request) ? c->error_request.bytes : 0;

	tell_timeout(j);
	if (j->worked) {
		judge_line(j, "calls", "requests of this QP have succeeded before");
		judge_weigh(j, WHY_no_such_qp, WEIGHT_NEVER);
		judge_weigh(j, WHY_psn_mismatch, WEIGHT_NEVER);
		judge_weigh(j, WHY_gid_mismatch, WEIGHT_NEVER);
		judge_weigh(j, WHY_peer_gone, WEIGHT_HINT);
	} else if (j->never_worked) {
		judge_line(j, "calls", "no request of this QP has ever succeeded");
		judge_weigh(j, WHY_no_such_qp, WEIGHT_HINT + 1);
		judge_weigh(j, WHY_psn_mismatch, WEIGHT_HINT);
		judge_weigh(j, WHY_gid_mismatch, WEIGHT_HINT);
	}
	if (is_known(&c->good_request) && j->q->attributes.path_mtu && c->good_request.bytes >= j->q->attributes.path_mtu)
		judge_weigh(j, WHY_mtu_mismatch, WEIGHT_NEVER);
	else if (is_known(&c->good_request) && size > c->good_request.bytes)
		judge_weigh(j, WHY_mtu_mismatch, WEIGHT_HINT);
	if (j->stalls)
		judge_detail(j, WHY_stalled, "its peer answers nothing, and it does not give up");
}

void judge_request(struct judge *j)
{
	if (!j->calls || j->calls->error_is_receive)
		return;
	if (j->status == STATUS_REM_ACCESS_ERR)
		judge_key(j);
	else if (j->status == STATUS_REM_INV_REQ_ERR)
		judge_invalid(j);
	else if (j->status == STATUS_RETRY_EXC_ERR || j->stalls)
		judge_silence(j);
}

/* ---- the other role: it is asked ---- */

/* Its own requests were flushed without an error before, and nobody has ended it: its device could not do one of them. */
static void judge_own_flush(struct judge *j)
{
	const struct verbs_calls *c = j->calls;
	__u64 succeeded;

	if (!c || j->v->weight[WHY_own_end] > 0)
		return;
	succeeded = c->status[STATUS_SUCCESS] - c->received[0] - c->received[1];
	if (c->count[VERBS_completions] <= succeeded)
		return;
	judge_line(j, "calls", "requests of its own are among them");
	j->suspects |= 1u << WHY_local_protection | 1u << WHY_local_operation;
	judge_weigh(j, WHY_local_protection, WEIGHT_HINT + 1);
	judge_detail(j, WHY_local_protection, "its device has ended it at a request of its own and tells no error: lkey, range or access may be wrong");
}

static void judge_refusal(struct judge *j)
{
	const struct verbs_attributes *a = &j->q->attributes;

	if (!judge_suspects(j, WHY_refused))
		return;
	judge_own_flush(j);
	judge_weigh(j, WHY_refused, WEIGHT_HINT);
	if (!j->blind)
		judge_detail(j, WHY_refused, "it refused a request of its peer, and both QPs went to error");
	if (!(a->known & VERBS_KNOWS_ACCESS))
		return;
	if (a->access & ACCESS_WRITE && a->access & ACCESS_READ) {
		judge_line(j, "kernel", "it allows WRITE and READ");
		judge_weigh(j, WHY_no_access, -WEIGHT_HINT);
		return;
	}
	judge_line(j, "kernel", "it allows no %s", a->access & ACCESS_WRITE ? "READ" : a->access & ACCESS_READ ? "WRITE" : "WRITE and no READ");
	judge_weigh(j, WHY_no_access, a->access & ACCESS_WRITE ? WEIGHT_HINT : WEIGHT_STRONG);
	judge_detail(j, WHY_no_access, "it refused a request of its peer, and it allows no %s", a->access & ACCESS_WRITE ? "READ" : "WRITE");
}

static void judge_not_ready(struct judge *j)
{
	const struct verbs_calls *c = j->calls;
	bool none = judge_has_no_receive(j->q), strong = none || !judge_shares(&j->e->own, j->q);

	if (!j->told[SAID_RNR])
		return;
	if (none)
		judge_line(j, "calls", "of %llu receives posted none is left", c->count[VERBS_recv_wrs]);
	/* the counter may tell of another QP, and this one be well */
	judge_weigh(j, WHY_no_receive, strong ? WEIGHT_STRONG : WEIGHT_HINT);
	if (strong)
		j->suspects |= 1u << WHY_no_receive;
	judge_detail(j, WHY_no_receive, "it has no receive for what its peer sends, and says so");
}

/* It takes requests, and none has ever been taken. */
static bool is_idle_from_birth(const struct judge *j)
{
	const struct verbs_attributes *a = &j->q->attributes;
	bool posts = j->calls ? j->calls->count[VERBS_wrs] : a->known & VERBS_KNOWS_SQ_PSN && j->q->qp.sq_psn != a->sq_psn_first;

	return (j->q->qp.state == QP_RTS || j->q->qp.state == QP_RTR) && !posts && a->known & VERBS_KNOWS_RQ_PSN && j->q->born &&
	       j->q->qp.rq_psn == a->rq_psn_first && j->e->own.now > j->q->born + NEVER_S;
}

static void judge_unheard(struct judge *j)
{
	if (!is_idle_from_birth(j))
		return;
	judge_line(j, "netlink", "it still expects the first PSN, 0x%06x: no request of its peer has ever been taken", j->q->qp.rq_psn);
	j->suspects |= 1u << WHY_no_such_qp | 1u << WHY_gid_mismatch | 1u << WHY_psn_mismatch | 1u << WHY_path_gone;
	judge_weigh(j, WHY_no_such_qp, WEIGHT_HINT + 1);
	judge_weigh(j, WHY_gid_mismatch, WEIGHT_HINT);
	judge_detail(j, WHY_no_such_qp, "nothing that its peer sends has ever come to this QP: it sends to another QPN, or not at all");
	if (!j->told[SAW_GAP] && !j->told[SAW_DUPLICATE])
		return;
	judge_weigh(j, WHY_psn_mismatch, WEIGHT_STRONG);
	judge_detail(j, WHY_psn_mismatch, "requests come, and their PSNs are not the ones that it was told to expect (rq_psn 0x%06x)",
		     j->q->attributes.rq_psn_first);
}

void judge_responder(struct judge *j)
{
	bool refused = j->e->wire && j->e->wire->has_nak;

	if (j->asks || (j->q->gone && !j->errs) || refused)
		return;
	judge_refusal(j);
	judge_not_ready(j);
	judge_unheard(j);
}
