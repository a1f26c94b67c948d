/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of options as JSON, from which the man page, the completion and tests are made. */
#ifndef LIB_OPTION_DUMP_H
#define LIB_OPTION_DUMP_H

#include <jansson.h>

#include "lib/option.h"

/*
 * { "name", "words", "arguments", "prose": [ paragraph ], "examples": [ [words, command] ], "topics": [ name ],
 *   "sections": [ { "heading", "options": [ { "name", "letter", "argument", "choices", "default", "least", "most", "topic",
 *                                             "words", "hidden" } ] } ] }
 * Words are those of --help. Missing values are null. Only numbers and sizes have least and most.
 */
json_t *command_dump(const struct command *c);

#endif
