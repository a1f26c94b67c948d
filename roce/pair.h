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

enum roce_pair_from { PAIR_UNKNOWN, PAIR_EXPECT, PAIR_CM };

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

/* What a stream knows of its pair. */
struct roce_peer {
	struct roce_pair pair;
	/* Whoever stores pairs counts up, from 1, when one is learnt: a stream whose number is another looks again. */
	__u32 generation;
	__u32 unused;
};

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

/*
 * What follows has next to no branches, and its sums go through memory: the verifier would follow every branch of every
 * entry to the end of the program. Masks are all ones or zero, as an arithmetic shift of a sign makes them.
 */
roce_inline __s64 asked_min(__s64 a, __s64 b)
{
	__s64 less = (a - b) >> 63;

	roce_opaque(less);
	return b + ((a - b) & less);
}

/* How often 2 a path MTU is. */
roce_inline __u32 asked_shift(__u32 path_mtu)
{
	__u32 m = path_mtu >> 8;

	return 8 + (m >> 1 & 1) + (m >> 2 & 1) * 2 + (m >> 3 & 1) * 3 + (m >> 4 & 1) * 4;
}

/* A response d ahead of what is expected, and what it finds of its requester's requests. */
struct asked_view {
	const struct roce_asked *asked;
	__u64 next; /* of the requester */
	__s64 d;
	__u32 from;  /* the PSN that is expected */
	__u32 shift; /* of the path MTU */
};

/* The PSNs [begin, end) of one request, counted from the one expected; empty if there is no such request. */
roce_inline void asked_span(const struct asked_view *a, int i, __s64 *begin, __s64 *end)
{
	__u64 entry = a->asked->entry[i], number = entry >> 32 & ASKED_NUMBER, length = (__u32)entry;
	__s64 valid = (__s64)entry >> 63 & (__s64)(((a->next - number) & ASKED_NUMBER) - ASKED_OLD) >> 63;
	__s64 none = (__s64)(length - 1) >> 63; /* a request for nothing takes a PSN as well */

	*begin = psn_distance(a->from, number & PSN_MASK);
	*end = *begin + (((__s64)((length + (1ull << a->shift) - 1) >> a->shift) - none) & valid);
}

/* Whether anybody asked for this response, and for others before it, which it leaves out. */
roce_inline bool asked_look(const struct asked_view *a, bool *left_out)
{
	__s64 begin, end, wanted = 0, between = 0;

	for (int i = 0; i < ASKED; i++) {
		asked_span(a, i, &begin, &end);
		wanted |= (begin - a->d - 1) & (a->d - end);	    /* begin <= d < end */
		between |= -end & (begin - a->d) & (begin - end); /* some of it in [0, d) */
	}
	*left_out = between < 0;
	return wanted < 0;
}

/* Makes unseen what was asked for before this response, once the window was moved to it; adds how many to *skipped. */
roce_inline void asked_forget(const struct asked_view *a, struct roce_psn *w, __u64 *skipped)
{
	__s64 begin, end;

	for (int i = 0; i < ASKED; i++) {
		asked_span(a, i, &begin, &end);
		begin = -asked_min(-begin, 0);
		end = asked_min(end, a->d);
		if (begin < end)
			*skipped += psn_forget(w, w->next - a->d + begin, end - begin);
	}
}

#endif
