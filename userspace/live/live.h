/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's programs at work on interfaces: what every command that watches live has in common. Which programs they are
 * is the command's business; they share bpf/watch.h and its maps.
 */
#ifndef USERSPACE_LIVE_LIVE_H
#define USERSPACE_LIVE_LIVE_H

#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include <bpf/libbpf.h>

#include "bpf/abi.h"
#include "lib/interfaces.h"
#include "userspace/live/attach.h"
#include "userspace/live/pin.h"
#include "userspace/model/expect.h"
#include "userspace/model/snapshot.h"

struct live_options {
	const char *interface[INTERFACES_MOST];
	size_t interface_count;
	struct monitor_settings settings; /* dialogues: they are wanted, where both directions are seen */
	const char *expect;
	enum attach_mode mode;
	double interval; /* s */
	double duration; /* s; 0: until told to stop */
	bool both;	 /* outward as well */
	bool share;	 /* beside other XDP programs */
	const char *ready; /* file that is told when they are attached; NULL */
	bool verbose;	 /* also what libraries and the verifier say */
	bool wait;	 /* for interfaces that are not there, or went */
	const char *pin; /* what is counted there outlives us; NULL */
	bool decap;	 /* what comes in in a tunnel stands for the frame inside (roce/decap.h) */
};

/* To be opened and not loaded yet, all of one object, which stays the caller's. */
struct live_programs {
	struct bpf_object *object;
	struct monitor_settings *settings; /* these are in its read-only data */
	struct fold_tables *tables;
	const char *frags, *plain, *old; /* for kernels from 5.18, from 5.17, and before; NULL: those cannot have it */
	const char *decap; /* from 5.18 on */
	const char *egress;
};

struct live {
	const struct live_options *options;
	struct live_programs programs;
	struct bpf_program *xdp; /* the one that is loaded */
	bool frags;		 /* it is for multi-buffer frames too */
	struct share *share;	 /* NULL: alone on the interfaces */
	struct attachment interface[INTERFACES_MOST];
	struct expected expected;
	size_t interface_count;
	size_t left; /* interfaces still there */
	struct pin pin;
	int ready;   /* options->ready, open until the end; -1: nobody asks */
	int links;   /* tells of interfaces that come and go, -1: nobody waits for any */
	__u64 start; /* ns, monotonic */
	__u64 since; /* ns, monotonic: counted since then, maybe by an earlier agent */
	sigset_t signals;
};

/* Why the kernel does not take the programs, in one line on stderr. kernel: the version from which on it can. */
void live_say_refused(int error, const char *kernel);

/* From here on signals are waited for: before live_begin(). `l` is emptied. */
void live_prepare(struct live *l, const struct live_options *o);

/* Loads and attaches, until frames are counted. Returns EXIT_RAN, or another status and one line was said on stderr. */
int live_begin(struct live *l, const struct live_programs *p);

/* --detach: takes away what killed processes have left on the interfaces. Returns the exit status. */
int live_clear(const struct live_options *o);

/* The map of that name. */
int live_map(const struct live *l, const char *name);

/* For live_prepare(): SIGINT and SIGTERM end the waiting, from here on. */
void live_catch_signals(struct live *l);

/* Until then (ns, monotonic), or a signal. false: told to stop. */
bool live_wait(const struct live *l, __u64 deadline);

/* The same, or until one of the descriptors is ready, as poll() tells, or a signal came that is somebody else's (SIGWINCH). */
enum live_woken { LIVE_STOP, LIVE_TIME, LIVE_READY };
enum live_woken live_wait_for(const struct live *l, __u64 deadline, struct pollfd *fds, size_t count);

/* While output may block, signals must be able to end it. */
void live_unblock(const struct live *l);
void live_block(const struct live *l);

/*
 * Who writes may have begun to wait just behind the signal, or after a part was written, and the next one might never come:
 * from now on, when it is told to stop, it is interrupted every second.
 */
void live_insist(struct live *l);

/* What is to be done while a reader takes nothing: when `fd` is ready for reading (-1: never), and once a second. */
struct live_meanwhile {
	int fd;
	void (*run)(void *context); /* writes nothing there */
	void *context;
};

/*
 * live_insist(), and standard output, which then fails if its reader takes nothing between two signals. NULL: no memory.
 * meanwhile: as it is when something is written.
 */
FILE *live_output(struct live *l, const struct live_meanwhile *meanwhile);

/*
 * Looks which interfaces are still there, and, where they are waited for, which are there again. false: none is, which is
 * said, and nobody waits.
 */
bool live_poll(struct live *l);

/* Ready for reading (POLLIN) when live_poll() is worth calling before its time; -1: never. */
int live_links(const struct live *l);

/* Off the interfaces: what is counted afterwards is final. Where it is pinned, it goes on counting. */
void live_detach(struct live *l);

/* false: it cannot be read, which is said. To be freed in any case. */
bool live_snapshot(const struct live *l, struct snapshot *s);

/* Whatever has been begun. The object stays the caller's. */
void live_end(struct live *l);

#endif
