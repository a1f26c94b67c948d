// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Follows each frame along the steps. */
#include <stdarg.h>
#include <string.h>

#include "lib/address.h"
#include "roce/packet/cm.h"
#include "userspace/diagnose/bring_up/bring_up.h"
#include "userspace/diagnose/flow/message.h"
#include "userspace/diagnose/flow/receiver.h"
#include "userspace/observe/model/arp.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/observe/model/refusal.h"

#define STANDS 4 /* readings in which a QP's PSN stands still, until a packet was not taken: rxe works on packets later */
#define BIT(step) (1u << (step))
/* What only somebody who knows the QP can tell. */
#define OF_QP \
	(BIT(STEP_qpn) | BIT(STEP_state) | BIT(STEP_service) | BIT(STEP_pkey) | BIT(STEP_psn) | BIT(STEP_memory) | BIT(STEP_path_mtu))

/* enum ib_qp_type, enum ib_qp_state (include/rdma/ib_verbs.h) */
enum { TYPE_RC = 2, TYPE_UC = 3, TYPE_UD = 4 };
enum { STATE_ERROR = 6 };

struct verdict {
	enum bring_up_step failed; /* the first step that fails */
	enum finding_kind kind; /* as in struct bring_up_stream */
	char expected[BRING_UP_TEXT / 2], found[BRING_UP_TEXT];
	__u32 not_told;
	bool follows; /* from an earlier packet's failure, if there was one: the rest of its message, the error state */
};

/* Only the first step counts. */
__attribute__((format(printf, 4, 5))) static void fail(struct verdict *v, enum bring_up_step step, const char *expected,
						       const char *found, ...)
{
	va_list values;

	if (step >= v->failed)
		return;
	v->failed = step;
	v->kind = FINDING_KINDS;
	SAY(v->expected, "%s", expected);
	va_start(values, found);
	vsnprintf(v->found, sizeof(v->found), found, values);
	va_end(values);
}

/* The step fails for the reason that the doctor names so, too. */
static void fail_as(struct verdict *v, enum bring_up_step step, enum finding_kind kind, const char *expected, const char *found)
{
	bool first = step < v->failed;

	fail(v, step, expected, "%s", found);
	if (first)
		v->kind = kind;
}

struct bring_up_text bring_up_text(const char *format, ...)
{
	struct bring_up_text t;
	va_list values;

	va_start(values, format);
	vsnprintf(t.text, sizeof(t.text), format, values);
	va_end(values);
	return t;
}

/* An address that packets here ought to have. */
static struct bring_up_text own_address(const struct bring_up_end *e, bool six)
{
	if (e->receiver->program)
		return bring_up_text("%s", address_text(e->receiver->setup.own).text);
	if (e->endpoint)
		return bring_up_text("%s", address_text(e->endpoint->end.gid).text);
	for (size_t i = 0; i < e->places.address_count; i++)
		if (e->places.addresses[i].interface == e->ifindex && address_is_ipv4(e->places.addresses[i].address) == !six)
			return bring_up_text("%s", address_text(e->places.addresses[i].address).text);
	return bring_up_text("no address: the interface has none");
}

/* ---- the exchange ---- */

/* s: NULL: of no pair */
static struct bring_up_row *add_row(struct bring_up *b, const struct bring_up_stream *s, __u64 time, bool ours,
				    struct bring_up_text words)
{
	struct bring_up_exchange *e = bring_up_exchange(b, s);
	struct bring_up_row *r = &e->rows[e->count++ % BRING_UP_ROWS];

	*r = (struct bring_up_row){ .time = time, .ours = ours, .failed = STEPS };
	SAY(r->words, "%s", words.text);
	return r;
}

static void mark(struct bring_up_row *r, enum bring_up_step failed, const char *expected, const char *found)
{
	r->failed = failed;
	if (failed == STEPS)
		r->note[0] = 0;
	else
		SAY(r->note, "%s%s%s%s", expected[0] ? "expected " : "", expected, expected[0] ? ": " : "", found);
}

