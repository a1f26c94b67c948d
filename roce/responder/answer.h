/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames that a receiver answers with: ACK and NAK (IBTA 9.7.5.1), and the congestion notification (annex A17.9). */
#ifndef ROCE_RESPONDER_ANSWER_H
#define ROCE_RESPONDER_ANSWER_H

#include "roce/icrc/icrc.h"
#include "roce/responder/responder.h"

#define ANSWER_OPCODE_ACK 0x11
#define ANSWER_OPCODE_CNP 0x81
#define ANSWER_CNP_RESERVED 16 /* zero bytes behind the BTH */
#define ANSWER_TTL 64
#define ANSWER_HEAD 28 /* bytes copied of the request: Ethernet and up to three tags take 26 */
#define ANSWER_BYTES 192 /* of the buffer: ROCE_WINDOW_BYTES, for masking; a frame takes at most 106 */
_Static_assert(ANSWER_BYTES >= ROCE_WINDOW_BYTES, "icrc_mask()");

struct roce_answer {
	__u8 frame[ANSWER_BYTES];
	struct roce_packet packet; /* what icrc_prepare() needs of it */
	__u32 bytes;
	__u32 reserved;
};

roce_inline void answer_put16(__u8 *to, __u32 value)
{
	roce_store(__u16, to, __builtin_bswap16(value));
}

/* value: 24 bits; the byte before it is `first`. */
roce_inline void answer_put24(__u8 *to, __u32 first, __u32 value)
{
	roce_store(__u32, to, __builtin_bswap32(first << 24 | (value & 0xffffff)));
}

roce_inline void answer_ipv4(__u8 *h, const struct roce_packet *p, __u32 bytes)
{
	__u64 sum = 0;

	h[0] = 0x45;
	h[1] = p->tos & 0xfc;
	answer_put16(h + 2, bytes);
	roce_store(__u32, h + 4, 0x00400000); /* identification 0, don't fragment; little-endian */
	h[8] = ANSWER_TTL;
	h[9] = WIRE_PROTO_UDP;
	roce_store(__u16, h + 10, 0);
	roce_copy4(h + 12, p->dst + 12);
	roce_copy4(h + 16, p->src + 12);
	for (int i = 0; i < WIRE_IPV4_LEN; i += 4)
		sum += roce_load(__u32, h + i);
	roce_store(__u16, h + 10, ~checksum_fold(sum));
}

/* The UDP checksum is 0, as of all RoCEv2 (annex A17.4.5.1, also for IPv6). */
roce_inline void answer_ipv6(__u8 *h, const struct roce_packet *p, __u32 payload)
{
	roce_store(__u32, h, __builtin_bswap32(6u << 28 | (__u32)(p->tos & 0xfc) << 20));
	answer_put16(h + 4, payload);
	h[6] = WIRE_PROTO_UDP;
	h[7] = ANSWER_TTL;
	roce_copy16(h + 8, p->dst);
	roce_copy16(h + 24, p->src);
}

/*
 * Makes the answer to request p but for its ICRC, whose bytes are zero. a->frame has the first ANSWER_HEAD bytes of the request's
 * frame. opcode: ANSWER_OPCODE_*; psn, syndrome: of an ACK or NAK. It goes to the QP's peer. The caller
 * puts the ICRC into the last four of a->bytes bytes: answer_icrc().
 */
roce_inline void answer_make(struct roce_answer *a, const struct roce_packet *p, const struct roce_responder *q, __u32 opcode,
			     __u32 psn, __u32 syndrome)
{
	bool cnp = opcode == ANSWER_OPCODE_CNP;
	__u32 behind = (cnp ? ANSWER_CNP_RESERVED : sizeof(struct wire_aeth)) + WIRE_ICRC_LEN;
	__u32 udp = WIRE_UDP_LEN + sizeof(struct wire_bth) + behind;
	__u32 ip = p->ip_version == 4 ? WIRE_IPV4_LEN : WIRE_IPV6_LEN;
	__u32 l3 = p->l3_offset;
	__u8 *h;

	a->bytes = 0;
	roce_opaque(l3);
	if (l3 > WIRE_ETH_LEN + WIRE_VLAN_TAGS * WIRE_VLAN_LEN)
		return;
	roce_copy6(a->frame, p->src_mac);
	roce_copy6(a->frame + 6, p->dst_mac);
	h = a->frame + l3;
	if (p->ip_version == 4)
		answer_ipv4(h, p, ip + udp);
	else
		answer_ipv6(h, p, udp);
	a->packet.ip_version = p->ip_version;
	a->packet.l3_offset = l3;
	a->packet.l4_offset = l3 + ip;
	a->bytes = l3 + ip + udp;
	a->packet.icrc_offset = a->bytes - WIRE_ICRC_LEN;
	h += ip;
	answer_put16(h, p->udp_source_port);
	answer_put16(h + 2, WIRE_ROCEV2_PORT);
	answer_put16(h + 4, udp);
	roce_store(__u16, h + 6, 0);
	h += WIRE_UDP_LEN;
	h[0] = opcode;
	h[1] = 0x40; /* MigReq: the QP is in the migrated state, as all without path migration (IBTA 17.2.8.1) */
	answer_put16(h + 2, q->pkey);
	answer_put24(h + 4, cnp ? 0x40 : 0, q->peer_qpn); /* BECN, annex A17.9.3 */
	answer_put24(h + 8, 0, cnp ? 0 : psn);
	h += sizeof(struct wire_bth);
	if (cnp) {
		roce_store(__u64, h, 0);
		roce_store(__u64, h + 8, 0);
		h += ANSWER_CNP_RESERVED;
	} else {
		answer_put24(h, syndrome, q->msn);
		h += sizeof(struct wire_aeth);
	}
	roce_store(__u32, h, 0);
}

/* Computes the ICRC of the answer, and puts it in. w: a work area, of which `frame` is overwritten. */
roce_inline void answer_icrc(struct roce_answer *a, const struct fold_tables *t, struct fold_work *w)
{
	__u32 at = a->packet.icrc_offset;

	for (int i = 0; i < ANSWER_BYTES; i += 8)
		roce_store(__u64, w->frame + i, roce_load(__u64, a->frame + i));
	icrc_prepare(w, &a->packet);
	roce_opaque(at);
	if (at > ANSWER_BYTES - WIRE_ICRC_LEN)
		return;
	/* with zeroes in the place of the ICRC, the result is the register before it (fold_last()) */
	roce_store(__u32, a->frame + at, ~fold_shortest(t, w, a->packet.l3_offset, at + WIRE_ICRC_LEN));
}

#endif
