/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel's program and user space share: the values of its maps and its settings. */
#ifndef BPF_ABI_H
#define BPF_ABI_H

#include <linux/bpf.h>

#include "roce/dialogue.h"

/*
 * What maps hold may outlive the build that made them (userspace/live/pin.h). Changed types are noticed; to be counted up where
 * the same types come to mean something else: how a key is hashed, in what unit something is counted. All that was counted
 * is then lost.
 */
#define ABI_MEANING 1

/* The longest frame whose ICRC is computed: MTU 9216 with Ethernet and two VLAN tags. */
#define FRAME_MAX 9280
_Static_assert(FRAME_MAX <= FOLD_MAX, "the work area holds it");

/* Pairs of streams that are remembered until a stream asks; more if user space puts more there. */
#define PAIRS_MAX 16384

/*
 * The table of streams: an index of buckets, which hash to a stream's place, and the streams themselves. There are so many
 * buckets that they are an eighth full when every stream is taken: a bucket that overflows is then as good as impossible
 * (Poisson, mean 2, more than 15: 4e-10 a bucket).
 */
#define TABLE_WAYS 15
#define TABLE_BUCKETS_FOR(streams) ((streams) / 2)

/* Free where the tag is 0. */
struct table_way {
	__u64 word; /* tag (part of the key's hash) and, above it, place in `streams`: readers without the lock see both or none */
	__u32 seen; /* tick of the last packet */
	__u32 reserved;
};

struct table_bucket {
	struct bpf_spin_lock lock; /* of the ways, against other writers */
	__u32 reserved[3]; /* a multiple of a cache line in all */
	struct table_way ways[TABLE_WAYS]; /* the first ones, mostly all there are, in the lock's cache line */
};

/*
 * Value of the map `streams`, which user space maps into its memory. Odd `sequence`: a CPU is at work on it. It is the lock
 * and, for readers, tells whether what they have copied was whole.
 */
struct stream_value {
	__u32 sequence;
	__u32 reserved;
	struct roce_key key;
	struct roce_stream stream;
	__u8 pad[63 - (48 + sizeof(struct roce_stream) + 63) % 64];
};
#define LINE_OF(member) (offsetof(struct stream_value, member) / 64)
_Static_assert(LINE_OF(stream.psn.next) == 0, "found with the key");
_Static_assert(LINE_OF(stream.message) == LINE_OF(stream.lint_state), "a line");
_Static_assert(LINE_OF(stream.last_psn) == LINE_OF(stream.used), "a line");
_Static_assert(LINE_OF(stream.last) == LINE_OF(stream.first_seen), "a line");
_Static_assert(LINE_OF(stream.counters.value[COUNTER_roce_packets]) ==
	       LINE_OF(stream.counters.value[COUNTER_messages]), "a line");
_Static_assert(sizeof(struct stream_value) % 64 == 0, "lines of one stream are of no other");
/*
 * 65,536 streams in 96 MiB, of which the pairs and all else take less than three: 1488 bytes for each. Half a bucket takes 128
 * and a stream 1280, of which 1272 are used. Eight more counters of streams make it 1336, so 1344 in whole lines: 1472. One
 * more would be too many; counters of frames (scope FRAME) cost streams nothing.
 */
_Static_assert(sizeof(struct stream_value) + sizeof(struct table_bucket) / 2 <= 93 * 16, "93 MiB");

/* Places of `streams` were given out one after the other up to here; from then on idle ones are taken over. */
struct table_state {
	struct bpf_spin_lock lock; /* of `given`; before Linux 5.17 of every stream as well */
	__u32 given;
};

/* The place of a way whose stream is being made. */
#define TABLE_PENDING 0xffffffff

#define TICK_SHIFT 20 /* a tick is 2^20 ns, about a millisecond */

/* A stream that may go. */
struct table_victim {
	__u32 bucket;
	__u32 way;
	__u32 place;
	__u8 found;
	__u8 trusted;
};

/* What a CPU keeps of the table for itself. */
struct table_cpu {
	__u32 hand;  /* the next bucket to be swept for idle streams */
	__u32 way;   /* of a newcomer */
	struct table_victim victim; /* here and not on the stack: the verifier would follow each that could be */
};

/* Value of the map `totals`: what one CPU has counted of all frames. */
struct totals_value {
	struct roce_totals totals;
	__u8 pad[63 - (sizeof(struct roce_totals) + 63) % 64]; /* no CPU writes to another's cache lines */
};
_Static_assert(sizeof(struct totals_value) % 64 == 0, "lines of one CPU are of no other");

/* One for each CPU, and one for user space: what it has carried over from maps of another layout (userspace/live/carry.h). */
#define TOTALS_ENTRIES_FOR(cpus) ((cpus) + 1)

/* Value of the per-CPU map `scratches`: what a CPU has for itself. Nothing in it outlives a packet but the clock and the table's hand. */
struct scratch {
	struct fold_work work; /* the frame's beginning, or all of it */
	/* not on the stack, where verification would follow every value each of them can have */
	struct roce_packet packet;
	struct roce_key key;
	struct roce_told told;
	struct table_cpu table;
	__u32 cpu;    /* 1 + its number, 0: not asked for yet */
	__u32 length; /* of the frame on the wire */
	__u32 tag;    /* VLAN tag that the frame has lost already, with bit 16 set; 0: none */
	__u64 jiffies; /* when the clock was read last */
	__u64 now;     /* ns, CLOCK_MONOTONIC, as it was then */
	__u64 frames; /* that this CPU has counted, this one included; for programs that capture */
	__u32 place;   /* 1 + that of the packet's stream, 0: it has none */
	__u8 wanted;  /* its ICRC is to be verified */
	__u8 icrc;    /* for functions apart from what has verified it: enum icrc_verdict */
	__u8 linear;  /* it can be read where it is; else it is here, all of it if its ICRC is wanted */
	__u8 cut;     /* WATCH_DECAP: it was in a tunnel, and a mirror may have cut it before `length` */
	__u8 trusted; /* with WATCH_CAPTURE, of the stream before the packet: struct roce_before has them */
	__u8 unknown; /* with WATCH_CAPTURE: nobody has looked at the stream yet */
	__u32 expected;
	__u32 skipped; /* bytes of the tunnel in front of it */
};

/* Set before the program is loaded; maps_complete_settings() sees to what is below max_streams. */
struct monitor_settings {
	struct roce_ports ports;
	__u32 icrc_every; /* the ICRC of one frame out of so many, drawn at random, is verified; 0: of none */
	__u32 drop;	  /* 1: what came in is dropped after it was counted */
	__u32 dialogues;  /* 1: requests and answers are both seen here, and met; the map `dialogues` has room for them */
	__u32 max_streams;
	__u32 bucket_mask;  /* number of buckets, a power of two, less one */
	__u32 idle_ticks;   /* a stream that had no packet for so long may be evicted */
	__u32 plain_release; /* 1: this CPU's stores are seen in their order, as on x86 */
	__u64 hash_seed;    /* random, so that nobody can aim at a bucket */
};

#endif
