/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs capture files through the engine on any number of threads, with the same result as on one. A piece of a file takes three
 * steps. It is read by one thread at a time. Any thread parses its frames. Then they are followed: one thread at a time for
 * each shard of streams, in the order of the file. If pairs of streams are known, all streams are one shard, since a stream
 * then asks its peer.
 */
#ifndef USERSPACE_OBSERVE_OFFLINE_ANALYSIS_H
#define USERSPACE_OBSERVE_OFFLINE_ANALYSIS_H

#include <signal.h>

#include "pcap/reader.h"
#include "userspace/observe/model/expect.h"
#include "userspace/observe/model/observer.h"

#define ANALYSIS_SHARDS OBSERVER_SHARDS /* a constant: results must not depend on the number of threads */

struct analysis_seen {
	__u64 number; /* frame number over all files, from 1 */
	__u64 time;   /* ns since 1970 */
	const struct observer_frame *frame;
	const struct observer_parsed *parsed;
	const struct roce_event *event;
	const struct roce_stream *stream; /* its state after this frame; NULL: no stream */
	unsigned int shard; /* less than ANALYSIS_SHARDS; frames of one shard come in order, one at a time */
};

struct analysis_settings {
	struct roce_ports ports;
	struct roce_blocks_by blocks;
	enum capture_link link;
	bool decap; /* a frame in a tunnel is replaced by the frame inside (roce/packet/decap.h) */
	bool once; /* copies of frames are left out (struct observer) */
	bool selection; /* all frames are of a selection, whatever the file says */
	const struct expected *expected; /* --expect, may be NULL */
	size_t max_streams;   /* divided equally among the shards */
	unsigned int threads; /* 1: every frame is seen in the order of the file; at most ANALYSIS_THREADS are used */
	bool progress;	      /* on stderr */
	const volatile sig_atomic_t *stop; /* set by a signal: reading stops as if the capture ended; may be NULL */
	/* called for each frame, by any thread; may be NULL */
	void (*see)(void *context, const struct analysis_seen *seen);
	void *context;
};

#define ANALYSIS_THREADS 256

/*
 * Reads all files as one capture and fills *s, finished (snapshot_finish()). A read error is one line on stderr with the file's
 * name; what was read before counts, and s->complete is false. Returns how many files could be opened; -1: no memory.
 */
int analysis_run(const struct analysis_settings *settings, char *const files[], size_t count, struct snapshot *s);

#endif
