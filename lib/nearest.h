/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The known word that a misspelt one may be, for error messages. */
#ifndef LIB_NEAREST_H
#define LIB_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *word;
	size_t length;
	const char *found; /* the nearest so far; NULL: none is near */
	unsigned int distance;
};

/* word: need not end behind `length` bytes; must stay valid. */
struct nearest nearest_to(const char *word, size_t length);

/*
 * Looks at one known word. It is near if few letters are wrong, missing, too many or swapped (one of up to five letters, two of up to
 * nine), or if it begins with the misspelt word. Case, and - instead of _, do not matter.
 */
void nearest_try(struct nearest *n, const char *known);

/* "; did you mean --filter?", with `before` before the word; "": none is near. */
struct nearest_text {
	char text[80];
} nearest_text(const struct nearest *n, const char *before);

#endif
