/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lints. Each rule errs towards silence: where a packet is missing, late, sent again or wrong, what is remembered of the stream is
 * dropped, so that only the sender can cause a lint.
 */
#ifndef ROCE_STREAM_LINT_H
#define ROCE_STREAM_LINT_H

#include "roce/packet/wire.h"
#include "roce/stream/stream.h"

#define LINT_ROW 4	   /* packets in a row with the same PSN or ICRC that make it a constant */
#define LINT_BAD_ROW 16	   /* packets in a row with a bad ICRC and near PSNs that make all ICRCs bad */
#define LINT_BAD_NEAR 1024 /* phantoms from a flipped QPN bit lie farther apart */

/* How the payload of a whole RDMA WRITE compares with its DMA length. */
enum lint_dma {
	LINT_DMA_RIGHT, /* or cannot be judged */
	LINT_DMA_PAD,   /* 1 to 3 bytes more or less */
	LINT_DMA_IMMDT, /* differs by the size of an ImmDt */
	LINT_DMA_RETH,
	LINT_DMA_OTHER,
};

/* What the tests of lint.def see besides the packet. */
struct lint_seen {
	__u32 partial;	 /* as in roce_lint_state, before the packet */
	__u32 service;
	__u32 dma;	 /* enum lint_dma */
	bool psn_constant;
	bool icrc_zero;
	bool icrc_constant;
	bool icrc_all_bad;
};

roce_inline enum lint_dma lint_dma_class(__u32 payload, __u32 dma_length)
{
	__u32 off = payload > dma_length ? payload - dma_length : dma_length - payload;

	if (!off)
		return LINT_DMA_RIGHT;
	if (off < 4)
		return LINT_DMA_PAD;
	if (off == WIRE_IMMDT_LEN)
		return LINT_DMA_IMMDT;
	return off == sizeof(struct wire_reth) ? LINT_DMA_RETH : LINT_DMA_OTHER;
}

/*
 * Adds up the payload of a WRITE from its First packet on, as long as each PSN follows. A lost or late packet stops this until
 * it is sent again. Duplicates are ignored.
 */
roce_inline enum lint_dma lint_dma(struct roce_lint_state *l, const struct roce_packet *p)
{
	__u32 bytes = p->payload_bytes, length = p->dma_length;
	__u32 psn = p->number;

	if (p->op & OP_RETH) {
		if (p->op & (OP_READ_REQUEST | OP_FETH)) /* the length of a READ or FLUSH, not of this payload */
			return LINT_DMA_RIGHT;
	} else {
		/* Middle and Last of a WRITE: 7, 8, 9 of each service's opcodes */
		if (l->dma_next != psn + 1 || p->op & (OP_FIRST | OP_RESPONSE) || (p->opcode & 31) < 7)
			return LINT_DMA_RIGHT;
		bytes += l->dma_bytes;
		length = l->dma_length;
		l->dma_next = 0;
	}
	if (p->op & OP_LAST)
		return lint_dma_class(bytes, length);
	l->dma_next = ((psn + 1) & PSN_MASK) + 1;
	l->dma_bytes = bytes;
	l->dma_length = length;
	return LINT_DMA_RIGHT;
}

/*
 * A packet with the PSN of the one before. A retransmission is the same packet: on reliable services only its transport headers
 * are compared, because the IP identification, and so the ICRC, may be new. On other services the ICRC is compared as well.
 */
roce_inline bool lint_psn_repeated(struct roce_lint_state *l, const struct roce_packet *p)
{
	bool resent = p->service != SERVICE_UC && p->service != SERVICE_UD;
	__u32 what = (p->opcode << 16 ^ p->payload_bytes) * 31 + (__u32)(p->va ^ p->va >> 32);

	what = (what * 31 + p->dma_length) * 31 + p->immediate;
	if (!resent)
		what = what * 31 + p->icrc;
	/* an ICRC that was not verified was not read, so equal packets cannot be recognized */
	if (l->psn != (__u32)p->number + 1 || l->psn_what == what || (!resent && !p->icrc))
		l->psn_row = 0;
	else if (l->psn_row < LINT_ROW - 2) /* the first packet was not compared with its first repetition */
		l->psn_row++;
	l->psn = p->number + 1;
	l->psn_what = what;
	return l->psn_row == LINT_ROW - 2;
}

/* A bad ICRC on a stream that never had a good one. CNPs are all alike, and reserved opcodes may be anything. */
roce_inline void lint_bad_icrc(struct roce_lint_state *l, const struct roce_packet *p, __u32 last_psn,
			       struct lint_seen *seen)
{
	seen->icrc_zero = !p->icrc;
	if (!p->op || p->op & OP_CNP)
		return;
	if (p->icrc != l->icrc || !p->icrc)
		l->icrc_row = 1;
	else if (p->number != last_psn && l->icrc_row < LINT_ROW)
		l->icrc_row++;
	l->icrc = p->icrc;
	if (((p->number - last_psn) & PSN_MASK) >= LINT_BAD_NEAR)
		l->bad_row = 1;
	else if (l->bad_row < LINT_BAD_ROW)
		l->bad_row++;
	seen->icrc_constant = l->icrc_row == LINT_ROW;
	seen->icrc_all_bad = l->bad_row == LINT_BAD_ROW && !seen->icrc_zero && !seen->icrc_constant; /* named above */
}

/*
 * Takes one packet, before its stream does. last_psn: PSN of the packet before, acknowledgements included. met: an earlier
 * packet had a place in the sequence. Pass packets with a bad ICRC only while the stream is not trusted.
 */
roce_inline void lint_follow(struct roce_lint_state *l, const struct roce_packet *p, enum icrc_verdict icrc,
			     __u32 last_psn, bool met, struct lint_seen *seen)
{
	__u32 service = p->service + 1;

	if (icrc == ICRC_BAD)
		lint_bad_icrc(l, p, last_psn, seen);
	if (!(p->op & (OP_FIRST | OP_MIDDLE | OP_LAST)))
		return;
	if (p->number == ((last_psn + 1) & PSN_MASK)) {
		seen->partial = l->partial;
		seen->service = l->service;
	} else if (p->number == last_psn && met) {
		seen->psn_constant = lint_psn_repeated(l, p);
	}
	/* another place in the sequence may be another connection, with another path MTU */
	if (seen->service != service) {
		l->service = service;
		l->partial = 0;
	}
	if (roce_is_partial(p) && seen->partial != p->payload_bytes)
		l->partial = p->payload_bytes;
	seen->dma = lint_dma(l, p);
}

#endif
