/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The invariant CRC (IBTA 7.8.1; RoCEv2: annex A17.3.3): CRC-32 over eight bytes 0xff in place of InfiniBand's LRH, and over
 * the packet from its IP header or GRH to the end of its pad, with variant fields replaced by ones. It is sent least
 * significant byte first. The IP length, not the frame's, gives the end of the packet.
 */
#ifndef ROCE_ICRC_ICRC_H
#define ROCE_ICRC_ICRC_H

#include "roce/icrc/fold.h"
#include "roce/packet/parse.h"

/* The CRC register after the eight leading 0xff bytes; also after a correct ICRC (the CRC residue). */
#define ICRC_REGISTER 0xdebb20e3u

/*
 * Replaces variant fields by ones, in place. frame: a copy of the frame's beginning, at least ROCE_WINDOW_BYTES long. p: the
 * result of roce_parse(), of kind ROCE_PACKET.
 */
roce_inline void icrc_mask(__u8 *frame, const struct roce_packet *p)
{
	__u32 l3 = p->l3_offset, l4 = p->l4_offset;

	roce_opaque(l3);
	roce_opaque(l4);
	if (l3 > ROCE_WINDOW || l4 > ROCE_WINDOW)
		return;
	if (p->ip_version == 4) {
		frame[l3 + 1] = 0xff;			/* type of service */
		frame[l3 + 8] = 0xff;			/* time to live */
		frame[l3 + 10] = frame[l3 + 11] = 0xff; /* header checksum */
	} else {
		frame[l3] |= 0x0f; /* traffic class */
		frame[l3 + 1] = frame[l3 + 2] = frame[l3 + 3] = 0xff; /* traffic class, flow label */
		frame[l3 + 7] = 0xff; /* hop limit */
	}
	if (!p->rocev1) {
		frame[l4 + 6] = frame[l4 + 7] = 0xff; /* UDP checksum */
		l4 += WIRE_UDP_LEN;
	}
	frame[l4 + offsetof(struct wire_bth, resv8a)] = 0xff;
}

roce_inline void icrc_mask_far_byte(struct fold_work *w, __u32 at, bool set)
{
	w->zero[at + FOLD_PAD - 300] = set ? ~w->frame[at] : 0;
}

_Static_assert(ROCE_WINDOW + WIRE_UDP_LEN + offsetof(struct wire_bth, resv8a) + 137 < 300, "fold_short() reads none of it");

/*
 * fold_long() reads a linear frame from FOLD_HEAD on without masking. Variant fields lie there only behind IPv6 extension
 * headers. What masking adds to such a byte is stored 300 bytes before it, among the zeroes: folding then adds it to that byte
 * and to no other, because the shorter distances end before FOLD_HEAD, where nothing is folded. set: true before
 * icrc_prepare(); false afterwards, to restore the zeroes.
 */
roce_inline void icrc_mask_far(struct fold_work *w, const struct roce_packet *p, bool set)
{
	__u32 l4 = p->l4_offset;

	roce_opaque(l4);
	if (l4 + WIRE_UDP_LEN + offsetof(struct wire_bth, resv8a) < FOLD_HEAD)
		return;
	roce_opaque(l4); /* otherwise the compiler compares a difference, from which kernels before 6.18 derive no bound */
	if (l4 > ROCE_WINDOW)
		return;
	icrc_mask_far_byte(w, l4 + 6, set);
	icrc_mask_far_byte(w, l4 + 7, set);
	icrc_mask_far_byte(w, l4 + WIRE_UDP_LEN + offsetof(struct wire_bth, resv8a), set);
}

/*
 * Prepares the frame's beginning in the work area for roce/icrc/fold.h: masks it, clears what lies before the IP header, and adds
 * the register of the eight leading 0xff bytes to its first bytes. p: of kind ROCE_PACKET.
 */
roce_inline void icrc_prepare(struct fold_work *w, const struct roce_packet *p)
{
	__u32 l3 = p->l3_offset;

	icrc_mask(w->frame, p);
	roce_opaque(l3);
	if (l3 < WIRE_ETH_LEN || l3 > ROCE_WINDOW)
		return;
	/* 14 bytes of Ethernet header, and up to three tags */
	roce_store(__u64, w->frame, 0);
	roce_store(__u64, w->frame + 6, 0);
	roce_store(__u32, w->frame + l3 - 12, 0);
	roce_store(__u64, w->frame + l3 - 8, 0);
	roce_store(__u32, w->frame + l3, roce_load(__u32, w->frame + l3) ^ ICRC_REGISTER);
}

/* End of the bytes that the ICRC covers, plus its own four bytes, as an offset in the frame. */
roce_inline __u32 icrc_end(const struct roce_packet *p)
{
	return p->icrc_offset + WIRE_ICRC_LEN;
}

#endif
