/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the outlets of user space. They use the ring as bpf/send.bpf.c does in the kernel. */
#ifndef USERSPACE_TRAFFIC_SEND_DEPARTURE_H
#define USERSPACE_TRAFFIC_SEND_DEPARTURE_H

#include "userspace/traffic/send/outlet.h"

/* All bytes are zero. NULL: no memory. */
struct send_memory *departure_memory(void);
/* NULL: nothing. */
void departure_memory_free(struct send_memory *m);

/* How many slots wait in the ring. Sleeps briefly if there are none. */
uint32_t departure_waiting(const struct send_memory *m);

/* The slot `behind` places after the oldest waiting one. */
static inline const struct slot *departure_slot(const struct send_memory *m, uint32_t behind)
{
	return &m->ring[(m->consumed + behind) % RING_SLOTS];
}

/* Copies the slot's frame (s->frame_bytes bytes). `to` has room for CELL_BYTES. */
void departure_frame(const struct send_memory *m, const struct slot *s, __u8 *to);

/* The `count` oldest slots have left or been written. Frees their places in the ring. */
void departure_left(struct send_memory *m, uint32_t count);

/*
 * Hands the frames of the `count` oldest slots to the device. Returns how many of them, from the first on, the device took: 0
 * if it has no room now, -1 if it cannot continue (o->reason).
 */
typedef int departure_send(struct outlet *o, uint32_t count);

/*
 * Implements the run of struct outlet_kind. Unpaced slots are handed over up to `batch` at a time. A paced slot is handed over
 * alone, unless the device is far too slow for the plan's rate. Its lateness is measured after the device has taken it, so the
 * report is never better than the truth. Two packets are never closer than memory->spacing. A device that takes nothing for two
 * seconds ends the run.
 */
bool departure_run(struct outlet *o, uint32_t batch, departure_send *send);

#endif
