/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pairs. A BTH carries the destination's QPN only, so packets do not say which stream answers which. A connection (A, Qa) <->
 * (B, Qb) makes two pairs: packets from A to B towards Qb come from Qa, and the reverse. This file has the rules, and the READs
 * that a requester remembers for its peer. The caller stores both.
 */
#ifndef ROCE_PAIR_H
#define ROCE_PAIR_H

#include "roce/cm.h"
#include "roce/psn.h"

#define PAIR_NO_PSN 0xffffffffu

/* Source of a pair. RDMA netlink knows this machine's connections at any time, not only when they begin. */
enum roce_pair_from { PAIR_UNKNOWN, PAIR_EXPECT, PAIR_CM, PAIR_NETLINK };

/* No padding: maps compare the bytes. */
struct roce_pair_key {
	__u8 src[16];
	__u8 dst[16];
	__u32 number; /* a pair: dst's QPN; a REQ without REP: src's communication ID */
};
_Static_assert(sizeof(struct roce_pair_key) == 36, "no padding");

/* What is known of the streams from src to dst towards that QPN. For a REQ without REP: its contents. */
struct roce_pair {
	__u64 connection; /* distinguishes successive connections on the same QPNs: both communication IDs; 0 without CM */
	__u32 peer_qpn;	  /* src's QPN */
	__u32 path_mtu;	  /* bytes, 0: unknown */
	__u32 first_psn;  /* of src's requests (REQ: of dst's); PAIR_NO_PSN: unknown */
	__u32 from;	  /* enum roce_pair_from */
};
_Static_assert(sizeof(struct roce_pair) == 24, "no padding");

roce_inline void pair_key(struct roce_pair_key *key, const __u8 src[16], const __u8 dst[16], __u32 number)
{
	__builtin_memcpy(key->src, src, 16);
	__builtin_memcpy(key->dst, dst, 16);
	key->number = number;
}

/*
 * A store of pairs has a generation for each of so many classes of QPNs, so that a new pair makes few streams look for theirs:
 * strangers' connection management cannot make all of them look at each packet.
 */
#define PAIR_GENERATIONS 256

roce_inline __u32 pair_generation_of(__u32 qpn)
{
	return qpn % PAIR_GENERATIONS;
}

/* A REQ, to be stored under `key` until its REP arrives. */
roce_inline void pair_request(const struct roce_packet *p, const struct roce_cm *cm, struct roce_pair_key *key,
			      struct roce_pair *request)
{
	pair_key(key, p->src, p->dst, cm->local_id);
	*request = (struct roce_pair){ .connection = cm->local_id, .peer_qpn = cm->qpn, .path_mtu = cm->path_mtu,
				       .first_psn = cm->psn, .from = PAIR_CM };
}

/* Key of the REQ that this REP answers. */
roce_inline void pair_request_key(const struct roce_packet *p, const struct roce_cm *cm, struct roce_pair_key *key)
{
	pair_key(key, p->dst, p->src, cm->remote_id);
}

/* The pair of the streams that the REQ's sender sends. p: the REP. */
roce_inline void pair_forth(const struct roce_packet *p, const struct roce_cm *cm, const struct roce_pair *request,
			    struct roce_pair_key *key, struct roce_pair *pair)
{
	pair_key(key, p->dst, p->src, cm->qpn);
	*pair = *request;
	pair->connection |= (__u64)cm->local_id << 32;
	pair->first_psn = cm->psn;
}

/* The pair of the streams that the REP's sender sends. */
roce_inline void pair_back(const struct roce_packet *p, const struct roce_cm *cm, const struct roce_pair *request,
			   struct roce_pair_key *key, struct roce_pair *pair)
{
	pair_key(key, p->src, p->dst, request->peer_qpn);
	*pair = *request;
	pair->connection |= (__u64)cm->local_id << 32;
	pair->peer_qpn = cm->qpn;
}

/* ---- READ and atomic requests, which are answered by packets with a PSN ---- */

