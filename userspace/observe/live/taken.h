/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads packets that bpf/capture.bpf.c has selected: faulty ones with their context, or the first ones of each stream. For
 * `capture` and the live `doctor`:
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
#ifndef USERSPACE_OBSERVE_LIVE_TAKEN_H
#define USERSPACE_OBSERVE_LIVE_TAKEN_H

#include "bpf/capture_abi.h"
#include "roce/packet/wire.h"
#include "userspace/observe/live/live.h"

#define TAKEN_PAUSE 5000000 /* ns between two readings */
#define TAKEN_TURN 100000000 /* ns, the maximum of one reading */

#define TAKEN_BUFFER (1 << 26)
#define TAKEN_BUFFER_LEAST (1 << 16)
#define TAKEN_BUFFER_MOST (1 << 30)

/* Programs with bpf/capture.h: opened, not loaded. The object is the caller's. */
struct taken_programs {
	struct live_programs live;
	struct capture_settings *capture; /* in the object's read-only data */
};

/* Which packets to take. before, after and snaplen are limited to what is possible. */
struct taken_options {
	struct capture_settings capture;
	__u64 buffer; /* bytes, 0: TAKEN_BUFFER; rounded up to a power of two */
	const struct taken_programs *programs; /* NULL: those of bpf/capture.bpf.c */
};

/* The variables of bpf/capture.h, as each object with it has them. */
struct taken_variables {
	__u64 suppressed, lost;
};

/* bss: struct NAME_bpf__bss of a skeleton with bpf/capture.h. */
#define TAKEN_VARIABLES_ARE(bss) \
	_Static_assert(offsetof(bss, capture_suppressed) == offsetof(struct taken_variables, suppressed) && \
		       offsetof(bss, capture_lost) == offsetof(struct taken_variables, lost) && \
		       sizeof(bss) == sizeof(struct taken_variables), "as struct taken_variables")

struct taken_packet {
	const struct capture_record *record;
	const __u8 *bytes; /* with the VLAN tag; ROCE_WINDOW_BYTES are readable */
	__u32 captured;
	__u32 length;	 /* on the wire */
	__u64 time;	 /* ns since 1970 */
	__u32 interface; /* index in live_options */
};

typedef void taken_see(void *context, const struct taken_packet *p);

struct taken {
	struct live *live;
	struct capture_bpf *bpf; /* NULL: the programs are the caller's */
	struct bpf_object *object;
	struct ring_buffer *ring;
	taken_see *see;
	void *context;
	__u64 until; /* ns, monotonic: end of this reading */
	__u64 realtime_offset; /* CLOCK_REALTIME minus CLOCK_MONOTONIC, ns; constant, so that time never goes back */
	__u8 bytes[FRAME_MAX + WIRE_VLAN_LEN + ROCE_WINDOW_BYTES];
};

/* Calls live_begin(), and returns its result. taken_read() calls `see`. Call taken_end() in any case. */
int taken_begin(struct taken *t, struct live *l, const struct taken_options *o, taken_see *see, void *context);

/*
 * Passes the packets so far to `see`, each stream's in order, for at most TAKEN_TURN, because packets may arrive faster. false:
 * reading failed, which is reported.
 */
bool taken_read(struct taken *t);

/* Passes all remaining packets. Call after live_detach(). */
bool taken_read_rest(struct taken *t);

/* Since the start: faulty packets above the limit, and records for which the buffer had no room. */
__u64 taken_suppressed(const struct taken *t);
__u64 taken_lost(const struct taken *t);

/* The packets seen on one interface, and the records of it that were lost. */
struct capture_interface taken_interface(const struct taken *t, __u32 interface);

void taken_end(struct taken *t);

#endif
