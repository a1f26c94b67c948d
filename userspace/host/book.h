/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of devices and interfaces, by name, as they have moved since they were first seen. */
#ifndef USERSPACE_HOST_BOOK_H
#define USERSPACE_HOST_BOOK_H

#include "userspace/host/host.h"

enum book_queue { BOOK_NO_QUEUE, BOOK_PACKETS, BOOK_XDP_PACKETS };

struct book_entry {
	struct host_counter counter; /* value: since the start */
	__u64 last;		     /* as it was told */
	enum book_queue queue;	     /* it counts the packets of one receive queue */
	unsigned int queue_number;
};

struct book {
	struct book_entry *entries;
	size_t count, room, next; /* next: where the next one is likely to be, as they come in the same order each time */
	struct host_counter *moved;
	size_t moved_count, moved_room;
};

/* A counter has that value now. */
void book_add(struct book *b, const char *where, const char *name, __u64 value);

/* Makes `moved` of those that have, losses first. One queue's counters are left out if they are no losses. */
void book_close(struct book *b);

/* The counter of a place that has moved most, of all or of those that count losses; NULL: none has. */
const struct host_counter *book_worst(const struct book *b, const char *where, bool lost);

/* Whether any counter of that place would tell a loss. */
bool book_tells_losses(const struct book *b, const char *where);

/* How many receive queues an interface has, how many packets came by them, and which has most. 0: it does not tell. */
struct book_queues {
	unsigned int count, busiest;
	__u64 packets, most;
};
struct book_queues book_queues(const struct book *b, const char *where);

void book_free(struct book *b);

#endif
