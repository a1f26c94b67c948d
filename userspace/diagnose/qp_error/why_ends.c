// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules for what both ends know together, and for the way between them. */
#include <stdio.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "lib/address.h"
#include "lib/shown.h"
#include "userspace/diagnose/qp_error/judge.h"

#define MTU_HEADERS 60 /* of IPv4, UDP, BTH, RETH and ICRC: what a packet of the path MTU has at least */

static const struct verbs_request *failed(const struct judge *j)
{
	return j->calls && j->calls->error_request.opcode < VERBS_OPCODES ? &j->calls->error_request : NULL;
}

/* ---- is the peer's QP there? ---- */

/* A QP of the peer's host that says that it is connected with ours. */
static const struct verbs_qp *who_means_us(const struct judge *j)
{
	for (size_t i = 0; i < j->e->peer.qp_count; i++) {
		const struct verbs_qp *p = j->e->peer.qps[i];
		bool addresses = p->attributes.known & j->q->attributes.known & VERBS_KNOWS_PATH;

		if (p != j->q && p->qp.peer_qpn == j->q->qp.qpn && p->qp.qpn > 1 &&
		    (!addresses || !memcmp(p->attributes.dgid, j->q->attributes.sgid, 16)))
			return p;
	}
	return NULL;
}

/* No answer came, as far as is known. */
static bool silence(const struct judge *j)
{
	return j->status == STATUS_RETRY_EXC_ERR || j->stalls || (j->status == STATUS_NONE && !j->calls && j->q->qp.state == QP_ERR);
}

/* A live QP of the peer's number that is connected with another one. */
static const struct verbs_qp *namesake_of_peer(const struct judge *j)
{
	for (size_t i = 0; i < j->e->peer.qp_count; i++) {
		const struct verbs_qp *p = j->e->peer.qps[i];

		if (p != j->q && !p->gone && p->qp.qpn == j->q->qp.peer_qpn && p->qp.peer_qpn && p->qp.peer_qpn != j->q->qp.qpn)
			return p;
	}
	return NULL;
}

/* The peer's host was watched before this QP was made: it would list each QP that has gone since. */
static bool was_watched(const struct judge *j)
{
	const struct why_host *own = &j->e->own, *peer = &j->e->peer;

	return peer->since && !peer->partial && j->q->born && peer->since + peer->offset <= j->q->born + own->offset;
}

static void judge_absent(struct judge *j)
{
	const struct verbs_qp *means = who_means_us(j), *namesake = namesake_of_peer(j);

	if (!j->e->peer_known || j->other)
		return;
	if (namesake)
		judge_line(j, "peer", "its QP %u is connected with QP %u, and not with this one", namesake->qp.qpn, namesake->qp.peer_qpn);
	else
		judge_line(j, "peer", "its host has no QP %u", j->q->qp.peer_qpn);
	/* a peer that has answered was there, and has cleaned up since */
	if (!silence(j))
		return;
	if (means || !j->worked) {
		judge_weigh(j, WHY_no_such_qp, j->never_worked && !namesake && was_watched(j) ? WEIGHT_PROOF :
					       means || !j->blind ? WEIGHT_STRONG : WEIGHT_HINT);
		if (means)
			judge_detail(j, WHY_no_such_qp, "it sends to QP %u, and the peer's QP for it is %u", j->q->qp.peer_qpn,
				     means->qp.qpn);
	} else {
		judge_weigh(j, WHY_peer_gone, WEIGHT_STRONG);
		judge_detail(j, WHY_peer_gone, "the peer's QP %u is no longer there", j->q->qp.peer_qpn);
	}
}

/*
 * A peer also ends because nothing goes on any more, whatever the reason. If its end is the reason, the QP tries again from then on
 * until it gives up; a tenth is for the clocks of both hosts, and a request that was tried before.
 */
