/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the records of messages that have ended, and posts receives again. A reader never keeps packets waiting: if it is too slow,
 * records are overwritten, which it notices and counts.
 */
#ifndef USERSPACE_TRAFFIC_RECEIVE_READER_H
#define USERSPACE_TRAFFIC_RECEIVE_READER_H

#include <stdbool.h>

#include "userspace/traffic/receive/maps.h"

/* Receives that are kept posted on a QP without buffers, whose receives take immediate data only, if the settings do not tell. */
#define READER_RECEIVES 4096

struct receive_reader {
	const struct receive_maps *maps;
	bool posts; /* by itself */
	__u64 lost; /* records overwritten before they were read */
	__u64 *next; /* by CPU: the number of records before the next one */
	__u32 cpu;   /* whose turn it is */
	__u32 turn;  /* records read in this turn */
	struct receive_record read; /* the last one, whose receive is posted by the next call; number 0: none */
	/* Receives of lost records are posted when the reader has come to `until`. */
	bool heal;    /* records were lost */
	bool healing; /* `used` and `until` are set */
	__u64 *used;  /* by QP: receives */
	__u64 *until; /* by CPU */
};

/*
 * oldest: begins with the oldest records that are still there; else with the next that is written. posts: each receive is posted
 * again when the record after the one that used it is asked for. The maps are the caller's. false: no memory.
 */
bool receive_reader_open(struct receive_reader *r, const struct receive_maps *maps, bool oldest, bool posts);

void receive_reader_close(struct receive_reader *r);

/* Waits for a record at most `timeout` ms; 0: not at all, negative: without end. false: none came, or a signal did. */
bool receive_reader_next(struct receive_reader *r, struct receive_record *to, int timeout);

/* Posts the receive that the record used again. */
void receive_reader_post(const struct receive_maps *maps, const struct receive_record *record);

/* Posts all receives that were used, of all QPs. */
void receive_reader_post_all(const struct receive_maps *maps);

/* The sum of the generations of the blocks after the first one of these bytes. It changes when any of them is written to. */
__u64 receive_later_generations(const struct receive_maps *maps, __u64 at, __u32 bytes);

/*
 * Whether these bytes may have been overwritten since the generation of their first block was `generation`, and the sum of the
 * others `later`. Call it after reading them.
 */
bool receive_torn(const struct receive_maps *maps, __u64 at, __u32 bytes, __u32 generation, __u64 later);

#endif
