/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of names and words for --help, in two columns, 80 characters wide. */
#ifndef LIB_LIST_H
#define LIB_LIST_H

/* Prints the name, and the words beside it on as many lines as needed. A long name gets a line of its own. */
void list_entry(const char *name, const char *words);

/* Prints words over the whole width. */
void list_words(const char *words);

#endif
