/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where text for people goes: a terminal of some width, with colour, or a file, with neither bounds nor colour. */
#ifndef USERSPACE_OUTPUT_PAGE_H
#define USERSPACE_OUTPUT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#define PAGE_RED "\033[31m"
#define PAGE_PLAIN "\033[0m"

struct page {
	FILE *out;
	bool colour; /* a terminal, and NO_COLOR is not set */
	int width;   /* columns; of what is no terminal, more than any line needs */
};

struct page page_open(FILE *out);

/*
 * One line of words, broken at blanks where the terminal ends, behind what already fills columns 0 .. at - 1; further lines
 * begin at column `indent`. red: the first word. With the newline.
 */
void page_words(const struct page *page, const char *text, int at, int indent, bool red);

#endif
