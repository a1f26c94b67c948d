// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which sign or finding is a consequence of another. */
#include <stdlib.h>
#include <string.h>

#include "roce/wire.h"
#include "userspace/doctor/chart.h"

/* If a stream has signs of `cause`, its signs of `consequence` are dropped. */
static const struct {
	enum finding_kind cause, consequence;
} explains[] = {
	{ KIND_lint_pad_count, KIND_lint_dma_pad },
	{ KIND_lint_qpn_management, KIND_refused_qpn },
	{ KIND_lint_pkey_invalid, KIND_refused_pkey },
	{ KIND_lint_service_mixed, KIND_refused_service },
	{ KIND_unknown_opcode, KIND_refused_service },
	{ KIND_unknown_opcode, KIND_refused_operation },
	{ KIND_missing_reth, KIND_refused_rkey },
	{ KIND_missing_reth, KIND_refused_bounds },
	{ KIND_icrc_absent, KIND_refused_length },
	{ KIND_lint_pad_count, KIND_refused_length },
	{ KIND_refused_length, KIND_lint_payload_not_path_mtu }, /* the receiver's path MTU is known: it says which size is right */
	{ KIND_refused_length, KIND_lint_payload_mixed },
	{ KIND_refused_length, KIND_lint_payload_beyond_mtu },
	{ KIND_refused_length, KIND_nak_invalid_request },
	{ KIND_refused_operation, KIND_nak_invalid_request },
	{ KIND_refused_rkey, KIND_nak_remote_access },
	{ KIND_refused_bounds, KIND_nak_remote_access },
	{ KIND_loss, KIND_imm_gap },
	{ KIND_missing_last, KIND_imm_gap },
	{ KIND_missing_first, KIND_imm_gap },
	{ KIND_missing_imm, KIND_imm_gap },
	{ KIND_psn_outlier, KIND_psn_skip },
	{ KIND_psn_outlier, KIND_reorder },
	{ KIND_psn_outlier, KIND_duplicates },
	{ KIND_psn_start, KIND_psn_refused },
	{ KIND_psn_start, KIND_retransmission },
	{ KIND_psn_other_side, KIND_psn_refused },
	{ KIND_psn_other_side, KIND_retransmission },
	{ KIND_no_ackreq, KIND_no_response },
	{ KIND_no_ackreq, KIND_retransmission },
	{ KIND_no_response, KIND_retransmission },
	{ KIND_psn_refused, KIND_retransmission },
	{ KIND_psn_refused, KIND_reorder },
	{ KIND_loss, KIND_retransmission },
};

static bool has_class(const struct signs *s, enum finding_class class, bool certain)
{
	for (size_t i = 0; i < s->count; i++)
		if (finding_rules[s->list[i].kind].class == class && (!certain || s->list[i].packets >= FINDING_PACKETS))
			return true;
	return false;
}

static void drop_class(struct signs *s, enum finding_class class)
{
	for (size_t i = s->count; i-- > 0;)
		if (finding_rules[s->list[i].kind].class == class)
			signs_drop(s, s->list[i].kind);
}

/* Whether every PSN is counted wrong, without a doubt. */
static bool counts_wrong(const struct signs *s)
{
	for (enum finding_kind k = KIND_psn_constant; k <= KIND_psn_wrap; k++) {
		const struct sign *sign = signs_find(s, k);

		if (sign && !sign->doubted)
			return true;
	}
	return false;
}

static void explain_absent_icrc(struct chart *c)
{
	struct sign *size = signs_find(&c->signs, KIND_lint_payload_not_path_mtu);

	if (!size || !signs_find(&c->signs, KIND_icrc_absent))
		return;
	if (roce_is_path_mtu(c->lint.partial + WIRE_ICRC_LEN))
		signs_drop(&c->signs, KIND_lint_payload_not_path_mtu);
	else
		SAY(size->figures, "The four bytes that stand in the ICRC's place are payload as well: it is %u.",
		    c->lint.partial + WIRE_ICRC_LEN);
}

