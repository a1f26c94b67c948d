// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/shown.h"

#define PART 4096

size_t shown_bytes(const char *text, size_t length)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t bytes = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;

	if (!bytes || bytes > length || c[0] < ' ' || c[0] == 0x7f)
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if ((c[0] == 0xc2 && c[1] < 0xa0) ||				      /* C1 */
	    (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90) || /* longer than needed */
	    (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf4 && c[1] >= 0x90)) /* surrogates, and beyond Unicode */
		return 0;
	return bytes;
}

/* but: characters that are left as they are. */
static void clean(char *text, size_t length, const char *but)
{
	for (size_t i = 0, bytes; i < length; i += bytes) {
		bytes = shown_bytes(text + i, length - i);
		if (bytes)
			continue;
		if (!text[i] || !strchr(but, text[i]))
			text[i] = '?';
		bytes = 1;
	}
}

char *shown(char *text)
{
	clean(text, strlen(text), "");
	return text;
}

struct shown_text shown_text(const char *text)
{
	struct shown_text t;

	snprintf(t.text, sizeof(t.text), "%s", text);
	shown(t.text);
	return t;
}

static bool write_all(const char *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(STDERR_FILENO, bytes, length);

		if (n < 0 && errno != EINTR)
			return false;
		bytes += n > 0 ? n : 0;
		length -= n > 0 ? n : 0;
	}
	return true;
}

static ssize_t write_shown(void *context, const char *bytes, size_t length)
{
	char part[PART];

	(void)context;
	for (size_t done = 0, now; done < length; done += now) {
		now = length - done < PART ? length - done : PART;
		memcpy(part, bytes + done, now);
		clean(part, now, "\n\t");
		if (!write_all(part, now))
			return done;
	}
	return length;
}

void shown_stderr(void)
{
	FILE *clean = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_shown });

	if (!clean)
		return;
	setvbuf(clean, NULL, _IOLBF, BUFSIZ);
	stderr = clean;
}

void shown_erase_line(void)
{
	fflush(stderr);
	write_all("\r\033[K", 4);
}
