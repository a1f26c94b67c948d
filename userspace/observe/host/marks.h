/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stream with most packets that are marked CE: does its rate fall, and do CNPs go back? */
#ifndef USERSPACE_OBSERVE_HOST_MARKS_H
#define USERSPACE_OBSERVE_HOST_MARKS_H

#include "userspace/observe/model/snapshot.h"

#define MARKS_SECONDS 1	 /* at least so long from one reading to the next */
#define MARKS_READINGS 3 /* in a row with marks before a hint */
#define MARKS_KEPT 0.9	 /* a rate above this share of the first one has not fallen */
#define MARKS_MANY 0.05	 /* share of marked packets that is more than a controlled sender keeps */

struct marks {
	struct roce_key key;
	double seconds;	     /* of the snapshot at the last reading; 0: there was none */
	struct roce_counters counters; /* of the stream, then */
	unsigned int readings; /* in a row in which packets were marked */
	double first_gbps, gbps; /* frame bits in the first of these, and in the last reading */
	__u64 packets, ecn_ce; /* in the last reading */
	__u64 cnps, back;    /* CNPs from the destination to the source, and its other packets, since the start */
};

void marks_update(struct marks *m, const struct snapshot *s);

#endif
