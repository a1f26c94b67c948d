/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * READ and atomic requests, which are answered by packets with a PSN: a requester remembers them for its peer, the stream of
 * responses.
 */
#ifndef ROCE_SEQUENCE_ASKED_H
#define ROCE_SEQUENCE_ASKED_H

#include "roce/stream/stream.h"

#define ASKED_MORE 128 /* requests in the pool, besides ASKED: as many as rxe has */
#define ASKED_VALID (1ull << 63)
#define ASKED_PSNS (1ull << 62)	   /* the length is in PSNs, not in bytes */
#define ASKED_NUMBER 0x3fffffffull /* bits of the first request's number that are stored; the lower 24 are the PSN */
#define ASKED_OLD (1 << 22)	   /* a range that begins this many PSNs ago is no longer outstanding */
#define ASKED_MOST (1 << 20)	   /* PSNs of a range */

/* More of them, older ones, which are not answered yet. */
struct roce_asked_more {
	__u64 entry[ASKED_MORE];
	__u32 count; /* the next entry is entry[count % ASKED_MORE] */
	__u32 unused;
	__u64 behind; /* the number behind the last one */
};

/* number: of the request. psns: how many it takes; 0: not known. */
roce_inline void asked_add(struct roce_asked *a, const struct roce_packet *p, __u64 number, __u32 psns)
{
	__u64 entry = ASKED_VALID | (number & ASKED_NUMBER) << 32, *last = &a->entry[(a->count - 1) % ASKED];
	__u32 so_far = (__u32)*last;

	if (psns && *last >> 62 == 3 && so_far < ASKED_MOST && (((*last >> 32) + so_far) & ASKED_NUMBER) == (number & ASKED_NUMBER)) {
		*last += psns;
		return;
	}
	if (psns)
		entry |= ASKED_PSNS | psns;
	else
		entry |= p->op & OP_READ_REQUEST ? p->dma_length : 0;
	a->entry[a->count++ % ASKED] = entry;
}

/* log2 of the path MTU. */
roce_inline __u32 asked_shift(__u32 path_mtu)
{
	__u32 m = path_mtu >> 8;

	return 8 + (m >> 1 & 1) + (m >> 2 & 1) * 2 + (m >> 3 & 1) * 3 + (m >> 4 & 1) * 4;
}

/* All ones if a < b, else 0. No branch, because the verifier would follow each to the end of the program. */
roce_inline __s64 asked_less(__s64 a, __s64 b)
{
	__s64 difference = a - b;

	roce_opaque(difference); /* keep the compiler from making it a branch */
	return difference >> 63;
}

/* The number behind the range, as it is stored. */
roce_inline __u64 asked_behind(__u64 entry)
{
	__u32 length = entry; /* in bytes, if the path MTU is not known: it is 256 or more */

	return (entry >> 32) + (entry & ASKED_PSNS ? length : length / 256 + 1);
}

/* The oldest range, which the next one overwrites, if it is not answered yet; else 0. answered: all before this number are. */
roce_inline __u64 asked_oldest(const struct roce_asked *a, __u64 answered)
{
	__u64 oldest = a->entry[a->count % ASKED], ahead = (asked_behind(oldest) - answered) & ASKED_NUMBER;

	return oldest & asked_less(0, ahead) & asked_less(ahead, ASKED_OLD);
}

/* Where a response is, and which PSNs before it were requested. All are distances from the expected PSN. */
struct asked_sum {
	__u64 next; /* the requester's next PSN */
	__u32 from; /* the expected PSN */
	__u32 shift; /* log2 of the path MTU */
	__s64 d;     /* the response */
	__s64 first, last, skipped, wanted;
	const struct roce_asked_more *more;
};

roce_inline void asked_sum_entry(struct asked_sum *sum, __u64 entry)
{
	__u64 number = entry >> 32 & ASKED_NUMBER, length = (__u32)entry;
	__s64 valid = (__s64)entry >> 63 & asked_less((sum->next - number) & ASKED_NUMBER, ASKED_OLD);
	__s64 begin = psn_distance(sum->from, number & PSN_MASK), end, some, psns = -(__s64)(entry >> 62 & 1), d = sum->d;

	/* an empty request takes one PSN as well */
	end = (length & psns) | ((((length + (1ull << sum->shift) - 1) >> sum->shift) - asked_less(length, 1)) & ~psns);
	end += begin;
	sum->wanted |= valid & ~asked_less(d, begin) & asked_less(d, end);
	begin &= ~asked_less(begin, 0);
	end += (d - end) & asked_less(d, end);
	some = valid & asked_less(begin, end);
	sum->skipped += (end - begin) & some;
	sum->first += (begin - sum->first) & some & asked_less(begin, sum->first);
	sum->last += (end - sum->last) & some & asked_less(sum->last, end);
}

static roce_step asked_sum_more(__u32 i, void *context)
{
	struct asked_sum *sum = context;

	roce_opaque(i);
	if (i >= ASKED_MORE)
		return 1;
	asked_sum_entry(sum, sum->more->entry[i]);
	return 0;
}

/*
 * Looks up a response d > 0 ahead of the expected PSN `from`. more: NULL if there are none. next: the requester's next PSN.
 * path_mtu: 256 .. 4096 if valid.
 */
roce_inline void asked_find(const struct roce_asked *a, const struct roce_asked_more *more, __u64 next, __u32 path_mtu,
			    __u32 from, __s64 d, struct roce_peer_info *info)
{
	struct asked_sum sum = { .next = next, .from = from, .shift = asked_shift(path_mtu), .d = d, .first = d,
				 .more = more };

	for (int i = 0; i < ASKED; i++)
		asked_sum_entry(&sum, a->entry[i]);
	if (more)
		roce_loop(more->count < ASKED_MORE ? more->count : ASKED_MORE, asked_sum_more, &sum);
	info->wanted = sum.wanted & 1;
	info->skipped = sum.skipped;
	info->begin = sum.first;
	info->end = sum.last + ((d - sum.last) & asked_less(sum.skipped, 1));
}

#endif
