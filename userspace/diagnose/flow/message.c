// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "roce/packet/wire.h"
#include "userspace/diagnose/flow/message.h"

#define DMA_NEAR 64 /* bytes by which a DMA length may be too large without a packet missing: it counts headers */

/* First, Middle and Last of one message belong to the same operation: SEND, WRITE or READ response. */
static int operation(__u8 opcode)
{
	int o = opcode & 31;

	if (o <= 5 || o == 0x16 || o == 0x17)
		return 0;
	return o <= 0x0b ? 1 : o >= 0x0d && o <= 0x10 ? 2 : 3;
}

static const char *place(const struct doctor_step *p)
{
	if ((p->op & OP_ONLY) == OP_ONLY)
		return "Only";
	return p->op & OP_FIRST ? "First" : p->op & OP_LAST ? "Last" : "Middle";
}

static void mistake(struct symptoms *symptoms, enum finding_kind kind, const struct doctor_step *p, const char *expected)
{
	struct evidence *e = symptoms_add(symptoms, kind, p->frame);

	if (!e)
		return;
	SAY(e->expected, "%s", expected);
	SAY(e->found, "%s, opcode 0x%02x", place(p), p->opcode);
}

bool message_dma_is_of_packet(__u32 op, __u32 payload, __u32 dma_length)
{
	return op & OP_RETH && op & OP_FIRST && !(op & (OP_LAST | OP_READ_REQUEST | OP_FETH)) && payload && payload == dma_length;
}

bool message_judges_size(__u32 op, __u32 payload)
{
	return op & OP_RETH && op & OP_FIRST && !(op & OP_LAST) && !roce_is_path_mtu(payload) &&
	       roce_is_path_mtu(payload + sizeof(struct wire_reth));
}

static void count_mistake(struct dma_study *d, const struct message_study *m, const struct doctor_step *p)
{
	__s64 off = (__s64)m->bytes - m->dma_length;

	if (!d->count) {
		d->off = off;
		d->bytes = m->bytes;
		d->same = d->finer = true;
	}
	d->varies |= m->bytes == d->bytes && off != d->off;
	d->same &= off == d->off;
	d->finer &= __builtin_ctzll(m->bytes | 1ull << 32) < __builtin_ctzll(m->dma_length | 1ull << 32);
	if (d->count < FINDING_EVIDENCE) {
		d->shown[d->count].frame = p->frame;
		d->shown[d->count].bytes = m->bytes;
		d->shown[d->count].dma_length = m->dma_length;
	}
	d->count++;
}

/* on: the immediate data is the previous one plus 1. */
static enum dma_class dma_class(const struct message_study *m, const struct doctor_step *p, bool on)
{
	__s64 off = (__s64)m->bytes - m->dma_length;

	if (m->short_first.frame)
		return DMA_MISSING_RETH;
	if (llabs(off) < 4)
		return DMA_PAD;
	if (off == WIRE_IMMDT_LEN)
		return DMA_EXTRA_IMM;
	if (off == sizeof(struct wire_reth))
		return DMA_EXTRA_RETH;
	if (off == -(int)sizeof(struct wire_reth))
		return DMA_COUNTS_RETH;
	/* that packet with its headers */
	if (off > DMA_NEAR && m->begun && m->dma_length - m->first_payload <= DMA_NEAR)
		return DMA_OF_PACKET;
	if (off != -WIRE_IMMDT_LEN)
		return DMA_OTHER;
	if (!(p->op & OP_IMMDT) || on)
		return DMA_COUNTS_IMM;
	return m->imm_steps ? DMA_MISSING_IMM : DMA_IMM;
}

/*
 * Counts a wrong DMA length, unless a wrong size explains it: First and Middle packets of several sizes, or a Last that is too
 * large.
 */
static void dma_mistake(struct message_study *m, const struct doctor_step *p, bool on)
{
	enum dma_class class = dma_class(m, p, on);
	bool beyond = m->partial && p->payload > m->partial;

	m->mistakes++;
	if (m->of_packet)
		return;
	if ((__s64)m->bytes - m->dma_length == -WIRE_ICRC_LEN * (__s64)m->packets)
		count_mistake(&m->dma[DMA_ABSENT], m, p);
	if (m->uneven || (class == DMA_OTHER && beyond))
		return;
	m->extended += beyond;
	m->short_first.frame = 0;
	count_mistake(&m->dma[class], m, p);
}

