// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/shell.h"
#include "lib/shown.h"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,"

static bool is_shown(const char *word, size_t length)
{
	size_t bytes = 1;

	for (size_t i = 0; i < length && bytes; i += bytes)
		bytes = shown_bytes(word + i, length - i);
	return bytes;
}

/* Appends what fits. Returns the length so far. */
static size_t add(char *to, size_t size, size_t at, const char *text)
{
	at += snprintf(to + at, size - at, "%s", text);
	return at < size ? at : size - 1;
}

static void quote(char *to, size_t size, const char *word)
{
	size_t length = strlen(word), bytes, at;
	bool shown = is_shown(word, length);
	char code[8];

	if (length && strspn(word, PLAIN) == length) {
		add(to, size, 0, word);
		return;
	}
	at = add(to, size, 0, shown ? "'" : "$'");
	for (size_t i = 0; i < length; i += bytes) {
		size_t seen = shown_bytes(word + i, length - i);

		bytes = seen ?: 1;
		if (!seen)
			snprintf(code, sizeof(code), "\\%03o", (unsigned char)word[i]);
		else if (shown && word[i] == '\'')
			strcpy(code, "'\\''");
		else if (!shown && (word[i] == '\'' || word[i] == '\\'))
			snprintf(code, sizeof(code), "\\%c", word[i]);
		else
			snprintf(code, sizeof(code), "%.*s", (int)bytes, word + i);
		at = add(to, size, at, code);
	}
	add(to, size, at, "'");
}

struct shell_word shell_word(const char *word)
{
	struct shell_word w;

	quote(w.text, sizeof(w.text), word);
	return w;
}

struct shell_name shell_name(const char *interface)
{
	struct shell_name n;

	quote(n.text, sizeof(n.text), interface);
	return n;
}

void shell_write(FILE *out, const char *word)
{
	fputc('\'', out);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){ *word, 0 }, out);
	fputc('\'', out);
}
