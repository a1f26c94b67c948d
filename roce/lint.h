/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the lints need to remember of a stream. Each rule errs towards silence: where a packet is missing, late, sent
 * again or wrong, what was remembered is dropped, so that only the sender can cause a lint.
 */
#ifndef ROCE_LINT_H
#define ROCE_LINT_H

#include "roce/icrc.h"
#include "roce/parse.h"
#include "roce/psn.h"

enum roce_lint {
#define LINT(name, test, words) LINT_##name,
#include "roce/lint.def"
#undef LINT
	ROCE_LINTS
};

#define LINT_ROW 4	   /* so many packets in a row with the same PSN or ICRC make it a constant */
#define LINT_BAD_ROW 16	   /* ... with a bad ICRC and PSNs near each other make all of them bad */
#define LINT_BAD_NEAR 1024 /* the phantoms that a flipped bit of the QPN makes are farther apart */

/* What the payload of a whole RDMA WRITE says of its DMA length. */
enum lint_dma {
	LINT_DMA_RIGHT, /* or not to be judged */
	LINT_DMA_PAD,   /* 1 to 3 bytes more or less */
	LINT_DMA_IMMDT, /* the size of an ImmDt */
	LINT_DMA_RETH,
	LINT_DMA_OTHER,
};

struct roce_lint_state {
	__u32 dma_next;   /* PSN + 1 that continues the WRITE whose payload is being added up; 0: none */
	__u32 dma_length; /* of that WRITE */
	__u32 dma_bytes;  /* its payload until now */
	__u16 partial;    /* payload of the First and Middle packets since the sequence was broken last; 0: none seen */
	__u16 service;	  /* + 1, of the packet before; 0: not known */
	__u32 psn;	  /* PSN + 1 that was repeated last */
	__u32 psn_what;	  /* which packet did so */
	__u32 icrc;	  /* the last bad one */
	__u8 psn_row;	  /* repetitions of psn by other packets */
	__u8 icrc_row;	  /* packets with this ICRC */
	__u8 bad_row;	  /* bad ICRCs in a row */
};

/* One packet as the tests of lint.def see it, besides the packet itself. */
struct lint_seen {
	__u32 partial;	 /* as in roce_lint_state, before this packet */
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
 * Adds up the payload of a WRITE from its First packet on, as long as each PSN follows. What is lost or late stops that
 * until it is sent again; what comes twice is passed over.
 */
roce_inline enum lint_dma lint_dma(struct roce_lint_state *l, const struct roce_packet *p)
{
	__u32 bytes = p->payload_bytes, length = p->dma_length;
	__u32 psn = p->number;

	if (p->op & OP_RETH) {
		if (p->op & (OP_READ_REQUEST | OP_FETH)) /* the length of what is to be read or flushed */
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
 * A packet with the PSN of the one before. Being sent again makes a packet no other: on the reliable services only its
 * transport headers tell (IP identification, and with it the ICRC, may be new), elsewhere the ICRC as well.
 */
roce_inline bool lint_psn_repeated(struct roce_lint_state *l, const struct roce_packet *p)
{
	bool resent = p->service != SERVICE_UC && p->service != SERVICE_UD;
	__u32 what = (p->opcode << 16 ^ p->payload_bytes) * 31 + (__u32)(p->va ^ p->va >> 32);

	what = (what * 31 + p->dma_length) * 31 + p->immediate;
	if (!resent)
		what = what * 31 + p->icrc;
	/* what was not verified was not read: equal packets cannot be told from others */
	if (l->psn != (__u32)p->number + 1 || l->psn_what == what || (!resent && !p->icrc))
		l->psn_row = 0;
	else if (l->psn_row < LINT_ROW - 2) /* the first packet and its first repetition were not compared */
		l->psn_row++;
	l->psn = p->number + 1;
	l->psn_what = what;
	return l->psn_row == LINT_ROW - 2;
}

/* A bad ICRC of a stream that never had a good one. CNPs are alike, and reserved opcodes nobody's. */
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
	seen->icrc_all_bad = l->bad_row == LINT_BAD_ROW && !seen->icrc_zero && !seen->icrc_constant; /* which say why */
}

/*
 * One packet of the stream, before the stream takes it in. last_psn: of the packet before it, acknowledgements included;
 * met: one that has a place in the sequence was before it. A packet with a bad ICRC belongs here only as long as the
 * stream is not trusted.
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
	/* elsewhere in the sequence it may be another connection, with another path MTU */
	if (seen->service != service) {
		l->service = service;
		l->partial = 0;
	}
	if (roce_is_partial(p) && seen->partial != p->payload_bytes)
		l->partial = p->payload_bytes;
	seen->dma = lint_dma(l, p);
}

#endif
