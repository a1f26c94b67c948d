/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes JSON as text, value by value. For lines with ten thousands of objects, where jansson's tree of allocated values would
 * take most of the time. The text is the same as jansson's with JSON_LINE.
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

/* Begins an empty text. out: see the struct. */
void json_text_begin(struct json_text *t, FILE *out);

/*
 * Each of the functions below writes a member of an object, or without a key the next element of an array. Keys and strings are ASCII
 * without quotes, backslashes and control characters.
 */

/* Begin and end an object ('{', '}') or an array ('[', ']'). */
void json_text_open(struct json_text *t, const char *key, char bracket);
void json_text_close(struct json_text *t, char bracket);

/* Numbers above INT64_MAX become INT64_MAX. */
void json_text_number(struct json_text *t, const char *key, __u64 n);
void json_text_number_or_null(struct json_text *t, const char *key, bool known, __u64 n);

void json_text_string(struct json_text *t, const char *key, const char *text); /* NULL: null */
void json_text_real(struct json_text *t, const char *key, double n);
void json_text_bool(struct json_text *t, const char *key, bool value);

/* "0x1f": memory addresses and keys, since many readers of JSON have no 64-bit integers. */
void json_text_hexadecimal_or_null(struct json_text *t, const char *key, bool known, __u64 n);

/* "02:00:00:00:00:01" */
void json_text_mac(struct json_text *t, const char *key, const __u8 mac[6]);

/* Writes a value of jansson, with any text in it, and frees it. value: NULL is an error, ENOMEM. The text must have an output. */
void json_text_value(struct json_text *t, const char *key, json_t *value);

/* Writes the members of a jansson object that is not empty into the object that was begun, in the same way. */
void json_text_members(struct json_text *t, json_t *object);

/* Writes the rest to `out`. false: not all could be written; errno says why. */
bool json_text_end(struct json_text *t);

#endif
