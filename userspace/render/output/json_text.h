/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes JSON as text, value by value. For lines with ten thousands of objects, where jansson's tree of allocated values would
 * take most of the time. The text is the same as jansson's with VIEW_JSON.
 */
#ifndef USERSPACE_RENDER_OUTPUT_JSON_TEXT_H
#define USERSPACE_RENDER_OUTPUT_JSON_TEXT_H

#include <jansson.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define JSON_TEXT_BYTES 16384

struct json_text {
	FILE *out;     /* NULL: the text stays in `bytes`, where all of it fits */
	int error;     /* errno of a failed write; 0: none */
	bool comma;    /* a comma goes before the next value or key */
	size_t length; /* bytes that are not written yet */
	char bytes[JSON_TEXT_BYTES];
};

void json_text_begin(struct json_text *t, FILE *out);

/* Begin and end an object ('{', '}') or an array ('[', ']'). */
void json_text_open(struct json_text *t, char bracket);
void json_text_close(struct json_text *t, char bracket);

/* Writes a key. Names and strings are ASCII without quotes, backslashes and control characters. */
void json_text_key(struct json_text *t, const char *name);

/* Write a value: after a key, or as the next element of an array. Numbers above INT64_MAX become INT64_MAX. */
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

/* Writes a value of jansson, with any text in it. flags: of json_dumpf(). value: NULL is an error, ENOMEM. */
void json_text_value(struct json_text *t, const json_t *value, size_t flags);

/* Writes the rest to `out`. false: not all could be written; errno says why. */
bool json_text_end(struct json_text *t);

#endif
