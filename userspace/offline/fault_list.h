/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The first faults of a capture, by frame number, in memory that does not grow with it, and how many packets had which
 * fault (userspace/model/faults.h).
 */
#ifndef USERSPACE_OFFLINE_FAULT_LIST_H
#define USERSPACE_OFFLINE_FAULT_LIST_H

#include <pthread.h>

#include "userspace/model/filter.h"
#include "userspace/offline/analysis.h"

#define FAULT_LIST_MOST 1000000

struct fault {
	__u64 number; /* of the frame, from 1 */
	__u64 time;   /* ns since 1970 */
	struct roce_key key; /* kind KEY_NONE: no stream; then all there is are its addresses */
	__u8 dst[16];	     /* of the packet */
	__u32 dqpn;
	__u8 service; /* enum roce_service */
	struct roce_event event; /* of which kinds has what is a fault */
};

struct fault_list {
	struct fault *faults; /* fault_list_finish() has sorted them */
	size_t count;
	size_t most;
	const struct filter *filter; /* only of streams it wants, as they are behind the packet; NULL: of all */
	__u64 packets; /* with a fault, listed or not */
	__u64 kind[ROCE_EVENTS]; /* how many of them had which; one packet may have several */
	/* its own */
	__u64 bound; /* frames from here on are beyond the first `most` */
	pthread_mutex_t lock;
	struct fault_count {
		__u64 packets, kind[ROCE_EVENTS];
	} shard[ANALYSIS_SHARDS];
};

/* most: up to FAULT_LIST_MOST. filter: may be NULL. false: no memory. */
bool fault_list_init(struct fault_list *l, size_t most, const struct filter *filter);

/* What of its event is a fault, as a set of ROCE_EVENT(). */
__u32 fault_kinds(const struct analysis_seen *seen);

/* To be called for every frame, by any thread, as analysis_settings.see is. */
void fault_list_see(struct fault_list *l, const struct analysis_seen *seen);

/* When all frames were seen. */
void fault_list_finish(struct fault_list *l);

void fault_list_free(struct fault_list *l);

#endif