static const char *answer_name(__u8 syndrome)
{
	static const char *const naks[] = { "NAK, PSN sequence error", "NAK, invalid request", "NAK, remote access error",
					    "NAK, remote operational error", "NAK, invalid RD request" };

	if (syndrome >> 5 == 3)
		return (syndrome & 31) < ROCE_ARRAY_SIZE(naks) ? naks[syndrome & 31] : "NAK";
	return syndrome >> 5 == 1 ? "RNR NAK" : "ACK";
}

/* "1024 of 3000 bytes to 0x100000, rkey 0x1234" */
static struct bring_up_text place_words(const struct roce_packet *p)
{
	bool read = p->op & OP_READ_REQUEST;

	if (!(p->op & OP_RETH))
		return bring_up_text("%u bytes", p->payload_bytes);
	if (read || p->payload_bytes == p->dma_length)
		return bring_up_text("%u bytes %s 0x%llx, rkey 0x%x", p->dma_length, read ? "from" : "to", p->va, p->rkey);
	return bring_up_text("%u of %u bytes to 0x%llx, rkey 0x%x", p->payload_bytes, p->dma_length, p->va, p->rkey);
}

static struct bring_up_text packet_words(const struct roce_packet *p)
{
	struct bring_up_text immediate = p->op & OP_IMMDT ? bring_up_text(", immediate 0x%x", p->immediate) : bring_up_text("%s", "");

	if (p->op & OP_ACK)
		return bring_up_text("%s, QPN %s, PSN 0x%llx", answer_name(p->syndrome), qpn_text(p->dqpn).text, p->number);
	return bring_up_text("%s, QPN %s, PSN 0x%llx, %s%s%s", operation_text(p->opcode).text, qpn_text(p->dqpn).text, p->number,
			     place_words(p).text, immediate.text, p->ackreq ? ", AckReq" : "");
}

/* ---- what every packet shows ---- */

/* What the doctor says of the lengths. */
static void say_lengths(struct bring_up_packet *m, const struct observer_frame *f)
{
	struct icrc_place at = icrc_place_find(f, &m->parsed.packet);
	struct evidence e = { 0 };

	m->kind = at.kind;
	icrc_place_say(&at, &m->parsed.packet, &e);
	if (at.kind == KIND_icrc_not_appended)
		SAY(m->wrong, "%s", e.found);
	else if (at.kind == KIND_pad_missing)
		SAY(m->wrong, "%s: %s", finding_rules[at.kind].words, e.found);
}

bool bring_up_classify(const struct observer_frame *f, struct bring_up_packet *m)
{
	struct observer_parsed is;
	enum near_roce near;
	bool right;

	observer_parse(f, NULL, &is);
	near = near_roce_find(f, &is, &m->parsed, &right);
	SAY(m->wrong, "%s", near_roce_say(near, f, &is.packet).said);
	m->kind = FINDING_KINDS;
	if (near == NEAR_lengths)
		say_lengths(m, f);
	return near != NOT_ROCE;
}

static void judge_headers(const struct bring_up *b, const struct sniffed *f, const struct bring_up_packet *m, struct verdict *v)
{
	const struct roce_packet *p = &m->parsed.packet;
	const struct bring_up_end *e = &b->end;
	__u32 bytes = p->l4_offset - p->l3_offset + p->ip_payload;

	if (!(p->dst_mac[0] & 1) && !places_has_mac(&e->places, p->dst_mac))
		fail(v, STEP_mac, e->link ? mac_text(e->link->mac).text : "", "%s", mac_text(p->dst_mac).text);
	if (!end_has(e, p->dst) && !p->rocev1)
		fail(v, STEP_ip, own_address(e, p->ip_version == 6).text, "%s", address_text(p->dst).text);
	if (p->ip_checksum_wrong)
		fail(v, STEP_ip, "a right header checksum", "a wrong one");
	if (p->kind == ROCE_FRAGMENT)
		fail(v, STEP_mtu, "whole datagrams", "IP fragments");
	else if (e->link && p->l4_offset && !p->rocev1 && bytes > e->link->mtu)
		fail(v, STEP_mtu, bring_up_text("MTU %u", e->link->mtu).text, "a packet of %u bytes", bytes);
	if (m->wrong[0] && m->kind == KIND_icrc_not_appended)
		fail_as(v, STEP_icrc, m->kind, "an ICRC", m->wrong);
	else if (m->wrong[0])
		fail_as(v, STEP_udp, m->kind, m->kind == KIND_pad_missing ? "" : "UDP to port 4791", m->wrong);
	if (m->parsed.icrc == ICRC_BAD && p->kind == ROCE_PACKET)
		fail(v, STEP_icrc, bring_up_text("ICRC %s", icrc_text(observer_icrc(p, f->frame.bytes)).text).text, "ICRC %s",
		     icrc_text(p->icrc).text);
}