#define ASKED 16 /* ranges of requests that a stream remembers itself: as many READs as RNICs have outstanding */
#define ASKED_MORE 128 /* ... and in the pool: as many as rxe has */
#define ASKED_VALID (1ull << 63)
#define ASKED_PSNS (1ull << 62)	   /* the length is in PSNs, not in bytes */
#define ASKED_NUMBER 0x3fffffffull /* bits of the first request's number that are stored; the lower 24 are the PSN */
#define ASKED_OLD (1 << 22)	   /* a range that begins this many PSNs ago is no longer outstanding */
#define ASKED_MOST (1 << 20)	   /* PSNs of a range */

/*
 * ASKED_VALID | ASKED_PSNS | number << 32 | length (bytes 0: an atomic). Each is one word, so that the peer may read it during a
 * write. While the path MTU is not known, the length is that of one READ in bytes; else requests that follow each other are one
 * range.
 */
struct roce_asked {
	__u64 entry[ASKED];
	__u32 count; /* the next entry is entry[count % ASKED] */
	__u32 unused;
};

/* More of them, older ones, which are not answered yet. */
struct roce_asked_more {
	__u64 entry[ASKED_MORE];
	__u32 count; /* the next entry is entry[count % ASKED_MORE] */
	__u32 unused;
	__u64 behind; /* the number behind the last one */
};

/* FLUSH and ATOMIC WRITE are answered by a READ response without payload (IBTA annex A19). */
roce_inline bool roce_is_answered(const struct roce_packet *p)
{
	return p->op & (OP_READ_REQUEST | OP_ATOMICETH | OP_FETH) || (p->op & OP_RETH && (p->opcode & 0x1f) == 0x1d);
}

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

/* What the peer tells about one packet. */
struct roce_peer_info {
	__u64 from;	  /* the PSN expected at that time; if it has changed, only the path MTU is valid */
	__u64 begin, end; /* PSNs left out before this response, counted from `from`, ... */
	__u64 skipped;	  /* ... of which this many were requested; the others were acknowledged */
	__u64 number;	  /* the packet's PSN in the peer's numbers */
	__u64 acknowledged; /* of requests: the number behind the newest acknowledged one; at most the next one */
	__u32 path_mtu;	  /* the peer's */
	__u32 msn_falls;  /* likewise */
	__u8 valid;	  /* the peer was asked */
	__u8 wanted;	  /* the response itself was requested */
};

/* Where a response is, and what of the PSNs before it was requested. PSNs are counted from the expected one. */
struct asked_sum {
	__u64 next; /* the requester's next PSN */
	__u32 from; /* the expected PSN */
	__u32 shift; /* log2 of the path MTU */
	__s64 d;     /* the response */
	__s64 first, last, skipped, wanted;
	const struct roce_asked_more *more;
};

roce_inline void asked_look_at(struct asked_sum *sum, __u64 entry)
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

static roce_step asked_look_more(__u32 i, void *context)
{
	struct asked_sum *sum = context;

	roce_opaque(i);
	if (i >= ASKED_MORE)
		return 1;
	asked_look_at(sum, sum->more->entry[i]);
	return 0;
}

/*
 * Looks up a response d > 0 ahead of the expected PSN `from`. more: NULL if there are none. next: the requester's next PSN.
 * path_mtu: 256 .. 4096 if valid.
 */
roce_inline void asked_look(const struct roce_asked *a, const struct roce_asked_more *more, __u64 next, __u32 path_mtu,
			    __u32 from, __s64 d, struct roce_peer_info *info)
{
	struct asked_sum sum = { .next = next, .from = from, .shift = asked_shift(path_mtu), .d = d, .first = d,
				 .more = more };

	for (int i = 0; i < ASKED; i++)
		asked_look_at(&sum, a->entry[i]);
	if (more)
		roce_loop(more->count < ASKED_MORE ? more->count : ASKED_MORE, asked_look_more, &sum);
	info->wanted = sum.wanted & 1;
	info->skipped = sum.skipped;
	info->begin = sum.first;
	info->end = sum.last + ((d - sum.last) & asked_less(sum.skipped, 1));
}

#endif
