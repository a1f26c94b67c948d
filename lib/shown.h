/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text that a terminal shows and does not obey. Names of interfaces, files and processes may have control characters, and whoever
 * chose them need not be who reads them.
 */
#ifndef LIB_SHOWN_H
#define LIB_SHOWN_H

#include <stddef.h>

/*
 * The length of the character at the start of `text`, in bytes; 0: it is a control character (C0, DEL, C1), or not UTF-8 (RFC 3629).
 * length: bytes that there are, at least 1.
 */
size_t shown_bytes(const char *text, size_t length);

/* Puts ? for each byte of `text` that a terminal would not show. Returns `text`. */
char *shown(char *text);

struct shown_text {
	char text[256];
};

/* A copy that was cleaned in this way, and cut if it is longer. */
struct shown_text shown_text(const char *text);

/* From here on what is printed on stderr is cleaned in this way, but for tabs and the ends of lines. Call it before any output. */
void shown_stderr(void);

/* Erases the line of the terminal in which standard error stands, for progress that is shown in one line. */
void shown_erase_line(void);

#endif
