/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Slicing-by-8 (Kounavis and Berry), the usual fast CRC in software: the reference for folding. */
#ifndef BENCH_SLICE8_H
#define BENCH_SLICE8_H

#include "bench/table.h"

/* slice[k].of[b]: the register after byte b and k zero bytes */
struct slice8_tables {
	struct crc_table slice[8];
};

roce_inline void slice8_make(struct slice8_tables *t)
{
	crc_table_make(&t->slice[0]);
	for (int k = 1; k < 8; k++)
		for (int b = 0; b < 256; b++)
			t->slice[k].of[b] = crc_table_byte(&t->slice[0], t->slice[k - 1].of[b], 0);
}

roce_inline __u32 slice8_eight(const struct slice8_tables *t, __u32 r, const __u8 *bytes)
{
	__u64 w = roce_load(__u64, bytes) ^ r;

	return t->slice[7].of[w & 0xff] ^ t->slice[6].of[w >> 8 & 0xff] ^ t->slice[5].of[w >> 16 & 0xff] ^
	       t->slice[4].of[w >> 24 & 0xff] ^ t->slice[3].of[w >> 32 & 0xff] ^ t->slice[2].of[w >> 40 & 0xff] ^
	       t->slice[1].of[w >> 48 & 0xff] ^ t->slice[0].of[w >> 56];
}

/* The register r after bytes 0..length-1 of `bytes`, of which up to TABLE_BYTES are readable. */
roce_inline __u32 slice8_crc(const struct slice8_tables *t, __u32 r, const __u8 *bytes, __u32 length)
{
	__u32 at = 0;

	for (int i = 0; i < TABLE_BYTES / 64; i++) {
		roce_opaque(at);
		if (at + 64 > length || at > TABLE_BYTES - 64)
			break;
		for (int k = 0; k < 64; k += 8)
			r = slice8_eight(t, r, bytes + at + k);
		at += 64;
	}
	for (int i = 0; i < 8; i++) {
		roce_opaque(at);
		if (at + 8 > length || at > TABLE_BYTES - 8)
			break;
		r = slice8_eight(t, r, bytes + at);
		at += 8;
	}
	return crc_table_crc(&t->slice[0], r, bytes, at, length);
}

#endif