/* The First is too short, but no RETH is missing. */
static void settle_first(struct message_study *m, struct symptoms *symptoms)
{
	struct evidence *e;

	if (!m->short_first.frame)
		return;
	e = symptoms_add(symptoms, KIND_lint_payload_not_path_mtu, m->short_first.frame);
	if (e) {
		SAY(e->expected, "payload of a path MTU");
		SAY(e->found, "payload %u", m->short_first.payload);
	}
	m->short_first.frame = 0;
}

/* Returns whether the immediate data is the previous one plus 1. */
static bool take_immediate(struct message_study *m, struct symptoms *symptoms, const struct doctor_step *p)
{
	__u32 step = p->immediate - m->immediate;
	struct evidence *e;

	if (!(p->op & OP_IMMDT))
		return false;
	if (m->imm_steps >= MESSAGE_IMM_STEPS && step > 1 && step <= MESSAGE_IMM_GAP && !m->disturbed &&
	    (e = symptoms_add(symptoms, KIND_imm_gap, p->frame))) {
		SAY(e->expected, "immediate 0x%08x", m->immediate + 1);
		SAY(e->found, "immediate 0x%08x", p->immediate);
	}
	if (m->counts)
		*(step == 1 ? &m->imm_steps : &m->imm_others) += 1;
	else
		step = 0;
	m->counts = true;
	m->disturbed = false;
	m->immediate = p->immediate;
	return step == 1;
}

/* A message is over, or the next one begins. ended: it has a Last. One of a single packet tells nothing of the others. */
static void judge_payload(struct message_study *m, bool ended)
{
	if (!m->open || !m->judged)
		return;
	if (!ended || !m->begun || (m->reth && m->bytes + DMA_NEAR < m->dma_length))
		m->torn++;
	else
		m->joined += m->packets > 1;
}

/* Whether each message begins in memory where the one before ended. */
static void follow_address(struct message_study *m, const struct doctor_step *p)
{
	if (!m->reth)
		return;
	m->walks += p->va == m->va_next;
	m->va_next = p->va + p->dma_length;
}

static void begin(struct message_study *m, const struct doctor_step *p)
{
	judge_payload(m, false);
	m->begun = p->op & OP_FIRST;
	m->judged = m->begun || m->met;
	m->open = m->whole = true;
	m->leapt = m->left = false;
	m->first = p->opcode;
	m->reth = p->op & OP_RETH && !(p->op & (OP_READ_REQUEST | OP_FETH));
	m->dma_length = p->dma_length;
	m->first_payload = p->payload;
	m->first_frame = message_dma_is_of_packet(p->op, p->payload, p->dma_length) ? p->frame : 0;
	m->of_packet = false;
	follow_address(m, p);
	m->bytes = m->packets = m->partial = 0;
	m->uneven = false;
	m->short_first.payload = 0;
	if (message_judges_size(p->op, p->payload)) {
		m->short_first.frame = p->frame;
		m->short_first.payload = p->payload;
	}
}

/* A Last without the packet before it. */
static void take_headless(struct message_study *m, const struct doctor_step *p, bool follows)
{
	if (p->apart || follows) {
		m->bare += follows;
		return;
	}
	if (m->headless < FINDING_EVIDENCE) {
		m->headless_shown[m->headless].frame = p->frame;
		m->headless_shown[m->headless].psn = p->psn;
		m->headless_shown[m->headless].payload = p->payload;
	}
	m->headless++;
}

static void end(struct message_study *m, struct loss *loss, struct symptoms *symptoms, const struct doctor_step *p)
{
	bool whole = m->whole && m->reth && m->bytes == m->dma_length;
	bool on = take_immediate(m, symptoms, p);

	loss_judge(loss, symptoms, whole, whole && on, m->packets);
	if (m->whole && m->reth && !whole && !m->leapt)
		dma_mistake(m, p, on);
	settle_first(m, symptoms);
	judge_payload(m, true);
	m->ended += m->begun;
	m->open = false;
	m->met = true;
}

