/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What another build has counted in maps of another layout, carried over into the maps of this one without a frame unseen:
 *
 *     carry_begin()    the new programs are loaded and attached nowhere; the old ones count. Each stream is copied, field by
 *                      field, to its place in the new map, but for its PSN sequence: where that will stand when the
 *                      programs change places nobody can know.
 *     (bpf_link_update() puts new programs in the place of old ones, one interface after the other)
 *     carry_end()      nothing counts in the old maps any more. Guarded as a CPU does, each stream is completed: one of which
 *                      the new programs have seen no packet yet becomes what the old ones have left; another one, whose
 *                      sequence has begun anew, gets added what they have counted since it was copied. Old totals go to the
 *                      entry of the new ones that no CPU counts in.
 *
 * At worst, of the milliseconds between: a loss is not noticed, packets of a stream that was new are untracked, and a fault is
 * told twice by --events. Where streams cannot keep their places (the table itself has another layout, a kernel before Linux 5.17), what
 * they have counted stays in the totals and the streams begin anew.
 */
#ifndef USERSPACE_LIVE_CARRY_H
#define USERSPACE_LIVE_CARRY_H

#include "bpf/abi.h"
#include "userspace/live/layout.h"

/* An old map, and what this build has in its place. */
struct carry_map {
	int old, now;	/* descriptors; old -1: there is nothing to carry */
	char *old_layout, *layout; /* to be freed by carry_free() */
	struct layout_move *moves;
	size_t move_count;
};

/* What a stream had counted when it was copied. */
struct carry_base;

struct carry {
	struct carry_map totals, streams;
	int table;	      /* the map `table_states` that tells how many streams the old map has; -1 */
	bool same_sequence;   /* what streams know of their sequences means the same in both; by carry_begin() */
	bool in_place;	      /* the streams keep their places: the old map's table is the new one's as well */
	struct carry_base *base; /* one a stream, to be freed by carry_free() */
	__u32 copied;	      /* streams */
	__u32 kept, begun;    /* streams that were carried; those whose sequence begins anew; known after carry_end() */
};

#define CARRY_NONE ((struct carry){ .totals.old = -1, .streams.old = -1, .table = -1 })

/* Both: false with errno. */
bool carry_begin(struct carry *c);
bool carry_end(struct carry *c);

/* Closes the old descriptors as well. */
void carry_free(struct carry *c);

#endif
