/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The first faults of a capture by frame number, in memory that does not grow with the capture, and how many packets had which
 * fault (userspace/observe/model/faults.h).
 */
#ifndef USERSPACE_OBSERVE_OFFLINE_FAULT_LIST_H
#define USERSPACE_OBSERVE_OFFLINE_FAULT_LIST_H

#include <pthread.h>

#include "userspace/observe/model/filter.h"
#include "userspace/observe/offline/analysis.h"

#define FAULT_LIST_MOST 1000000

struct listed_fault {
	__u64 number; /* frame number, from 1 */
	__u64 time;   /* ns since 1970 */
	struct roce_key key; /* kind KEY_NONE: no stream, only the addresses are valid */
	__u8 dst[16];	     /* of the packet */
	__u32 dqpn;
	__u8 service; /* enum roce_service */
	struct roce_event event; /* its kinds are those that are faults */
};

struct fault_list {
	struct listed_fault *faults; /* sorted after fault_list_finish() */
	size_t count;
	size_t most;
	const struct filter *filter; /* takes the stream as it is after the packet; NULL: all streams */
	__u64 packets; /* with a fault, listed or not */
	__u64 kind[ROCE_EVENTS]; /* packets with this fault; a packet may have several */
	/* private */
	__u64 bound; /* frames from this number on are beyond the first `most` */
	pthread_mutex_t lock;
	struct fault_count {
		__u64 packets, kind[ROCE_EVENTS];
	} shard[ANALYSIS_SHARDS];
};

/* most: up to FAULT_LIST_MOST. filter: may be NULL. false: no memory. */
bool fault_list_init(struct fault_list *l, size_t most, const struct filter *filter);

/* The kinds of its event that are faults, as a set of ROCE_EVENT(). */
__u32 fault_kinds(const struct analysis_seen *seen);

/* Call it for every frame, from any thread, like analysis_settings.see. */
void fault_list_see(struct fault_list *l, const struct analysis_seen *seen);

/* Call it after all frames. */
void fault_list_finish(struct fault_list *l);

void fault_list_free(struct fault_list *l);

#endif