/* ---- what the receiver says ---- */

/* STEPS: none */
static const __u8 step_of[ROCE_REFUSALS] = {
	[REFUSAL_NONE] = STEPS,
#define STEP_none STEPS
#define REFUSAL(name, about, words) [REFUSAL_##name] = STEP_##about,
#include "roce/responder/refusal.def"
#undef REFUSAL
};

static struct bring_up_text expected_of(enum bring_up_step step, const struct receive_example *e, __u32 path_mtu)
{
	if (step == STEP_psn)
		return bring_up_text("PSN 0x%x", e->expected);
	if (step == STEP_service)
		return bring_up_text("%s", roce_service_name(e->service));
	if (step == STEP_path_mtu)
		return bring_up_text("path MTU %u", path_mtu);
	return bring_up_text("%s", "");
}

static void refuse(struct verdict *v, enum roce_refusal refusal, const struct receive_example *e, const struct refusal_receiver *r)
{
	enum bring_up_step step = step_of[refusal];
	char words[REFUSAL_TEXT];

	if (step == STEPS)
		return;
	refusal_text(words, refusal, e, r);
	fail(v, step, expected_of(step, e, r->path_mtu).text, "%s", words);
}

/* A packet that was taken before comes again: its acknowledgement was lost, or was not accepted. */
static bool comes_again(const struct bring_up_stream *s, enum roce_refusal refusal, __u32 psn)
{
	return refusal == REFUSAL_duplicate && s->taken && psn_distance(s->first_taken, psn) >= 0;
}

/* It has taken nothing since it was armed, so that no PSN was taken before. */
static bool is_fresh(const struct roce_responder *q)
{
	return q->state == RESPONDER_READY && q->open == OPEN_NONE && q->ended == ENDED_NONE;
}

static void judge_shown(const struct bring_up *b, const struct sniffed *f, struct bring_up_stream *s, struct verdict *v)
{
	const struct sniffer_receiver *receiver = b->end.receiver;
	const struct receive_shown *shown = f->shown;
	const struct refusal_receiver r = { &receiver->setup, receiver->region, receiver->regions, shown->responder.path_mtu };

	SAY(s->taker, "`rocescope receive`");
	s->answer_qpn = shown->responder.peer_qpn;
	v->follows = shown->refusal == REFUSAL_rest || shown->refusal == REFUSAL_error;
	if (shown->refusal == REFUSAL_duplicate && is_fresh(&shown->responder))
		fail(v, STEP_psn, bring_up_text("PSN 0x%x", shown->responder.expected).text,
		     "PSN 0x%x, %d before the first one that the QP takes, and nothing was taken yet: the sender begins with another PSN "
		     "than it was told", s->last_psn,
		     -psn_distance(shown->responder.expected, s->last_psn));
	else if (shown->refusal < ROCE_REFUSALS && !comes_again(s, shown->refusal, s->last_psn))
		refuse(v, shown->refusal, &shown->example, &r);
}

