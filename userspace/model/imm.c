// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "lib/number.h"
#include "userspace/model/imm.h"

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

const char *imm_parse(const char *text, struct roce_imm *imm)
{
	uint32_t mask = UINT32_MAX;

	*imm = (struct roce_imm){ 0 };
	do {
		if (skip(&text, "step=")) {
			if (!number(&text, 1, UINT32_MAX, &imm->step))
				return "a step is a number from 1 to 4294967295";
			continue;
		}
		if (!skip(&text, "counter=imm"))
			return "wants step=N, or counter=imm>>N&MASK";
		if (skip(&text, ">>") && !number(&text, 0, 31, &imm->shift))
			return ">> wants a number of bits from 0 to 31";
		if (skip(&text, "&") && (!number(&text, 1, UINT32_MAX, &mask) || mask & (mask + 1)))
			return "& wants a mask of the lowest bits, e.g. 0xffff: shift first";
	} while (skip(&text, ","));
	imm->outside = ~(mask & UINT32_MAX >> imm->shift);
	return *text ? "wants step=N, or counter=imm>>N&MASK" : NULL;
}
