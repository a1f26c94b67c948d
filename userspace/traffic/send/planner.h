/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the plan's packets one after the other and puts them into the ring. */
#ifndef USERSPACE_TRAFFIC_SEND_PLANNER_H
#define USERSPACE_TRAFFIC_SEND_PLANNER_H

#include "bpf/slot.h"
#include "userspace/traffic/send/plan.h"
#include "userspace/traffic/send/truth.h"

struct planner;

/* Errors end the program: no memory, or a payload file that cannot be read. */
struct planner *planner_new(struct send_plan *plan, struct send_memory *memory);

/* Runs until the plan ends or `stop` (lib/stop.h) is set. Waits while the ring is full. Needs a thread of its own. */
void planner_run(struct planner *p);

/* Ends planner_run() from another thread, because the outlet cannot continue. */
void planner_abandon(struct planner *p);

/* After planner_run(): whether it made the whole plan. false: `stop` or planner_abandon() ended it early. */
bool planner_whole(const struct planner *p);

/* Stays valid after planner_run(). */
struct truth *planner_truth(const struct planner *p);
void planner_free(struct planner *p);

/* Bytes of the longest frame that the plan can make, faults included. */
uint32_t plan_longest_frame(const struct send_plan *plan);

#endif