static void judge_told(const struct bring_up_end *e, const struct roce_packet *p, struct bring_up_stream *s, struct verdict *v)
{
	const struct refusal_receiver r = { &e->endpoint->settings, e->endpoint->region, e->endpoint->regions,
					   e->endpoint->end.path_mtu };
	struct receive_example example;

	if (!s->taker[0])
		SAY(s->taker, "--receiver");
	v->follows = !(p->op & OP_FIRST);
	refuse(v, receiver_judge(e->endpoint, p, &example), &example, &r);
}

/* The DMA length of one packet where that of the message belongs: no receiver takes what follows. */
static void judge_dma_length(const struct roce_packet *p, const struct bring_up_stream *s, struct verdict *v)
{
	if (message_dma_is_of_packet(p->op, p->payload_bytes, p->dma_length))
		fail_as(v, STEP_memory, KIND_dma_of_packet, "the DMA length of the whole message",
			bring_up_text("%s with DMA length %u. %s", operation_text(p->opcode).text, p->dma_length,
				      finding_rules[KIND_dma_of_packet].words).text);
	v->follows |= s->kind == KIND_dma_of_packet && !(p->op & OP_FIRST);
}

/* exact: somebody knows the QP's PSN */
static void judge_expected(const struct roce_packet *p, struct bring_up_stream *s, const struct expected_pair *pair, bool exact,
			   struct verdict *v)
{
	__u32 mtu = pair->pair.path_mtu, first = pair->pair.first_psn;

	if (!s->taker[0])
		SAY(s->taker, "--expect");
	if (memcmp(pair->key.src, p->src, sizeof(p->src)))
		fail(v, STEP_ip, address_text(pair->key.src).text, "%s for QPN %s", address_text(p->src).text, qpn_text(p->dqpn).text);
	if (mtu && (p->payload_bytes > mtu || (roce_is_partial(p) && p->payload_bytes != mtu)))
		fail(v, STEP_path_mtu, bring_up_text("path MTU %u", mtu).text, "payload %u", p->payload_bytes);
	if (exact || first == PAIR_NO_PSN)
		return;
	if (s->packets == 1 || p->number == first)
		s->stale = p->number != first;
	if (s->stale)
		fail(v, STEP_psn, bring_up_text("PSN 0x%x", first).text, "PSN 0x%x in the first packet that was seen", s->first_psn);
}

/* ---- what RDMA netlink says ---- */

static bool has_type(const struct host_qp *qp, __u8 service)
{
	switch (qp->type) {
	case TYPE_RC: return service == SERVICE_RC;
	case TYPE_UC: return service == SERVICE_UC;
	case TYPE_UD: return service == SERVICE_UD;
	default: return true;
	}
}

static void judge_host(const struct known_qp *k, const struct roce_packet *p, struct bring_up_stream *s, struct verdict *v)
{
	const struct host_qp *qp = &k->qp;

	SAY(s->taker, "%s%s%s", qp->device, qp->program[0] ? ", " : "", qp->program);
	if (k->gone)
		fail(v, STEP_qpn, "", "QPN %s, whose QP is gone", qpn_text(p->dqpn).text);
	else if (!known_qp_takes(qp->state))
		fail(v, STEP_state, "RTR or RTS", "QP %s is in state %s", qpn_text(p->dqpn).text, host_state_name(qp->state));
	v->follows = !k->gone && qp->state == STATE_ERROR;
	if (!has_type(qp, p->service))
		fail(v, STEP_service, host_type_name(qp->type), "%s", operation_text(p->opcode).text);
	if ((p->pkey & 0x7fff) != 0x7fff) /* RoCE has the default partition only (IBTA A17.7; rxe: IB_DEFAULT_PKEY_FULL) */
		fail(v, STEP_pkey, "P_Key 0xffff", "P_Key 0x%04x", p->pkey);
	if (qp->type == TYPE_RC)
		s->answer_qpn = qp->peer_qpn;
}

