/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the fuzz targets: an assertion that libFuzzer reports as a crash, and the input byte by byte. */
#ifndef FUZZ_MUST_H
#define FUZZ_MUST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes to the descriptor, because a target may have silenced stderr. */
#define must(condition)                                                                                 \
	do {                                                                                            \
		if (!(condition)) {                                                                     \
			dprintf(STDERR_FILENO, "%s:%d: must hold: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                        \
		}                                                                                       \
	} while (0)

struct input {
	const uint8_t *at;
	size_t left;
};

/* The next byte; 0 after the end. */
static inline uint32_t input_byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

/* The next n bytes (at most 4), big-endian. */
static inline uint32_t input_number(struct input *in, int n)
{
	uint32_t value = 0;

	while (n--)
		value = value << 8 | input_byte(in);
	return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
