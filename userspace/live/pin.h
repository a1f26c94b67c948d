/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stays in the kernel when the agent ends (--pin NAME): maps and links as files of a directory of bpffs. The links keep
 * the programs on their interfaces, so that counting goes on with nobody there, and the next agent goes on from the same
 * maps with programs of its own.
 *
 *     /sys/fs/bpf/rocescope/NAME/state         struct pin_state; made last: without it the rest is a beginning that failed
 *                               /streams, ...  a map each, but for those that hold nothing worth keeping
 *                               /layouts       text: of each map its name, its id and its layout (live/layout.h)
 *                               /+streams, ... a map that takes the place of one of another layout once all programs use it
 *                               /xdp-IFACE, /egress-IFACE   the links; a dot in a name is a colon there
 *
 * An agent of another build goes on with the maps whose layout it shares, and carries over what the others have counted
 * (live/carry.h).
 */
#ifndef USERSPACE_LIVE_PIN_H
#define USERSPACE_LIVE_PIN_H

#include <bpf/libbpf.h>
#include <limits.h>
#include <net/if.h>

#include "bpf/abi.h"
#include "lib/interfaces.h"
#include "userspace/live/carry.h"

#define PIN_ROOT "/sys/fs/bpf/rocescope"
#define PIN_NAME_MAX 64
#define PIN_MAPS 24
#define PIN_WORD 32
#define PIN_VERSION 2
#define PIN_VERSION_1 1 /* without `layouts`, with hashes in their place */

/* What the next agent must know of an interface. */
struct pin_interface {
	char name[IF_NAMESIZE];
	__u32 ifindex;
	__u32 missed_raw; /* as in struct attachment */
	__u64 missed;
	__u8 filter, qdisc;
	__u8 reserved[6];
};

struct pin_map {
	char name[PIN_WORD]; /* its file */
	__u64 layout;	     /* a hash (live/layout_1.h) */
};

/* The one value of the map `state`, which an agent has in its memory: what it writes here outlives its being killed. */
struct pin_state {
	__u32 version; /* of this struct */
	__u32 agent;   /* process that is, or was last, at work on it */
	__u64 start;   /* ns, CLOCK_MONOTONIC: counted since then; 0: not yet */
	__u64 hash_seed;
	__u32 max_streams;
	__u32 bucket_mask;
	struct pin_map map[PIN_MAPS]; /* of version 1 */
	struct pin_interface interface[INTERFACES_MOST];
};

struct pin {
	const char *name; /* NULL: nothing is pinned */
	char directory[PATH_MAX];
	int lock;	  /* the directory, of which one agent at a time has the lock */
	struct pin_state *state; /* NULL: to be made by pin_maps() */
	char *layouts;	  /* that the maps have which are pinned; NULL: nobody says */
	char *own[PIN_MAPS]; /* layouts of this build's maps, in their order; NULL: not pinned */
	struct carry carry;
	unsigned int lost; /* what could not be carried over: 1 << of each in a table of pin.c */
	bool changed;	  /* some map takes the place of one of another layout */
	bool resumed;	  /* there was something to go on from */
	bool keep;	  /* it stays when we end */
};

/* ---- between pin.c and pin_maps.c ---- */

/* A file of the directory; a dot in its name is a colon there. */
void pin_path(const struct pin *p, const char *prefix, const char *name, char path[PATH_MAX]);

/* Whether a file of the directory is a link. */
bool pin_is_link(const char *file);

/* Always false. */
bool pin_say_error(const char *name, const char *what, int error);

bool pin_resume_maps(struct pin *p, struct bpf_object *object);
bool pin_new_maps(struct pin *p, const struct bpf_object *object);

/* Removes what an agent has left that was ended between pin_maps() and pin_commit(). */
void pin_drop_pending(const struct pin *p);

/* ---- for whoever watches ---- */

/* All of them: false after one line on stderr. */

/* Takes the directory for us, or makes it. name: NULL, and nothing is pinned. To be closed in any case. */
bool pin_open(struct pin *p, const char *name);

/*
 * Behind opening the object and before loading it: it gets the maps that are there already, and `s` what they were made
 * with. Nothing happens where there is nothing to go on from.
 */
bool pin_resume(struct pin *p, struct bpf_object *object, struct monitor_settings *s);

/* Behind loading it: what is not pinned yet is, maps of another layout begin to be carried over. s: what the maps were made with. */
bool pin_maps(struct pin *p, const struct bpf_object *object, const struct monitor_settings *s);

/*
 * Behind attaching all programs: the maps they use take the place of those of another layout, and one line on stderr says what
 * was kept and what was lost of these.
 */
bool pin_commit(struct pin *p, const struct bpf_object *object);

/* Behind attaching it: since when is counted, now (ns, monotonic) or by an earlier agent. From here on what is pinned stays. */
__u64 pin_since(struct pin *p, __u64 now);

/* The file of an interface's link. kind: "xdp", "egress". */
void pin_link_path(const struct pin *p, const char *kind, const char *interface, char path[PATH_MAX]);

/* Takes links and filters off interfaces that are not among the `count` of `names`, and forgets those. */
void pin_release_others(const struct pin *p, const char *const *names, size_t count);

/* The state's entry for this interface, made where there is none. NULL: no room. */
struct pin_interface *pin_interface(struct pin *p, const char *name);

/* Unless p->keep all is taken away. */
void pin_close(struct pin *p);

/* --unpin NAME: takes all away. */
bool pin_remove(const char *name);

/* Takes what is pinned there off its interface, at once, and removes the file. */
void pin_release(const char *path);

/* Who has pinned programs to this interface. false: nobody whom we can see. */
bool pin_find(const char *interface, char name[NAME_MAX + 1]);

#endif
