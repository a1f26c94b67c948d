// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "roce/icrc/checksum.h"
#include "userspace/diagnose/flow/lint.h"
#include "userspace/diagnose/flow/message.h"
#include "userspace/diagnose/icrc/icrc_place.h"
#include "userspace/observe/model/near_roce.h"
#include "userspace/observe/model/qpn.h"

#define MOST_PAYLOAD 4096
#define MERGED_LEAST 32 /* least distance of two BTHs in a merged frame, in bytes */

/* The finding of each lint; FINDING_KINDS: other rules judge it. A lint without one does not compile. */
enum {
#define FINDING(...)
#define LINT_FINDING(lint, ...) LINT_KIND_##lint = KIND_lint_##lint,
#define LINT_ELSEWHERE(lint) LINT_KIND_##lint = FINDING_KINDS,
#include "userspace/diagnose/finding/finding.def"
#undef FINDING
};

static const enum finding_kind lint_kinds[ROCE_LINTS] = {
#define LINT(name, ...) [LINT_##name] = (enum finding_kind)LINT_KIND_##name,
#include "roce/stream/lint.def"
#undef LINT
};

/* The habits that a packet has: alone they are no event. */
static __u32 habits_of(const struct roce_packet *p)
{
	return 0
#define IF_FAULT(lint, test)
#define IF_HABIT(lint, test) | (__u32)!!(test) << LINT_##lint
#define LINT(name, class, test, words) IF_##class(name, test)
#include "roce/stream/lint.def"
#undef LINT
#undef IF_HABIT
#undef IF_FAULT
		;
}

