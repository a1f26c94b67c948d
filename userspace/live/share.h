/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An interface that several XDP programs share, by libxdp's dispatcher (--share): a small program that calls one after the
 * other. Ours is first in the row, so that it sees what the next ones take away, and it passes packets on to them. A
 * dispatcher is attached by a netlink call and pinned in the BPF file system, so that, unlike a bpf_link, it stays when this
 * process is killed.
 */
#ifndef USERSPACE_LIVE_SHARE_H
#define USERSPACE_LIVE_SHARE_H

#include <stdbool.h>

#include <bpf/libbpf.h>
#include <xdp/libxdp.h>

#define SHARE_WHY (-1) /* instead of an errno: share_why() tells what hindered, in words */

struct share;

/*
 * For the XDP program of an object that is not loaded yet: the first share_attach() does that, because a program is verified for
 * the dispatcher that calls it. frags: it is for multi-buffer frames. NULL: sharing is not possible here, which is said.
 */
struct share *share_new(struct bpf_object *object, const struct bpf_program *program, bool frags);

/* Beside what is there. 0, an errno (EBUSY: held by a program without a dispatcher) or SHARE_WHY. name: the interface's. */
int share_attach(struct share *s, const char *name, unsigned int ifindex, bool generic);

const char *share_why(const struct share *s);

/* Whether ours is still there: whoever else uses the dispatcher can take it away. */
bool share_is_attached(const struct share *s, unsigned int ifindex);

/* Whether the dispatcher takes multi-buffer frames, which it does as long as all of its programs do. */
bool share_has_frags(unsigned int ifindex);

/* Whoever else is there stays. */
void share_detach(struct share *s, unsigned int ifindex);

/*
 * Takes programs of ours away whose process has ended; where one still runs, it is told with `loud`. Returns how many were
 * taken away, -1: it could not, which is said.
 */
int share_clear(const char *name, unsigned int ifindex, bool loud);

/* Closes it; what is attached stays. */
void share_free(struct share *s);

#endif
