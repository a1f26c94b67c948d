/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the outlets of user space share: they do with the ring what bpf/send.bpf.c does with it in the kernel.
 */
#ifndef USERSPACE_SEND_DEPARTURE_H
#define USERSPACE_SEND_DEPARTURE_H

#include "userspace/send/outlet.h"

/* All zero; NULL: no memory. */
struct send_memory *departure_memory(void);
void departure_memory_free(struct send_memory *m);

/* How many slots wait in the ring; where there are none, after a nap. */
uint32_t departure_waiting(const struct send_memory *m);

/* The slot behind so many others that wait. */
static inline const struct slot *departure_slot(const struct send_memory *m, uint32_t behind)
{
	return &m->ring[(m->consumed + behind) % RING_SLOTS];
}

/* The slot's frame, s->frame_bytes of it; there is room for CELL_BYTES at `to`. */
void departure_frame(const struct send_memory *m, const struct slot *s, __u8 *to);

/* So many slots, the first that waited, have left or been written: the ring has room for as many others. */
void departure_left(struct send_memory *m, uint32_t count);

/*
 * Hands the frames of the `count` slots that wait longest to the device; returns how many of them, from the first on, it has
 * taken: 0 if it has no room now, -1 if it cannot go on (o->said).
 */
typedef int departure_send(struct outlet *o, uint32_t count);

/*
 * What struct outlet_kind's run is to do. Unpaced slots are handed over up to `batch` at a time. A paced one is handed over by
 * itself, unless the device is far too slow for the plan's rate; how late it is is known when the device has taken it, so what
 * is written down is never better than what happened, and neither are two packets ever closer than memory->spacing. A
 * device that takes nothing for two seconds ends the run.
 */
bool departure_run(struct outlet *o, uint32_t batch, departure_send *send);

#endif
