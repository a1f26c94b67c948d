// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"

#define MAX_SECONDS	1e9

bool parse_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end && *number <= max;
}

bool parse_whole(const char *text, uint64_t *number, char **end)
{
	bool hexadecimal = text[0] == '0' && (text[1] | 32) == 'x' && isxdigit(text[2]);

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*number = strtoull(text, end, hexadecimal ? 16 : 10);
	return !errno;
}

bool parse_size(const char *text, uint64_t *size)
{
	char *end;
	unsigned int shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*size = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	else if (*end == 'G' || *end == 'g')
		shift = 30;
	if (errno || !*size || end[!!shift] || *size > UINT64_MAX >> shift)
		return false;
	*size <<= shift;
	return true;
}

static bool parse_positive(const char *text, double max, double *value, char **end)
{
	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	*value = strtod(text, end);
	return isfinite(*value) && *value > 0 && *value <= max;
}

bool parse_seconds(const char *text, double *seconds)
{
	char *end;

	return parse_positive(text, MAX_SECONDS, seconds, &end) && !*end;
}

bool parse_rate(const char *text, struct rate *rate)
{
	static const char prefixes[] = "kMG";
	const char *prefix;
	double scale = 1;
	char *end;

	if (!parse_positive(text, 1e15, &rate->per_second, &end) || !*end)
		return false;
	prefix = strchr(prefixes, *end == 'K' ? 'k' : *end);
	if (prefix) {
		scale = pow(1000, prefix - prefixes + 1);
		end++;
	}
	if (!strcmp(end, "bit"))
		rate->unit = RATE_BITS;
	else if (!strcmp(end, "pps"))
		rate->unit = RATE_PACKETS;
	else
		return false;
	rate->per_second *= scale;
	return true;
}
