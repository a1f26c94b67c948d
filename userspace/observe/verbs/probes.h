/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Puts the programs of bpf/verbs_calls.h at functions of a file, and takes them away. */
#ifndef USERSPACE_OBSERVE_VERBS_PROBES_H
#define USERSPACE_OBSERVE_VERBS_PROBES_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/types.h>

#include "bpf/verbs_abi.h"

struct bpf_link;
struct verbs_bpf;

struct probe_place {
	__u64 offset; /* in the file */
	__u64 cookie; /* enum verbs_at, and the opcode << 8 */
};

#define PROBE_PLACES 64 /* most of one set */

/* What is put at one file at once: entries and returns. All 0: nothing. */
struct probe_set {
	struct probe_place entry[PROBE_PLACES], returned[PROBE_PLACES];
	size_t entries, returns;
	int multi[2];		/* links of uprobe_multi; 0: none */
	struct bpf_link **link; /* a uprobe each */
	size_t links;
};

/* uprobe_multi, which is one link for all places (Linux 6.6; here only with the right filter by process: 6.10, 6.6.33). */
bool probes_have_multi(void);

/* Makes the programs ready for that. Before they are loaded. */
void probes_prepare(struct verbs_bpf *b, bool multi);

/*
 * Puts probes at the places of the set. pid: in this process only; 0: in all, those that begin later as well. Returns 0 or an
 * errno, with nothing attached.
 */
int probes_attach(struct probe_set *set, const struct verbs_bpf *b, bool multi, const char *path, pid_t pid);

/* Takes away the probes of these sets at the same time: each alone would wait for a grace period of the kernel's. */
void probes_detach(struct probe_set *const *sets, size_t count);

#endif
