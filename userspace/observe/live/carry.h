/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Carries the counts of another build, in maps of another layout, over into this build's maps. No frame is missed:
 *
 *     carry_begin()    The new programs are loaded but not attached; the old ones count. Each stream is copied, field by field,
 *                      to its place in the new map, without its PSN sequence: its state at the time of the replacement is
 *                      not known yet.
 *     (bpf_link_update() replaces old programs by new ones, one interface after the other)
 *     carry_end()      The old maps no longer change. Each stream is completed under its guard. If the new programs have
 *                      seen no packet of it yet, it becomes what the old ones have left. Otherwise its sequence has
 *                      restarted, and the old counts since the copy are added. Old totals go to the entry of the new
 *                      ones in which no CPU counts.
 *
 * At worst, in the milliseconds between, a loss is not noticed, packets of a new stream are untracked, and --events reports a
 * fault twice. If streams cannot keep their places (another layout of the table itself, a kernel before Linux 5.17), their
 * counts stay in the totals and the streams restart.
 */
#ifndef USERSPACE_OBSERVE_LIVE_CARRY_H
#define USERSPACE_OBSERVE_LIVE_CARRY_H

#include "bpf/abi.h"
#include "userspace/observe/live/layout.h"

/* An old map, and this build's map in its place. */
struct carry_map {
	int old, now;	/* descriptors; old -1: nothing to carry over */
	char *old_layout, *layout; /* freed by carry_free() */
	struct layout_move *moves;
	size_t move_count;
};

/* A stream's counts when it was copied. */
struct carry_base;

struct carry {
	struct carry_map totals, streams;
	int table;	      /* the map `table_states`, which has the number of streams of the old map; -1 */
	bool same_sequence;   /* the PSN state of streams is the same in both layouts; set by carry_begin() */
	bool in_place;	      /* the streams keep their places: the new map uses the old map's table */
	struct carry_base *base; /* one per stream, freed by carry_free() */
	__u32 copied;	      /* streams */
	__u32 kept, begun;    /* streams carried over; streams whose sequence restarts; valid after carry_end() */
};

#define CARRY_NONE ((struct carry){ .totals.old = -1, .streams.old = -1, .table = -1 })

/* Both return false with errno on failure. */
bool carry_begin(struct carry *c);
bool carry_end(struct carry *c);

/* Also closes the old descriptors. */
void carry_free(struct carry *c);

#endif
