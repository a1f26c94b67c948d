/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stream: its key, all that is remembered of it, and what can be read from that. The rules by which it changes are in headers of
 * their own, which only those include that pass packets to streams: roce/observe.h and what it includes.
 */
#ifndef ROCE_STREAM_STREAM_H
#define ROCE_STREAM_STREAM_H

#include "roce/packet/packet.h"
#include "roce/packet/pair.h"
#include "roce/stream/counters.h"

enum roce_side { SIDE_REQUEST, SIDE_RESPONSE };

/* Separates numbers of different kinds. */
enum roce_key_kind { KEY_NONE, KEY_CONNECTED, KEY_DATAGRAM, KEY_UDP };

/*
 * RC, UC, XRC: source, destination, destination QPN, side. UD: source and source QPN (DETH), for all destinations. --udp:
 * source, destination, port, flow. VLAN and interface are not part of the key. No padding: maps compare the bytes.
 */
struct roce_key {
	__u8 src[16];
	__u8 dst[16]; /* UD: zero */
	__u32 qpn;    /* UD: the source's */
	__u16 port;   /* --udp only */
	__u8 side;
	__u8 kind;
};
_Static_assert(sizeof(struct roce_key) == 40, "no padding");

/* ---- the sequence (roce/sequence/psn.h) ---- */

#define PSN_WINDOW 1024	  /* numbers in the near window: each stream knows which of them are missing */
#define PSN_WORDS (PSN_WINDOW / 64)
#define PSN_GAP_MAX 65535 /* a larger jump forward is another place in the sequence, not a loss */
#define PSN_NO_LATE (~0ull) /* value of `late`: this sequence gets no late window */

struct roce_psn {
	__u64 next; /* the next expected number */
	__u64 seen[PSN_WORDS];	 /* bit number % PSN_WINDOW of the last PSN_WINDOW numbers; 1: seen */
	__u64 begin;		 /* the first number */
	__u64 late;		 /* the late window, as the pool names it; 0: none, and nothing is missing there */
	__u64 unknown_before;	 /* a number before this one may be missing, though no window says so */
	/*
	 * Variables of the rare paths: the arguments of psn_forward(), and those of psn_any() and psn_recover(). They are in
	 * memory because the verifier would follow each value of a register.
	 */
	volatile __u64 any;
	volatile __u32 move_seen, move_unseen, move_take;
	volatile __u32 found;
	__u32 forgotten; /* missing numbers that there was no late window for, not yet counted */
	__u32 reordered; /* a missing number has come */
	__u32 messages, blocks; /* what the stream had counted before its last packet (roce/sequence/probation.h) */
};

/* Whether the window has no missing number. */
roce_inline bool psn_is_whole(const struct roce_psn *w)
{
	__u64 seen = ~0ull;

	for (int i = 0; i < PSN_WORDS; i++)
		seen &= w->seen[i];
	return !~seen;
}

/* ---- messages (roce/message/message.h) ---- */

#define MESSAGE_IMM_STEPS 4    /* equal steps in a row that make immediate data a counter */
#define MESSAGE_NO_PSN (~0u)   /* a value that no PSN has */
#define MESSAGE_IMM_GAP 65535  /* values; after a larger jump the field has another meaning */

/* What a UC receiver has open. */
enum message_open {
	MESSAGE_NONE,  /* nothing: it drops packets until the next First */
	MESSAGE_FIRST, /* a message of which only the First has arrived */
	MESSAGE_MORE,
};

/*
 * UC: besides its receiver's open message, the newest message is followed: that of the packet farthest in the sequence. It is
 * counted once, broken or not. A late First opens another message for the receiver; the newest stays.
 */
struct roce_message {
	__u32 next;	 /* UC: the PSN behind the last packet, if the receiver has taken it, else MESSAGE_NO_PSN */
	__u32 first;	 /* UC: the PSN of the newest message's First, */
	__u32 bytes;	 /* its DMA length (0: unknown), */
	/* of blocks (roce/sequence/block.h); here, because each packet with immediate data needs it */
	__u32 immediate; /* the last value */
	__u32 step;	 /* from one value to the next, or the last difference */
	__u32 begin;	 /* BLOCK_BEGUN and the PSN behind the last immediate data; 0: not known */
	__u16 payload;	 /* UC: the payload of the First of the newest message, which is the path MTU */
	__u8 open;
	__u8 late;	 /* a late First opened this message: it was already counted as broken */
	__u8 unended;	 /* the newest message's last packet is missing; if it is not the open one, it was counted as broken */
	__u8 met; /* a message's beginning or end was seen: from now on a headless message is broken */
	__u8 counts; /* how often in a row the step was the same, up to MESSAGE_IMM_STEPS; BLOCK_CHECK */
	/* goes up when a counter that shows an event may change (roce/event/event.h); here, because each packet needs this line */
	__u8 changes;
};

