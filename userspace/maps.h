/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the maps of bpf/monitor.bpf.c to a snapshot. */
#ifndef USERSPACE_MAPS_H
#define USERSPACE_MAPS_H

#include "userspace/snapshot.h"

/* The sum over all CPUs. 0, or -1 with errno. */
int maps_read_totals(int totals_map, struct roce_counters *totals);

/* Appends every stream to s->streams, each as it was at one moment. 0, or -1 with errno. */
int maps_read_streams(int streams_map, struct snapshot *s);

#endif
