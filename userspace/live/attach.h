/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the kernel's programs get onto an interface, and off it again. By bpf_links, which go with the process however
 * it ends, unless they are pinned; only egress on kernels before 6.6 needs a clsact filter, and --share libxdp's dispatcher,
 * which both stay when the process is killed.
 */
#ifndef USERSPACE_LIVE_ATTACH_H
#define USERSPACE_LIVE_ATTACH_H

#include <linux/types.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

#include "userspace/live/share.h"

/* --mode */
enum attach_mode { ATTACH_AUTO, ATTACH_NATIVE, ATTACH_GENERIC };

struct attach_programs {
	const struct bpf_program *xdp;
	bool frags; /* that one is for multi-buffer frames too */
	const struct bpf_program *egress; /* tc; NULL: inward only */
	struct share *share; /* beside other XDP programs; loads these, if need be. NULL: alone, and they are loaded */
};

struct pin;

struct attachment {
	char name[IF_NAMESIZE];
	unsigned int ifindex;
	const char *mode; /* "native-frags", "native", "generic"; "away" while it is gone and waited for */
	const struct pin *pin; /* where its links are pinned; NULL: nowhere */
	bool gone;	  /* the interface is no longer there, or not yet */
	bool hushed;	  /* what hinders was said already */
	__u64 missed;	  /* frames that the interface missed before XDP, since the start */
	__u32 missed_raw; /* the kernel's counter, 32 bits of it */
	bool missed_known; /* missed_raw is this interface's */
	int xdp_link;	  /* -1: not attached, or shared */
	struct share *share; /* NULL: not shared */
	int egress_link;
	bool filter; /* egress is a clsact filter */
	bool qdisc;  /* and the clsact qdisc is ours as well */
};

/* Fills in `a` for the interface of that name, attached to nothing yet. false: there is none, and a->gone is set. */
bool attach_find(struct attachment *a, const char *name);

/* That, in one line on stderr. */
void attach_say_missing(const struct attachment *a);

/*
 * Attaches the programs; a link that is pinned gets them in place of those it has, so that no frame is missed. What hinders
 * is said in one line on stderr; false: nothing is left attached, but what was pinned.
 */
bool attach(struct attachment *a, const struct attach_programs *programs, enum attach_mode mode);

/* May be called at any time after attach_find(), and more than once. keep: what is pinned goes on counting. */
void attach_end(struct attachment *a, bool keep);

/* --detach: takes away, and says, what a killed process of ours has left there. false: that cannot be, which is said. */
bool attach_clear(const struct attachment *a);

/*
 * Looks which of the interfaces are still there and what they missed. One that has gone is reported on stderr, once.
 * Returns how many are left.
 */
size_t attach_poll(struct attachment *list, size_t count);

/*
 * Those that are gone and came back are attached again. A failure is said once, and the next call tries again. Returns how
 * many are back.
 */
size_t attach_returned(struct attachment *list, size_t count, const struct attach_programs *programs, enum attach_mode mode);

/* A filter of ours that stands in for a link (kernel before 6.6); and its qdisc. */
void attach_remove_filter(unsigned int ifindex, bool qdisc);

#endif