/* ---- blocks (roce/sequence/block.h, roce/sequence/ring.h) ---- */

#define BLOCK_BEGUN (1u << 31)
/* the next immediate data is not merely the next value: PSNs were skipped since the last, or a message broke */
#define BLOCK_CHECK 0x80
#define BLOCKS_OPEN 6	/* incomplete blocks that are remembered */

/* What few packets need of the blocks. */
struct roce_blocks {
	__u64 missing;		     /* bit i: the value i + 1 steps before `newest` has not come */
	__u32 from[BLOCKS_OPEN];     /* incomplete blocks: the PSN of the first packet, */
	__u16 packets[BLOCKS_OPEN];  /* and how many there are; 0: no block here, nor at a higher index */
	__u32 newest;		     /* a value, the last when `missing` was used */
	__u16 span;		     /* PSNs of a block, if those that were left out last and the next one are equally long, else 0 */
	__u8 bits;		     /* of the counter, learnt where it went round; 0: all */
	__u8 shared;		     /* several messages had the same value */
	__u8 behind;		     /* UC: how many of the last values a receiver has not got */
	__u8 judged;		     /* what else the newest block lacks does not count: it is too long, or began in another sequence */
	volatile __u8 at;	     /* a variable of block_find(), in memory because the verifier would follow its values */
};

#define RING_MESSAGES 4 /* messages of several packets, of which the address is remembered until their Last comes */
#define RING_TOLD (MESSAGE_IMM_STEPS + 1) /* value of `row` */

/* Of a stream whose blocks are slots of a ring (roce/sequence/ring.h). */
struct roce_ring_state {
	struct roce_ring ring; /* what was learnt: valid if row is MESSAGE_IMM_STEPS; slots 0: not seen to go round yet */
	__u32 last; /* BLOCK_BEGUN and the PSN of the last packet of the message that roce_last describes; 0: none */
	__u16 span; /* PSNs from one slot's end to the next; 0: not known */
	__u8 row;   /* how often in a row addresses stepped by ring.slot, up to MESSAGE_IMM_STEPS */
	__u8 beside; /* of a probation: it counts blocks */
	__u8 next;  /* of message[], modulo RING_MESSAGES */
	__u8 unused[3];
	struct {
		__u32 last; /* BLOCK_BEGUN and the PSN of the Last; 0: none */
		__u32 slot; /* that it ends, or RING_NONE */
	} message[RING_MESSAGES];
};

roce_inline bool ring_is_learnt(const struct roce_ring_state *r)
{
	return r->row == MESSAGE_IMM_STEPS;
}

roce_inline bool ring_is_known(const struct roce_ring_state *r)
{
	return r->row >= MESSAGE_IMM_STEPS;
}

/* ---- lints (roce/stream/lint.h) ---- */

enum roce_lint {
#define LINT(name, ...) LINT_##name,
#include "roce/stream/lint.def"
#undef LINT
	ROCE_LINTS
};

/* The set of those of class HABIT. */
enum {
	LINT_HABITS = 0
#define LINT_CLASS_FAULT(lint)
#define LINT_CLASS_HABIT(lint) | 1u << lint
#define LINT(name, class, ...) LINT_CLASS_##class(LINT_##name)
#include "roce/stream/lint.def"
#undef LINT
#undef LINT_CLASS_FAULT
#undef LINT_CLASS_HABIT
};

