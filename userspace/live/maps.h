/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the maps of bpf/monitor.bpf.c to a snapshot. */
#ifndef USERSPACE_LIVE_MAPS_H
#define USERSPACE_LIVE_MAPS_H

#include "bpf/abi.h"
#include "userspace/model/snapshot.h"

/*
 * What follows from s->max_streams, the interval (s) after which an idle stream may be evicted, and the kernel: the number
 * of buckets, the ticks, the clock, a random seed.
 */
void maps_complete_settings(struct monitor_settings *s, double interval);

/* Adds the sum over the map's entries to *sum. 0, or -1 with errno. */
int maps_read_totals(int totals_map, struct roce_totals *sum);

/*
 * Appends every stream to s->streams, each as it was at one moment, with its dialogue if its answers were seen.
 * dialogues_map: -1 where there are none. 0, or -1 with errno.
 */
int maps_read_streams(int table_map, int streams_map, int dialogues_map, struct snapshot *s);

/*
 * Copies a value of the map `streams`, of any layout that begins with its sequence, as it was at one moment. bytes: of
 * the value.
 */
void maps_copy_stream(const void *from, void *to, size_t bytes);

#endif