/* The QP's PSN will tell whether the packet was taken. */
static void wait_for(const struct known_qp *k, struct bring_up_stream *s)
{
	if (k->qp.rq_psn == HOST_NO_PSN || (k->qp.type != TYPE_RC && k->qp.type != TYPE_UC))
		return;
	if (!s->readings) {
		s->first_psn = s->last_psn;
		s->stood = k->rq_before == HOST_NO_PSN ? k->qp.rq_psn : k->rq_before;
		s->readings = 1;
	}
}

/* ---- pairs ---- */

static void take_packet(struct bring_up *b, struct bring_up_stream *s, const struct roce_packet *p, __u64 time)
{
	__u32 packets = 1;

	if (p->op & OP_READ_REQUEST && s->path_mtu)
		packets = (p->dma_length + s->path_mtu - 1) / s->path_mtu ?: 1;
	if (roce_is_partial(p))
		s->alone = 0;
	else
		s->alone += s->packets && (p->op & OP_ONLY) == OP_LAST && psn_distance(s->next_psn, p->number) > 0;
	s->packets++;
	s->weight++;
	s->seen = time;
	if (time > b->newest)
		b->newest = time;
	s->service = p->service;
	s->last_psn = p->number;
	s->next_psn = (p->number + packets) & PSN_MASK;
	s->asked += p->ackreq;
	s->messages += !!(p->op & OP_LAST);
	if (s->packets == 1)
		s->first_psn = p->number;
	if (p->payload_bytes > s->path_mtu)
		s->path_mtu = p->payload_bytes;
	if (s->answers && p->number == s->acked)
		s->again++;
	else if (s->answers && psn_distance(s->acked, p->number) > 0)
		s->again = 0;
}

static void set_failed(struct bring_up *b, struct bring_up_stream *s, enum bring_up_step failed, const char *expected,
		       const char *found)
{
	struct bring_up_exchange *e = bring_up_exchange(b, s);

	s->failures = s->failed == failed ? s->failures + 1 : 1;
	s->failed = failed;
	s->kind = FINDING_KINDS;
	s->in_error = 0;
	SAY(s->expected, "%s", expected);
	SAY(s->found, "%s", found);
	if (e->count - s->row <= BRING_UP_ROWS)
		mark(&e->rows[s->row % BRING_UP_ROWS], failed, expected, found);
}

static void set_taken(struct bring_up_stream *s, __u32 psn)
{
	if (!s->taken)
		s->first_taken = psn;
	s->taken = true;
	s->readings = 0;
	s->failed = STEPS;
	s->kind = FINDING_KINDS;
}

/* The earlier failure is what is wrong first. */
static bool is_consequence(const struct bring_up_stream *s, const struct verdict *v)
{
	return v->follows && s->failed < STEPS && (v->failed == STEP_state || v->failed == STEP_psn || v->failed == STEPS);
}

/* ---- --peer and --filter ---- */

static bool is_selective(const struct bring_up_options *o)
{
	return o->peer || o->filter;
}

/* Counters are those up to this packet. Without a stream of the engine only what the packet shows is known. */
static bool passes(struct bring_up *b, const struct sniffed *f, struct observer_parsed *parsed)
{
	const struct roce_stream first = { .service = parsed->packet.service }, *s;
	const struct filter *filter = b->options->filter;
	struct roce_key key = { 0 };
	struct roce_event event;

	if (b->options->peer && memcmp(parsed->packet.src, b->options->peer, 16))
		return false;
	if (!filter)
		return true;
	s = observer_follow(&b->observer, &f->frame, parsed, f->time, &event);
	if (parsed->has_stream)
		return filter_wants_stream(filter, &parsed->key, s ?: &first);
	memcpy(key.src, parsed->packet.src, 16);
	memcpy(key.dst, parsed->packet.dst, 16);
	return filter_wants_stream(filter, &key, NULL);
}

/* ---- answers of this end ---- */