/* What the lints remember of a stream. */
struct roce_lint_state {
	__u32 dma_next;   /* PSN + 1 that continues the WRITE whose payload is added up; 0: none */
	__u32 dma_length; /* DMA length of that WRITE */
	__u32 dma_bytes;  /* its payload so far */
	__u16 partial;    /* payload of First and Middle packets since the last break of the sequence; 0: none seen */
	__u16 service;	  /* service + 1 of the packet before; 0: unknown */
	__u32 psn;	  /* PSN + 1 of the last repetition */
	__u32 psn_what;	  /* the packet that had it */
	__u32 icrc;	  /* the last bad one */
	__u8 psn_row;	  /* repetitions of psn by other packets */
	__u8 icrc_row;	  /* packets with this ICRC */
	__u8 bad_row;	  /* bad ICRCs in a row */
	__u8 no_copies;	  /* no frame comes twice (struct roce_copies); here, because each packet needs this line */
};

/* ---- frames that are captured twice (roce/sequence/copies.h) ---- */

#define COPIES 28 /* PSNs that a copy may be behind its frame */

/* Whether the sender gives each packet another IPv4 identification. */
enum copies_id { COPIES_NONE, COPIES_ALONE /* one packet with 0 */, COPIES_CONSTANT, COPIES_COUNTED };

/* The last packets of the stream that were no copies, while copies are looked for (`no_copies`). */
struct roce_copies {
	__u16 seen[COPIES]; /* by PSN: a digest of identification, PSN, opcode and length; 0: none */
	__u16 id;	    /* identification of the last one */
	__u16 quiet;	    /* packets without a copy or a duplicate since the last one */
	__u8 by_id;	    /* enum copies_id */
	__u8 alone;	    /* copies of the first packet, if its identification is 0: does the sender count it? */
};

/* ---- READ and atomic requests (roce/sequence/asked.h) ---- */

#define ASKED 16 /* ranges of requests that a stream remembers itself: as many READs as RNICs have outstanding */

/*
 * ASKED_VALID | ASKED_PSNS | number << 32 | length (bytes 0: an atomic). Each is one word, so that the peer may read it during a
 * write. While the path MTU is not known, the length is that of one READ in bytes; else requests that follow each other are one
 * range.
 */
struct roce_asked {
	__u64 entry[ASKED];
	__u32 count; /* the next entry is entry[count % ASKED] */
	__u32 unused;
};

/* ---- numbers of datagrams (roce/datagram/heap.h, roce/datagram/udp_number.h) ---- */

#define HEAPS 4

enum heap_state { HEAP_NONE, HEAP_OPEN, HEAP_COMPLETE };

struct udp_heap {
	__u64 id;
	__u64 seen;	/* bit n: the datagram n before the farthest one has come */
	__u32 farthest; /* place of the datagram farthest in the heap, in datagrams */
	__u32 received; /* bytes */
	__u32 state;	/* enum heap_state */
	__u32 unused;
};

struct udp_heaps {
	struct udp_heap heap[HEAPS];
	__u32 next;	/* the next heap takes the place next % HEAPS */
	__u32 datagram; /* bytes: the longest payload of the stream, by which places are counted */
};

/* VDIF: frames are counted from 0 in each second. */
struct udp_second {
	__u64 base;    /* number of the newest second's frame 0 */
	__u32 second;  /* the newest one */
	__u32 frame;   /* the largest frame of it */
	__u32 frames;  /* in a second, as far as is known: 1 + the largest frame before a second's change; 0: not known */
	__u32 met;
};

/* VITA 49: 4 bits count packets, and time stamps tell how often they went round. */
struct udp_time {
	__u64 time;   /* of the newest packet */
	__u64 number; /* its number */
	__u64 period; /* time between two packets: the shortest one seen; 0: not known */
	__u32 second;
	__u32 met;
};

/* What a stream remembers of its datagrams besides their numbers. */
struct udp_state {
	union { /* by the kind of its port's format */
		struct udp_heaps heaps;
		struct udp_second second;
		struct udp_time time;
	};
};

/* ---- the stream ---- */

/* What was seen last, for display. */
struct roce_last {
	__u64 va;
	__u32 rkey;
	__u32 dma_length;
	__u32 arrival; /* not for display: see `arrival` of the stream */
	__u16 udp_source_port;
	__u16 vlan;
	__u8 vlan_tags;
	__u8 tos; /* of the newest packet that has a place in the sequence, if there was one */
	__u8 tos_before; /* before the last of class_changes */
	__u8 ttl;
	__u8 src_mac[6];
	__u8 dst_mac[6];
	__u64 psn; /* acknowledgements included */
};