static int weight_of_end(const struct judge *j)
{
	const struct verbs_attributes *a = &j->q->attributes;
	__u64 gone = j->other->gone + j->e->peer.offset, tries = a->known & VERBS_KNOWS_TIMEOUT ? verbs_gives_up_ns(a) : 0, failed;

	/* which of both failed first is not known without calls */
	if (j->blind)
		return WEIGHT_STRONG;
	if (j->stalls)
		return gone <= j->calls->oldest_post + j->e->own.offset + WHY_STALL_NS ? WEIGHT_PROOF : WEIGHT_STRONG;
	failed = j->calls->error_time + j->e->own.offset;
	if (gone > failed)
		return WEIGHT_HINT;
	return tries && failed - gone >= tries - tries / 10 ? WEIGHT_PROOF : WEIGHT_STRONG;
}

static void judge_ended(struct judge *j)
{
	const struct verbs_qp *o = j->other;

	if (!o->gone) {
		judge_weigh(j, WHY_no_such_qp, o->qp.state == QP_RESET || o->qp.state == QP_INIT ? WEIGHT_STRONG : WEIGHT_NEVER);
		if (o->qp.state == QP_RTS || o->qp.state == QP_RTR)
			judge_weigh(j, WHY_peer_gone, WEIGHT_NEVER);
		else if (o->qp.state == QP_ERR && silence(j) && !j->blind)
			judge_weigh(j, WHY_peer_gone, WEIGHT_STRONG);
		judge_line(j, "peer", "its QP %u is in state %s", o->qp.qpn, host_state_name(o->qp.state));
		/* whose request is refused comes into error as well */
		if (j->status == STATUS_NONE && o->qp.state == QP_RTS)
			judge_weigh(j, WHY_refused, -WEIGHT_STRONG);
		return;
	}
	if (o->killed || judge_was_seen_going(o))
		judge_line(j, "peer", "its QP %u was destroyed %s%s", o->qp.qpn, o->killed ? "because its process ended" : "by its program",
			   o->killed ? judge_signal_text(o).text : "");
	else
		judge_line(j, "peer", "its QP %u is gone; nobody saw how", o->qp.qpn);
	if (!silence(j))
		return;
	judge_weigh(j, WHY_peer_gone, weight_of_end(j));
	if (o->killed)
		judge_detail(j, WHY_peer_gone, "the peer's process %u ended, and its QP %u with it", o->qp.pid, o->qp.qpn);
	else if (judge_was_seen_going(o))
		judge_detail(j, WHY_peer_gone, "the peer's program has destroyed its QP %u", o->qp.qpn);
	else
		judge_detail(j, WHY_peer_gone, "the peer's QP %u is gone", o->qp.qpn);
}

/* ---- do both mean the same? ---- */

static void judge_psns(struct judge *j)
{
	const struct verbs_attributes *own = &j->q->attributes, *peer = &j->other->attributes;

	if (!(own->known & VERBS_KNOWS_SQ_PSN) || !(peer->known & VERBS_KNOWS_RQ_PSN))
		return;
	if (own->sq_psn_first == peer->rq_psn_first) {
		judge_weigh(j, WHY_psn_mismatch, WEIGHT_NEVER);
		return;
	}
	judge_line(j, "peer", "its QP was told to expect PSN 0x%06x first, this one to send 0x%06x", peer->rq_psn_first, own->sq_psn_first);
	if (!j->worked && silence(j))
		judge_weigh(j, WHY_psn_mismatch, WEIGHT_PROOF);
	judge_detail(j, WHY_psn_mismatch, "it begins with PSN 0x%06x, and its peer expects 0x%06x", own->sq_psn_first, peer->rq_psn_first);
}

/* Ends with different path MTUs do each other no harm by messages that fit into one packet of either. */
static int weight_of_mtus(const struct judge *j, __u32 smaller)
{
	const struct verbs_request *good = j->calls ? &j->calls->good_request : NULL;

	if (failed(j) && failed(j)->bytes <= smaller)
		return 0;
	if (good && good->opcode < VERBS_OPCODES && good->bytes > smaller) /* devices may bear it */
		return 0;
	if (failed(j) && j->worked && good->opcode >= VERBS_OPCODES)
		return WEIGHT_HINT;
	if (failed(j) && (j->status == STATUS_REM_INV_REQ_ERR || j->status == STATUS_RETRY_EXC_ERR))
		return WEIGHT_PROOF;
	return j->v->in_error || j->stalls ? WEIGHT_HINT : 0;
}

