/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CRC registers with the right polynomial and those used by mistake. Reflected: bit 31 of a polynomial is x^0, and bytes go in
 * least significant bit first. A CRC is linear: what a byte does to the register depends only on the number of bytes after it.
 */
#ifndef USERSPACE_DIAGNOSE_SOLVER_ICRC_CRC_H
#define USERSPACE_DIAGNOSE_SOLVER_ICRC_CRC_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

enum crc_polynomial {
	CRC_IEEE,	   /* 0x04c11db7 */
	CRC_CASTAGNOLI,	   /* 0x1edc6f41 */
	CRC_NOT_REFLECTED, /* 0x04c11db7 not reflected, but shifted to the right */
	CRC_POLYNOMIALS
};

/* Call it before all other functions. */
void crc_make_tables(void);

/* Returns the register after the bytes. r: the register before them. Neither is complemented. */
__u32 crc_register(enum crc_polynomial p, __u32 r, const __u8 *bytes, size_t count);

/* What a fixed number of zero bytes makes of any register. */
struct crc_advance {
	__u32 by[4][256];
};

void crc_make_advance(struct crc_advance *a, enum crc_polynomial p, __u32 zeroes);

static inline __u32 crc_advance(const struct crc_advance *a, __u32 r)
{
	return a->by[0][r & 0xff] ^ a->by[1][r >> 8 & 0xff] ^ a->by[2][r >> 16 & 0xff] ^ a->by[3][r >> 24];
}

/* The register before eight zero bits (CRC_IEEE). */
__u32 crc_back(__u32 r);

/* Reverses the bits of each byte. */
static inline __u64 crc_reverse_bits(__u64 v)
{
	v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
	v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
	return (v >> 4 & 0x0f0f0f0f0f0f0f0f) | (v & 0x0f0f0f0f0f0f0f0f) << 4;
}

#endif
