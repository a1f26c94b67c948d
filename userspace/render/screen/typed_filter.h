/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The filter of a table, which the user may type anew. */
#ifndef USERSPACE_RENDER_SCREEN_TYPED_FILTER_H
#define USERSPACE_RENDER_SCREEN_TYPED_FILTER_H

#include "lib/terminal/typing.h"
#include "userspace/observe/model/filter.h"

struct typed_filter {
	struct filter *(*parse)(const char *text, char mistake[FILTER_MISTAKE]);
	struct filter *filter; /* that holds; NULL: all */
	char text[TYPING_TEXT]; /* its text */
	struct typing typing;
};

/* text: already checked; NULL: none. */
void typed_filter_begin(struct typed_filter *f, struct filter *(*parse)(const char *text, char mistake[FILTER_MISTAKE]), const char *text);
void typed_filter_free(struct typed_filter *f);

/* A key (of ncurses) while f->typing.on. Returns whether another filter holds now. message: what is wrong with what was typed; "": nothing. */
bool typed_filter_key(struct typed_filter *f, int key, char message[TYPING_TEXT]);

#endif
