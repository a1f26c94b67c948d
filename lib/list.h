/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of names and words for --help: two columns, together no wider than a terminal of 80. */
#ifndef LIB_LIST_H
#define LIB_LIST_H

/* On stdout: the name, and the words beside it, on as many lines as they need; a longer name has a line of its own. */
void list_entry(const char *name, const char *words);

/* Words over the whole width. */
void list_words(const char *words);

#endif
