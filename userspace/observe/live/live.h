/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's programs on live interfaces: the common part of all commands that watch live. Each command chooses its programs,
 * which share bpf/watch.h and its maps.
 */
#ifndef USERSPACE_OBSERVE_LIVE_LIVE_H
#define USERSPACE_OBSERVE_LIVE_LIVE_H

#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include <bpf/libbpf.h>

#include "bpf/abi.h"
#include "lib/interfaces.h"
#include "userspace/observe/live/attach.h"
#include "userspace/observe/live/pin.h"
#include "userspace/observe/live/program_kind.h"
#include "userspace/observe/model/expect.h"
#include "userspace/observe/model/snapshot.h"

struct live_options {
	const char *interface[INTERFACES_MOST];
	size_t interface_count;
	struct monitor_settings settings; /* dialogues: 1 if wanted where both directions are seen */
	const char *expect;
	enum attach_mode mode;
	double interval; /* s */
	double duration; /* s; 0: until a signal */
	bool both;	 /* outgoing as well */
	bool share;	 /* share interfaces with other XDP programs */
	const char *ready; /* file that gets a line when the programs are attached; NULL: none */
	bool verbose;	 /* print messages of libraries and of the verifier too */
	bool wait;	 /* wait for interfaces that do not exist (any more) */
	const char *pin; /* name under which counting continues after the end; NULL: none */
	const struct program_kind *kind; /* of what is attached */
	bool decap;	 /* look into tunnels (roce/packet/decap.h) */
	bool once;	 /* leave out copies of frames (roce/sequence/copies.h) */
};

struct live;

/* Programs of one object, opened but not loaded. The object belongs to the caller. */
struct live_programs {
	struct bpf_object *object;
	struct monitor_settings *settings; /* in the object's read-only data */
	struct fold_tables *tables;
	const char *frags, *plain; /* for kernels from 5.18, and before; NULL: not available there */
	const char *decap; /* from 5.18; NULL: not available */
	const char *egress; /* NULL: not available */
	/* Called when the programs are loaded and not attached yet. false: it failed, which is reported. NULL: not called */
	bool (*loaded)(void *context, const struct live *l);
	void *context;
};

struct live {
	const struct live_options *options;
	struct live_programs programs;
	struct bpf_program *xdp; /* the loaded one */
	bool frags;		 /* it is for multi-buffer frames too */
	struct share *share;	 /* NULL: not shared */
	struct attachment interface[INTERFACES_MOST];
	struct expected expected;
	size_t interface_count;
	size_t left; /* interfaces that still exist */
	struct pin pin;
	int ready;   /* options->ready, open until the end; -1: none */
	int links;   /* messages about interfaces that come and go; -1: not waiting for any */
	__u64 start; /* ns, monotonic */
	__u64 since; /* ns, monotonic: start of the counts, maybe by an earlier agent */
	struct roce_totals totals; /* of the last snapshot */
	sigset_t signals;
};

#define LIVE_OLDEST "5.15" /* the oldest kernel on which anything is watched */

/*
 * Prints one line on stderr about why the kernel rejected the programs. kernel: the oldest version that accepts them (LIVE_OLDEST,
 * "5.17" or "5.18"), which is named if the running one lacks what it brought.
 */
void live_say_refused(int error, const char *kernel);

/* Initializes `l`, and begins to handle signals. Call before live_begin(). */
void live_prepare(struct live *l, const struct live_options *o);

/* Loads and attaches; frames are counted from then on. Returns EXIT_RAN, or another status after one line on stderr. */
int live_begin(struct live *l, const struct live_programs *p);

/*
 * Call when all is begun: what reads packets and answers peers from here on has only the capabilities that the run still needs (to
 * read maps, to attach to an interface that comes back, to detach), and what is needed for these, as bits:
 */
enum live_later {
	LIVE_FILES = 1,	 /* it opens files later, which may be anybody's */
	LIVE_STARTS = 2, /* it starts programs of the user, which have the user's capabilities */
	LIVE_SNIFFS = 4, /* it opens packet sockets later: an interface has come back (userspace/observe/live/sniff.h) */
	LIVE_PROBES = 8, /* it puts probes into programs that begin later, and reads their memory */
	LIVE_OWNERS = 16, /* it asks in which PID namespace other users' processes are (userspace/observe/host/processes.h) */
};
void live_restrict(const struct live *l, unsigned int later);

/* --detach: removes what killed processes left on the interfaces. Returns the exit status. */
int live_clear(const struct live_options *o);

/* The map with that name. */
int live_map(const struct live *l, const char *name);

/* For live_prepare(): from here on SIGINT and SIGTERM end the waiting. */
void live_catch_signals(struct live *l);

/* Waits until `deadline` (ns, monotonic), or a signal. false: a signal ended the run. */
bool live_wait(const struct live *l, __u64 deadline);

/* live_wait() that also ends when one of the descriptors is ready, as in poll(), or on another signal (SIGWINCH). */
enum live_woken { LIVE_STOP, LIVE_TIME, LIVE_READY };
enum live_woken live_wait_for(const struct live *l, __u64 deadline, struct pollfd *fds, size_t count);

/* Lets signals interrupt output that may block. */
void live_unblock(const struct live *l);
void live_block(const struct live *l);

/*
 * After a signal to stop, interrupts the process every second. A single signal could arrive just before a write begins to
 * block, or after a part was written.
 */
void live_insist(struct live *l);

/* Work to do while the reader accepts no output: when `fd` is ready for reading (-1: never), and once a second. */
struct live_meanwhile {
	int fd;
	void (*run)(void *context); /* writes nothing to that output */
	void *context;
};

/*
 * Calls live_insist(), and returns standard output. A write fails if the reader accepts nothing between two signals. NULL: no
 * memory. meanwhile: read at each write.
 */
FILE *live_output(struct live *l, const struct live_meanwhile *meanwhile);

/*
 * Checks which interfaces still exist, and which waited-for ones are back. false: none exists, which is reported, and none is
 * waited for.
 */
bool live_poll(struct live *l);

/* A descriptor that is ready for reading (POLLIN) when live_poll() should be called early; -1: none. */
int live_links(const struct live *l);

/* Detaches. Counts are final afterwards, unless they are pinned: those continue. */
void live_detach(struct live *l);

/* false: reading failed, which is reported. Free `s` in any case. */
bool live_snapshot(struct live *l, struct snapshot *s);

/* Ends everything that was begun. The object stays the caller's. */
void live_end(struct live *l);

#endif
