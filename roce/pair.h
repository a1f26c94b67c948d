/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pairs. A BTH names the destination's QPN only, so which stream answers which is not in the packets. A connection
 * (A, Qa) <-> (B, Qb) makes two pairs: what A sends to B towards Qb comes from Qa, and the other way round.
 * Whoever stores them hands them in: this file has the rules, and the READs a requester remembers for its peer.
 */
#ifndef ROCE_PAIR_H
#define ROCE_PAIR_H

#include "roce/cm.h"
#include "roce/psn.h"

#define PAIR_NO_PSN 0xffffffffu

/* Who says so. This machine's RDMA netlink knows a connection at any time, not only its beginning. */
enum roce_pair_from { PAIR_UNKNOWN, PAIR_EXPECT, PAIR_CM, PAIR_NETLINK };

/* No padding: maps compare the bytes. */
struct roce_pair_key {
	__u8 src[16];
	__u8 dst[16];
	__u32 number; /* of a pair: dst's QPN; of a REQ without its REP: src's communication ID */
};
_Static_assert(sizeof(struct roce_pair_key) == 36, "no padding");

/* What is known of the streams from src to dst towards that QPN. Of a REQ without its REP: what it says. */
struct roce_pair {
	__u64 connection; /* tells one from the next on the same QPNs: both communication IDs; 0 without CM */
	__u32 peer_qpn;	  /* of src */
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

/* A REQ: to be kept under `key` until its REP comes. */
roce_inline void pair_request(const struct roce_packet *p, const struct roce_cm *cm, struct roce_pair_key *key,
			      struct roce_pair *request)
{
	pair_key(key, p->src, p->dst, cm->local_id);
	*request = (struct roce_pair){ .connection = cm->local_id, .peer_qpn = cm->qpn, .path_mtu = cm->path_mtu,
				       .first_psn = cm->psn, .from = PAIR_CM };
}

/* A REP: under which key its REQ was kept. */
roce_inline void pair_request_key(const struct roce_packet *p, const struct roce_cm *cm, struct roce_pair_key *key)
{
	pair_key(key, p->dst, p->src, cm->remote_id);
}

/* REQ and REP: the pair of the streams which the REQ's sender sends. */
roce_inline void pair_forth(const struct roce_packet *p, const struct roce_cm *cm, const struct roce_pair *request,
			    struct roce_pair_key *key, struct roce_pair *pair)
{
	pair_key(key, p->dst, p->src, cm->qpn);
	*pair = *request;
	pair->connection |= (__u64)cm->local_id << 32;
	pair->first_psn = cm->psn;
}

/* ... and of those which the REP's sender sends. */
roce_inline void pair_back(const struct roce_packet *p, const struct roce_cm *cm, const struct roce_pair *request,
			   struct roce_pair_key *key, struct roce_pair *pair)
{
	pair_key(key, p->src, p->dst, request->peer_qpn);
	*pair = *request;
	pair->connection |= (__u64)cm->local_id << 32;
	pair->peer_qpn = cm->qpn;
}

/* ---- READ and atomic requests, which are answered by packets with a PSN ---- */

#define ASKED 16 /* so many of a stream are remembered: as many as RNICs have outstanding */
#define ASKED_VALID (1ull << 63)
#define ASKED_NUMBER 0x7fffffffull /* bits of the request's number, the PSN in the lower 24, that are kept */
#define ASKED_OLD (1 << 22)	   /* so many PSNs ago is no longer outstanding */

/*
 * ASKED_VALID | number << 32 | DMA length (0: an atomic). One word each, so that the peer may read them while they are
 * written. The length and not the span, since the path MTU may be learnt later.
 */
struct roce_asked {
	__u64 entry[ASKED];
	__u32 count; /* the next one is entry[count % ASKED] */
	__u32 unused;
};

/* FLUSH and ATOMIC WRITE are answered by a READ response without payload (IBTA annex A19). */
roce_inline bool roce_is_answered(const struct roce_packet *p)
{
	return p->op & (OP_READ_REQUEST | OP_ATOMICETH | OP_FETH) || p->opcode == 0x1d;
}

roce_inline void asked_add(struct roce_asked *a, const struct roce_packet *p, __u64 number)
{
	__u64 length = p->op & OP_READ_REQUEST ? p->dma_length : 0;

	a->entry[a->count++ % ASKED] = ASKED_VALID | (number & ASKED_NUMBER) << 32 | length;
}

/* How often 2 a path MTU is. */
roce_inline __u32 asked_shift(__u32 path_mtu)
{
	__u32 m = path_mtu >> 8;

	return 8 + (m >> 1 & 1) + (m >> 2 & 1) * 2 + (m >> 3 & 1) * 3 + (m >> 4 & 1) * 4;
}

/* All ones where a < b, else 0: of branches the verifier would follow each to the end of the program. */
roce_inline __s64 asked_less(__s64 a, __s64 b)
{
	__s64 difference = a - b;

	roce_opaque(difference); /* or the compiler makes it a branch after all */
	return difference >> 63;
}

/* What the peer tells of one packet. */
struct roce_told {
	__u64 from;	  /* the number that was expected then; all but the path MTU holds only while it still is */
	__u64 begin, end; /* a response that is ahead leaves out no PSNs but these, counted from `from`, ... */
	__u64 skipped;	  /* ... of which so many were asked for; the others were acknowledged */
	__u32 path_mtu;	  /* the peer's */
	__u8 valid;	  /* it was asked at all */
	__u8 wanted;	  /* the response itself was asked for */
};

/*
 * A response d > 0 ahead of the PSN `from`, which is expected. next: of the requester. A path MTU is one of 256..4096.
 */
roce_inline void asked_look(const struct roce_asked *a, __u64 next, __u32 path_mtu, __u32 from, __s64 d,
			    struct roce_told *told)
{
	__u32 shift = asked_shift(path_mtu);
	__s64 first = d, last = 0, skipped = 0, wanted = 0;

	for (int i = 0; i < ASKED; i++) {
		__u64 entry = a->entry[i], number = entry >> 32 & ASKED_NUMBER, length = (__u32)entry;
		__s64 valid = (__s64)entry >> 63 & asked_less((next - number) & ASKED_NUMBER, ASKED_OLD);
		__s64 begin = psn_distance(from, number & PSN_MASK), end, some;

		/* a request for nothing takes a PSN as well */
		end = begin + ((length + (1ull << shift) - 1) >> shift) - asked_less(length, 1);
		wanted |= valid & ~asked_less(d, begin) & asked_less(d, end);
		begin &= ~asked_less(begin, 0);
		end += (d - end) & asked_less(d, end);
		some = valid & asked_less(begin, end);
		skipped += (end - begin) & some;
		first += (begin - first) & some & asked_less(begin, first);
		last += (end - last) & some & asked_less(last, end);
	}
	told->wanted = wanted & 1;
	told->skipped = skipped;
	told->begin = first;
	told->end = last + ((d - last) & asked_less(skipped, 1));
}

#endif
