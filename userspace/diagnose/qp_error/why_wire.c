// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules for what a third place saw between the two QPs. */
#include <string.h>

#include "userspace/diagnose/qp_error/judge.h"

/* AETH (IBTA table 45): what a NAK says; the order of struct why_wire.naks. */
enum { NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS, NAK_OPERATION };
#define SYNDROME_NAK 0x60

static void judge_refused_packet(struct judge *j, const struct why_wire *w)
{
	const struct why_nak *n = &w->nak;

	if (n->syndrome != SYNDROME_NAK + NAK_ACCESS || !n->has_packet)
		return;
	if (n->packet) {
		judge_line(j, "wire", "packet %u of the message was refused, and those before it were taken", n->packet + 1);
		judge_weigh(j, WHY_out_of_bounds, WEIGHT_PROOF);
		judge_detail(j, WHY_out_of_bounds, "the message of %u bytes reaches outside of the peer's memory region", n->length);
		return;
	}
	judge_line(j, "wire", "the first packet of the message was refused: none was taken");
	if (!n->has_reth)
		return;
	judge_line(j, "wire", "its RETH has rkey 0x%x, address 0x%llx, %u bytes; that rkey has %s", n->rkey, n->va, n->length,
		   n->rkey_worked ? "worked before" : "never worked");
	judge_weigh(j, n->rkey_worked ? WHY_out_of_bounds : WHY_wrong_rkey, WEIGHT_STRONG);
	judge_detail(j, WHY_out_of_bounds, "the message of %u bytes at 0x%llx reaches outside of the peer's memory region of rkey 0x%x",
		     n->length, n->va, n->rkey);
	judge_detail(j, WHY_wrong_rkey, "the peer has no memory with rkey 0x%x, or none that allows it", n->rkey);
}

static void judge_naks(struct judge *j, const struct why_wire *w)
{
	static const char *const words[] = { "PSN sequence error", "invalid request", "remote access error", "remote operational error" };

	for (int i = 0; i < 4; i++)
		if (w->naks[i])
			judge_line(j, "wire", "%llu NAK%s: %s", w->naks[i], w->naks[i] == 1 ? "" : "s", words[i]);
	if (w->naks[NAK_ACCESS])
		j->suspects |= 1u << WHY_wrong_rkey | 1u << WHY_out_of_bounds | 1u << WHY_no_access;
	if (w->naks[NAK_INVALID]) {
		j->suspects |= 1u << WHY_no_access | 1u << WHY_receive_too_small;
		judge_weigh(j, w->has_nak && w->nak.has_reth ? WHY_no_access : WHY_receive_too_small, WEIGHT_STRONG);
	}
	if (w->naks[NAK_OPERATION]) {
		j->suspects |= 1u << WHY_remote_operation;
		judge_weigh(j, WHY_remote_operation, WEIGHT_PROOF);
	}
	if (w->has_nak)
		judge_refused_packet(j, w);
	if (w->rnr_naks) {
		judge_line(j, "wire", "%llu RNR NAK%s: the receiver was not ready", w->rnr_naks, w->rnr_naks == 1 ? "" : "s");
		judge_weigh(j, WHY_no_receive, WEIGHT_STRONG);
		j->suspects |= 1u << WHY_no_receive;
	}
}

/* IBTA 9.7.5.1.1: a PSN ahead of the expected one is a gap, one behind it a duplicate, which is acknowledged as what came last. */
static void judge_wire_psns(struct judge *j, const struct why_wire *w, const struct verbs_qp *asker)
{
	bool from_start = asker && asker->attributes.known & VERBS_KNOWS_SQ_PSN && asker->attributes.sq_psn_first == w->first_psn;

	if (w->acknowledged || !w->has_first)
		return;
	if (w->has_first_nak && w->first_nak_psn != w->first_psn && !w->first_nak_inside) {
		judge_line(j, "wire", "the first request has PSN 0x%06x, and its receiver asks for 0x%06x", w->first_psn, w->first_nak_psn);
		j->suspects |= 1u << WHY_psn_mismatch;
		/* what was lost before a capture began is asked for as well */
		judge_weigh(j, WHY_psn_mismatch, from_start ? WEIGHT_PROOF : WEIGHT_HINT);
		if (!from_start)
			return;
		judge_detail(j, WHY_psn_mismatch, "it begins with PSN 0x%06x, and its peer expects 0x%06x", w->first_psn, w->first_nak_psn);
	} else if (w->acks_elsewhere) {
		judge_line(j, "wire", "ACKs come, of PSNs that are none of what was sent");
		j->suspects |= 1u << WHY_psn_mismatch;
		judge_weigh(j, WHY_psn_mismatch, WEIGHT_STRONG);
	}
}

static void judge_no_answers(struct judge *j, const struct why_wire *w)
{
	if (w->arp_unanswered) {
		judge_line(j, "wire", "%llu requests for the peer's MAC address were not answered", w->arp_unanswered);
		judge_weigh(j, WHY_path_gone, WEIGHT_STRONG);
	}
	if (!w->requests)
		return;
	judge_line(j, "wire", "%llu requests, %llu of them again; %llu answers", w->requests, w->retransmitted, w->answers);
	if (w->lost && w->acknowledged) {
		judge_line(j, "wire", "%llu PSNs never came there", w->lost);
		judge_weigh(j, WHY_loss, WEIGHT_HINT);
	}
	if (w->acknowledged && w->largest_answered && w->unanswered_largest > w->largest_answered && j->asks) {
		judge_line(j, "wire", "packets of up to %llu bytes were answered, those of %llu never", w->largest_answered,
			   w->unanswered_largest);
		judge_weigh(j, WHY_mtu_mismatch, WEIGHT_HINT);
	}
}

/* asker: whose requests they are; NULL: not known. */
static void judge_seen(struct judge *j, const struct why_wire *w, const struct verbs_qp *asker)
{
	judge_no_answers(j, w);
	judge_naks(j, w);
	judge_wire_psns(j, w, asker);
}

/* Its peer's requests: the words of causes are those of the one that asks, and are told as such. */
static void judge_asked(struct judge *j)
{
	int before[WHY_CAUSES];

	memcpy(before, j->v->weight, sizeof(before));
	j->seen_from_peer = JUDGE_SEEN_FROM_PEER;
	judge_seen(j, j->e->asked, j->other);
	for (int c = 0; c < WHY_CAUSES; c++)
		if (j->v->weight[c] > before[c])
			judge_detail(j, c, "%s", why_cause_words(c));
	j->seen_from_peer = NULL;
}

void judge_wire(struct judge *j)
{
	if (j->e->wire)
		judge_seen(j, j->e->wire, j->q);
	if (j->e->asked && !j->asks)
		judge_asked(j);
}
