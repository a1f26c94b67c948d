/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types that the kernel's programs and user space share for capturing. */
#ifndef BPF_CAPTURE_ABI_H
#define BPF_CAPTURE_ABI_H

#include "bpf/abi.h"
#include "roce/event/event.h"
#include "roce/event/focus.h"

/* Headers of the last packets, remembered per stream. Ethernet, VLAN, IPv6, UDP, BTH, RETH and ImmDt fit. */
#define RECENT_HEADERS 4
#define RECENT_BYTES 112

/* A power of two. An interface's place is its index modulo this. */
#define CAPTURE_INTERFACES 256

/* Why a packet was taken. */
enum capture_what { CAPTURE_FAULT, CAPTURE_BEFORE, CAPTURE_AFTER, CAPTURE_SAMPLE };

/* Where a packet was seen. */
struct capture_origin {
	__u64 time; /* ns, CLOCK_MONOTONIC; never falls within a stream */
	__u64 id;   /* unique within the run */
	__u32 ifindex;
	__u32 queue;  /* incoming only */
	__u32 length; /* on the wire, with the tag */
	__u32 tag;    /* the VLAN tag that is missing in the bytes (TPID and TCI); 0: none */
	__u8 outward;
	__u8 verdict; /* of XDP; incoming only */
	__u8 reserved[6];
};

/* A record of the ring buffer. The frame's bytes follow. */
struct capture_record {
	struct capture_origin origin;
	__u64 fault;	  /* id of the faulty packet it belongs to */
	__u64 suppressed; /* faulty packets above the limit so far */
	__u64 lost;	  /* records so far for which the ring had no room */
	__u64 left_out;	  /* for CAPTURE_FAULT: faulty packets of this stream above the limit, since the one before */
	__u32 captured;
	__u16 what;
	__u16 trusted;	  /* the stream after the packet; not for CAPTURE_BEFORE */
	struct roce_event event; /* empty for CAPTURE_BEFORE */
};
_Static_assert(sizeof(struct capture_record) % 8 == 0, "as the ring buffer aligns them");

struct recent_header {
	struct capture_origin origin;
	__u32 captured;
	__u32 reserved;
	__u8 bytes[RECENT_BYTES];
};

/* Faulty packets in the current second. */
struct capture_second {
	__u64 begin;
	__u64 faults;
	__u64 left_out; /* above the limit, and not reported yet */
};

/* Value of the map `recents`, at the stream's place of `streams`. Members that every packet needs come first. */
struct recent {
	__u64 changes;	/* that of `before`: here, because each packet needs it */
	__u64 fault;	/* id of the last faulty packet */
	struct capture_second second;
	__u32 after;	/* packets still to be taken because of the last fault */
	__u32 sampled;
	__u32 known;	/* the state here is this stream's; 0: another program has counted meanwhile (userspace/observe/live/pin.h) */
	__u32 reserved;
	__u64 pad;
	struct roce_before before; /* the stream when it was last saved (roce_save()) */
	__u8 rest[63 - (64 + sizeof(struct roce_before) + 63) % 64];
};
_Static_assert(offsetof(struct recent, before) == 64 && sizeof(struct recent) % 64 == 0, "lines of one stream are of no other");

/* Value of the map `headers`, at the stream's place of `streams`. Only if capture_settings.before is set. */
struct recent_headers {
	__u32 next;	/* slot of the next header, modulo RECENT_HEADERS */
	__u32 kept;	/* remembered headers that were not sent */
	struct recent_header header[RECENT_HEADERS];
};

/* Value of the map `focus`, which user space maps into its memory. The counters are guarded by the stream's guard. */
struct focus_value {
	__u32 on; /* 0: `key` is not used */
	__u32 reserved;
	struct roce_key key;
	__u64 pad[2]; /* keeps what every packet reads in a cache line that is never written */
	struct roce_focus seen;
};
_Static_assert(offsetof(struct focus_value, seen) == 64, "a cache line");

/* Set before the program is loaded. */
struct capture_settings {
	__u32 kinds;   /* ROCE_EVENT() of the events that make a packet faulty */
	__u32 before;  /* headers, RECENT_HEADERS at most */
	__u32 after;   /* packets */
	__u32 snaplen; /* bytes taken of a packet, WIRE_ETH_LEN to FRAME_MAX; 0: FRAME_MAX */
	__u64 limit;   /* faulty packets per stream and second; user space stores `no limit` as UINT64_MAX */
	__u32 sample;  /* the first packets of each stream that are taken, faulty or not */
};

struct capture_interface {
	__u64 frames; /* frames seen */
	__u64 lost;   /* records */
};

/* Value of the per-CPU map `captures`. */
struct capture_cpu {
	struct roce_event event;   /* events of the current packet */
	struct capture_origin origin;
	struct capture_second second; /* for packets without a stream */
	struct capture_interface interface[CAPTURE_INTERFACES];
	struct capture_record record;
	__u8 bytes[(FRAME_MAX + 63) / 64 * 64];
};
_Static_assert(offsetof(struct capture_cpu, bytes) ==
	       offsetof(struct capture_cpu, record) + sizeof(struct capture_record), "one piece");

#endif
