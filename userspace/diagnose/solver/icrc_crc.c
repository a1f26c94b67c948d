// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <isa-l/crc.h>
#include <string.h>

#include "userspace/diagnose/solver/icrc_crc.h"

static const __u32 polynomials[CRC_POLYNOMIALS] = {
	[CRC_IEEE] = 0xedb88320, [CRC_CASTAGNOLI] = 0x82f63b78, [CRC_NOT_REFLECTED] = 0x04c11db7,
};

/* What a byte followed by 0 to 7 other bytes does to the register. */
static __u32 slices[CRC_POLYNOMIALS][8][256];
static __u32 backwards[256];

static __u32 shift(enum crc_polynomial p, __u32 r)
{
	return r >> 1 ^ (r & 1 ? polynomials[p] : 0);
}

static void make_slices(enum crc_polynomial p)
{
	for (__u32 i = 0; i < 256; i++) {
		__u32 r = i;

		for (int bit = 0; bit < 8; bit++)
			r = shift(p, r);
		slices[p][0][i] = r;
	}
	for (int k = 1; k < 8; k++)
		for (__u32 i = 0; i < 256; i++)
			slices[p][k][i] = slices[p][k - 1][i] >> 8 ^ slices[p][0][slices[p][k - 1][i] & 0xff];
}

void crc_make_tables(void)
{
	for (int p = 0; p < CRC_POLYNOMIALS; p++)
		make_slices(p);
	/* the polynomial has x^32 and x^0: a set bit 31 shows that it was subtracted */
	for (__u32 i = 0; i < 256; i++) {
		__u32 r = i << 24;

		for (int bit = 0; bit < 8; bit++)
			r = r & 0x80000000 ? (r ^ polynomials[CRC_IEEE]) << 1 | 1 : r << 1;
		backwards[i] = r;
	}
}

__u32 crc_back(__u32 r)
{
	return r << 8 ^ backwards[r >> 24];
}

/* Slicing by eight (Kadatch and Jenkins); little-endian. */
static __u32 slice(enum crc_polynomial p, __u32 r, const __u8 *bytes, size_t count)
{
	const __u32(*s)[256] = slices[p];

	for (; count >= 8; count -= 8, bytes += 8) {
		__u64 w;

		memcpy(&w, bytes, 8);
		w ^= r;
		r = s[7][w & 0xff] ^ s[6][w >> 8 & 0xff] ^ s[5][w >> 16 & 0xff] ^ s[4][w >> 24 & 0xff] ^
		    s[3][w >> 32 & 0xff] ^ s[2][w >> 40 & 0xff] ^ s[1][w >> 48 & 0xff] ^ s[0][w >> 56];
	}
	while (count--)
		r = r >> 8 ^ s[0][(r ^ *bytes++) & 0xff];
	return r;
}

__u32 crc_register(enum crc_polynomial p, __u32 r, const __u8 *bytes, size_t count)
{
	if (p == CRC_IEEE)
		return ~crc32_gzip_refl(~r, bytes, count); /* the library complements before and after */
	if (p == CRC_CASTAGNOLI)
		return crc32_iscsi((unsigned char *)bytes, count, r); /* the library does not change the bytes */
	return slice(p, r, bytes, count);
}

static __u32 times(enum crc_polynomial p, __u32 a, __u32 b)
{
	__u32 product = 0;

	for (; a; a <<= 1, b = shift(p, b))
		if (a & 0x80000000)
			product ^= b;
	return product;
}

/* x^(8 * bytes) */
static __u32 power(enum crc_polynomial p, __u32 bytes)
{
	__u32 result = 0x80000000, square = 0x00800000; /* x^0, x^8 */

	for (; bytes; bytes >>= 1, square = times(p, square, square))
		if (bytes & 1)
			result = times(p, result, square);
	return result;
}

void crc_make_advance(struct crc_advance *a, enum crc_polynomial p, __u32 zeroes)
{
	__u32 column = power(p, zeroes);

	/* bit 31 of the register is x^0, bit 30 x^1, ... */
	for (int bit = 31; bit >= 0; bit--, column = shift(p, column))
		a->by[bit / 8][1 << bit % 8] = column;
	for (int k = 0; k < 4; k++) {
		a->by[k][0] = 0;
		for (__u32 i = 1; i < 256; i++)
			if (i & (i - 1))
				a->by[k][i] = a->by[k][i & (i - 1)] ^ a->by[k][i & -i];
	}
}