static void take_answer(struct bring_up *b, struct bring_up_stream *s, __u8 syndrome, __u32 psn)
{
	if (syndrome >> 5 == 0) {
		s->answers++;
		if (s->acked != psn)
			s->again = 0;
		s->acked = psn;
		return;
	}
	s->answers++;
	if (b->end.receiver->program)
		return; /* it has said more of it */
	if (syndrome >> 5 == 1)
		set_failed(b, s, STEP_memory, "a posted receive", "the QP has none (RNR NAK)");
	else if (syndrome == AETH_NAK_SEQUENCE)
		set_failed(b, s, STEP_psn, bring_up_text("PSN 0x%x", psn).text, bring_up_text("PSN 0x%x", s->last_psn).text);
	else if (syndrome == AETH_NAK_INVALID && s->kind != KIND_dma_of_packet)
		set_failed(b, s, STEP_path_mtu, "", "the QP says 'invalid request': length, path MTU, or an operation that it does not take");
	else if (syndrome == AETH_NAK_ACCESS)
		set_failed(b, s, STEP_memory, "", "the QP says 'remote access error': rkey, address, length, or access that the region does not allow");
	else if (syndrome != AETH_NAK_INVALID)
		set_failed(b, s, STEP_state, "", "the QP says 'remote operational error'");
	s->readings = 0;
}

/* The stream that an answer is for: it goes to the QPN to which its QP is connected. */
static struct bring_up_stream *find_answered(struct bring_up *b, const struct roce_packet *p)
{
	struct bring_up_stream *found = NULL;

	for (size_t i = 0; i < b->stream_count; i++) {
		struct bring_up_stream *s = &b->streams[i];

		if (memcmp(s->src, p->dst, 16) || !s->roce || s->service != SERVICE_RC)
			continue;
		if (s->answer_qpn == p->dqpn)
			return s;
		if (s->answer_qpn == NO_QPN && (!found || s->seen > found->seen))
			found = s;
	}
	return found;
}

static void take_outward(struct bring_up *b, const struct sniffed *f, const struct roce_packet *p)
{
	struct bring_up_stream *s;

	if (p->kind != ROCE_PACKET || roce_is_management(p) || !(p->op & OP_RESPONSE))
		return;
	s = find_answered(b, p);
	if (s || !is_selective(b->options))
		add_row(b, s, f->time, true, packet_words(p));
	if (!s || !(p->op & OP_AETH))
		return;
	s->answer_qpn = p->dqpn;
	take_answer(b, s, p->syndrome, p->number);
}

/* ---- packets ---- */

static void keep_bad(struct bring_up *b, const struct bring_up_stream *s, const struct observer_frame *f)
{
	struct bring_up_bad *bad = &b->bad[b->bad_count];

	if ((b->shown && b->shown != s) || b->bad_count == BRING_UP_BAD || f->captured < f->wire || f->wire > sizeof(bad->bytes))
		return;
	b->bad_count++;
	bad->stream = s->id;
	bad->length = f->wire;
	memcpy(bad->bytes, f->bytes, f->wire);
}

/* Who knows the QP, and what it says. */
static void judge_qp(struct bring_up *b, const struct sniffed *f, const struct roce_packet *p, struct bring_up_stream *s,
		     struct verdict *v)
{
	const struct bring_up_end *e = &b->end;
	__u64 devices = 0;
	const struct known_qp *k = f->shown ? NULL : end_qp(e, p->dst, p->dqpn, &devices);
	const struct expected_pair *pair = end_expected(e, p->src, p->dst, p->dqpn) ?: end_expected(e, NULL, p->dst, p->dqpn);
	bool told = e->endpoint && !f->shown && !memcmp(e->endpoint->end.gid, p->dst, 16);