/* A packet behind the First, whose DMA length it does not count. */
static void judge_first(struct message_study *m)
{
	struct dma_study *d = &m->dma[DMA_OF_PACKET];

	if (m->of_packet || !m->first_frame || !m->whole)
		return;
	m->of_packet = true;
	if (d->count < FINDING_EVIDENCE) {
		d->shown[d->count].frame = m->first_frame;
		d->shown[d->count].bytes = m->bytes;
		d->shown[d->count].dma_length = m->dma_length;
	}
	d->count++;
}

void message_study_take(struct message_study *m, struct loss *loss, struct symptoms *symptoms, const struct doctor_step *p,
			enum psn_how how)
{
	bool follows = how == PSN_FOLLOWS || how == PSN_RESUMES;
	/* a response without an event is only ahead */
	bool back = how == PSN_ELSEWHERE && (p->apart || p->event.kinds || !(p->op & OP_RESPONSE));

	m->disturbed |= how != PSN_FOLLOWS || p->op & OP_CUT;
	m->judged &= !back;
	if (how == PSN_TAKEN) { /* unknown whether this packet belongs to the message */
		m->open = m->met = false;
		return;
	}
	if (!(p->op & (OP_FIRST | OP_MIDDLE | OP_LAST)))
		return;
	if (how == PSN_ELSEWHERE) {
		m->whole = false;
		m->left |= back;
		m->met &= !back;
		loss_judge(loss, symptoms, false, false, 1);
	}
	if (p->op & OP_FIRST) {
		/* a READ may be asked for again from inside of its response */
		if (m->open && follows && !p->resent && !(p->op & OP_RESPONSE && p->event.kinds & ROCE_EVENT(psn_duplicate)))
			mistake(symptoms, KIND_missing_last, p, "Middle or Last");
		loss_begins(loss, symptoms, m->open);
		settle_first(m, symptoms);
		begin(m, p);
		m->met = true;
	} else if (!m->open) {
		if (m->met && follows)
			mistake(symptoms, KIND_missing_first, p, "First or Only");
		if (p->op & OP_LAST && how != PSN_PERHAPS)
			take_headless(m, p, follows);
		begin(m, p);
		m->whole = false;
	} else if (follows && !m->left && !m->leapt && operation(p->opcode) != operation(m->first)) {
		mistake(symptoms, KIND_message_mixed, p, "the operation of the First");
		m->whole = false;
	}
	m->leapt |= how == PSN_LEAPS && !(p->op & OP_FIRST);
	m->bytes += p->payload;
	if (m->packets++)
		judge_first(m);
	m->filled += !(p->op & OP_LAST);
	if (!(p->op & OP_LAST)) {
		m->uneven |= m->partial && p->payload != m->partial && m->partial != m->short_first.payload;
		m->partial = p->payload;
	}
	if (p->op & OP_LAST)
		end(m, loss, symptoms, p);
}

enum message_payload message_study_payload(const struct message_study *m)
{
	if (m->torn * 10 > m->joined)
		return PAYLOAD_MISSING;
	return m->joined + m->imm_steps + m->walks >= FINDING_PACKETS ? PAYLOAD_WHOLE : PAYLOAD_UNKNOWN;
}

static enum finding_kind dma_kind(const struct message_study *m, enum dma_class class)
{
	const struct dma_study *d = &m->dma[class];

	switch (class) {
	case DMA_OF_PACKET:
		return KIND_dma_of_packet;
	case DMA_PAD:
		return KIND_lint_dma_pad;
	case DMA_EXTRA_IMM:
		return KIND_extra_imm;
	case DMA_EXTRA_RETH:
		return KIND_extra_reth;
	case DMA_COUNTS_RETH:
		return KIND_lint_dma_reth;
	case DMA_COUNTS_IMM:
		return KIND_lint_dma_immdt;
	case DMA_MISSING_IMM:
		return KIND_missing_imm;
	case DMA_IMM:
		/*
		 * If the ImmDt is missing, four bytes of payload are read as ImmDt: they do not count up, and the payload is no
		 * longer round.
		 */
		return !m->imm_steps && d->finer ? KIND_missing_imm : KIND_lint_dma_immdt;
	case DMA_MISSING_RETH:
		return KIND_missing_reth;
	case DMA_ABSENT:
		return KIND_icrc_absent;
	default:
		/* if the RETH is missing, payload is read as RETH: the DMA length varies */
		return d->varies ? KIND_missing_reth : KIND_lint_dma_length;
	}
}

static size_t shown(const struct dma_study *d)
{
	return d->count < FINDING_EVIDENCE ? d->count : FINDING_EVIDENCE;
}

