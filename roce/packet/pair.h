/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pairs. A BTH carries the destination's QPN only, so packets do not say which stream answers which. A connection (A, Qa) <->
 * (B, Qb) makes two pairs: packets from A to B towards Qb come from Qa, and the reverse. roce/packet/cm.h makes them of connection
 * management. The caller stores them.
 */
#ifndef ROCE_PACKET_PAIR_H
#define ROCE_PACKET_PAIR_H

#include "roce/packet/base.h"

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
 * A store of pairs has a generation for each of PAIR_GENERATIONS classes of QPNs. A new pair makes only the streams of its
 * class look for theirs. So others' connection management cannot make all streams look for each packet.
 */
#define PAIR_GENERATIONS 256

roce_inline __u32 pair_generation_of(__u32 qpn)
{
	return qpn % PAIR_GENERATIONS;
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

#endif
