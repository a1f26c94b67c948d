/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Details that are too costly to count for every stream, counted for the one stream in focus: gaps between packets by a precise
 * clock, sizes of messages, the memory its RETHs address. Late and repeated packets count as packets only. Packets with a bad
 * ICRC do not count.
 */
#ifndef ROCE_EVENT_FOCUS_H
#define ROCE_EVENT_FOCUS_H

#include "roce/event/event.h"

/*
 * Two buckets an octave: bucket 2n + h begins at 2^(n+4) * (h ? 1.5 : 1) ns (32 ns: bucket 2). The first also holds all shorter
 * gaps, the last all longer ones (51 s).
 */
#define FOCUS_GAPS 64
#define FOCUS_GAP_SHIFT 4

/* Bucket 0: empty messages; bucket n: 2^(n-1) to 2^n - 1 bytes. */
#define FOCUS_SIZES 33

/* Where a RETH's address lies relative to the RETH before. */
enum focus_step {
	FOCUS_ON,    /* at the end of the one before */
	FOCUS_SAME,  /* at the start of the one before */
	FOCUS_AHEAD, /* beyond its end: memory is left out */
	FOCUS_BACK,  /* before its end: a ring wrapped, or another buffer */
	FOCUS_STEPS
};

enum focus_open {
	FOCUS_NONE,
	FOCUS_SIZED,  /* its length is known from the RETH */
	FOCUS_SUMMED,
};

struct roce_focus {
	__u64 packets;
	__u64 begin; /* ns, CLOCK_MONOTONIC: first packet */
	__u64 last;  /* ns: last packet */

	__u64 gaps; /* packets - 1: the sum of gap[] */
	__u64 gap_sum, gap_least, gap_most; /* ns */
	__u64 gap[FOCUS_GAPS];

	__u64 messages; /* messages of known size: the sum of size[] */
	__u64 unsized;	/* messages that ended with unknown size: their beginning was not seen, or a packet is missing */
	__u64 size_sum, size_least, size_most; /* bytes */
	__u64 size[FOCUS_SIZES];

	__u64 reths;
	__u64 low, high; /* address range of all RETHs, `high` exclusive; 0, 0: no RETH */
	__u64 va, end;	 /* range of the last RETH */
	__u64 step[FOCUS_STEPS]; /* reths - 1 in all */
	__u32 rkey;
	__u32 rkeys; /* changes of the R_Key, the first one included */

	/* the open message */
	__u64 bytes;
	__u32 next; /* its next PSN */
	__u32 open; /* enum focus_open */
};

/* Index of the highest set bit; 0 for 0 and 1. Without branches, because the BPF verifier follows each. */
roce_inline __u32 focus_log2(__u64 n)
{
	__u32 log = 0;

	roce_unroll
	for (__u32 step = 32; step; step /= 2) {
		__u64 shift = (0 - (n >> step)) >> 63;

		roce_opaque(shift);
		shift *= step;
		n >>= shift;
		log += shift;
	}
	return log;
}

roce_inline __u32 focus_gap_bucket(__u64 gap)
{
	__u32 log = focus_log2(gap), bucket;

	if (log < FOCUS_GAP_SHIFT)
		return 0;
	bucket = 2 * (log - FOCUS_GAP_SHIFT) + (gap >> (log - 1) & 1);
	return bucket < FOCUS_GAPS ? bucket : FOCUS_GAPS - 1;
}

/* Lower bound of the bucket, ns; 0 for the first. */
roce_inline __u64 focus_gap_begin(__u32 bucket)
{
	__u64 octave = 1ull << (bucket / 2 + FOCUS_GAP_SHIFT);

	return !bucket ? 0 : bucket & 1 ? octave + octave / 2 : octave;
}

roce_inline __u32 focus_size_bucket(__u32 bytes)
{
	return bytes ? focus_log2(bytes) + 1 : 0;
}

roce_inline __u64 focus_size_begin(__u32 bucket)
{
	return bucket ? 1ull << (bucket - 1) : 0;
}

roce_inline void focus_gap(struct roce_focus *f, __u64 now)
{
	__u64 gap = now - f->last;
	__u32 bucket = focus_gap_bucket(gap);

	if (!f->packets++) {
		f->begin = f->last = now;
		return;
	}
	if ((__s64)gap < 0) /* CPU clocks may differ */
		gap = bucket = 0;
	else
		f->last = now;
	f->gap_sum += gap;
	if (!f->gaps++ || gap < f->gap_least)
		f->gap_least = gap;
	if (gap > f->gap_most)
		f->gap_most = gap;
	roce_opaque(bucket);
	if (bucket < FOCUS_GAPS)
		f->gap[bucket]++;
}

roce_inline void focus_size(struct roce_focus *f, __u64 bytes)
{
	__u32 bucket = focus_size_bucket(bytes);

	f->size_sum += bytes;
	if (!f->messages++ || bytes < f->size_least)
		f->size_least = bytes;
	if (bytes > f->size_most)
		f->size_most = bytes;
	roce_opaque(bucket);
	if (bucket < FOCUS_SIZES)
		f->size[bucket]++;
}

/* WRITE and READ carry their length. Other messages must be seen from First to Last. Atomics have no size. */
roce_inline void focus_message(struct roce_focus *f, const struct roce_packet *p)
{
	if (p->op & (OP_ATOMICETH | OP_ATOMICACKETH) || !(p->op & (OP_FIRST | OP_MIDDLE | OP_LAST)))
		return;
	if (p->op & OP_RETH)
		focus_size(f, p->dma_length);
	if (p->op & OP_FIRST) {
		f->open = p->op & OP_RETH ? FOCUS_SIZED : FOCUS_SUMMED;
		f->bytes = 0;
	} else if (f->open == FOCUS_SUMMED && p->number != f->next) {
		f->open = FOCUS_NONE;
	}
	f->bytes += p->payload_bytes;
	f->next = (p->number + 1) & PSN_MASK;
	if (!(p->op & OP_LAST))
		return;
	if (f->open == FOCUS_SUMMED)
		focus_size(f, f->bytes);
	f->unsized += f->open == FOCUS_NONE;
	f->open = FOCUS_NONE;
}

roce_inline void focus_address(struct roce_focus *f, const struct roce_packet *p)
{
	__u64 end = p->va + p->dma_length;

	if (!(p->op & OP_RETH))
		return;
	if (!f->reths++) {
		f->low = p->va;
		f->high = end;
		f->rkeys = 1;
	} else {
		f->step[p->va == f->end ? FOCUS_ON : p->va == f->va ? FOCUS_SAME : p->va > f->end ? FOCUS_AHEAD : FOCUS_BACK]++;
		f->rkeys += p->rkey != f->rkey;
	}
	if (p->va < f->low)
		f->low = p->va;
	if (end > f->high)
		f->high = end;
	f->va = p->va;
	f->end = end;
	f->rkey = p->rkey;
}

/* Takes one packet of the stream in focus. kinds: its events (roce_find_events()). now: ns, by a precise clock. */
roce_inline void roce_focus_on(struct roce_focus *f, const struct roce_packet *p, __u32 kinds, __u64 now)
{
	if (kinds & ROCE_EVENT(icrc_bad))
		return;
	focus_gap(f, now);
	if (p->kind != ROCE_PACKET || kinds & (ROCE_EVENT(psn_duplicate) | ROCE_EVENT(psn_recovered)))
		return;
	focus_message(f, p);
	focus_address(f, p);
}

#endif
