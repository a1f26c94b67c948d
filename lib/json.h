/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JSON by jansson: values that occur everywhere, documents, and what a document from elsewhere says. A function that makes a value
 * returns NULL without memory. Then json_pack() fails as well, and json_line() says so.
 */
#ifndef LIB_JSON_H
#define LIB_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- values ---- */

/* jansson's integers are signed; no counter ever reaches INT64_MAX. */
json_t *json_count(uint64_t n);
json_t *json_count_or_null(bool known, uint64_t n);
json_t *json_real_or_null(bool known, double n);

/* A name that others chose. Where it is not UTF-8, which JSON cannot have, it is as a terminal shows it. */
json_t *json_text(const char *text);
json_t *json_text_or_null(const char *text); /* NULL and "": null */

/* An array of the names whose bits are in `set`. */
json_t *json_names(uint64_t set, const char *const *names, unsigned int count);

void json_set_count(json_t *object, const char *key, uint64_t n);

/* ---- documents ---- */

#define JSON_LINE (JSON_COMPACT | JSON_REAL_PRECISION(15)) /* the flags of most documents */
#define JSON_REPORT JSON_REAL_PRECISION(6)		   /* of the reports of senders and receivers, which people read as well */

/* Prints a value as a line, or without its end; frees it. false: it was NULL, or cannot be written; errno says why. */
bool json_line(FILE *out, json_t *value, size_t flags);
bool json_print(FILE *out, json_t *value, size_t flags);

/* ---- members of a document from elsewhere ---- */

/* An object of which members are taken. What is wrong with one is said in a line of up to JSON_WHY bytes. */
struct json_members {
	const json_t *object;
	char of[16]; /* what the object belongs to: "QP 3: " */
	char *why;
};

#define JSON_WHY 256

/* Returns false. what: "none of rc, uc". */
bool json_wrong(const struct json_members *m, const char *key, const char *what);

/* Takes a whole number; json_may_take() leaves *number where the member is absent. */
bool json_take(const struct json_members *m, const char *key, json_int_t least, json_int_t most, json_int_t *number);
bool json_may_take(const struct json_members *m, const char *key, json_int_t least, json_int_t most, json_int_t *number);

/* Takes a number from 0 on. */
bool json_take_real(const struct json_members *m, const char *key, double most, double *number);

/* Takes true or false; false where it is absent. */
bool json_take_flag(const struct json_members *m, const char *key, bool *flag);

#endif
