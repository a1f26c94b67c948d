/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets of a selection: those of a file of rocescope capture, and what another tool chose (--selection). Packets between them are
 * missing in the file, though they were not lost. So what a packet shows by itself counts as always, and what needs the packets before
 * it counts as its comment says: capture has written there what was seen when all packets were. Without a comment it does not count.
 */
#ifndef USERSPACE_OBSERVE_MODEL_SELECTION_H
#define USERSPACE_OBSERVE_MODEL_SELECTION_H

#include "roce/event/event.h"

struct selection {
	struct roce_event verdict; /* by the comment; kinds 0: it has none */
	bool apart;		   /* packets of the stream between this one and the one before are not in the file */
	/* the stream before the packet */
	__u64 kept[ROCE_STREAM_COUNTERS];
	__u32 waited, lint[ROCE_LINTS];
};

/* comment: NULL: none. */
void selection_read(struct selection *c, const char *comment, size_t length);

/* What is known of the packet's ICRC: if the file has not all of its bytes, capture may have said that it is wrong. */
enum icrc_verdict selection_icrc(const struct selection *c, enum icrc_verdict icrc);

/* Call around roce_observe(), which gets no answer of the peer's. trusted: event_trusted() before it. */
void selection_begin(struct selection *c, struct roce_stream *s, const struct roce_packet *p, enum icrc_verdict icrc);
void selection_end(const struct selection *c, struct roce_stream *s, __u32 trusted);

/* Call after roce_find_events(): the verdict goes, with what the packet shows by itself besides. */
void selection_tell(const struct selection *c, struct roce_event *e);

/* The next packet of the stream is of no selection: what is missing before it is not known. */
void selection_leave(struct roce_stream *s);

#endif
