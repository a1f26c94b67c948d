/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A piece of an analysis on its way through the steps, with what each frame shows by itself. Any thread, one at a time. */
#ifndef USERSPACE_OBSERVE_OFFLINE_ANALYSIS_PART_H
#define USERSPACE_OBSERVE_OFFLINE_ANALYSIS_PART_H

#include "userspace/observe/offline/analysis.h"

#define ANALYSIS_GROUPS 4 /* groups of shards; the shards of a group are followed together */

/* All zero at first. */
struct analysis_part {
	struct capture_piece piece;
	__u64 number;	   /* of the piece, from 0 */
	__u64 first_frame; /* number of its first frame over all files */
	__u64 latest;	   /* ns: the latest time of all frames before it */
	/* for each frame of the piece; room: entries allocated */
	struct observer_parsed *parsed;
	__u64 *now;   /* ns: the latest time up to this frame */
	__u32 *order; /* frame indices, by group */
	size_t room;
	size_t group[ANALYSIS_GROUPS + 1]; /* begin of each group in order[] */
	bool management;	  /* some packet in it may announce a pair */
	_Atomic unsigned int left; /* groups that have not followed it yet; 0: free */
};

/* Allocates memory for each frame of the piece. false: no memory. */
bool analysis_part_reserve(struct analysis_part *p);

/* Looks at every frame of the piece: parses it and verifies its ICRC. */
void analysis_part_parse(struct analysis_part *p, const struct analysis_settings *settings);

/* Sorts the frames by group; in each group they keep their order. */
void analysis_part_sort(struct analysis_part *p);

void analysis_part_free(struct analysis_part *p);

static inline struct observer_frame analysis_frame(const struct capture_frame *f)
{
	return (struct observer_frame){ .bytes = f->bytes, .captured = f->captured, .wire = f->wire,
					 .interface = f->interface, .no_icrc = f->no_icrc, .cut = f->cut,
					 .selected = f->selected, .comment = f->comment, .comment_length = f->comment_length };
}

#endif
