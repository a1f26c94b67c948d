// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <endian.h>
#include <string.h>

#include "userspace/traffic/streams/filler.h"

/*
 * The pattern repeats after a prime number of words. So two places of a message that a power of two of bytes lies between, such
 * as the path MTU or a page, have different words.
 */
#define PERIOD_WORDS	8191
#define PERIOD		(PERIOD_WORDS * sizeof(uint64_t))

/* The finalizer of SplitMix64, which has an inverse: all words differ. */
static uint64_t word(uint64_t number)
{
	number = (number % PERIOD_WORDS + 1) * 0x9e3779b97f4a7c15;
	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
	number = (number ^ number >> 27) * 0x94d049bb133111eb;
	return htobe64(number ^ number >> 31);
}

void filler_make(void *pattern, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
		uint64_t next = word(at / sizeof(next));

		memcpy((char *)pattern + at, &next, bytes - at < sizeof(next) ? bytes - at : sizeof(next));
	}
}

/* What is longer than the period has to equal itself one period before. */
bool filler_right(const void *at, size_t bytes, unsigned int filler, uint64_t from)
{
	static char pattern[2 * PERIOD];
	static bool made;
	size_t first = bytes < PERIOD ? bytes : PERIOD;

	if (!made) {
		filler_make(pattern, sizeof(pattern));
		made = true;
	}
	return !memcmp(at, pattern + (filler * FILLER_STEP + from) % PERIOD, first) && !memcmp((const char *)at + first, at, bytes - first);
}
