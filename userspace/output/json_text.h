/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JSON as text, written value by value: for objects of which there are ten thousands in a line, and for which a tree of
 * allocated values (jansson) would take most of the time. The text is the same as jansson's with VIEW_JSON.
 */
#ifndef USERSPACE_OUTPUT_JSON_TEXT_H
#define USERSPACE_OUTPUT_JSON_TEXT_H

#include <jansson.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define JSON_TEXT_BYTES 16384

struct json_text {
	FILE *out;     /* NULL: nowhere, all of it fits into `bytes` */
	int error;     /* errno of writing, 0 */
	bool comma;    /* before the next value or key */
	size_t length; /* of what is not written yet */
	char bytes[JSON_TEXT_BYTES];
};

void json_text_begin(struct json_text *t, FILE *out);

/* An object ('{', '}') or an array ('[', ']'). */
void json_text_open(struct json_text *t, char bracket);
void json_text_close(struct json_text *t, char bracket);

/* Names and strings are ASCII without quotes, backslashes and control characters. */
void json_text_key(struct json_text *t, const char *name);

/* What follows a key, or is an array's next element. Counters beyond INT64_MAX, which were never reached, are INT64_MAX. */
void json_text_string(struct json_text *t, const char *text);
void json_text_number(struct json_text *t, __u64 n);
void json_text_real(struct json_text *t, double n);
void json_text_bool(struct json_text *t, bool value);
void json_text_null(struct json_text *t);
void json_text_number_or_null(struct json_text *t, bool known, __u64 n);

/* "0x1f" */
void json_text_hexadecimal(struct json_text *t, __u64 n);

/* "02:00:00:00:00:01" */
void json_text_mac(struct json_text *t, const __u8 mac[6]);

/* One of jansson's, with any text in it, by json_dumpf()'s flags. NULL: no memory. */
void json_text_value(struct json_text *t, const json_t *value, size_t flags);

/* All of it is in `out`. false: not so, with errno. */
bool json_text_end(struct json_text *t);

#endif