/* Whether the DMA lengths count words of `word` bytes, the last word rounded up. */
static bool is_in_words(const struct dma_study *d, __u32 word)
{
	for (size_t i = 0; i < shown(d); i++)
		if ((d->shown[i].bytes + word - 1) / word != d->shown[i].dma_length)
			return false;
	return true;
}

static bool is_swapped(const struct dma_study *d)
{
	for (size_t i = 0; i < shown(d); i++)
		if (__builtin_bswap32(d->shown[i].dma_length) != d->shown[i].bytes)
			return false;
	return true;
}

static bool is_padded(const struct dma_study *d)
{
	for (size_t i = 0; i < shown(d); i++)
		if (((d->shown[i].bytes + 3) & ~3ull) != d->shown[i].dma_length)
			return false;
	return true;
}

/* Says what the DMA lengths count instead, if that is plain. */
static bool say_length(const struct dma_study *d, struct symptom *symptom, enum dma_class class)
{
	if (class == DMA_PAD && is_padded(d)) {
		SAY(symptom->figures, "Or the DMA length counts the pad: it is a multiple of 4.");
		return true;
	}
	if (class != DMA_OTHER)
		return false;
	for (__u32 word = 2; word <= 64; word *= 2) {
		if (!is_in_words(d, word))
			continue;
		SAY(symptom->figures, "It counts words of %u bytes.", word);
		return true;
	}
	if (!is_swapped(d))
		return false;
	SAY(symptom->figures, "Its bytes are in the other order.");
	return true;
}

static void report_mistakes(const struct message_study *m, struct symptoms *symptoms, enum dma_class class)
{
	const struct dma_study *d = &m->dma[class];
	enum finding_kind kind = dma_kind(m, class);
	struct symptom *symptom = symptoms_get(symptoms, kind);

	if (!symptom)
		return;
	symptom->packets += d->count;
	for (size_t i = 0; i < d->count && i < FINDING_EVIDENCE && symptom->shown < FINDING_EVIDENCE; i++) {
		struct evidence *e = &symptom->evidence[symptom->shown++];

		e->frame = d->shown[i].frame;
		if (kind == KIND_dma_of_packet) {
			SAY(e->expected, "more: that is one packet's, and others follow");
			SAY(e->found, "DMA length %u", d->shown[i].dma_length);
		} else if (finding_rules[kind].class == CLASS_DMA || kind == KIND_missing_reth) {
			SAY(e->expected, "DMA length %llu",
			    d->shown[i].bytes + (kind == KIND_missing_reth ? sizeof(struct wire_reth) : 0));
			SAY(e->found, "DMA length %u", d->shown[i].dma_length);
		} else {
			SAY(e->expected, "payload %u in all", d->shown[i].dma_length);
			SAY(e->found, "payload %llu", d->shown[i].bytes);
		}
	}
	if (kind == KIND_icrc_absent)
		SAY(symptom->figures, "Each packet's payload is short of 4 bytes by the DMA length.");
	else if (kind != KIND_missing_reth && say_length(d, symptom, class))
		return;
	else if (d->same && d->count > 1 && kind != KIND_missing_reth && kind != KIND_dma_of_packet)
		SAY(symptom->figures, "It is off by %lld each time.", d->off < 0 ? -d->off : d->off);
}

/* An extra header made these packets too large: that is no mistake of its own. */
static void take_back_extended(const struct message_study *m, struct symptoms *symptoms)
{
	struct symptom *beyond = symptoms_find(symptoms, KIND_lint_payload_beyond_mtu);

	if (!beyond)
		return;
	beyond->packets -= m->extended < beyond->packets ? m->extended : beyond->packets;
	if (!beyond->packets)
		symptoms_drop(symptoms, KIND_lint_payload_beyond_mtu);
}

void message_study_conclude(const struct message_study *m, struct symptoms *symptoms, bool all_bad)
{
	take_back_extended(m, symptoms);
	if (all_bad && m->mistakes && m->dma[DMA_ABSENT].count == m->mistakes) {
		report_mistakes(m, symptoms, DMA_ABSENT);
		return;
	}
	for (enum dma_class class = 0; class < DMA_ABSENT; class++)
		if (m->dma[class].count)
			report_mistakes(m, symptoms, class);
}
