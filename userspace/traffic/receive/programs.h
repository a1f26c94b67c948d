/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's programs of a receiver (bpf/receive.bpf.c). */
#ifndef USERSPACE_TRAFFIC_RECEIVE_PROGRAMS_H
#define USERSPACE_TRAFFIC_RECEIVE_PROGRAMS_H

#include "userspace/observe/live/program_kind.h"
#include "userspace/observe/live/taken.h"
#include "userspace/traffic/receive/maps.h"
#include "userspace/traffic/receive/setup.h"

struct receive_bpf;

extern const struct program_kind receive_kind;

/*
 * Opens them with the setup's sizes, not loaded. events: with those of bpf/capture.h. NULL: it could not, which is reported. The
 * object in *to is of the result, which receive_programs_close() frees.
 */
struct receive_bpf *receive_programs_open(const struct receive_setup *s, bool events, struct taken_programs *to);
void receive_programs_close(struct receive_bpf *bpf);

/* After loading: tells readers the settings, and registers the regions. false: it could not, which is reported. */
bool receive_programs_fill(const struct receive_bpf *bpf, const struct receive_setup *s);

/* Maps the object's maps. false: as above. */
bool receive_programs_map(const struct receive_bpf *bpf, struct receive_maps *to);

#endif
