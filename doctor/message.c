// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "doctor/message.h"

/* First, Middle and Last of one message are of the same operation: SEND or WRITE, or READ response. */
static int operation(__u8 opcode)
{
	int o = opcode & 31;

	if (o <= 5 || o == 0x16 || o == 0x17)
		return 0;
	return o <= 0x0b ? 1 : o >= 0x0d && o <= 0x10 ? 2 : 3;
}

static const char *place(const struct step *p)
{
	if ((p->op & OP_ONLY) == OP_ONLY)
		return "Only";
	return p->op & OP_FIRST ? "First" : p->op & OP_LAST ? "Last" : "Middle";
}

static void mistake(struct signs *signs, enum finding_kind kind, const struct step *p, const char *expected)
{
	struct evidence *e = signs_add(signs, kind, p->frame);

	if (!e)
		return;
	SAY(e->expected, "%s", expected);
	SAY(e->found, "%s, opcode 0x%02x", place(p), p->opcode);
}

static void dma_mistake(struct dma_study *d, const struct message_study *m, const struct step *p)
{
	__s64 off = (__s64)m->bytes - m->dma_length;

	if (!d->count) {
		d->off = off;
		d->bytes = m->bytes;
		d->same = d->small = d->by_packets = d->finer = true;
	}
	d->varies |= m->bytes == d->bytes && off != d->off;
	d->same &= off == d->off;
	d->small &= llabs(off) < 4;
	d->by_packets &= off == -WIRE_ICRC_LEN * (__s64)m->packets;
	d->finer &= __builtin_ctzll(m->bytes | 1ull << 32) < __builtin_ctzll(m->dma_length | 1ull << 32);
	if (d->count < FINDING_EVIDENCE) {
		d->shown[d->count].frame = p->frame;
		d->shown[d->count].bytes = m->bytes;
		d->shown[d->count].dma_length = m->dma_length;
	}
	d->count++;
}

/* Whether immediate data counts on here. */
static bool take_immediate(struct message_study *m, struct signs *signs, const struct step *p)
{
	__u32 step = p->immediate - m->immediate;
	struct evidence *e;

	if (!(p->op & OP_IMMDT))
		return false;
	if (m->imm_steps >= MESSAGE_IMM_STEPS && step > 1 && step <= MESSAGE_IMM_GAP && !m->disturbed &&
	    (e = signs_add(signs, KIND_imm_gap, p->frame))) {
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

static void begin(struct message_study *m, const struct step *p)
{
	m->open = m->whole = true;
	m->leapt = false;
	m->first = p->opcode;
	m->reth = p->op & OP_RETH && !(p->op & (OP_READ_REQUEST | OP_FETH));
	m->dma_length = p->dma_length;
	m->bytes = m->packets = 0;
}

static void end(struct message_study *m, struct loss *loss, struct signs *signs, const struct step *p)
{
	bool whole = m->whole && m->reth && m->bytes == m->dma_length;
	bool on = take_immediate(m, signs, p);

	loss_judge(loss, signs, whole, whole && on, m->packets);
	if (m->whole && m->reth && !whole && !m->leapt)
		dma_mistake(&m->dma, m, p);
	m->ended++;
	m->open = false;
	m->met = true;
}

void message_study_take(struct message_study *m, struct loss *loss, struct signs *signs, const struct step *p, enum psn_how how)
{
	bool follows = how == PSN_FOLLOWS || how == PSN_RESUMES;

	m->disturbed |= how != PSN_FOLLOWS;
	if (how == PSN_TAKEN) { /* what it was, if it was one of them at all, is not known */
		m->open = m->met = false;
		return;
	}
	if (!(p->op & (OP_FIRST | OP_MIDDLE | OP_LAST)))
		return;
	if (how == PSN_ELSEWHERE) {
		m->whole = false;
		m->met = false;
		loss_judge(loss, signs, false, false, 1);
	}
	if (p->op & OP_FIRST) {
		if (m->open && follows)
			mistake(signs, KIND_missing_last, p, "Middle or Last");
		loss_begins(loss, signs, m->open);
		begin(m, p);
		m->met = true;
	} else if (!m->open) {
		if (m->met && follows)
			mistake(signs, KIND_missing_first, p, "First or Only");
		begin(m, p);
		m->whole = false;
	} else if (follows && operation(p->opcode) != operation(m->first)) {
		mistake(signs, KIND_message_mixed, p, "the operation of the First");
		m->whole = false;
	}
	m->leapt |= how == PSN_LEAPS && !(p->op & OP_FIRST);
	m->bytes += p->payload;
	m->packets++;
	if (p->op & OP_LAST)
		end(m, loss, signs, p);
}

static enum finding_kind dma_kind(const struct message_study *m, bool all_bad)
{
	const struct dma_study *d = &m->dma;

	if (all_bad && d->by_packets)
		return KIND_icrc_absent;
	if (d->small)
		return KIND_lint_dma_pad;
	if (d->varies)
		return KIND_missing_reth;
	if (!d->same)
		return KIND_lint_dma_length;
	if (d->off == WIRE_IMMDT_LEN)
		return KIND_extra_imm;
	if (d->off == sizeof(struct wire_reth))
		return KIND_extra_reth;
	if (d->off == -(int)sizeof(struct wire_reth))
		return KIND_lint_dma_reth;
	if (d->off != -WIRE_IMMDT_LEN)
		return KIND_lint_dma_length;
	/* an ImmDt that is none does not count, and takes 4 bytes off a length that is round */
	return m->counts && !m->imm_steps && d->finer ? KIND_missing_imm : KIND_lint_dma_immdt;
}

void message_study_conclude(const struct message_study *m, struct signs *signs, bool all_bad)
{
	const struct dma_study *d = &m->dma;
	enum finding_kind kind;
	struct sign *sign;

	if (!d->count)
		return;
	kind = dma_kind(m, all_bad);
	sign = signs_get(signs, kind);
	if (!sign)
		return;
	sign->packets = d->count;
	sign->shown = d->count < FINDING_EVIDENCE ? d->count : FINDING_EVIDENCE;
	for (size_t i = 0; i < sign->shown; i++) {
		sign->evidence[i].frame = d->shown[i].frame;
		if (finding_rules[kind].class == CLASS_DMA || kind == KIND_missing_reth) {
			SAY(sign->evidence[i].expected, "DMA length %llu", d->shown[i].bytes);
			SAY(sign->evidence[i].found, "DMA length %u", d->shown[i].dma_length);
		} else {
			SAY(sign->evidence[i].expected, "payload %u in all", d->shown[i].dma_length);
			SAY(sign->evidence[i].found, "payload %llu", d->shown[i].bytes);
		}
	}
	if (kind == KIND_icrc_absent)
		SAY(sign->figures, "Each packet's payload is short of 4 bytes by the DMA length.");
	else if (d->same)
		SAY(sign->figures, "It is off by %lld each time.", d->off < 0 ? -d->off : d->off);
}
