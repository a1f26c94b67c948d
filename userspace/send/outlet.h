/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ways out. Each takes packets from the ring of struct send_memory in their order, each when it is due, and writes down in
 * the sender's part of it what left and how late.
 */
#ifndef USERSPACE_SEND_OUTLET_H
#define USERSPACE_SEND_OUTLET_H

#include <stdbool.h>

#include "bpf/slot.h"
#include "userspace/send/plan.h"

struct outlet {
	const struct outlet_kind *kind;
	struct send_memory *memory;
	const struct plan *plan;
	uint32_t frame_most;	/* bytes of the longest frame of the plan, mistakes included */
	void *own;
	char said[200];		/* why it cannot, or what to know about it; one line */
	uint64_t refused;	/* frames that the device or the file did not take: they did not leave */
	uint64_t retried;	/* times that the device refused a frame that was sent again (it may count them as dropped) */
};

struct outlet_kind {
	const char *name;	/* --out NAME */
	const char *words;	/* for people: "live frames (BPF)" */
	/*
	 * Makes it ready, o->memory included; false: o->said tells why not, and nothing is left open. The interface has been
	 * found to be up and to take frames of o->frame_most.
	 */
	bool (*open)(struct outlet *o);
	/*
	 * Sends what is due, for some milliseconds at most; returns when the ring is empty, too. false: it cannot go on
	 * (o->said); what is in the ring stays there.
	 */
	bool (*run)(struct outlet *o);
	/* Frees all of it; false: what was sent did not get there (a full disk), o->said tells. */
	bool (*close)(struct outlet *o);
};

extern const struct outlet_kind outlet_live, outlet_xdp, outlet_packet, outlet_file;

/*
 * The first way of the plan's that can be opened; what was chosen, and why none of those before, goes to stderr. false: none.
 */
bool outlet_open(struct outlet *o);

#endif
