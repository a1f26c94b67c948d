/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packet that is timed, from Ethernet to ICRC: a message by itself. A UC RDMA WRITE Only; a UC SEND Only, which is
 * shorter by the RETH, where only that fits into what the kernel's test run takes as one piece.
 */
#ifndef BENCH_FRAME_H
#define BENCH_FRAME_H

#include "bench/rewrite.h"

/* Offsets of the frame in bytes: Ethernet, IPv4 without options, UDP, BTH, RETH or none, payload, ICRC. */
#define FRAME_IP 14
#define FRAME_UDP (FRAME_IP + 20)
#define FRAME_BTH (FRAME_UDP + 8)
#define FRAME_RETH (FRAME_BTH + 12) /* the end of what every packet has */
#define FRAME_RETH_LEN 16
#define FRAME_PAYLOAD_MAX 4096
#define FRAME_BYTES (FRAME_RETH + FRAME_RETH_LEN + FRAME_PAYLOAD_MAX + 4)
#define FRAME_LINEAR 3520 /* the kernel's one piece: a page less XDP_PACKET_HEADROOM and skb_shared_info */

struct frame {
	__u8 bytes[FRAME_BYTES];
	__u32 length;
	const char *packet; /* its opcode, in words */
};

/* payload: bytes, a multiple of 4 up to FRAME_PAYLOAD_MAX. QPN and PSN are 0, the ICRC is right. */
void frame_make(struct frame *f, __u32 payload);

/* As the engine's programs do it to the frame in the kernel: QPN, PSN (24 bits each) and the ICRC that belongs to them. */
void frame_rewrite(struct frame *f, const struct rewrite_tables *t, __u32 qpn, __u32 psn);

/* The ICRC by zlib, of any frame of this shape whatever its ICRC field says (IBTA 7.8.1, annex A17.3.3). */
__u32 frame_icrc(const struct frame *f);

/* Copies what the ICRC covers, masked, and the ICRC field behind it. Returns the number of bytes. */
__u32 frame_covered(const struct frame *f, __u8 *to);

/* What to change of the ICRC for each byte of QPN and PSN, found by trying them all. */
void frame_tables(const struct frame *f, struct rewrite_tables *t);

#endif
