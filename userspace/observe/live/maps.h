/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the maps of bpf/monitor.bpf.c into a snapshot. */
#ifndef USERSPACE_OBSERVE_LIVE_MAPS_H
#define USERSPACE_OBSERVE_LIVE_MAPS_H

#include <bpf/bpf.h>

#include "bpf/abi.h"
#include "userspace/observe/model/snapshot.h"

/*
 * Fills in the settings that depend on s->max_streams, on the kernel, and on the interval (s) after which an idle stream may be
 * evicted: number of buckets, ticks, clock, a random seed.
 */
void maps_complete_settings(struct monitor_settings *s, double interval);

/* false with errno: the kernel does not tell, and all is 0. */
static inline bool maps_info(int map, struct bpf_map_info *info)
{
	*info = (struct bpf_map_info){ 0 };
	return !bpf_obj_get_info_by_fd(map, info, &(__u32){ sizeof(*info) });
}

/* Adds the sum over the map's entries to *sum. 0, or -1 with errno. */
int maps_read_totals(int totals_map, struct roce_totals *sum);

/*
 * Appends every stream to s->streams: a consistent copy, with its dialogue if responses were seen. dialogues_map: -1 if there
 * are none. 0, or -1 with errno.
 */
int maps_read_streams(int table_map, int streams_map, int dialogues_map, struct snapshot *s);

/* Reads the streams for which there was no room, as all CPUs know them. 0, or -1 with errno. */
int maps_read_untracked(int untracked_map, struct untracked *u);

/*
 * Makes a consistent copy of a value of the map `streams`, in any layout that begins with `sequence`. bytes: size of the value.
 */
void maps_copy_stream(const void *from, void *to, size_t bytes);

#endif
