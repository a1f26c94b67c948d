/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The invariant CRC of RoCEv2 (IBTA 7.8.1 and annex A17.3.3): CRC-32 over eight bytes 0xff and the datagram from its
 * IP header to the end of its pad, with what may change on the way replaced by ones; stored least significant byte
 * first. The IP length says where it ends, not the frame's.
 */
#ifndef ROCE_ICRC_H
#define ROCE_ICRC_H

#include "roce/parse.h"

#define ICRC_POLYNOMIAL 0xedb88320u /* CRC-32 (IEEE 802.3), bit-reflected */
/* The CRC register after the eight leading 0xff, and again after a right ICRC has been taken in (CRC residue). */
#define ICRC_REGISTER 0xdebb20e3u

enum icrc_verdict { ICRC_UNCHECKED, ICRC_GOOD, ICRC_BAD };

/* Slicing-by-8 (Kounavis and Berry): slice[k][b] is the register after byte b and k zero bytes. */
struct icrc_tables {
	__u32 slice[8][256];
};

roce_inline void icrc_make_tables(struct icrc_tables *t)
{
	for (int b = 0; b < 256; b++) {
		__u32 r = b;

		for (int bit = 0; bit < 8; bit++)
			r = r >> 1 ^ (r & 1 ? ICRC_POLYNOMIAL : 0);
		t->slice[0][b] = r;
	}
	for (int k = 1; k < 8; k++)
		for (int b = 0; b < 256; b++)
			t->slice[k][b] = t->slice[k - 1][b] >> 8 ^ t->slice[0][t->slice[k - 1][b] & 0xff];
}

roce_inline __u32 icrc_byte(const struct icrc_tables *t, __u32 r, __u8 byte)
{
	__u32 index = r ^ byte;

	roce_opaque(index); /* or the compiler masks before the xor, whose bounds Linux 6.1 does not know */
	return r >> 8 ^ t->slice[0][index & 0xff];
}

roce_inline __u32 icrc_eight(const struct icrc_tables *t, __u32 r, const __u8 *bytes)
{
	__u64 w = roce_load(__u64, bytes) ^ r;

	return t->slice[7][w & 0xff] ^ t->slice[6][w >> 8 & 0xff] ^ t->slice[5][w >> 16 & 0xff] ^
	       t->slice[4][w >> 24 & 0xff] ^ t->slice[3][w >> 32 & 0xff] ^ t->slice[2][w >> 40 & 0xff] ^
	       t->slice[1][w >> 48 & 0xff] ^ t->slice[0][w >> 56];
}

/*
 * Replaces by ones, in place, what the ICRC leaves out. frame: the caller's copy of the frame's beginning, at least
 * ROCE_WINDOW_BYTES long; p: what roce_parse() made of it, of kind ROCE_PACKET.
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
	frame[l4 + 6] = frame[l4 + 7] = 0xff; /* UDP checksum */
	frame[l4 + WIRE_UDP_LEN + offsetof(struct wire_bth, resv8a)] = 0xff;
}

#endif