/* Why a sequence was taken for another one. */
enum roce_restart_by {
	RESTART_NONE,
	RESTART_HANDSHAKE, /* connection management, or a pair from --expect */
	RESTART_MSN,	   /* the peer's message sequence number has fallen */
	RESTART_PACKET,	   /* another packet than before has a remembered PSN */
	RESTART_RUN,	   /* the length of the run of PSNs seen before */
	RESTART_ELSEWHERE, /* consecutive PSNs that are too far away, or of a service that sends nothing again */
};

/* A packet of a reliable service with its number, to tell another one with that number. */
struct roce_sample {
	__u32 number; /* the lower bits */
	__u32 what;   /* of its headers, 0: none */
};

/* What is followed beside the sequence (roce/sequence/probation.h). */
enum probation_kind {
	PROBATION_NONE,
	PROBATION_GAP,	     /* one packet behind a large gap: it may be a stray, or the gap a loss */
	PROBATION_ELSEWHERE, /* too far away for a loss */
	PROBATION_AGAIN,     /* PSNs seen before: sent again, or the QP is used again */
};

/* What a packet with the expected number has to check. */
enum stream_plain {
	PLAIN_NOT, /* everything: stream_rare() */
	PLAIN,	   /* whether the window remembers something where the number goes */
	PLAIN_ALL, /* nothing: the window has no missing number */
};

_Static_assert(sizeof(struct udp_state) <= sizeof(struct roce_asked), "stream_clear() clears both");
_Static_assert(sizeof(struct roce_copies) <= sizeof(struct roce_ring_state), "stream_clear() clears both");

#define ACKED_VALID (1u << 31)
#define STREAM_SAMPLES 8
#define STREAM_DEPTHS 17 /* of reordering, one per power of two; the last one holds PSN_REACH */

/*
 * With thousands of streams, cache lines make up a packet's cost. What each packet needs stands in front, and what few packets
 * need is in groups. A packet that is in order, while nothing is missing, needs four lines: that of last_seen and psn.next, that
 * of the message, that of the last packet, and that of the first counters (bpf/abi.h asserts it).
 *
 * Pinned state has these names: one that changes goes into `renamed` of userspace/observe/live/layout.c.
 */