static __u32 ip_checksum(const struct doctor_packet *p)
{
	const __u8 *ip = p->frame->bytes + p->parsed->packet.l3_offset;
	__u32 sum = 0;

	for (int i = 0; i < (ip[0] & 15) * 4; i += 2)
		sum += i == 10 ? 0 : roce_be16(ip + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

static __u32 udp_checksum(const struct doctor_packet *p)
{
	const struct fold_source whole = { .frame = p->frame->bytes };
	const struct roce_packet *packet = &p->parsed->packet;
	__u32 sum = checksum_fold(checksum_pseudo_header(packet) + roce_udp_sum(&whole, packet, 1 << 17));

	/* the sum includes the checksum field: take it out */
	sum = sum + (~__builtin_bswap16(packet->udp_checksum) & 0xffff);
	sum = (sum & 0xffff) + (sum >> 16);
	return __builtin_bswap16(~sum) ?: 0xffff;
}

/* Fills in the evidence of a lint, by its entry in finding.def. */
static void show(struct evidence *e, enum roce_lint lint, const struct lint_study *l, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	__u32 mtu = l->partial && roce_is_path_mtu(l->partial) ? l->partial : 0; /* of the packets before, if it is one */
	__u32 most = l->partial ?: MOST_PAYLOAD;
	const __u8 *bth = taken->frame->bytes + p->l4_offset + (p->rocev1 ? 0 : WIRE_UDP_LEN);

	switch (lint) {
#define EXPECTED(...) SAY(e->expected, __VA_ARGS__)
#define FOUND(...) SAY(e->found, __VA_ARGS__)
#define FINDING(...)
#define LINT_FINDING(lint, class, weight, words, asks, fix, expected, found)                                           \
	case LINT_##lint:                                                                                              \
		expected;                                                                                              \
		found;                                                                                                 \
		break;
#include "userspace/diagnose/finding/finding.def"
#undef FINDING
	default:
		break;
	}
}

/* Whether the payload contains a BTH of the same QP with the next PSN. Receive offload merges packets like this. */
static bool is_merged(const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	const __u8 *bth = taken->frame->bytes + p->l4_offset + (p->rocev1 ? 0 : WIRE_UDP_LEN);
	const __u8 *end = taken->frame->bytes + p->icrc_offset - sizeof(struct wire_bth);
	__u32 next = (p->number + 1) & PSN_MASK;

	if (p->truncated || p->payload_bytes <= 256)
		return false;
	for (const __u8 *b = bth + MERGED_LEAST; b <= end; b += 2)
		if (roce_be24(b + 5) == p->dqpn && roce_be16(b + 2) == p->pkey && roce_be24(b + 9) == next && roce_opcodes[*b])
			return true;
	return false;
}

void lint_study_take(struct lint_study *l, struct symptoms *symptoms, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	__u32 lints = taken->event->lints;
	bool odd = l->partial && !roce_is_path_mtu(l->partial);
	struct evidence *e;

	l->packets++;
	if (!taken->event->kinds)
		lints = 0;
	lints |= habits_of(p);
	l->padless += lints >> LINT_pad_count & icrc_place_lacks_pad(p);
	/* a payload that is no path MTU is one mistake, not two */
	if (lints & 1u << LINT_payload_not_path_mtu || odd)
		lints &= ~(1u << LINT_payload_mixed);
	if (message_judges_size(p->op, p->payload_bytes))
		lints &= ~(1u << LINT_payload_not_path_mtu);
	if (odd)
		lints &= ~(1u << LINT_payload_beyond_mtu);
	if (lints & (1u << LINT_payload_not_path_mtu | 1u << LINT_payload_beyond_mtu) && is_merged(taken)) {
		symptoms_add(symptoms, KIND_hint_merged, taken->number);
		lints &= ~(1u << LINT_payload_not_path_mtu | 1u << LINT_payload_beyond_mtu | 1u << LINT_payload_mixed);
	}
	for (enum roce_lint i = 0; lints && i < ROCE_LINTS; i++) {
		if (!(lints >> i & 1) || lint_kinds[i] == FINDING_KINDS)
			continue;
		e = symptoms_add(symptoms, lint_kinds[i], taken->number);
		if (e)
			show(e, i, l, taken);
	}
	if (!p->op && (e = symptoms_add(symptoms, KIND_unknown_opcode, taken->number))) {
		SAY(e->expected, "an opcode of the table");
		SAY(e->found, "opcode 0x%02x", p->opcode);
	}
	/* bare transport headers have no TTL: the IP header in front of them is made up */
	if (!p->ttl && !taken->frame->no_icrc && (e = symptoms_add(symptoms, KIND_ttl_zero, taken->number))) {
		SAY(e->expected, "TTL 64");
		SAY(e->found, "TTL 0");
	}
	if (!(p->op & (OP_FIRST | OP_MIDDLE | OP_LAST)))
		return;
	if (roce_is_partial(p)) {
		l->partial = p->payload_bytes;
		l->short_of_icrc += roce_is_path_mtu(p->payload_bytes + WIRE_ICRC_LEN);
	}
	l->service = p->service;
	l->met = true;
}

void lint_study_conclude(const struct lint_study *l, struct symptoms *symptoms)
{
	struct symptom *pad = symptoms_find(symptoms, KIND_lint_pad_count);

	if (pad && l->padless == pad->packets)
		SAY(pad->figures, "The pad is missing: the ICRC follows the payload directly.");
	for (enum roce_lint i = 0; i < ROCE_LINTS; i++) {
		struct symptom *symptom = LINT_HABITS >> i & 1 ? symptoms_find(symptoms, lint_kinds[i]) : NULL;

		if (!symptom || symptom->packets != l->packets)
			continue;
		symptom->habit = true;
		symptom->shown = 1;
		SAY(symptom->figures, "Every packet has them: a habit of this sender. Receivers ignore them.");
	}
}

/* What the lengths of a frame show that ends early, or is malformed. */
static enum finding_kind take_lengths(struct symptoms *symptoms, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	struct icrc_place at = icrc_place_find(taken->frame, p);
	__u32 need = WIRE_UDP_LEN + sizeof(struct wire_bth) + parse_extension_bytes(p->op) + p->pad + WIRE_ICRC_LEN;
	bool early = at.kind != FINDING_KINDS;
	struct evidence *e;

	if (!early)
		at.kind = p->ip_payload + WIRE_ICRC_LEN == need && p->op ? KIND_icrc_absent : KIND_malformed_short;
	e = symptoms_add(symptoms, at.kind, taken->number);
	if (e && early) {
		icrc_place_say(&at, p, e);
	} else if (e) {
		SAY(e->expected, "%u bytes behind IP, opcode 0x%02x", need, p->opcode);
		SAY(e->found, "%u", p->ip_payload);
	}
	return at.kind;
}

enum finding_kind lint_frame(struct symptoms *symptoms, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	struct evidence *e;

	/* the header checksum shows a bit flipped on the path */
	if (p->ip_checksum_wrong)
		return FINDING_KINDS;
	if (p->kind == ROCE_FRAGMENT) {
		e = symptoms_add(symptoms, KIND_ip_fragment, taken->number);
		if (e)
			SAY(e->found, "a fragment of %u bytes", taken->frame->wire - p->l3_offset);
		return KIND_ip_fragment;
	}
	return p->kind == ROCE_MALFORMED || near_roce_ends_early(taken->frame, p) ? take_lengths(symptoms, taken) :
	       FINDING_KINDS;
}

bool lint_is_damaged(const struct doctor_packet *taken)
{
	struct roce_packet p = taken->parsed->packet;
	__u32 end = p.l4_offset + p.ip_payload;

	if (p.ip_payload < WIRE_UDP_LEN + sizeof(struct wire_bth) + WIRE_ICRC_LEN || end > taken->frame->captured)
		return false;
	p.icrc_offset = end - WIRE_ICRC_LEN;
	return observer_icrc(&p, taken->frame->bytes) != roce_load(__u32, taken->frame->bytes + p.icrc_offset);
}