static void judge_mtus(struct judge *j)
{
	const struct verbs_attributes *own = &j->q->attributes, *peer = &j->other->attributes;

	if (!(own->known & peer->known & VERBS_KNOWS_MTU) || own->path_mtu == peer->path_mtu)
		return;
	judge_line(j, "peer", "its QP has path MTU %u, this one %u", peer->path_mtu, own->path_mtu);
	judge_weigh(j, WHY_mtu_mismatch, weight_of_mtus(j, own->path_mtu < peer->path_mtu ? own->path_mtu : peer->path_mtu));
	judge_detail(j, WHY_mtu_mismatch, "its path MTU is %u, and its peer's %u", own->path_mtu, peer->path_mtu);
}

static void judge_gids(struct judge *j)
{
	const struct verbs_attributes *own = &j->q->attributes, *peer = &j->other->attributes;
	bool here, there;

	if (!(own->known & peer->known & VERBS_KNOWS_PATH))
		return;
	here = memcmp(own->sgid, peer->dgid, 16);
	there = memcmp(own->dgid, peer->sgid, 16);
	if (own->gid_type != peer->gid_type) {
		judge_line(j, "peer", "its GID is of %s, this one's of %s", verbs_gid_type_name(peer->gid_type), verbs_gid_type_name(own->gid_type));
		judge_detail(j, WHY_gid_mismatch, "it uses a GID of %s, and its peer one of %s", verbs_gid_type_name(own->gid_type),
			     verbs_gid_type_name(peer->gid_type));
	} else if (here) {
		judge_line(j, "peer", "its QP was told that this one is at %s; it sends from %s", address_text(peer->dgid).text,
			   address_text(own->sgid).text);
		judge_detail(j, WHY_gid_mismatch, "it sends from %s (GID index %u), and its peer expects %s", address_text(own->sgid).text,
			     own->sgid_index, address_text(peer->dgid).text);
	} else if (there) {
		judge_line(j, "peer", "its QP is at %s; this one sends to %s", address_text(peer->sgid).text, address_text(own->dgid).text);
		judge_detail(j, WHY_gid_mismatch, "it sends to %s, and its peer's QP is at %s (GID index %u)",
			     address_text(own->dgid).text, address_text(peer->sgid).text, peer->sgid_index);
	} else {
		judge_weigh(j, WHY_gid_mismatch, WEIGHT_NEVER);
		return;
	}
	/* devices may take packets from, and at, another address of the port: then it had worked before it was watched */
	if (silence(j) && !j->worked)
		judge_weigh(j, WHY_gid_mismatch, j->never_worked ? WEIGHT_PROOF : WEIGHT_STRONG);
}

/* ---- does the peer allow it? ---- */

static __u32 needs(const struct verbs_request *r)
{
	switch (r->opcode) {
	case IB_UVERBS_WR_RDMA_WRITE:
	case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		return IB_UVERBS_ACCESS_REMOTE_WRITE;
	case IB_UVERBS_WR_RDMA_READ:
		return IB_UVERBS_ACCESS_REMOTE_READ;
	case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
	case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		return IB_UVERBS_ACCESS_REMOTE_ATOMIC;
	}
	return 0;
}

static bool is_refused(const struct judge *j)
{
	return j->status == STATUS_REM_ACCESS_ERR || j->status == STATUS_REM_INV_REQ_ERR;
}

