/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers in network byte order at any address, and the internet checksum. The engine does not use them
 * (userspace/traffic/send/icrc_way.h).
 */
#ifndef LIB_BYTES_H
#define LIB_BYTES_H

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#include <linux/types.h>

static inline uint32_t get16(const __u8 *from)
{
	return from[0] << 8 | from[1];
}

static inline void put16(__u8 *to, uint16_t value)
{
	memcpy(to, &(uint16_t){ htons(value) }, 2);
}

static inline void put32(__u8 *to, uint32_t value)
{
	memcpy(to, &(uint32_t){ htonl(value) }, 4);
}

static inline void put64(__u8 *to, uint64_t value)
{
	memcpy(to, &(uint64_t){ __builtin_bswap64(value) }, 8);
}

/* RFC 1071: adds the 16-bit big-endian words, unfolded, of at most 64 KiB in all. An odd last byte is padded with a zero. */
static inline uint32_t sum_add(uint32_t sum, const __u8 *bytes, uint32_t length)
{
	for (; length > 1; bytes += 2, length -= 2)
		sum += get16(bytes);
	return length ? sum + (bytes[0] << 8) : sum;
}

/* Folds the sum to 16 bits. */
static inline uint16_t sum_fold(uint32_t sum)
{
	sum = (sum >> 16) + (sum & 0xffff);
	return sum + (sum >> 16);
}

#endif
