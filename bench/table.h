/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The CRC by one table of 256 words, a byte at a time: the textbook's, and the slowest in use. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "roce/packet/base.h"

#define TABLE_BYTES 4224 /* the longest packet: 4096 bytes of payload with headers */
#define TABLE_RESIDUE 0xdebb20e3u /* the register after 8 bytes 0xff, and also after a right CRC */

struct crc_table {
	__u32 of[256];
};

roce_inline void crc_table_make(struct crc_table *t)
{
	for (int b = 0; b < 256; b++) {
		__u32 r = b;

		for (int bit = 0; bit < 8; bit++)
			r = r >> 1 ^ (r & 1 ? 0xedb88320u : 0);
		t->of[b] = r;
	}
}

roce_inline __u32 crc_table_byte(const struct crc_table *t, __u32 r, __u8 byte)
{
	return r >> 8 ^ t->of[(r ^ byte) & 0xff];
}

/* The register r after bytes at..to-1 of `bytes`, of which up to TABLE_BYTES are readable. */
roce_inline __u32 crc_table_crc(const struct crc_table *t, __u32 r, const __u8 *bytes, __u32 at, __u32 to)
{
	for (int i = 0; i < TABLE_BYTES / 16; i++) {
		roce_opaque(at);
		if (at + 16 > to || at > TABLE_BYTES - 16)
			break;
		for (int k = 0; k < 16; k++)
			r = crc_table_byte(t, r, bytes[at + k]);
		at += 16;
	}
	for (int i = 0; i < 16; i++) {
		roce_opaque(at);
		if (at >= to || at >= TABLE_BYTES)
			break;
		r = crc_table_byte(t, r, bytes[at]);
		at++;
	}
	return r;
}

#endif
