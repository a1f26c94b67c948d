/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attaches the kernel's programs to interfaces, and detaches them. It uses bpf_links, which vanish with the process, however it
 * ends, unless they are pinned. Two other means stay when the process is killed: egress on kernels before 6.6 needs a clsact
 * filter, and --share needs libxdp's dispatcher.
 */
#ifndef USERSPACE_OBSERVE_LIVE_ATTACH_H
#define USERSPACE_OBSERVE_LIVE_ATTACH_H

#include <linux/types.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

#include "userspace/observe/live/share.h"

/*
 * The largest MTU of a native driver without multi-buffer support: a page minus XDP_PACKET_HEADROOM, the skb_shared_info (320)
 * and Ethernet with two VLAN tags (22).
 */
#define ATTACH_PLAIN_MTU (4096 - 256 - 320 - 22)

#define ATTACH_FILES 4 /* most open files of an interface: two links, and what looks at them */

/* --mode */
enum attach_mode { ATTACH_AUTO, ATTACH_NATIVE, ATTACH_GENERIC };

struct attach_programs {
	const struct bpf_program *xdp;
	bool frags; /* the XDP program is for multi-buffer frames too */
	const struct bpf_program *egress; /* tc; NULL: incoming only */
	struct share *share; /* shares interfaces and loads the programs; NULL: not shared, already loaded */
};

struct pin;

struct attachment {
	char name[IF_NAMESIZE]; /* its present name */
	const char *asked;	/* the one by which it was asked for, which is waited for when it has gone */
	unsigned int ifindex;
	const char *mode; /* "native-frags", "native", "generic"; "away" while the interface is waited for */
	const struct pin *pin; /* pins the links; NULL: not pinned */
	bool gone;	  /* the interface does not exist, any more or yet */
	bool hushed;	  /* the failure was already reported */
	__u64 missed;	  /* frames that the interface missed before XDP since the start */
	__u32 missed_raw; /* the kernel's counter, 32 bits */
	bool missed_known; /* missed_raw was read from this interface */
	int xdp_link;	  /* -1: not attached, or shared */
	struct share *share; /* NULL: not shared */
	int egress_link;
	bool filter; /* egress uses a clsact filter */
	bool qdisc;  /* the clsact qdisc is ours as well */
};

/* Initializes `a` for the interface, without attaching. name: kept. false: it does not exist, and a->gone is set. */
bool attach_find(struct attachment *a, const char *name);

/* Reports that the interface does not exist, in one line on stderr. */
void attach_say_missing(const struct attachment *a);

/*
 * Attaches the programs. A pinned link switches to them, so that no frame is missed. A failure is reported in one line on
 * stderr; false: nothing stays attached, except what was pinned.
 */
bool attach(struct attachment *a, const struct attach_programs *programs, enum attach_mode mode);

/* Detaches. May be called at any time after attach_find(), and repeatedly. keep: pinned links continue to count. */
void attach_end(struct attachment *a, bool keep);

/* --detach: removes, and reports, what a killed process of ours left. false: it could not, which is reported. */
bool attach_clear(const struct attachment *a);

/*
 * Checks which interfaces still exist, what they are called by now, and reads their missed frames. Reports a gone interface once, and
 * another name, on stderr. Returns how many are left.
 */
size_t attach_poll(struct attachment *list, size_t count);

/* Attaches interfaces that have come back. Reports a failure once; the next call tries again. Returns how many are back. */
size_t attach_returned(struct attachment *list, size_t count, const struct attach_programs *programs, enum attach_mode mode);

#endif