static void judge_allowed(struct judge *j)
{
	const struct verbs_request *r = failed(j);

	if (!r || !needs(r) || !is_refused(j) || !(j->other->attributes.known & VERBS_KNOWS_ACCESS))
		return;
	if (j->other->attributes.access & needs(r)) {
		judge_line(j, "peer", "its QP allows %s", verbs_opcode_name(r->opcode));
		judge_weigh(j, WHY_no_access, j->status == STATUS_REM_INV_REQ_ERR ? WEIGHT_NEVER : 0);
		return;
	}
	judge_line(j, "peer", "its QP does not allow %s (access flags 0x%x)", verbs_opcode_name(r->opcode), j->other->attributes.access);
	judge_weigh(j, WHY_no_access, WEIGHT_PROOF);
	judge_detail(j, WHY_no_access, "the peer's QP does not allow %s", verbs_opcode_name(r->opcode));
}

/* ---- the peer's memory ---- */

/* Whether requests to the QP may reach the region: it is of the same device and process, as far as both are known. */
static bool is_of(const struct host_mr *m, const struct verbs_qp *q)
{
	return !strcmp(m->device, q->qp.device) && (!m->pid || !q->qp.pid || m->pid == q->qp.pid);
}

static const struct host_mr *mr_of(const struct why_host *h, const struct verbs_qp *q, __u32 rkey, size_t *with_keys)
{
	const struct host_mr *found = NULL;

	*with_keys = 0;
	for (size_t i = 0; i < h->mr_count; i++) {
		*with_keys += h->mrs[i].has_keys;
		if (h->mrs[i].has_keys && h->mrs[i].rkey == rkey && is_of(&h->mrs[i], q))
			found = &h->mrs[i];
	}
	return found;
}

/* low, high: what of the region requests have reached, this one too: it cannot be longer than the region. worked: some have succeeded. */
static void judge_place(struct judge *j, const struct host_mr *mr, const struct verbs_request *r, __u64 low, __u64 high, bool worked)
{
	__u64 offset = r->remote_addr - mr->iova;
	bool outside = mr->has_iova ? r->remote_addr < mr->iova || offset > mr->length || r->bytes > mr->length - offset :
				      high - low > mr->length;

	judge_weigh(j, WHY_wrong_rkey, WEIGHT_NEVER);
	if (outside) {
		judge_line(j, "peer", "the region of rkey 0x%x has %llu bytes, and the request reaches beyond", r->rkey, mr->length);
		judge_weigh(j, WHY_out_of_bounds, WEIGHT_PROOF);
		judge_detail(j, WHY_out_of_bounds, "%s reaches outside of the peer's memory region of %llu bytes", judge_request_text(r).text,
			     mr->length);
		return;
	}
	judge_line(j, "peer", "it has a region of rkey 0x%x, of %llu bytes", r->rkey, mr->length);
	if (mr->has_iova) {
		judge_weigh(j, WHY_out_of_bounds, WEIGHT_NEVER);
		judge_weigh(j, WHY_no_access, WEIGHT_STRONG);
	} else {
		judge_weigh(j, worked ? WHY_out_of_bounds : WHY_no_access, WEIGHT_HINT);
	}
	judge_detail(j, WHY_no_access, "the peer's memory of rkey 0x%x does not allow %s", r->rkey, verbs_opcode_name(r->opcode));
}

static void judge_memory(struct judge *j)
{
	const struct verbs_request *r = failed(j);
	const struct verbs_calls *c = j->calls;
	const struct host_mr *mr;
	size_t with_keys;
	bool known;
	__u64 low, high;

	if (!r || !needs(r) || j->status != STATUS_REM_ACCESS_ERR || !j->e->peer.mr_count)
		return;
	mr = mr_of(&j->e->peer, j->other, r->rkey, &with_keys);
	if (!with_keys) {
		judge_line(j, "peer", "its regions' keys are not known (CAP_NET_ADMIN)");
		return;
	}
	if (!mr) {
		judge_line(j, "peer", "none of its %zu memory regions%s has the rkey 0x%x for its QP", with_keys,
			   j->e->peer.mrs_cut ? " that are listed" : "", r->rkey);
		/* regions are listed after it failed: this one may have been deregistered since, and long lists are cut */
		judge_weigh(j, WHY_wrong_rkey, WEIGHT_STRONG);
		judge_detail(j, WHY_wrong_rkey, "the peer has no memory region with rkey 0x%x", r->rkey);
		return;
	}
	known = c->good_request.opcode < VERBS_OPCODES && c->good_request.rkey == r->rkey;
	low = known && c->good_low < r->remote_addr ? c->good_low : r->remote_addr;
	high = known && c->good_high > r->remote_addr + r->bytes ? c->good_high : r->remote_addr + r->bytes;
	judge_place(j, mr, r, low, high, known);
}

