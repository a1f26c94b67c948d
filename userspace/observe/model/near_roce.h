/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames that are nearly RoCE: with another Ethertype or UDP port they would be, or receivers drop them for their lengths or their
 * checksum. The one rule for `doctor`, with and without --bring-up.
 */
#ifndef USERSPACE_OBSERVE_MODEL_NEAR_ROCE_H
#define USERSPACE_OBSERVE_MODEL_NEAR_ROCE_H

#include "userspace/observe/model/observer.h"

enum near_roce {
	NOT_ROCE, /* as far as can be told */
	IS_ROCE,
#define NEAR_ROCE(name, ...) NEAR_##name,
#include "userspace/observe/model/near_roce.def"
	NEAR_ROCES
};

/*
 * is: what was parsed of the frame, without ports of --udp. *would: what it would be with the right field; else *is. *right: the ICRC
 * of *would is right, over RoCEv2's port or over the port that was sent. A packet in a tunnel is NOT_ROCE: nothing is wrong with it.
 */
enum near_roce near_roce_find(const struct observer_frame *f, const struct observer_parsed *is, struct observer_parsed *would,
			      bool *right);

/* Whether one of the frame's UDP ports is like RoCEv2's: the source port, a port near it, or one with its bytes swapped. */
bool near_roce_port(const struct roce_packet *is);

/* Whether a frame ends before its lengths do, though nobody says that it was cut. */
bool near_roce_ends_early(const struct observer_frame *f, const struct roce_packet *p);

struct near_roce_words {
	char said[128], expected[48], found[48]; /* "": nothing */
};

/* is: as for near_roce_find(). */
struct near_roce_words near_roce_say(enum near_roce near, const struct observer_frame *f, const struct roce_packet *is);

/* A frame with one field changed. */
struct changed_frame {
	struct observer_frame frame;
	__u8 bytes[16384 + OBSERVER_READABLE]; /* what is longer is cut */
};

/* Copies the frame, with another value of the two bytes at that offset, which it has. value: host order. */
void changed_frame_make(struct changed_frame *c, const struct observer_frame *f, __u32 at, __u16 value);

#define SWAPPED(n) ((__u16)((n) >> 8 | (n) << 8))

#endif
