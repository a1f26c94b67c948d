/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What requests and responses of a pair say together, where both are seen at one place: how long an answer takes, how many
 * PSNs are outstanding, how long a full window waits, and why a requester went back (go-back-N). It belongs to the request
 * stream; its storage is the caller's, as the stream's is.
 */
#ifndef ROCE_DIALOGUE_H
#define ROCE_DIALOGUE_H

#include "roce/stream.h"

/* Two buckets an octave: bucket 2n + h holds latencies from 2^(n+9) * (h ? 1.5 : 1) ns on; the first and last all beyond. */
#define DIALOGUE_BUCKETS 52

struct roce_latency {
	__u64 count;
	__u64 sum; /* ns */
	__u64 most; /* ns */
	__u32 bucket[DIALOGUE_BUCKETS];
};

/* Why a requester sends again what it had sent before. */
enum dialogue_cause {
	DIALOGUE_NAK,	  /* a NAK of a PSN sequence error */
	DIALOGUE_RNR,	  /* the receiver was not ready */
	DIALOGUE_GAP,	  /* responses to READs are missing: the requester's own conclusion */
	DIALOGUE_TIMEOUT, /* nothing at all came */
	DIALOGUE_CAUSES
};

/* Numbers are the stream's own: PSNs counted on in 64 bits. */
struct roce_dialogue {
	__u64 sent;	   /* behind the newest PSN that was requested */
	__u64 answered;	   /* behind the newest one that was acknowledged, or whose READ response came */
	__u64 last_sent;   /* ns */
	__u64 last_answer; /* ns */
	__u32 outstanding; /* PSNs sent and not answered */
	__u32 outstanding_most;
	__u32 reads;	   /* READs and atomics sent and not answered */
	__u32 reads_most;
	__u64 waiting_ns;  /* time in which something was outstanding */
	__u64 full_ns;	   /* of that: in which as much was outstanding as ever, and nothing more was sent */
	__u64 back[DIALOGUE_CAUSES]; /* episodes of going back */
	__u64 back_packets; /* sent again in them */
	struct roce_latency ack;  /* from a request that asks for an acknowledgement to what acknowledges it */
	struct roce_latency read; /* from a READ or atomic request to its first response packet */
};

#endif