static bool consumes(__u32 opcode)
{
	return opcode == IB_UVERBS_WR_SEND || opcode == IB_UVERBS_WR_SEND_WITH_IMM || opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM ||
	       opcode == IB_UVERBS_WR_SEND_WITH_INV;
}

/* Whether the request needs a receive; if it is not known which one it is: whether any that was posted does. */
static bool may_consume(const struct judge *j)
{
	if (failed(j) || !j->calls)
		return !failed(j) || consumes(failed(j)->opcode);
	for (__u32 i = 0; i < VERBS_OPCODES; i++)
		if (j->calls->wrs[i] && consumes(i))
			return true;
	return false;
}

static void judge_receives(struct judge *j)
{
	if (!may_consume(j)) {
		judge_weigh(j, WHY_no_receive, failed(j) || j->calls->whole ? WEIGHT_NEVER : 0);
		return;
	}
	if (!judge_suspects(j, WHY_no_receive) || !judge_has_no_receive(j->other))
		return;
	judge_line(j, "peer", "it has posted %llu receives, and none is left", j->other->calls.count[VERBS_recv_wrs]);
	judge_weigh(j, WHY_no_receive, j->blind ? WEIGHT_HINT : WEIGHT_STRONG);
	if (!judge_has_told(j->e->peer.counters, j->e->peer.counter_count, &j->other->qp, SAID_RNR))
		return;
	judge_line(j, "peer", "its device has answered that a QP was not ready");
	judge_weigh(j, WHY_no_receive, j->blind || judge_shares(&j->e->peer, j->other) ? WEIGHT_HINT : WEIGHT_PROOF);
}

/* Asked about a responder: its peer's completion has the reason. */
static void judge_told(struct judge *j)
{
	struct why_evidence turned = { .qp = j->other, .own = j->e->peer, .peer = j->e->own, .peer_known = true, .turned = true,
				       .wire = j->e->asked, .asked = j->e->wire, .stall_ns = j->e->stall_ns };
	struct why_verdict v;

	if (j->asks || j->e->turned)
		return;
	why_judge(&v, &turned);
	if (v.nothing_wrong || v.cause == WHY_unknown || v.cause == WHY_peer_gone || v.cause == WHY_own_end || v.cause == WHY_killed)
		return;
	judge_line(j, "peer", "of its own request: %.*s", WHY_TEXT - 24, v.sentence);
	j->seen_from_peer = JUDGE_SEEN_FROM_PEER;
	judge_detail(j, v.cause, "%s", v.words);
	j->seen_from_peer = NULL;
	judge_weigh(j, v.cause, v.confidence == WHY_CERTAIN ? WEIGHT_PROOF : WEIGHT_STRONG);
	j->suspects |= 1u << v.cause;
}

void judge_ends(struct judge *j)
{
	judge_absent(j);
	if (!j->other)
		return;
	judge_ended(j);
	judge_psns(j);
	judge_mtus(j);
	judge_gids(j);
	judge_allowed(j);
	judge_memory(j);
	judge_receives(j);
	judge_told(j);
}

/* ---- the way ---- */

static struct address_text peer_text(const struct judge *j)
{
	struct address_text unknown = { "the peer" };

	return j->q->attributes.known & VERBS_KNOWS_PATH ? address_text(j->q->attributes.dgid) : unknown;
}

static bool may_be_the_way(const struct judge *j)
{
	return silence(j) || (!j->q->gone && !j->asks && j->q->qp.state != QP_ERR);
}

