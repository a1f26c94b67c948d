/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The outlets. Each takes packets from the ring of struct send_memory in their order, each when it is due, and records in the
 * sender's part of that memory what left and how late.
 */
#ifndef USERSPACE_TRAFFIC_SEND_OUTLET_H
#define USERSPACE_TRAFFIC_SEND_OUTLET_H

#include <stdbool.h>
#include <stdio.h>

#include "bpf/slot.h"
#include "userspace/traffic/send/plan.h"

struct outlet {
	const struct outlet_kind *kind;
	struct send_memory *memory;
	const struct send_plan *plan;
	uint32_t frame_most;	/* bytes of the plan's longest frame, faults included */
	void *own;
	char reason[320];	/* the reason for a failure, or a remark; one line */
	uint64_t refused;	/* frames that the device or the file refused: they did not leave */
	uint64_t retried;	/* refused frames that were sent again (the device may count them as dropped) */
};

/* Sets o->reason to these words. Its value is false, for who then returns that. */
#define outlet_refuse(o, ...) ({ snprintf((o)->reason, sizeof((o)->reason), __VA_ARGS__); false; })

struct outlet_kind {
	const char *name;	/* --out NAME */
	const char *words;	/* description for people: "live frames (BPF)" */
	/*
	 * Opens the outlet, including o->memory. false: o->reason has the reason, and nothing is left open. The caller has
	 * checked that the interface is up and takes frames of o->frame_most.
	 */
	bool (*open)(struct outlet *o);
	/*
	 * Sends what is due, for some milliseconds at most. Returns earlier if the ring is empty. false: it cannot continue
	 * (o->reason); the packets in the ring stay there.
	 */
	bool (*run)(struct outlet *o);
	/* Frees everything. false: sent packets did not arrive (a full disk); o->reason has the reason. */
	bool (*close)(struct outlet *o);
};

extern const struct outlet_kind outlet_live, outlet_xdp, outlet_packet, outlet_file;

/*
 * Opens the first outlet of those that the plan allows. Prints to stderr which one, and why not those before it. false: none.
 */
bool outlet_open(struct outlet *o);

#endif
