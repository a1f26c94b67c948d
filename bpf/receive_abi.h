/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What bpf/receive.bpf.c and user space share. All maps here are arrays that a process maps into its memory; `regions` alone is a
 * hash. Only the kernel writes them, but for `posted`, `claim` and what arms a QP.
 */
#ifndef BPF_RECEIVE_ABI_H
#define BPF_RECEIVE_ABI_H

#include "bpf/abi.h"
#include "roce/responder/responder.h"

/*
 * A value of the map `memory`: part of the memory, which is one range of bytes to whoever maps the map. Kernels before 6.4 have no
 * larger values than 4 MiB (array_map_alloc_check()), and payload that crosses from one to the next takes two copies.
 */
#define RECEIVE_CHUNK (2u << 20)
#define RECEIVE_PAYLOAD 4096 /* most bytes of a packet: the largest path MTU */

struct receive_chunk {
	__u8 byte[RECEIVE_CHUNK];
};

#define RECEIVE_REGIONS 4096	/* at most; entries of the map `regions`, by rkey */
#define RECEIVE_QPS 65536	/* at most */
#define RECEIVE_BLOCK_LEAST 4096 /* bytes of a block at least, so that a payload touches two */

/* Value of the map `qps`, by QPN - receive.first_qpn. */
struct receive_qp {
	__u32 claim; /* 1: a CPU works on a packet of the QP, or user space arms it. Taken by compare-and-exchange */
	__u32 armed; /* how often it was armed */
	struct roce_responder responder;
	/* since it was armed */
	__u64 packets;	  /* taken */
	__u64 bytes;	  /* of payload */
	__u64 messages;	  /* complete */
	__u64 incomplete; /* messages that came in part */
	__u64 refused;	  /* packets */
	__u64 first_ns;	  /* CLOCK_MONOTONIC, of the first and the last packet that was taken; a few ms exact */
	__u64 last_ns;
	__u64 notified_ns; /* the last CNP */
	/* written by readers, so in a cache line of its own */
	__u64 posted __attribute__((aligned(64))); /* receives posted since it was armed */
} __attribute__((aligned(64)));

/* A message that has ended, in the ring of the CPU that took its last packet. */
struct receive_record {
	__u64 number;  /* 1 + how many records of this ring came before; 0 while it is written */
	__u64 time;    /* ns, CLOCK_MONOTONIC, a few ms exact */
	__u64 at;      /* as in struct roce_message_end */
	__u64 receive;
	__u32 length;
	__u32 placed;
	__u32 first_psn;
	__u32 last_psn;
	__u32 immediate; /* host byte order */
	__u32 generation; /* of the block in which the message begins, when the message ended */
	__u32 qp;      /* index */
	__u16 region;
	__u8 flags;    /* MESSAGE_* */
	__u8 reserved;
};
_Static_assert(sizeof(struct receive_record) == 64, "a cache line");

#define RECEIVE_RECORDS 8192 /* of a ring; a power of two */

/* Value of the map `rings`, by CPU. A reader that is slower than the packets finds its next record overwritten. */
struct receive_ring {
	__u64 head; /* records written */
	__u64 reserved[7];
	struct receive_record record[RECEIVE_RECORDS];
};

/* The last packet that was refused for a reason. Host byte order. */
struct receive_example {
	__u8 src[16];
	__u64 va;
	__u64 time; /* CLOCK_MONOTONIC, ns */
	__u32 qpn;
	__u32 psn;
	__u32 expected; /* of the QP; 0 if there is none */
	__u32 rkey;
	__u32 dma_length;
	__u32 payload_bytes;
	__u32 placed; /* of the open message, before the packet */
	__u32 length; /* of the open message */
	__u16 pkey;
	__u8 opcode;
	__u8 open; /* enum responder_open */
	__u8 tver;
	__u8 service; /* of the QP */
	__u8 pad;
	__u8 reserved;
};

enum receive_answer {
	RECEIVE_ACK, RECEIVE_NAK_SEQUENCE, RECEIVE_NAK_INVALID, RECEIVE_NAK_ACCESS, RECEIVE_RNR, RECEIVE_CNP,
	RECEIVE_ANSWERS
};

/* Value of the map `receive_cpus`, by CPU. */
struct receive_cpu {
	__u64 packets; /* taken */
	__u64 bytes;
	__u64 passed; /* RoCE for a QPN that is not ours, left to whoever owns the port */
	__u64 unsent; /* answers that could not be made; what the device loses later its own counters tell */
	__u64 answers[RECEIVE_ANSWERS];
	__u64 refused[ROCE_REFUSALS];
	struct receive_example example[ROCE_REFUSALS];
} __attribute__((aligned(64)));

/*
 * Packets to our address that go no further than this program can be shown to another process (`rocescope doctor --bring-up`): it
 * finds these two maps, `receive_setup` and `regions` by the program's id. Nobody else looks at them, and they are not pinned.
 */

/* Value of the map `receive_showing`, which that process maps into its memory. */
struct receive_showing {
	__u64 until; /* CLOCK_MONOTONIC, ns: packets are shown until then. The reader moves it on, so that it ends with the reader */
	__u64 lost;  /* packets for which there was no room */
};

#define RECEIVE_SHOWN_BYTES 4352 /* a packet with a path MTU of 4096, and more headers than there can be */

/* In the ring `receive_shown`. */
struct receive_shown {
	__u64 time; /* CLOCK_MONOTONIC, ns */
	struct roce_responder responder; /* of its QP, after the packet; all zero: no QP has the QPN */
	struct receive_example example;	 /* if it was refused */
	__u32 length;	  /* bytes of the frame */
	__u32 captured;	  /* bytes of it that are here */
	__u32 answer_psn; /* if there is an answer */
	__u8 refusal;	  /* enum roce_refusal */
	__u8 answers;
	__u8 syndrome;
	__u8 reserved;
	__u32 layout;	  /* RECEIVE_LAYOUT */
	__u8 byte[RECEIVE_SHOWN_BYTES];
};

#define RECEIVE_SHOWN_RING (1u << 20)

/*
 * A number for the layouts in this file and of struct roce_responder. Count it up with each change: the sizes may stay, and readers
 * would not notice.
 */
#define RECEIVE_LAYOUT 1

/* Set before the program is loaded. The map `receive_setup` has a copy for readers. */
struct receive_settings {
	__u32 layout;	  /* RECEIVE_LAYOUT of the build that made the maps; always the first member */
	__u32 reserved;
	__u8 own[16];	  /* our address, as struct roce_packet's dst */
	__u32 first_qpn;
	__u32 qps;
	__u64 memory;	  /* bytes, a multiple of RECEIVE_CHUNK */
	__u64 block;	  /* bytes of a block, whose generations are counted */
	__u32 each;	  /* 1: a record of each message, also of those without immediate data */
	__u32 notify;	  /* 1: a CNP for packets marked CE */
	__u32 receives;	  /* readers keep so many posted on a QP, but no more than it has buffers, if it has any; 0: not told */
	/*
	 * 1: answers leave by redirection to their own interface. veth wakes its peer for XDP_TX only if that has an XDP program
	 * (veth_xdp_flush(), drivers/net/veth.c); without one they wait for the next packet that comes that way.
	 */
	__u32 redirect;
};

#define RECEIVE_NOTIFY_NS 50000 /* between two CNPs of a QP, as the NICs' default minimum */

#endif