struct roce_stream {
	__u64 last_seen; /* ns, the caller's clock */
	struct roce_psn psn;
	struct roce_message message;
	struct roce_lint_state lint_state;
	struct roce_last last;
	__u32 path_mtu;	/* bytes, learnt from First and Middle packets, the spans of READs, or the pair; 0: not known */
	/*
	 * Generation of the pairs of this QPN (pair_generation_of()) when the stream last looked for its own. The store of
	 * pairs counts up, from 1, when it learns one; a stream with another number looks again.
	 */
	__u32 pair_generation;
	__u8 service;	/* enum roce_service */
	__u8 met;	/* a packet with a place in the sequence was seen */
	__u8 trusted;	/* a good ICRC was seen, or ICRCs are not checked */
	__u8 used;	/* any packet was seen */
	__u8 mistrusted; /* it was trusted without verification, until the first verified ICRC was bad */
	__u8 plain;	 /* enum stream_plain */
	__u8 probation;	 /* enum probation_kind */
	__u8 by_ring;	 /* addresses count its blocks: --imm ring, and a WRITE was seen */
	struct {
		__u64 first_psn;
		/* the number that continues another sequence, which was left or came between; if has_interleaved */
		__u64 interleaved_next;
		__u32 run;	/* --udp only */
		__u32 unknown_psns; /* how many of the last PSNs were taken by packets with unknown opcodes */
		__u32 waited;	/* packets that waited in a probation, instead of moving the sequence */
		__u8 has_interleaved;
		/* how often the two sequences took turns lately: each makes the evidence for another one grow */
		__u8 alternations;
		__u8 restart_by; /* enum roce_restart_by, of the last restart */
		__u8 heaps; /* --udp only: what is counted is heaps */
	} sequence;
	struct roce_counters counters;
	struct {
		__u8 dst[16];	/* of the last packet */
		__u32 dqpn;	/* of the last packet */
		__u32 sqpn;	/* RD as well */
	} ud; /* UD only, else 0 */
	__u64 first_seen;
	struct roce_pair pair;
	/* the READ requests before the next packet, for stream_after_read() */
	struct {
		__u64 bytes; /* of the last packet, 0: it was no READ, or takes one PSN whatever the path MTU */
		__u64 end;   /* ... and its end address */
		__u64 at;    /* number of the last READ request */
		__u32 mtu_least; /* lower bound of the path MTU, from an in-order packet behind a READ */
		__u32 own;   /* of the next packet, from stream_revise(): so many PSNs before it belong to the READ, ... */
		__u64 late;	  /* ... and so many from mtu_guess_from on */
		__u64 mtu_guess_from; /* since this number, what was skipped behind READs is explained by `mtu_guess`, ... */
		__u32 mtu_guess_row;  /* ... in so many READs one after the other */
		__u32 mtu_guess;  /* another path MTU, from the last jumps behind READs (`mtu_guess_row`) */
	} reads;
	struct {
		/* of responses */
		__u32 behind[2]; /* PSNs behind those that the last two acknowledgements name, ACKED_VALID if there is one */
		__u32 msn;	 /* the highest one; it counts completed messages (IBTA 9.7.7.1) */
		__u32 msn_falls; /* how often it has fallen */
		__u8 msn_met;
		__u8 msn_less; /* acknowledgements in a row with a lower MSN than one before them */
		/* of requests */
		__u8 spilled;	/* some are remembered in the pool (struct roce_asked_more) */
		__u32 asked_period; /* the next number / PSN_PERIOD when the peer was asked last for what it acknowledges */
		__u64 answered;	/* the number behind the newest acknowledged one, when the peer was asked last */
		__u64 acknowledged; /* numbers before this one were acknowledged when the peer was asked last */
		/* ... and before this one when it was asked the time before: what is missing there has been counted as unseen */
		__u64 unseen_before;
	} acks;
	/* where packets arrive (`last.arrival`), for stream_arrived(), and how late */
	struct {
		__u64 since; /* the next number when packets began to arrive where they do now */
		__u64 next;  /* the number behind the newest one that had arrived there until then, or came late since, ... */
		__u64 before_next; /* ... and the same for `before` */
		__u32 before; /* where packets arrived before they did where they do now */
		/* late packets by how far they were behind: bucket n from 2^n on; at most LINT_COUNT_MOST */
		__u32 depth[STREAM_DEPTHS];
	} arrival;
	struct roce_sample sample[STREAM_SAMPLES];
	__u32 lint[ROCE_LINTS]; /* at most LINT_COUNT_MOST */
	__u32 class_changes; /* packets with another traffic class than the one before (stream_class()); at most LINT_COUNT_MOST */
	union { /* by the key's kind; both would be more than bpf/abi.h has room for */
		struct roce_asked asked; /* not KEY_UDP: requests */
		struct udp_state udp;	 /* KEY_UDP */
	};
	struct roce_blocks blocks;
	union { /* both would be more than bpf/abi.h has room for */
		struct roce_ring_state ring; /* if by_ring */
		struct roce_copies copies;   /* if not */
	};
};

/* Packets that came late, and were not missing as far as is known. */
roce_inline __u64 stream_seen_before(const struct roce_stream *s)
{
	return s->counters.value[COUNTER_psn_duplicates] + s->counters.value[COUNTER_psn_late_unknown];
}

/* Whether immediate data, or a ring's addresses, count blocks. */
roce_inline bool block_counts(const struct roce_stream *s)
{
	return (s->message.counts & ~BLOCK_CHECK) == MESSAGE_IMM_STEPS;
}

/* What is behind the addresses, in one store: it is loaded as one word soon, for which a CPU waits after several stores. */
roce_inline void key_end(struct roce_key *key, __u32 qpn, __u32 port, enum roce_side side, enum roce_key_kind kind)
{
	roce_store(__u64, (__u8 *)key + offsetof(struct roce_key, qpn), qpn | (__u64)(port | side << 16 | kind << 24) << 32);
}

/* The key of the packet's stream. p: kind ROCE_PACKET or ROCE_UDP. */
roce_inline void roce_stream_key(const struct roce_packet *p, struct roce_key *key)
{
	roce_copy16(key->src, p->src);
	if (p->kind == ROCE_PACKET && p->op & OP_DETH && !(p->op & OP_RDETH)) {
		__builtin_memset(key->dst, 0, sizeof(key->dst));
		key_end(key, p->sqpn, 0, SIDE_REQUEST, KEY_DATAGRAM);
		return;
	}
	roce_copy16(key->dst, p->dst);
	if (p->kind == ROCE_UDP)
		key_end(key, p->dqpn, p->udp_port, SIDE_REQUEST, KEY_UDP);
	else
		key_end(key, p->dqpn, 0, p->op & OP_RESPONSE ? SIDE_RESPONSE : SIDE_REQUEST, KEY_CONNECTED);
}