void explain_chart(struct chart *c)
{
	struct signs *s = &c->signs;

	if (counts_wrong(s)) {
		drop_class(s, CLASS_LOSS);
		signs_drop(s, KIND_missing_first);
		signs_drop(s, KIND_missing_last);
		signs_drop(s, KIND_message_mixed);
		signs_drop(s, KIND_psn_refused);
		signs_drop(s, KIND_psn_outlier);
		signs_drop(s, KIND_psn_skip);
		signs_drop(s, KIND_psn_start);
	}
	/* packets of several QPs may be in this one stream */
	if (signs_find(s, KIND_lint_qpn_management)) {
		drop_class(s, CLASS_LOSS);
		drop_class(s, CLASS_GRAMMAR);
		signs_drop(s, KIND_psn_outlier);
		signs_drop(s, KIND_psn_skip);
	}
	explain_absent_icrc(c);
	/* what the machine drops before, its QP never sees; and of a wrong PSN the other rules know more */
	if (has_class(s, CLASS_IP, true) || has_class(s, CLASS_PSN, true) || signs_find(s, KIND_lint_qpn_management))
		signs_drop(s, KIND_host_qp);
	if (has_class(s, CLASS_GRAMMAR, false) || has_class(s, CLASS_DMA, false))
		signs_drop(s, KIND_refused_length);
	/* what the receiver does not take it answers by silence, or asks for again */
	if (has_class(s, CLASS_RECEIVER, true)) {
		signs_drop(s, KIND_no_response);
		signs_drop(s, KIND_psn_refused);
		signs_drop(s, KIND_retransmission);
	}
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(explains); i++)
		if (signs_find(s, explains[i].cause))
			signs_drop(s, explains[i].consequence);
	if (has_class(s, CLASS_ICRC, true) || has_class(s, CLASS_IP, true) || has_class(s, CLASS_BTH, true) ||
	    has_class(s, CLASS_PSN, true))
		signs_drop(s, KIND_no_response);
	if (has_class(s, CLASS_GRAMMAR, false) || has_class(s, CLASS_SIZE, false) || has_class(s, CLASS_DMA, false))
		signs_drop(s, KIND_nak_invalid_request);
}

void explain_selection(struct chart *c)
{
	static const enum finding_kind needs_all[] = { KIND_psn_refused, KIND_no_response };

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(needs_all); i++)
		signs_drop(&c->signs, needs_all[i]);
}

/* NULL: none of that kind. */
static struct finding *find(const struct findings *f, const char *kind)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->list[i].kind, kind))
			return &f->list[i];
	return NULL;
}

static void drop(struct findings *f, const char *kind)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->list[i].kind, kind))
			f->list[kept++] = f->list[i];
	f->count = kept;
}

/* Packets explained by certain findings about ICRCs. */
static __u64 explained(const struct findings *f)
{
	__u64 packets = 0;

	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].certain && !strncmp(f->list[i].kind, "icrc-", 5))
			packets += f->list[i].packets;
	return packets;
}

/*
 * Random flips agree now and then by chance. A finding that explains less than half of the packets studied becomes a candidate.
 */
static void doubt_flips(struct findings *f, const struct finding *corruption)
{
	__u64 looked_into = corruption->packets < ICRC_STUDIED ? corruption->packets : ICRC_STUDIED;

	for (size_t i = 0; i < f->count; i++)
		if (!strncmp(f->list[i].kind, "icrc-", 5) && 2 * f->list[i].packets < looked_into)
			f->list[i].certain = false;
}

/* If damage is only a candidate, a finding that explains one of its packets says more. */
static bool is_named(const struct findings *f, const struct finding *corruption)
{
	for (size_t i = 0; !corruption->certain && i < f->count; i++)
		if (!strncmp(f->list[i].kind, "icrc-", 5) && strcmp(f->list[i].kind, "icrc-unexplained"))
			return true;
	return false;
}

void explain_findings(struct findings *f)
{
	const struct finding *wrong_qpn = find(f, "lint-qpn-management"), *corruption = find(f, "corruption");
	const struct finding *unexplained = find(f, "icrc-unexplained");

	/* the packets missing elsewhere went to the wrong QPN */
	if (wrong_qpn && wrong_qpn->certain)
		drop(f, "loss");
	if (corruption)
		doubt_flips(f, corruption);
	/* One or two packets of an unknown sender: damage changed the address of another sender's packets. */
	if (corruption && unexplained && unexplained->packets < FINDING_PACKETS)
		drop(f, "icrc-unexplained");
	corruption = find(f, "corruption");
	unexplained = find(f, "icrc-unexplained");
	/* no path damages most of its packets */
	if (corruption && unexplained && unexplained->packets >= corruption->packets)
		drop(f, "corruption");
	corruption = find(f, "corruption");
	if (explained(f) || (corruption && is_named(f, corruption))) {
		drop(f, "corruption");
		drop(f, "no-response");
	}
}
