// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "lib/nearest.h"

#define LENGTH 40 /* letters of a word that has near ones */
#define BEGINNING 3 /* least letters of a beginning */

struct nearest nearest_to(const char *word, size_t length)
{
	return (struct nearest){ .word = word, .length = length, .distance = length < 3 ? 0 : length < 6 ? 2 : length < 10 ? 3 : 4 };
}

static char plain(char c)
{
	return c == '-' ? '_' : tolower((unsigned char)c);
}

/* Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). b: up to LENGTH letters. */
static unsigned int distance(const char *a, size_t length, const char *b, size_t other)
{
	unsigned int row[3][LENGTH + 1], *now = row[0], *before = row[1], *earlier = row[2], *free;

	for (size_t j = 0; j <= other; j++)
		now[j] = j;
	for (size_t i = 1; i <= length; i++) {
		free = earlier;
		earlier = before;
		before = now;
		now = free;
		now[0] = i;
		for (size_t j = 1; j <= other; j++) {
			char x = plain(a[i - 1]), y = plain(b[j - 1]);

			now[j] = MIN(MIN(before[j], now[j - 1]) + 1, before[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == plain(b[j - 2]) && plain(a[i - 2]) == y)
				now[j] = MIN(now[j], earlier[j - 2] + 1);
		}
	}
	return now[other];
}

static bool begins(const char *known, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (plain(known[i]) != plain(word[i]))
			return false;
	return true;
}

void nearest_try(struct nearest *n, const char *known)
{
	size_t length = strlen(known);
	unsigned int d;

	if (!n->distance || n->length > LENGTH || length > LENGTH)
		return;
	d = n->length >= BEGINNING && begins(known, n->word, n->length) ? 1 : distance(n->word, n->length, known, length);
	if (d >= n->distance)
		return;
	n->distance = d;
	n->found = known;
}

struct nearest_text nearest_text(const struct nearest *n, const char *before)
{
	struct nearest_text t = { "" };

	if (n->found)
		snprintf(t.text, sizeof(t.text), "; did you mean %s%s?", before, n->found);
	return t;
}
