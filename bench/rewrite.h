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

#endif
