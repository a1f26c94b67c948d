// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/render/output/text_cut.h"

void text_cut(char *to, size_t width, const char *text)
{
	size_t length = strlen(text), head = (width - 1) / 2, tail = width - 1 - head;

	if (length <= width) {
		memcpy(to, text, length + 1);
		return;
	}
	memcpy(to, text, head);
	to[head] = '~';
	memcpy(to + head + 1, text + length - tail, tail);
	to[width] = '\0';
}

void text_cut_path(char *to, size_t width, const char *a, const char *b)
{
	static const char between[] = " > ";
	size_t room = width - strlen(between), first = strlen(a), second = strlen(b), half = room / 2;

	if (first + second > room && first > half && second > room - half) {
		first = half;
		second = room - half;
	} else if (first + second > room && first > second) {
		first = room - second;
	} else if (first + second > room) {
		second = room - first;
	}
	text_cut(to, first, a);
	strcat(to, between);
	text_cut(to + strlen(to), second, b);
}
