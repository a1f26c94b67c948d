/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The responder of a QP: what is remembered of it, its memory and its messages. roce/responder/respond.h has the rules. */
#ifndef ROCE_RESPONDER_RESPONDER_H
#define ROCE_RESPONDER_RESPONDER_H

#include "roce/packet/base.h"

enum roce_refusal {
	REFUSAL_NONE, /* taken */
#define REFUSAL(name, about, words) REFUSAL_##name,
#include "roce/responder/refusal.def"
#undef REFUSAL
	ROCE_REFUSALS
};

enum responder_state { RESPONDER_RESET, RESPONDER_READY, RESPONDER_ERROR };

/* The message that the QP is in. */
enum responder_open {
	OPEN_NONE,
	OPEN_WRITE,
	OPEN_SEND,
	OPEN_BROKEN, /* UC: its rest is dropped */
};

/* UC: the message that ended last, where none is open. */
enum responder_ended { ENDED_NONE, ENDED_WHOLE, ENDED_INCOMPLETE };

/* AETH syndromes, IBTA 9.7.5.2 (table 45 and 46): without end-to-end credits. */
#define AETH_ACK 0x1f
#define AETH_RNR 0x20 /* and the timer's code, 0 to 31 */
#define AETH_NAK_SEQUENCE 0x60
#define AETH_NAK_INVALID 0x61
#define AETH_NAK_ACCESS 0x62

#define RESPONDER_DMA_MAX (1u << 31) /* bytes of a message, IBTA 9.7.4.1.6 */
#define RESPONDER_NOWHERE (~0ull)    /* a place that is not known */

/* Registered memory. */
struct roce_region {
	__u64 va;    /* of its first byte, as the RETH has it; va + bytes is at most 2^64 */
	__u64 at;    /* of its first byte, from the beginning of the receiver's memory */
	__u64 bytes;
	__u32 rkey;
	__u32 index;
};

struct roce_responder {
	/* what whoever arms the QP sets; the rest is zero then */
	__u8 peer[16]; /* as struct roce_packet's src */
	__u64 receive_at; /* the first receive buffer, from the beginning of the memory */
	__u32 receive_bytes; /* of one buffer */
	__u32 receive_slots; /* buffers, which are used in turn; 0: none, and receives take immediate data only */
	__u32 qpn;
	__u32 peer_qpn;
	__u32 path_mtu; /* bytes, never 0 */
	__u32 expected; /* PSN */
	__u16 pkey;
	__u8 service; /* SERVICE_RC or SERVICE_UC */
	__u8 state;   /* enum responder_state */
	__u8 rnr_timer; /* code of 5 bits, IBTA 9.7.5.2.8 */
	__u8 endless; /* receives are never used up */

	__u8 open;    /* enum responder_open */
	__u8 asked;   /* a NAK was sent; the next is sent when the expected PSN has come */
	__u32 msn;    /* messages completed, 24 bits */
	/* the message that is open, or has ended last */
	__u32 first_psn;
	__u32 last_psn;	 /* of it, that was seen */
	__u32 length;	 /* bytes; of a SEND: of its buffer */
	__u32 placed;	 /* bytes of it in memory, from its beginning */
	__u64 begin;	 /* its place from the beginning of the memory, or RESPONDER_NOWHERE */
	__u16 region;	 /* struct roce_region's index */
	__u8 flags;	 /* MESSAGE_* */
	union {
		__u8 reserved[5]; /* the name for pinned maps (live/layout.h), whose older builds have zeros here */
		struct {
			__u8 ended; /* enum responder_ended */
			__u16 counted; /* UC: so many PSNs directly before first_psn are of messages that have ended */
		} __attribute__((packed));
	};
	__u64 receives;	 /* used up */
};

enum {
	MESSAGE_IMMEDIATE = 1 << 0,  /* with immediate data */
	MESSAGE_SEND = 1 << 1,	     /* a SEND; else an RDMA WRITE */
	MESSAGE_INCOMPLETE = 1 << 2, /* bytes from `placed` on are missing */
	MESSAGE_HEADLESS = 1 << 3,   /* its first packet was lost or refused: where it belongs is not known */
	MESSAGE_LATE = 1 << 4,	     /* UC: its PSN is before the one that was expected: reordered, or sent again */
};

/* A message that has ended. */
struct roce_message_end {
	__u64 at;	 /* its place from the beginning of the memory, or RESPONDER_NOWHERE */
	__u64 receive;	 /* the number of the receive that it used up, from 0; valid with immediate data, and of a SEND */
	__u32 length;	 /* bytes; 0 if not known */
	__u32 placed;	 /* bytes of it that are in memory, from its beginning */
	__u32 first_psn; /* of its packets that were seen */
	__u32 last_psn;
	__u32 immediate; /* with MESSAGE_IMMEDIATE */
	__u16 region;	 /* of an RDMA WRITE with a length */
	__u8 flags;	 /* MESSAGE_* */
	__u8 valid;	 /* a message has ended */
};

/* What a packet does. */
struct responder_step {
	__u64 at;    /* where the payload belongs, from the beginning of the memory */
	__u32 bytes; /* of payload to copy */
	__u32 answer_psn;
	__u8 refusal; /* enum roce_refusal */
	__u8 answers; /* an answer is sent: */
	__u8 syndrome;
	__u8 reserved;
	__u16 region; /* index, of a WRITE that begins */
	__u8 reserved2[2];
	struct roce_message_end broken; /* a message that this packet shows to be incomplete */
	struct roce_message_end ended;	/* the packet's own message */
};

#endif
