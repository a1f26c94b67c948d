/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the plan's packets, one after the other, into the ring. */
#ifndef USERSPACE_SEND_PLANNER_H
#define USERSPACE_SEND_PLANNER_H

#include "bpf/slot.h"
#include "userspace/send/plan.h"
#include "userspace/send/truth.h"

struct planner;

/* Errors (no memory, a payload file that cannot be read) end the program. */
struct planner *planner_new(struct plan *plan, struct send_memory *memory);

/* Until the plan ends or `stop` (lib/stop.h) is set; waits where the ring is full. To be run in a thread of its own. */
void planner_run(struct planner *p);

/* From another thread: the way out cannot go on, planner_run() ends. */
void planner_abandon(struct planner *p);

/* After planner_run(): whether it made all of the plan; false: `stop` or planner_abandon() ended it before. */
bool planner_whole(const struct planner *p);

/* Also after planner_run(). */
struct truth *planner_truth(const struct planner *p);
void planner_free(struct planner *p);

/* Bytes of the longest frame the plan can make, its faults included. */
uint32_t plan_longest_frame(const struct plan *plan);

#endif
