/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packet that is timed, from Ethernet to ICRC: a message of one packet. It is a UC RDMA WRITE Only. If that does not fit
 * into one piece of the kernel's test run, it is a UC SEND Only, which is shorter by the RETH.
 */
#ifndef BENCH_FRAME_H
#define BENCH_FRAME_H

#include "bench/rewrite.h"

/* Offsets of the frame in bytes: Ethernet, IPv4 without options, UDP, BTH, RETH or none, payload, ICRC. */
#define FRAME_IP 14
#define FRAME_UDP (FRAME_IP + 20)
#define FRAME_BTH (FRAME_UDP + 8)
#define FRAME_RETH (FRAME_BTH + 12) /* the end of the headers that every packet has */
#define FRAME_RETH_LEN 16
#define FRAME_VA 0x10000
#define FRAME_PAYLOAD_MAX 4096
#define FRAME_BYTES (FRAME_RETH + FRAME_RETH_LEN + FRAME_PAYLOAD_MAX + 4)
#define FRAME_LINEAR 3520 /* the kernel's one piece: a page less XDP_PACKET_HEADROOM and skb_shared_info */

struct bench_frame {
	__u8 bytes[FRAME_BYTES];
	__u32 length;
	const char *packet; /* name of its opcode */
};

/* Other packets of the same length: of RC, or UDP to FRAME_UDP_PORT. */
enum frame_kind { FRAME_UC, FRAME_RC, FRAME_PLAIN_UDP };

#define FRAME_UDP_PORT 5000

/* payload: bytes, a multiple of 4 up to FRAME_PAYLOAD_MAX. QPN and PSN become 0, the ICRC is right. */
void frame_make(struct bench_frame *f, enum frame_kind kind, __u32 payload);

/* The same frame as a datagram to FRAME_UDP_PORT. */
void frame_make_datagram(struct bench_frame *f, enum rewrite_datagram what, __u32 payload);

/* The payload of a datagram, in bytes. */
static inline __u32 frame_datagram_bytes(const struct bench_frame *f)
{
	return f->length - FRAME_BTH;
}

/* Sets QPN and PSN (24 bits each) and the matching ICRC, as the bench's programs do in the kernel. */
void frame_rewrite(struct bench_frame *f, const struct rewrite_tables *t, __u32 qpn, __u32 psn);

/* The ICRC by zlib, for any frame of this shape. Ignores the ICRC field (IBTA 7.8.1, annex A17.3.3). */
__u32 frame_icrc(const struct bench_frame *f);

/* Copies the bytes that the ICRC covers, masked, and the ICRC field behind them. Returns the number of bytes. */
__u32 frame_covered(const struct bench_frame *f, __u8 *to);

/* The change of the ICRC for each byte of QPN and PSN, found by trying all of them. */
void frame_tables(const struct bench_frame *f, struct rewrite_tables *t);

#endif
