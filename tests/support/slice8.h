/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CRC-32 by slices of eight bytes (Kounavis and Berry): the readable reference for the engine's CRC. */
#ifndef TESTS_SLICE8_H
#define TESTS_SLICE8_H

#include <linux/types.h>
#include <string.h>

/* table[k][b] is the CRC register after byte b and k zero bytes. */
struct slice8 {
	__u32 table[8][256];
};

static inline void slice8_make(struct slice8 *s)
{
	for (int b = 0; b < 256; b++) {
		__u32 r = b;

		for (int bit = 0; bit < 8; bit++)
			r = r >> 1 ^ (r & 1 ? 0xedb88320 : 0);
		s->table[0][b] = r;
	}
	for (int k = 1; k < 8; k++)
		for (int b = 0; b < 256; b++)
			s->table[k][b] = s->table[k - 1][b] >> 8 ^ s->table[0][s->table[k - 1][b] & 0xff];
}

/* The register r after bytes from..to-1, not inverted before or after. */
static inline __u32 slice8_register(const struct slice8 *s, __u32 r, const __u8 *bytes, __u32 from, __u32 to)
{
	for (; from + 8 <= to; from += 8) {
		__u64 w;
		__u32 next = 0;

		memcpy(&w, bytes + from, 8);
		w ^= r;
		for (int k = 0; k < 8; k++)
			next ^= s->table[7 - k][w >> 8 * k & 0xff];
		r = next;
	}
	for (; from < to; from++)
		r = r >> 8 ^ s->table[0][(r ^ bytes[from]) & 0xff];
	return r;
}

#endif
