/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls that programs make of verbs: puts probes (bpf/verbs_calls.h) at the functions of their providers, and reads what
 * they count. ibv_post_send() and the like are inline functions, which call through pointers in the program's memory: the
 * pointers say where. They are looked for in devices that we open ourselves (hooks.h), and in each process that has QPs
 * (search.h).
 */
#ifndef USERSPACE_OBSERVE_VERBS_CALLS_H
#define USERSPACE_OBSERVE_VERBS_CALLS_H

#include "userspace/observe/verbs/notes.h"
#include "userspace/observe/verbs/verbs.h"

struct verbs_bpf;
struct calls;

struct calls_options {
	bool expensive;	 /* also where the CPU would have to be stepped over an instruction */
	double most;	 /* share of a core above which all probes are taken away; 0: no limit */
	bool any_uverbs; /* for tests: any file called uverbs... is a device */
	bool no_devices; /* for tests: opens no device itself */
	bool no_multi;	 /* for tests: as before Linux 6.6 */
};

/*
 * Before the skeleton is loaded: what of it this kernel can do for calls. wanted false: none. Returns NULL, or why there will
 * be no calls, in words.
 */
const char *calls_prepare(struct verbs_bpf *b, bool wanted, const struct calls_options *o);

/*
 * After it was loaded, and before the kernel's half is attached: it opens devices itself for a moment. notes: gets what is
 * missing and why, and stays until calls_close(). NULL: no memory.
 */
struct calls *calls_open(struct verbs_bpf *b, const struct calls_options *o, struct notes *notes);
void calls_close(struct calls *c);

/*
 * A process has made a QP. If it is not known its functions are looked for at once, and not only at the next calls_update(): a
 * provider that is no other process's (in a container) has no probes yet.
 */
void calls_begun(struct calls *c, __u32 pid);

/* Once an interval. pids: the processes that have QPs, in any order, each once or several times. */
void calls_update(struct calls *c, const __u32 *pids, size_t count);

/* ---- what was counted, valid until the next calls_update() ---- */

/*
 * The calls of a QP. device: its name, cut as struct verbs_calls has it. born: as in struct verbs_kernel_qp, or 0: the newest
 * of this number. NULL: none.
 */
const struct verbs_calls *calls_find(const struct calls *c, __u32 pid, __u32 qpn, const char *device, __u64 born);

/*
 * The QP was destroyed, at `gone` (ns, CLOCK_MONOTONIC): its calls leave room for another one's. device, born: as above. What
 * calls_find() has returned stays valid. Those of a QP whose birth the kernel's half has seen go by themselves.
 */
void calls_gone(struct calls *c, __u32 pid, __u32 qpn, const char *device, __u64 born, __u64 gone);

/*
 * VERBS_SEEN: the probes are there, so that a QP without calls made none. VERBS_NO_PROVIDER, VERBS_EXPENSIVE, VERBS_REFUSED,
 * VERBS_STOPPED otherwise.
 */
enum verbs_blind calls_blind(const struct calls *c, __u32 pid);

size_t calls_cqs(const struct calls *c, const struct verbs_cq **list);
size_t calls_srqs(const struct calls *c, const struct verbs_srq **list);
const struct verbs_cost *calls_cost(const struct calls *c); /* NULL: no probes */

#endif
