/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's programs of `verbs`: loads both halves, and attaches the one at ib_core (bpf/verbs_qps.h). What this kernel lacks
 * switches that half, or a program of it, off, and becomes a note that says what is missing and what to do.
 */
#ifndef USERSPACE_OBSERVE_VERBS_KERNEL_H
#define USERSPACE_OBSERVE_VERBS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "bpf/verbs_abi.h"
#include "userspace/observe/verbs/notes.h"

struct bpf_link;
struct ring_buffer;
struct verbs_bpf;

/* All zero: nothing is loaded. */
struct kernel_half {
	struct verbs_bpf *programs; /* NULL: none could be loaded */
	bool chosen;		  /* this half is loaded */
	struct ring_buffer *changes; /* NULL: it is not attached */
	void (*take)(void *context, const struct verbs_change *c);
	void *context;
	struct bpf_link *links[8]; /* of its programs */
};

/* The other half, the calls. Both functions get the programs before they are loaded; none is loaded unless it is chosen. */
struct calls_half {
	void (*choose)(void *context, struct verbs_bpf *b); /* NULL: not wanted */
	void (*refused)(void *context, const char *why); /* the kernel takes no program of this half */
	void *context;
};

/* Loads what the kernel can run of both halves. k->programs is NULL if that is nothing. */
void kernel_half_load(struct kernel_half *k, const struct calls_half *calls, struct notes *notes);

/* From here on `take` gets each change, in kernel_half_read(). */
void kernel_half_attach(struct kernel_half *k, struct notes *notes, void (*take)(void *context, const struct verbs_change *c),
			void *context);
void kernel_half_close(struct kernel_half *k);

/* Poll this for POLLIN; -1: this half is off. */
int kernel_half_fd(const struct kernel_half *k);
void kernel_half_read(struct kernel_half *k);

/* Before RDMA netlink lists QPs: what the kernel asks for it is of this round. Returns its number; 0: this half is off. */
__u32 kernel_half_begin_round(struct kernel_half *k);

/* Changes for which there was no room, and QPs. */
__u64 kernel_half_lost(const struct kernel_half *k);
__u64 kernel_half_full(const struct kernel_half *k);

/* Passes on each QP that the kernel's map has. take: true removes it from there. */
void kernel_half_walk(struct kernel_half *k, bool (*take)(void *context, const struct verbs_qp_key *key, const struct verbs_kernel_qp *v),
		      void *context);

#endif
