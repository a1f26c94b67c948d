/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's test run gives a program the same packet again and again. The programs rewrite it first, so that each packet has
 * its own QPN, PSN and right ICRC. Six look-ups give the ICRC, because a CRC is linear.
 */
#ifndef BENCH_REWRITE_H
#define BENCH_REWRITE_H

#include <linux/types.h>

/* The ICRC as a little-endian integer, its byte order on the wire. */
struct rewrite_tables {
	__u32 base;		/* the ICRC with QPN and PSN 0 */
	__u32 of_qpn[3][256];	/* change of the ICRC for each value of byte 0 (the least significant) to 2 */
	__u32 of_psn[3][256];
};

/* A program's position in the stream of packets. */
struct rewrite_position {
	__u32 qps;   /* QPNs REWRITE_QPN .. + qps - 1 in turn; 0: a random QPN of the upper half each time */
	__u32 index; /* of the next packet's QP */
	__u32 psn;   /* of all QPs in this round */
};

#define REWRITE_QPN 0x100
#define REWRITE_FLOOD 0x800000 /* random QPNs start here */

/* resv8a, QPN, AckReq, PSN: eight bytes from this offset of the BTH, written in one store so that loads of it are forwarded */
#define REWRITE_WORD 4

static inline __attribute__((always_inline)) __u64 rewrite_word(__u32 qpn, __u32 psn)
{
	return __builtin_bswap64((__u64)qpn << 32 | psn);
}

static inline __attribute__((always_inline)) __u32 rewrite_icrc(const struct rewrite_tables *t, __u32 qpn, __u32 psn)
{
	return t->base ^ t->of_qpn[0][qpn & 0xff] ^ t->of_qpn[1][qpn >> 8 & 0xff] ^ t->of_qpn[2][qpn >> 16 & 0xff] ^
	       t->of_psn[0][psn & 0xff] ^ t->of_psn[1][psn >> 8 & 0xff] ^ t->of_psn[2][psn >> 16 & 0xff];
}

/* What changes besides from packet to packet of RoCE. Rows: streams-ring, streams-class. */
enum rewrite_change {
	CHANGE_NOTHING,
	CHANGE_RING,  /* the WRITE's address, round a ring; the ICRC is not right then */
	CHANGE_CLASS, /* the DSCP: each packet has another one than the packet before */
};

#define REWRITE_SLOTS 64
#define REWRITE_TOS (26 << 2)

/* Datagrams that are timed: REWRITE_DATAGRAM(name, what --udp tells of it). Their rows are called udp-NAME. */
#define REWRITE_DATAGRAMS                                       \
	REWRITE_DATAGRAM(seq, "seq=64:32,stream=32:32")         \
	REWRITE_DATAGRAM(programs, "programs")                  \
	REWRITE_DATAGRAM(chdr, "chdr")                          \
	REWRITE_DATAGRAM(dune, "dune")                          \
	REWRITE_DATAGRAM(udps, "udps")                          \
	REWRITE_DATAGRAM(spead, "spead,step=1")                 \
	REWRITE_DATAGRAM(vdif, "vdif,frames=25000")             \
	REWRITE_DATAGRAM(vita49, "vita49")

enum rewrite_datagram {
#define REWRITE_DATAGRAM(name, format) DATAGRAM_##name,
	REWRITE_DATAGRAMS
#undef REWRITE_DATAGRAM
	DATAGRAMS
};

#define REWRITE_DATAGRAM_BYTES 48 /* of the longest header of them */
#define REWRITE_HEAP 8 /* datagrams of a heap */
#define REWRITE_SECOND 25000 /* VDIF: frames in a second */

/*
 * Writes what changes from datagram to datagram in its header at `to`: the number n, and the flow (seq only). base: the
 * header's first eight bytes with the number 0. payload: bytes of a heap's part.
 */
static inline __attribute__((always_inline)) void rewrite_number(__u8 *to, enum rewrite_datagram what, __u64 base,
								 __u32 payload, __u32 flow, __u32 n)
{
	__u64 *word = (__u64 *)to;

	switch (what) {
	case DATAGRAM_seq:
		*(__u64 *)(to + 4) = __builtin_bswap64((__u64)flow << 32 | n);
		return;
	case DATAGRAM_programs:
		word[2] = __builtin_bswap64(n);
		return;
	case DATAGRAM_chdr:
		word[0] = base | (__u64)(n & 0xffff) << 32;
		return;
	case DATAGRAM_dune:
		word[0] = base | (__u64)(n & 0xfff) << 40;
		return;
	case DATAGRAM_udps:
		word[0] = n;
		return;
	case DATAGRAM_vdif:
		word[0] = (__u64)(n % REWRITE_SECOND) << 32 | n / REWRITE_SECOND;
		return;
	case DATAGRAM_vita49: /* a counter of 1024 samples a packet */
		word[0] = base | __builtin_bswap64((__u64)(n & 15) << 48);
		word[1] = __builtin_bswap64((__u64)n << 10);
		return;
	case DATAGRAM_spead: /* the items heap and offset */
		word[1] = __builtin_bswap64(1ull << 63 | 1ull << 48 | n / REWRITE_HEAP);
		word[3] = __builtin_bswap64(1ull << 63 | 3ull << 48 | n % REWRITE_HEAP * payload);
		return;
	default:
		return;
	}
}

#endif
