// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "lib/list.h"

#define WIDTH 80
#define COLUMN 29 /* where the words begin */

/* Length of the words that fit into `room`, up to a blank. A word that is too long stays whole. */
static size_t line_of(const char *words, size_t room)
{
	size_t length = strcspn(words, " ");

	while (words[length] == ' ' && length + 1 + strcspn(words + length + 1, " ") <= room)
		length += 1 + strcspn(words + length + 1, " ");
	return length;
}

static void print_words(const char *words, int column)
{
	size_t length = line_of(words, WIDTH - column);

	printf("%.*s\n", (int)length, words);
	while (words[length] == ' ') {
		words += length + 1;
		length = line_of(words, WIDTH - column);
		printf("%*s%.*s\n", column, "", (int)length, words);
	}
}

void list_entry(const char *name, const char *words)
{
	if (strlen(name) > COLUMN - 4) /* keep two blanks between name and words */
		printf("  %s\n%*s", name, COLUMN, "");
	else
		printf("  %-*s", COLUMN - 2, name);
	print_words(words, COLUMN);
}

void list_words(const char *words)
{
	print_words(words, 0);
}
