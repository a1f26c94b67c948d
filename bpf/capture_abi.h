/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel's program and user space share of capturing: packets that were chosen, and by what they are. */
#ifndef BPF_CAPTURE_ABI_H
#define BPF_CAPTURE_ABI_H

#include "bpf/abi.h"
#include "roce/event.h"
#include "roce/focus.h"

/* Of each stream the headers of the last packets are remembered: Ethernet, VLAN, IPv6, UDP, BTH, RETH and ImmDt fit. */
#define RECENT_HEADERS 4
#define RECENT_BYTES 112

/* A power of two. Interfaces have a place by their index, modulo this. */
#define CAPTURE_INTERFACES 256

/* Why a packet was taken. */
enum capture_what { CAPTURE_FAULT, CAPTURE_BEFORE, CAPTURE_AFTER, CAPTURE_SAMPLE };

/* Where a packet was seen. */
struct capture_origin {
	__u64 time; /* ns, CLOCK_MONOTONIC; of one stream never falling */
	__u64 id;   /* of no other packet of the run */
	__u32 ifindex;
	__u32 queue;  /* inward only */
	__u32 length; /* on the wire, with the tag */
	__u32 tag;    /* the VLAN tag that is missing in the bytes (TPID and TCI), 0: none */
	__u8 outward;
	__u8 verdict; /* of XDP, inward only */
	__u8 reserved[6];
};

/* What is in the ring buffer; so many bytes of the frame follow. */
struct capture_record {
	struct capture_origin origin;
	__u64 fault;	  /* id of the faulty packet that it belongs to */
	__u64 suppressed; /* faulty packets beyond the limit, until now */
	__u64 lost;	  /* records that found no room, until now */
	__u64 left_out;	  /* of CAPTURE_FAULT: faulty packets of this stream beyond the limit, since the one before */
	__u32 captured;
	__u16 what;
	__u16 trusted;	  /* the stream, behind the packet; not for CAPTURE_BEFORE */
	struct roce_event event; /* empty for CAPTURE_BEFORE */
};
_Static_assert(sizeof(struct capture_record) % 8 == 0, "as the ring buffer aligns them");

struct recent_header {
	struct capture_origin origin;
	__u32 captured;
	__u32 reserved;
	__u8 bytes[RECENT_BYTES];
};

/* How many faulty packets there were in this second. */
struct capture_second {
	__u64 begin;
	__u64 faults;
	__u64 left_out; /* beyond the limit, and not told yet */
};

/* Value of the map `recents`, of the stream at the same place of `streams`: first what every packet needs. */
struct recent {
	__u64 shown;	/* roce_shown() behind the last packet */
	__u64 fault;	/* id of the last one */
	struct capture_second second;
	__u32 after;	/* so many packets are taken because of the fault before */
	__u32 sampled;
	__u32 known;	/* what is above and below is the stream's; 0: another program has counted it (userspace/live/pin.h) */
	__u32 reserved;
	__u64 pad;
	struct roce_before before; /* as `shown` */
	__u8 rest[63 - (64 + sizeof(struct roce_before) + 63) % 64];
};
_Static_assert(offsetof(struct recent, before) == 64 && sizeof(struct recent) % 64 == 0, "lines of one stream are of no other");

/* Value of the map `headers`, likewise; with capture_settings.before only. */
struct recent_headers {
	__u32 next;	/* where the next header goes, modulo RECENT_HEADERS */
	__u32 kept;	/* headers that are remembered and were not taken */
	struct recent_header header[RECENT_HEADERS];
};

/* Value of the map `focus`, which user space maps into its memory. Only a stream's own guard guards what is counted. */
struct focus_value {
	__u32 on; /* 0: `key` is not to be looked at */
	__u32 reserved;
	struct roce_key key;
	__u64 pad[2]; /* what every packet looks at is in a cache line that nobody writes */
	struct roce_focus seen;
};
_Static_assert(offsetof(struct focus_value, seen) == 64, "a cache line");

/* Set before the program is loaded. */
struct capture_settings {
	__u32 kinds;   /* ROCE_EVENT() of those that make a packet faulty */
	__u32 before;  /* headers, RECENT_HEADERS at most */
	__u32 after;   /* packets */
	__u32 snaplen; /* bytes of a packet that are taken, WIRE_ETH_LEN to FRAME_MAX; 0: as many */
	__u64 limit;   /* faulty packets of a stream and second; 0: no limit, but in the kernel */
	__u32 sample;  /* so many packets of each stream are taken whatever they are */
};

struct capture_interface {
	__u64 frames; /* that were seen */
	__u64 lost;   /* records */
};

/* Value of the per-CPU map `captures`. */
struct capture_cpu {
	struct roce_event event;   /* what the packet that is looked at has shown */
	struct capture_origin origin;
	struct capture_second second; /* of packets without stream */
	struct capture_interface interface[CAPTURE_INTERFACES];
	struct capture_record record;
	__u8 bytes[(FRAME_MAX + 63) / 64 * 64];
};
_Static_assert(offsetof(struct capture_cpu, bytes) ==
	       offsetof(struct capture_cpu, record) + sizeof(struct capture_record), "one piece");

#endif
