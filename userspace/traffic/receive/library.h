/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the library for programs (rocescope_receive.h) share. */
#ifndef USERSPACE_TRAFFIC_RECEIVE_LIBRARY_H
#define USERSPACE_TRAFFIC_RECEIVE_LIBRARY_H

#include "userspace/traffic/receive/maps.h"
#include "userspace/traffic/receive/reader.h"
#include "userspace/traffic/receive/rocescope_receive.h"

/* The last immediate data of a QP. */
struct library_immediate {
	__u32 value;
	bool any;
};

struct rocescope {
	struct receive_maps maps;
	struct receive_reader reader;
	struct roce_region *region; /* RECEIVE_REGIONS of them, by index */
	struct library_immediate *immediate; /* by QP */
	char *name;
	__u64 id; /* as of receive_maps_pinned() */
};

/* Members of struct rocescope_completion's reserved[]. */
enum { LIBRARY_GENERATION, LIBRARY_LATER, LIBRARY_QP };

/* Opens a receiver of which r->maps is set. 0 or a negative errno. Afterwards call library_close(). */
int library_open(struct rocescope *r, unsigned int flags);

/* Does not close r->maps. */
void library_close(struct rocescope *r);

#endif
