// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "lib/number.h"
#include "userspace/observe/model/imm.h"

/* Moves *text behind `word`, if it is there. */
static bool skip(const char **text, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*text, word, length))
		return false;
	*text += length;
	return true;
}

static bool number(const char **text, uint64_t least, uint64_t most, uint32_t *to)
{
	uint64_t n;
	char *end;

	if (!parse_whole(*text, &n, &end) || n < least || n > most)
		return false;
	*text = end;
	*to = n;
	return true;
}

/* ---- a ring ---- */

/* A number of bytes, or an address: "4096", "0x1000", "64K". */
static bool take_bytes(const char **text, uint64_t *to)
{
	static const char units[] = "KMG";
	const char *unit;
	unsigned int shift;
	char *end;

	if (!parse_whole(*text, to, &end))
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	shift = unit ? 10 * (unit - units + 1) : 0;
	if (*to << shift >> shift != *to)
		return false;
	*to <<= shift;
	*text = end + (unit != NULL);
	return true;
}

/* Reads what is behind "ring=". */
static const char *take_ring(const char *text, struct roce_ring *ring)
{
	uint64_t start, size, slot, bytes;

	if (!take_bytes(&text, &start) || !skip(&text, ":") || !take_bytes(&text, &size) || !skip(&text, ":") ||
	    !take_bytes(&text, &slot))
		return "a ring wants START:SIZE:SLOT, an address and two numbers of bytes";
	bytes = slot;
	if (skip(&text, ":") && (!take_bytes(&text, &bytes) || !bytes || bytes > slot))
		return "behind SLOT there is how many bytes of it are written, at most the whole slot";
	if (*text)
		return "a ring wants START:SIZE:SLOT or START:SIZE:SLOT:BYTES, and nothing else";
	if (!slot || slot > UINT32_MAX || size % slot || size / slot < 2 || size / slot > INT32_MAX)
		return "SIZE is that of two slots or more, each of SLOT bytes";
	/* negative, so that no address lies before it: 2^64 is no multiple of most sizes */
	*ring = (struct roce_ring){ .start = (start % size + bytes) % size - size, .slot = slot, .slots = size / slot };
	return NULL;
}

/* ---- immediate data ---- */

static const char *take_counter(const char *text, struct roce_imm *imm)
{
	uint32_t mask = UINT32_MAX;

	do {
		if (skip(&text, "step=")) {
			if (!number(&text, 1, UINT32_MAX, &imm->step))
				return "a step is a number from 1 to 4294967295";
			continue;
		}
		if (!skip(&text, "counter=imm"))
			return "wants step=N, counter=imm>>N&MASK, or a ring";
		if (skip(&text, ">>") && !number(&text, 0, 31, &imm->shift))
			return ">> wants a number of bits from 0 to 31";
		if (skip(&text, "&") && (!number(&text, 1, UINT32_MAX, &mask) || mask & (mask + 1)))
			return "& wants a mask of the lowest bits, e.g. 0xffff: shift first";
	} while (skip(&text, ","));
	imm->outside = ~(mask & UINT32_MAX >> imm->shift);
	return *text ? "wants step=N, or counter=imm>>N&MASK" : NULL;
}

const char *imm_parse(const char *text, struct roce_blocks_by *by)
{
	*by = (struct roce_blocks_by){ .by_ring = !strncmp(text, "ring", 4) };
	if (!strcmp(text, "ring"))
		return NULL;
	return skip(&text, "ring=") ? take_ring(text, &by->ring) : take_counter(text, &by->imm);
}