/* The key of the stream that answers this packet's stream, or is answered by it. */
roce_inline void roce_peer_key(const struct roce_stream *s, const struct roce_packet *p, struct roce_key *key)
{
	__builtin_memset(key, 0, sizeof(*key));
	__builtin_memcpy(key->src, p->dst, 16);
	__builtin_memcpy(key->dst, p->src, 16);
	key->kind = KEY_CONNECTED;
	key->qpn = s->pair.peer_qpn;
	key->side = p->op & OP_RESPONSE ? SIDE_REQUEST : SIDE_RESPONSE;
}

/* The key of the pair of the packet's stream. */
roce_inline void roce_pair_key(const struct roce_packet *p, struct roce_pair_key *key)
{
	pair_key(key, p->src, p->dst, p->dqpn);
}

#define LINT_COUNT_MOST 0xffffffffu /* 6.6 minutes of 100 Gbit/s in packets of 1 KiB: from there on "at least" */

/* Adds up to LINT_COUNT_MOST. Without a branch, because the verifier follows each. */
roce_inline void stream_lint_add(__u32 *count, __u32 n)
{
	__u64 sum = (__u64)*count + n, beyond = -(sum >> 32);

	roce_opaque(beyond);
	*count = sum | beyond;
}

/*
 * 1 if the lint is a habit (LINT_HABITS): every packet of the stream that was looked at has it, this one included; else 0.
 * Packets without a lint cost nothing, because the counters tell how many there were. A count at LINT_COUNT_MOST is taken for a
 * habit. Without a branch, because the verifier follows each.
 */
roce_inline __u32 stream_is_habit(const struct roce_stream *s, enum roce_lint lint)
{
	const __u64 *v = s->counters.value;
	__u64 bad = v[COUNTER_icrc_bad] * s->trusted; /* these are looked at on a stream without good ICRCs only */
	__u64 packets = v[COUNTER_roce_packets] + v[COUNTER_rocev1_packets] - bad, had = s->lint[lint];
	__u64 others = packets - had - 1, any = -packets;

	roce_opaque(others);
	roce_opaque(any);
	return LINT_HABITS >> lint & 1 & (others >> 63 | (had + 1) >> 32) & any >> 63;
}

/* Whether counters of scope STREAM enter the totals. Those of phantoms do not, nor those of streams whose PSN nobody checks. */
roce_inline bool roce_is_totalled(const struct roce_stream *s)
{
	return s->trusted && s->service != SERVICE_UD && s->service != SERVICE_UDP;
}

/* Mistakes in headers that are faults. A habit is not a fault. */
roce_inline __u64 stream_lints(const struct roce_stream *s)
{
	__u64 sum = 0;

	for (__u32 i = 0; i < ROCE_LINTS; i++)
		sum += s->lint[i] * (__u64)(1 - stream_is_habit(s, i));
	return sum;
}

/*
 * Adds a stream's counters to the totals, except those that the totals have already: when it is evicted, and in a snapshot.
 * snapshot_total_lost() has what follows from the sums.
 */
roce_inline void roce_add_stream(struct roce_totals *total, const struct roce_stream *s)
{
	const __u64 *v = s->counters.value;

	total->value[COUNTER_lints] += stream_lints(s);
	if (roce_is_totalled(s)) {
#define SUM(...)
#define COUNTER(name, unit, kind, scope, ...)          \
		if (SCOPE_##scope >= SCOPE_STREAM)     \
			total->value[COUNTER_##name] += v[COUNTER_##name];
#include "roce/stream/counters.def"
#undef COUNTER
		return;
	}
	if (!s->trusted)
		return;
#define COUNTER(...)
#define SUM(name, from, counter, ...)                  \
	if (s->service == SERVICE_##from)              \
		total->value[COUNTER_##name] += v[COUNTER_##counter];
#include "roce/stream/counters.def"
#undef COUNTER
}

#endif