	s->taker[0] = 0;
	v->not_told = OF_QP;
	if (p->dqpn < 2 && p->service != SERVICE_UD)
		fail(v, STEP_qpn, "", "QPN %s, which is for management", qpn_text(p->dqpn).text);
	if (f->shown) {
		v->not_told = 0;
		judge_shown(b, f, s, v);
	}
	if (k) {
		v->not_told &= BIT(STEP_memory) | BIT(STEP_path_mtu);
		judge_host(k, p, s, v);
	}
	if (told) {
		v->not_told &= BIT(STEP_state) | BIT(STEP_psn);
		judge_told(e, p, s, v);
	}
	if (pair) {
		v->not_told &= ~(BIT(STEP_qpn) | (pair->pair.path_mtu ? BIT(STEP_path_mtu) : 0) |
				 (pair->pair.first_psn != PAIR_NO_PSN ? BIT(STEP_psn) : 0));
		judge_expected(p, s, pair, f->shown || k, v);
	}
	if (!f->shown && !k && !told && !pair && ((devices && !e->hidden) || e->expected->count))
		fail(v, STEP_qpn, e->expected->count ? "a QPN of --expect" : "", "no QP here has QPN %s", qpn_text(p->dqpn).text);
	judge_dma_length(p, s, v);
	if (!f->shown && roce_is_partial(p) && !roce_is_path_mtu(p->payload_bytes))
		fail(v, STEP_path_mtu, "256, 512, 1024, 2048 or 4096", "payload %u in a First or Middle", p->payload_bytes);
	/* of a message whose DMA length is wrong, rxe takes the First */
	if (k && v->failed == STEPS && s->kind != KIND_dma_of_packet)
		wait_for(k, s);
	else
		s->readings = 0;
}

static void take_request(struct bring_up *b, const struct sniffed *f, const struct bring_up_packet *m, struct verdict *v)
{
	const struct roce_packet *p = &m->parsed.packet;
	struct bring_up_stream *s = bring_up_find(b, p);
	struct bring_up_row *row = add_row(b, s, f->time, false,
					   p->kind == ROCE_PACKET ? packet_words(p) : bring_up_text("%s", m->wrong));

	s->row = bring_up_exchange(b, s)->count - 1;
	mark(row, v->failed, v->expected, v->found);
	take_packet(b, s, p, f->time);
	if (v->failed == STEP_icrc)
		keep_bad(b, s, &f->frame);
	/* what is wrong with the QP comes behind the ICRC, but for the source */
	if (p->kind == ROCE_PACKET && v->failed > STEP_ip)
		judge_qp(b, f, p, s, v);
	s->not_told = v->not_told;
	if (is_consequence(s, v)) {
		mark(row, s->failed, s->expected, s->found);
		*(v->failed == STEP_state ? &s->in_error : &s->failures) += 1;
	} else if (v->failed < STEPS) {
		set_failed(b, s, v->failed, v->expected, v->found);
		s->kind = v->kind;
	} else if (!s->readings) {
		set_taken(s, p->number);
	} else if (s->failed < STEP_psn) {
		s->failed = STEPS;
	}
	if (f->shown && f->shown->answers) {
		struct roce_packet answer = { .opcode = 0x11, .op = OP_ACK, .syndrome = f->shown->syndrome,
					      .dqpn = s->answer_qpn, .number = f->shown->answer_psn };

		add_row(b, s, f->time, true, packet_words(&answer));
		take_answer(b, s, answer.syndrome, answer.number);
	}
}

static void take_inward(struct bring_up *b, const struct sniffed *f, struct bring_up_packet *m)
{
	const struct roce_packet *p = &m->parsed.packet;
	struct verdict v = { .failed = STEPS, .kind = FINDING_KINDS };

	judge_headers(b, f, m, &v);
	if (v.failed == STEP_mac && !end_has(&b->end, p->dst)) {
		b->others++; /* a mirror port, or a switch that does not know where to */
		memcpy(b->other, p->dst, sizeof(b->other));
		return;
	}
	if (!passes(b, f, &m->parsed)) {
		b->left_out++;
		return;
	}
	if (p->kind == ROCE_PACKET && v.failed == STEPS && (roce_is_management(p) || p->op & (OP_RESPONSE | OP_CNP))) {
		add_row(b, NULL, f->time, false, packet_words(p));
		return;
	}
	take_request(b, f, m, &v);
}

/* ---- ARP and neighbour discovery ---- */

