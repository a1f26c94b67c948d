/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of an interface, in both directions: by libpcap those that reach the kernel, and from the program of `rocescope
 * receive` on the same interface those that it takes or drops, which no socket sees. Bring-up is at low rates; what came faster is
 * counted. (userspace/observe/live/overhear.h only looks at what comes, and leaves the interface as it is.)
 */
#ifndef USERSPACE_DIAGNOSE_BRING_UP_LISTEN_H
#define USERSPACE_DIAGNOSE_BRING_UP_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/receive_abi.h"

#define LISTEN_FRAMES 256 /* of a turn */
#define LISTEN_TEXT 256

struct listen_frame {
	__u64 time; /* ns, CLOCK_REALTIME */
	const __u8 *bytes; /* ROCE_WINDOW_BYTES are readable */
	__u32 captured, length;
	bool shown; /* by the receiver, which says what it made of it: */
	union {
		struct receive_shown of_receiver;
		__u8 of_socket[FRAME_MAX];
	};
};

/* The receiver on this interface. */
struct listen_receiver {
	__u32 program; /* its id; 0: there is none that shows packets */
	struct receive_settings setup;
	struct roce_region *region;
	__u32 regions;
	struct receive_showing *showing; /* mapped */
	struct ring_buffer *ring;
};

struct listen {
	const char *interface;
	unsigned int ifindex;
	struct pcap *socket; /* NULL: the interface is down, or it cannot be opened: */
	char why[LISTEN_TEXT]; /* why not everything is seen, in words; "": it is */
	struct listen_receiver receiver;
	__u64 realtime_offset; /* ns */
	__u64 dropped; /* frames that came too fast, of sockets and receivers that are closed */
	struct listen_frame *frames; /* of this turn, as they were read */
	struct listen_frame *order[LISTEN_FRAMES]; /* and in the order of time */
	size_t count;
};

/* false: the interface cannot be listened to at all, which was reported. Call listen_end() in any case. */
bool listen_begin(struct listen *l, const char *interface, unsigned int ifindex);

/* Looks whether the interface can be opened now, and whether a receiver has come or gone. Once a second, and at the beginning. */
void listen_look(struct listen *l);

/* Waits for frames, but no longer than so many ms, and reads them, in the order of time. A signal ends the wait. */
void listen_read(struct listen *l, int ms);

/* Frames that came faster than they were read. */
__u64 listen_dropped(const struct listen *l);

void listen_end(struct listen *l);

/* ---- listen_receiver.c ---- */

/* Looks whether there is a receiver, and has it show its packets for a while. */
void listen_receiver_look(struct listen *l);

/* Adds what it has shown to l->frames. There is one. */
void listen_receiver_read(struct listen *l);
void listen_receiver_close(struct listen *l);

#endif
