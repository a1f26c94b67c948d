/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shares an interface among several XDP programs by libxdp's dispatcher (--share), a small program that calls them in turn.
 * Ours is first, so that it sees frames that later ones drop, and passes frames on to them. The dispatcher is attached by
 * netlink and pinned in the BPF file system. Unlike a bpf_link it stays when this process is killed.
 */
#ifndef USERSPACE_OBSERVE_LIVE_SHARE_H
#define USERSPACE_OBSERVE_LIVE_SHARE_H

#include <stdbool.h>

#include <bpf/libbpf.h>
#include <xdp/libxdp.h>

#define SHARE_WHY (-1) /* instead of an errno: share_why() has the reason in words */

struct share;

/*
 * Prepares sharing for an XDP program of an object that is not loaded. The first share_attach() loads it, because the verifier
 * needs the dispatcher that calls the program. frags: for multi-buffer frames. NULL: sharing is not possible here, which is
 * reported.
 */
struct share *share_new(struct bpf_object *object, const struct bpf_program *program, bool frags);

/* Attaches beside other programs. 0, an errno (EBUSY: a program without a dispatcher holds the interface) or SHARE_WHY. */
int share_attach(struct share *s, const char *name, unsigned int ifindex, bool generic);

const char *share_why(const struct share *s);

/* Whether our program is still attached. Other users of the dispatcher can detach it. */
bool share_is_attached(const struct share *s, unsigned int ifindex);

/* Whether the dispatcher accepts multi-buffer frames: all of its programs must. */
bool share_has_frags(unsigned int ifindex);

/* Detaches our program. Others stay. */
void share_detach(struct share *s, unsigned int ifindex);

/*
 * Detaches our programs whose process has ended. loud: report those whose process still runs. Returns how many were detached,
 * -1: failed, which is reported.
 */
int share_clear(const char *name, unsigned int ifindex, bool loud);

/* Frees `s`. Attached programs stay. */
void share_free(struct share *s);

#endif
