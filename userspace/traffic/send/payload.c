// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <isa-l/crc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"
#include "lib/cause.h"
#include "userspace/traffic/send/payload.h"

#define LFSR_TAPS 0x80200003u /* x^32 + x^22 + x^2 + x + 1, of maximal length */

static void fill_counter(__u8 *to)
{
	for (uint64_t i = 0; i < PAYLOAD_PATTERN / 8; i++)
		put64(to + 8 * i, i);
}

static void fill_lfsr(__u8 *to, uint64_t seed)
{
	uint32_t state = (uint32_t)(seed ^ seed >> 32) ?: 1; /* an LFSR in state zero stays there */

	for (size_t i = 0; i < PAYLOAD_PATTERN / 4; i++) {
		put32(to + 4 * i, state);
		state = state >> 1 ^ (state & 1 ? LFSR_TAPS : 0);
	}
}

static void fill_file(__u8 *to, const char *path)
{
	FILE *f = fopen(path, "re");
	size_t have = f ? fread(to, 1, PAYLOAD_PATTERN, f) : 0;

	if (!f || ferror(f))
		errno = errno ?: EIO;
	else
		errno = have ? 0 : ENODATA;
	if (errno) {
		fprintf(stderr, "rocescope: send: payload file %s: %s\n", path,
			errno == ENODATA ? "it is empty" : cause(errno).text);
		exit(1);
	}
	fclose(f);
	for (size_t i = have; i < PAYLOAD_PATTERN; i++)
		to[i] = to[i - have];
}

void payload_fill(__u8 *payload, const struct send_plan *plan)
{
	switch (plan->pattern) {
	case PATTERN_COUNTER:
		fill_counter(payload);
		break;
	case PATTERN_LFSR:
		fill_lfsr(payload, plan->seed);
		break;
	case PATTERN_FILE:
		fill_file(payload, plan->pattern_file);
		break;
	}
	memcpy(payload + PAYLOAD_PATTERN, payload, PAYLOAD_CELLS - PAYLOAD_PATTERN);
}

const struct payload_piece *payload_piece(struct pieces *p, uint32_t at, uint32_t bytes)
{
	struct payload_piece *found = &p->piece[(at * 2654435761u + bytes * 40503u) >> 20 & (PIECES - 1)];

	if (found->at == at && found->bytes == bytes)
		return found;
	*found = (struct payload_piece){ at, bytes, crc32_gzip_refl(0, p->payload + at, bytes),
				 p->sums ? sum_add(0, p->payload + at, bytes) : 0 };
	return found;
}
