/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of devices and interfaces, by name, and how much they moved since they were first seen. */
#ifndef USERSPACE_OBSERVE_HOST_BOOK_H
#define USERSPACE_OBSERVE_HOST_BOOK_H

#include "userspace/observe/host/host.h"

enum book_queue { BOOK_NO_QUEUE, BOOK_PACKETS, BOOK_XDP_PACKETS };

#define BOOK_PRIORITIES 64 /* eight of eight interfaces; those of more are left out */

struct book_entry {
	struct host_counter counter; /* value: since the start */
	__u64 last;		     /* as last read */
	int priority_count;	     /* which of a priority's counts it is; PRIORITY_COUNTS: none */
	unsigned int priority;
	enum book_queue queue;	     /* which packets of a receive queue it counts, if any */
	unsigned int queue_number;
};

struct book {
	struct book_entry *entries;
	size_t count, room, next; /* next: the likely index of the next counter, since they come in the same order each time */
	struct host_counter *moved;
	size_t moved_count, moved_room;
	struct host_priority priorities[BOOK_PRIORITIES];
	size_t priority_count;
};

/* Sets the present value of a counter. */
void book_add(struct book *b, const char *where, const char *name, __u64 value);

/* Counters of `from` go on as those of `to`. */
void book_rename(struct book *b, const char *from, const char *to);

/*
 * Builds `moved` from the counters that moved, losses first, and `priorities`. Counters of one queue are left out unless they count
 * losses.
 */
void book_close(struct book *b);

/* The counter of `where` that moved most. lost: only counters of losses. NULL: none moved. */
const struct host_counter *book_worst(const struct book *b, const char *where, bool lost);

/* Whether `where` has any counter of losses. */
bool book_counts_losses(const struct book *b, const char *where);

/* The receive queues of an interface: their number (0: unknown), their packets, and the queue with most packets. */
struct book_queues {
	unsigned int count, busiest;
	__u64 packets, most;
};
struct book_queues book_queues(const struct book *b, const char *where);

void book_free(struct book *b);

#endif