static void judge_reach(struct judge *j)
{
	const struct why_way *w = j->e->way;
	const struct shown_text shown = shown_text(w->interface);
	const char *interface = w->interface[0] ? shown.text : "the interface";

	j->suspects |= w->carrier == WHY_NO || w->route == WHY_NO || w->neighbour == WHY_NO ? 1u << WHY_path_gone : 0;
	if (w->carrier == WHY_NO) {
		judge_line(j, "path", "%s has no carrier", interface);
		/* what failed before may have failed for another reason: the way was looked at later */
		judge_weigh(j, WHY_path_gone, j->stalls && w->is_now ? WEIGHT_PROOF : WEIGHT_STRONG);
		judge_detail(j, WHY_path_gone, "%s has no carrier", interface);
	} else if (w->route == WHY_NO) {
		judge_line(j, "path", "this host has no route to %s", peer_text(j).text);
		judge_weigh(j, WHY_path_gone, WEIGHT_STRONG);
	} else if (w->neighbour == WHY_NO) {
		judge_line(j, "path", "nobody answers for %s on %s", peer_text(j).text, interface);
		judge_weigh(j, j->worked ? WHY_path_gone : WHY_gid_mismatch, WEIGHT_STRONG);
		judge_detail(j, WHY_gid_mismatch, "nobody is at the GID to which it sends, %s", peer_text(j).text);
	} else if (w->echoes == WHY_NO) {
		judge_line(j, "path", "%s does not answer pings", peer_text(j).text);
		j->suspects |= 1u << WHY_path_gone;
		judge_weigh(j, WHY_path_gone, WEIGHT_STRONG);
	} else if (w->echoes == WHY_YES) {
		judge_line(j, "path", "%s answers pings", peer_text(j).text);
		judge_weigh(j, WHY_path_gone, WEIGHT_NEVER);
		if (!j->blind) /* else nobody knows that its requests got no answer */
			judge_weigh(j, WHY_peer_gone, WEIGHT_HINT);
	}
}

static void judge_size(struct judge *j)
{
	const struct why_way *w = j->e->way;
	__u32 needed = j->q->attributes.path_mtu + MTU_HEADERS;

	if (!(j->q->attributes.known & VERBS_KNOWS_MTU))
		return;
	if (w->fails && w->fails <= needed) {
		judge_line(j, "path", "packets of %u bytes do not pass, those of %u do; path MTU %u needs %u", w->fails, w->passes,
			   j->q->attributes.path_mtu, needed);
		j->suspects |= 1u << WHY_mtu_mismatch;
		judge_weigh(j, WHY_mtu_mismatch, 2 * WEIGHT_STRONG);
		judge_weigh(j, WHY_peer_gone, -WEIGHT_STRONG);
		judge_detail(j, WHY_mtu_mismatch, "its path MTU is %u, and packets of %u bytes do not pass to the peer", j->q->attributes.path_mtu,
			     w->fails);
	} else if (w->passes >= needed) {
		judge_line(j, "path", "packets of the path MTU pass");
		if (!j->other || j->other->attributes.path_mtu == j->q->attributes.path_mtu)
			judge_weigh(j, WHY_mtu_mismatch, WEIGHT_NEVER);
	}
}

static void judge_source(struct judge *j)
{
	const struct why_way *w = j->e->way;

	if (!w->has_source || !(j->q->attributes.known & VERBS_KNOWS_PATH) || !memcmp(w->source, j->q->attributes.sgid, 16) || j->worked)
		return;
	judge_line(j, "path", "this host sends to %s from %s, the QP from %s (GID index %u)", peer_text(j).text,
		   address_text(w->source).text, address_text(j->q->attributes.sgid).text, j->q->attributes.sgid_index);
	judge_weigh(j, WHY_gid_mismatch, WEIGHT_STRONG);
	judge_detail(j, WHY_gid_mismatch, "it sends from %s (GID index %u), where this host would choose %s: the peer may expect that one",
		     address_text(j->q->attributes.sgid).text, j->q->attributes.sgid_index, address_text(w->source).text);
}

void judge_way(struct judge *j)
{
	if (!j->e->way || !may_be_the_way(j))
		return;
	judge_reach(j);
	judge_size(j);
	judge_source(j);
}
