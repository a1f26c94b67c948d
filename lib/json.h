/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters and names as JSON. */
#ifndef LIB_JSON_H
#define LIB_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "lib/shown.h"

/* jansson's integers are signed; no counter ever reaches INT64_MAX. NULL: no memory. */
static inline json_t *json_count(uint64_t n)
{
	return json_integer(n <= INT64_MAX ? (json_int_t)n : INT64_MAX);
}

/* A name that others chose. Where it is not UTF-8, which JSON cannot have, it is as a terminal shows it. NULL: no memory. */
static inline json_t *json_text(const char *text)
{
	return json_string(text) ?: json_string(shown_text(text).text);
}

#endif
