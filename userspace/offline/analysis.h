/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capture files through the engine, on as many threads as wanted, with the same result as on one. A piece of the file goes
 * through three steps: it is read (one thread at a time), its frames are looked at (any thread), and followed (the streams
 * of one shard by one thread at a time, in the order of the file; where pairs of streams are known, all of them are one
 * shard, since a stream then asks its peer).
 */
#ifndef USERSPACE_OFFLINE_ANALYSIS_H
#define USERSPACE_OFFLINE_ANALYSIS_H

#include <signal.h>

#include "pcap/reader.h"
#include "userspace/model/expect.h"
#include "userspace/model/observer.h"

#define ANALYSIS_SHARDS OBSERVER_SHARDS /* however many threads there are, so that nothing depends on that */

struct analysis_seen {
	__u64 number; /* of the frame over all files, from 1 */
	__u64 time;   /* ns since 1970 */
	const struct observer_frame *frame;
	const struct observer_look *look;
	const struct roce_event *event;
	const struct roce_stream *stream; /* as it is behind this frame; NULL: it has none */
	unsigned int shard; /* below ANALYSIS_SHARDS; frames of one shard come in their order, one at a time */
};

struct analysis_settings {
	struct roce_ports ports;
	enum capture_link link;
	bool decap; /* frames in tunnels stand for those inside (roce/decap.h) */
	const struct expected *expected; /* --expect, may be NULL */
	size_t max_streams;   /* each shard has its part of them */
	unsigned int threads; /* 1: every frame is seen in the order of the file; at most ANALYSIS_THREADS are used */
	bool progress;	      /* on stderr */
	const volatile sig_atomic_t *stop; /* set by a signal: no more is read, as if the capture ended there; may be NULL */
	/* called for each frame, by any thread; may be NULL */
	void (*see)(void *context, const struct analysis_seen *seen);
	void *context;
};

#define ANALYSIS_THREADS 256

/*
 * Reads all files (as one capture) and fills *s, finished (snapshot_finish()). What cannot be read is said in one line on
 * stderr, with the file's name; what was read before counts, and s->complete is false. Returns how many files could be
 * opened; -1: no memory.
 */
int analysis_run(const struct analysis_settings *settings, char *const files[], size_t count, struct snapshot *s);

#endif
