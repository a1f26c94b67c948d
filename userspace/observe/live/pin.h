/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps maps and links in the kernel when the agent ends (--pin NAME), as files of a directory of bpffs. The links keep the
 * programs attached, so that counting continues without an agent. The next agent continues with the same maps and with
 * programs of its own.
 *
 *     /sys/fs/bpf/rocescope/NAME/state         struct pin_state; made last: without it the rest is from a failed start.
 *                                              The map's name is that of the command, which alone goes on with it or ends it
 *                               /streams, ...  one map each, except those with nothing worth keeping
 *                               /layouts       text: each map's name, id and layout (live/layout.h)
 *                               /+streams, ... a map that will replace one of another layout once all programs use it
 *                               /xdp-IFACE, /egress-IFACE   the links; a colon replaces each dot of a name
 *
 * An agent of another build reuses maps whose layout it shares, and carries over the counts of the others (live/carry.h).
 */
#ifndef USERSPACE_OBSERVE_LIVE_PIN_H
#define USERSPACE_OBSERVE_LIVE_PIN_H

#include <bpf/libbpf.h>
#include <limits.h>
#include <net/if.h>

#include "bpf/abi.h"
#include "lib/interfaces.h"
#include "userspace/observe/live/carry.h"
#include "userspace/observe/live/program_kind.h"

#define PIN_ROOT "/sys/fs/bpf/rocescope"
#define PIN_NAME_MAX 64
#define PIN_OWN 32
#define PIN_WORD 32
#define PIN_COMMAND 16 /* bytes of a command's name, with the 0: as many as a map's name has (BPF_OBJ_NAME_LEN) */
#define PIN_VERSION 2

/* An interface's state for the next agent. */
struct pin_interface {
	char name[IF_NAMESIZE];
	__u32 ifindex;
	__u32 missed_raw; /* as in struct attachment */
	__u64 missed;
	__u8 filter, qdisc;
	__u8 reserved[6];
};

/* Value of the map `state`, mapped into the agent's memory, so that what the agent writes survives if it is killed. */
struct pin_state {
	__u32 version; /* of this struct */
	__u32 agent;   /* process of the current or last agent */
	__u64 start;   /* ns, CLOCK_MONOTONIC: start of the counts; 0: not yet */
	__u64 hash_seed;
	__u32 max_streams;
	__u32 bucket_mask;
	struct pin_interface interface[INTERFACES_MOST];
};

struct pin {
	const char *name; /* NULL: not pinned */
	const struct program_kind *kind; /* ours */
	char by[PIN_COMMAND]; /* the command that began what is there; empty: not known */
	char directory[PATH_MAX];
	int lock;	  /* the directory, locked by one agent at a time */
	struct pin_state *state; /* NULL: pin_maps() makes it */
	char *layouts;	  /* layouts of the pinned maps; NULL: unknown */
	char *own[PIN_OWN]; /* layouts of this build's maps, in the same order; NULL: not pinned */
	struct carry carry;
	unsigned int lost; /* what could not be carried over: bits, by the index in a table of pin_maps.c */
	bool changed;	  /* some map replaces one of another layout */
	bool resumed;	  /* an earlier agent's state was found */
	bool resized;	  /* --max-streams differs from the state's */
	__u32 max_streams, bucket_mask; /* of this run, for the state */
	bool keep;	  /* stays at the end */
};

/* ---- shared by pin.c and pin_maps.c ---- */

/* The path of a file of the directory. Dots in the name become colons. */
void pin_path(const struct pin *p, const char *prefix, const char *name, char path[PATH_MAX]);

/* Whether a file of the directory is a link. */
bool pin_is_link(const char *file);

/* Returns false. */
bool pin_say_error(const char *name, const char *what, int error);

bool pin_resume_maps(struct pin *p, struct bpf_object *object, struct monitor_settings *s);
bool pin_new_maps(struct pin *p, const struct bpf_object *object);

/* Removes what an agent left that ended between pin_maps() and pin_commit(). */
void pin_drop_pending(const struct pin *p);

/* ---- for commands that watch ---- */

/* These return false after one line on stderr. */

/*
 * Locks the directory, or creates it. name: NULL pins nothing. kind: ours; what another command began is refused. Call pin_close() in
 * any case.
 */
bool pin_open(struct pin *p, const struct program_kind *kind, const char *name);

/*
 * Call after the object is opened and before it is loaded. The object gets the existing maps, and `s` their settings. Does
 * nothing if no state exists.
 */
bool pin_resume(struct pin *p, struct bpf_object *object, struct monitor_settings *s);

/*
 * Call after loading. Pins maps that are not pinned yet, and begins to carry over maps of another layout. s: the maps'
 * settings.
 */
bool pin_maps(struct pin *p, const struct bpf_object *object, const struct monitor_settings *s);

/*
 * Call after all programs are attached. Their maps replace those of another layout, and one line on stderr reports what was
 * kept and lost.
 */
bool pin_commit(struct pin *p, const struct bpf_object *object);

/*
 * Call after attaching. Returns the start of the counts: now (ns, monotonic), or an earlier agent's. From here on pinned
 * objects stay.
 */
__u64 pin_since(struct pin *p, __u64 now);

/* The file of an interface's link. kind: "xdp", "egress". */
void pin_link_path(const struct pin *p, const char *kind, const char *interface, char path[PATH_MAX]);

/* Removes links and filters from interfaces that are not among the `count` names, and forgets these interfaces. */
void pin_release_others(const struct pin *p, const char *const *names, size_t count);

/* The state's entry for this interface; created if missing. NULL: no room. */
struct pin_interface *pin_interface(struct pin *p, const char *name);

/* The interface got another name: its links and its part of the state go on under that. */
void pin_rename(const struct pin *p, const char *from, const char *to);

/* Removes everything unless p->keep is set. */
void pin_close(struct pin *p);

/* Removes everything, if the kind's command began it. */
bool pin_remove(const struct program_kind *kind, const char *name);

/* The command that began what is pinned under the name. false: nothing is that can be read. */
bool pin_begun_by(const char *name, char command[PIN_COMMAND]);

/* Whether it is that kind's. */
bool pin_is_of(const char *name, const struct program_kind *kind);

/* Detaches the pinned link at once, and removes its file. */
void pin_release(const char *path);

/* The name under which programs are pinned to this interface. false: none that is visible. */
bool pin_find(const char *interface, char name[NAME_MAX + 1]);

#endif