/* Whether the host asks, or answers, or is asked for. */
static bool concerns(const struct arp_message *q, const __u8 address[16])
{
	return !memcmp(q->from, address, 16) || !memcmp(q->target, address, 16);
}

static void take_question(struct bring_up *b, const struct sniffed *f, const struct arp_message *q, bool ours)
{
	bool same = !memcmp(q->from, b->astray.from, 16) && !memcmp(q->target, b->astray.whom, 16);

	if (q->answer) {
		add_row(b, NULL, f->time, ours, bring_up_text("ARP: %s is here", address_text(q->from).text));
		return;
	}
	add_row(b, NULL, f->time, ours, bring_up_text("ARP: who has %s?", address_text(q->target).text));
	if (ours || !memcmp(q->from, q->target, 16)) /* announcements are no questions */
		return;
	if (end_has(&b->end, q->target)) {
		b->asks++;
		return;
	}
	b->astray.several |= b->astray.times && !same;
	b->astray.times = same ? b->astray.times + 1 : 1;
	memcpy(b->astray.from, q->from, 16);
	memcpy(b->astray.whom, q->target, 16);
}

/* ---- what others call ---- */

bool bring_up_begin(struct bring_up *b)
{
	const struct expected *e = b->end.expected;

	b->observer.table.max = BRING_UP_FILTERED;
	for (size_t i = 0; b->options->filter && i < e->count; i++)
		if (!pairs_put(&b->observer.pairs, &e->entries[i].key, &e->entries[i].pair))
			return false;
	return true;
}

void bring_up_free(struct bring_up *b)
{
	observer_free(&b->observer);
}

void bring_up_take(struct bring_up *b, const struct sniffed *f)
{
	struct bring_up_packet m;
	struct arp_message q;
	bool ours, roce;

	if (f->frame.captured < WIRE_ETH_LEN)
		return;
	ours = !f->shown && places_has_mac(&b->end.places, f->frame.bytes + 6);
	roce = bring_up_classify(&f->frame, &m);
	if (!roce && !ours)
		other_frames_count(&b->other_frames, &f->frame, &m.parsed.packet);
	if (arp_find(&f->frame, &m.parsed.packet, &q) && (!b->options->peer || concerns(&q, b->options->peer)))
		take_question(b, f, &q, ours);
	if (!roce)
		return;
	b->frames++;
	if (!m.wrong[0])
		answering_take(b, &m.parsed.packet, ours, f->time);
	if (ours)
		take_outward(b, f, &m.parsed.packet);
	else
		take_inward(b, f, &m);
}

struct bring_up_row *bring_up_add(struct bring_up *b, __u64 time, bool ours, const struct roce_packet *p)
{
	return add_row(b, NULL, time, ours, packet_words(p));
}

/* Whether the QP has taken what waits, by its PSN. */
static void settle(struct bring_up *b, struct bring_up_stream *s)
{
	__u64 devices;
	const struct known_qp *k = end_qp(&b->end, s->dst, s->dqpn, &devices);
	__u32 stands;

	if (!k || k->gone) {
		s->readings = 0; /* nobody knows any more */
		return;
	}
	if (k->qp.rq_psn != s->stood || k->qp.rq_psn == s->next_psn) {
		set_taken(s, s->first_psn);
		return;
	}
	stands = k->qp.rq_psn;
	if (!known_qp_takes(k->qp.state) || s->readings++ < STANDS || s->failed < STEPS)
		return;
	if (stands == s->first_psn)
		set_failed(b, s, STEP_memory, "", bring_up_text("the QP waits for PSN 0x%x, and did not take the packet that has it: "
			   "look at rkey, address and length", stands).text);
	else
		set_failed(b, s, STEP_psn, bring_up_text("PSN 0x%x", stands).text, bring_up_text("PSN 0x%x", s->first_psn).text);
}

void bring_up_settle(struct bring_up *b)
{
	for (size_t i = 0; i < b->stream_count; i++)
		if (b->streams[i].readings)
			settle(b, &b->streams[i]);
	bring_up_choose(b);
}
