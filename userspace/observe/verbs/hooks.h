/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The providers of this machine's own libibverbs: a child opens each device, with an extended QP and CQ of each kind, and
 * waits. Where its calls arrive, those of all programs with the same libraries do, also of programs that have not begun yet.
 *
 * libibverbs is loaded by the child alone: rocescope runs without it, and a provider that hangs or crashes does so in the
 * child.
 */
#ifndef USERSPACE_OBSERVE_VERBS_HOOKS_H
#define USERSPACE_OBSERVE_VERBS_HOOKS_H

#include <stdbool.h>

#include <sys/types.h>

struct hooks {
	pid_t pid; /* 0: none */
	int hold;  /* closed: the child ends */
};

/*
 * Begins the child and waits until it has opened everything, 3 s at most. false: no library, no device, or too late; nothing is
 * left.
 */
bool hooks_open(struct hooks *h);
void hooks_close(struct hooks *h);

/* Call it from time to time: a child that a driver kept in the kernel, when it was to end, has ended since. */
void hooks_reap(void);

#endif
