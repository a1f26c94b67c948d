/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_GROW_H
#define LIB_GROW_H

#include <stdlib.h>

/*
 * Makes room for one more behind `count` items, by realloc(): for `least` at first, then for twice as many. items, room: are
 * set. false: there is no memory for that, and all is as before.
 */
#define grow(items, count, room, least) \
({ \
	if ((count) == (room)) { \
		typeof(room) twice_ = (room) ? (room) * 2 : (least); \
		typeof(items) moved_ = realloc(items, twice_ * sizeof(*(items))); \
		\
		(items) = moved_ ? moved_ : (items); \
		(room) = moved_ ? twice_ : (room); \
	} \
	(count) < (room); \
})

#endif
