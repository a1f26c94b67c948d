/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets that bpf/capture.bpf.c has taken off interfaces: the faulty ones with their context, or the first ones of every
 * stream. For `capture`, and for the live `doctor`:
 *
 *     live_prepare(&live, &options);
 *     if (!taken_begin(&taken, &live, &wanted, see, context))
 *             while (live_wait(&live, now_ns() + TAKEN_PAUSE) && taken_read(&taken))
 *                     ;
 *     live_detach(&live);
 *     taken_read_rest(&taken);
 *     ... live_snapshot(&live, &snapshot), taken_lost(&taken) ...
 *     taken_end(&taken);
 *     live_end(&live);
 */
#ifndef USERSPACE_LIVE_TAKEN_H
#define USERSPACE_LIVE_TAKEN_H

#include "bpf/capture_abi.h"
#include "userspace/live/live.h"

#define TAKEN_PAUSE 5000000 /* ns from reading to reading */
#define TAKEN_TURN 100000000 /* ns that one reading lasts at most */

#define TAKEN_BUFFER (1 << 26)
#define TAKEN_BUFFER_LEAST (1 << 16)
#define TAKEN_BUFFER_MOST (1 << 30)

/* What is taken; before, after and snaplen are cut down to what is possible. */
struct taken_options {
	struct capture_settings capture;
	__u64 buffer; /* bytes, 0: TAKEN_BUFFER; rounded up to a power of two */
};

struct taken_packet {
	const struct capture_record *record;
	const __u8 *bytes; /* with the VLAN tag; readable for ROCE_WINDOW_BYTES */
	__u32 captured;
	__u32 length;	 /* on the wire */
	__u64 time;	 /* ns since 1970 */
	__u32 interface; /* as they stand in live_options */
};

typedef void taken_see(void *context, const struct taken_packet *p);

struct taken {
	struct live *live;
	struct capture_bpf *bpf;
	struct ring_buffer *ring;
	taken_see *see;
	void *context;
	__u64 until; /* ns, monotonic: when this reading ends */
	__u64 realtime_offset; /* ns to add to CLOCK_MONOTONIC; one for the whole run, so that no stream goes back */
	__u8 bytes[FRAME_MAX + WIRE_VLAN_LEN + ROCE_WINDOW_BYTES];
};

/* Does what live_begin() does, and returns what that returns. `see` is called by taken_read(). To be ended in any case. */
int taken_begin(struct taken *t, struct live *l, const struct taken_options *o, taken_see *see, void *context);

/*
 * Hands over what has come until now, each stream's packets in their order, for TAKEN_TURN at most: packets may come faster
 * than they are handed over. false: it cannot be read, which is said.
 */
bool taken_read(struct taken *t);

/* The same until there are none any more: behind live_detach(). */
bool taken_read_rest(struct taken *t);

/* Since the start: faulty packets beyond the limit, and records that found no room in the buffer. */
__u64 taken_suppressed(const struct taken *t);
__u64 taken_lost(const struct taken *t);

/* What was seen on one interface, and how many records of it were lost. */
struct capture_interface taken_interface(const struct taken *t, __u32 interface);

void taken_end(struct taken *t);

#endif
