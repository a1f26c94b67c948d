/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What requests and responses of a pair show together, where both pass the same place: response latency, outstanding PSNs, the
 * time a requester waits, and why it went back (go-back-N). A dialogue belongs to the stream of requests. The caller stores it
 * and guards it with the stream.
 */
#ifndef ROCE_DIALOGUE_DIALOGUE_H
#define ROCE_DIALOGUE_DIALOGUE_H

#include "roce/packet/base.h"

/* Two buckets an octave: bucket 2n + h begins at 2^(n+9) * (h ? 1.5 : 1) ns. The first and last also hold all values beyond. */
#define DIALOGUE_BUCKETS 52
#define DIALOGUE_FIRST 9 /* the first bucket ends at 1.5 * 2^9 ns */

/* Of all requests that were answered. A request that was timed stands for those that were not, see struct roce_pending. */
struct roce_latency {
	__u64 timed; /* requests whose own latency is in it. dialogue_latencies(): all for which they stand */
	__u64 sum; /* ns */
	__u64 most; /* ns, of those timed */
	__u64 bucket[DIALOGUE_BUCKETS]; /* 64 bits: at a million a second, 32 bits would overflow within 72 minutes */
};

/* Why a requester sends a request again. */
enum dialogue_cause {
	DIALOGUE_NAK,	  /* a NAK of a PSN sequence error */
	DIALOGUE_RNR,	  /* the receiver was not ready */
	DIALOGUE_GAP,	  /* READ responses are missing: the requester saw it itself */
	DIALOGUE_TIMEOUT, /* no response came */
	DIALOGUE_CAUSES
};

#define DIALOGUE_PENDING 16 /* requests timed at a time */
#define DIALOGUE_SHIFT 15   /* the sample's largest shift: half a million requests in flight */

/*
 * Unanswered requests that are timed, ordered by PSN. While there is room that is each of them, with shift 0. Else it is one of
 * each 2^shift, and stands for all of these: when there is no room, one of each two entries goes, and shift grows by one; when
 * less than half of the room is used, each entry is doubled, and shift falls. So all entries have the same weight at any time.
 * Which one is timed is drawn: what repeats with each 2^n-th request would otherwise be seen always or never.
 */
struct roce_pending {
	/* time (ns) << 24 | PSN; the time wraps after 18 minutes, longer than any request waits */
	__u64 entry[DIALOGUE_PENDING];
	__u16 random; /* the newest number drawn: the same in the kernel and in user space */
	__u16 skip; /* requests before the next one that is timed */
	__u8 begin, length; /* entries begin .. begin + length - 1, each modulo DIALOGUE_PENDING */
	__u8 shift;
	__u8 unused;
};

/* Numbers are PSNs extended to 64 bits. Starts as zeroes. */
struct roce_dialogue {
	__u64 sent;	   /* newest requested PSN + 1 */
	__u64 answered;	   /* newest acknowledged PSN, or PSN of a READ response, + 1 */
	__u64 last_sent;   /* ns: last request, repeated ones included */
	__u64 last_answer; /* ns: last response that acknowledged something new */
	__u64 silent_since; /* ns: something is outstanding since then, without any answer, not even a NAK */
	__u32 outstanding; /* PSNs sent and not answered */
	__u32 outstanding_most;
	__u32 reads;	   /* READs and atomics sent and not answered */
	__u32 reads_most;
	__u64 waiting_ns;  /* time with something outstanding, up to the last packet of either direction */
	/*
	 * The part of waiting_ns in which the requester sent nothing more until a response came, and then sent at once. A
	 * requester that has data but may not send does this: its window is full.
	 */
	__u64 full_ns;
	__u64 back[DIALOGUE_CAUSES]; /* episodes of go-back-N */
	__u64 selective[DIALOGUE_CAUSES]; /* packets sent again alone, though others had been sent after them */
	__u64 back_packets; /* packets sent again in these episodes */
	__u64 timeout_ns;   /* without a packet, before the last episode of DIALOGUE_TIMEOUT: the requester's timer */
	struct roce_latency ack;  /* ns: first transmission of a request with AckReq, to its acknowledgement */
	struct roce_latency read; /* ns: first transmission of a READ or atomic request, to its first response packet */

	/* internal */
	__u64 begun;	  /* the stream's first_seen; if it differs, the place belonged to another stream before */
	__u64 connection; /* the stream's connection ... */
	__u64 resyncs;	  /* ... and counter at the last look */
	__u64 next;	  /* PSN + 1 of the last request sent */
	__u64 single_ns;  /* time without a packet before a packet that was sent again, of which ... */
	__u8 met;	  /* a request was seen: the numbers are valid */
	__u8 again;	  /* the requester is going back */
	__u8 negative;	  /* 1 + enum dialogue_cause of the last NAK, until the requester goes back */
	__u8 heard;	  /* a response was seen: before, responses may take another path */
	__u8 single;	  /* ... the next one will say whether it goes back: 1 + enum dialogue_cause; 0: there is none */
	__u8 reserved[3];
	struct roce_pending acks, responses;
};

/* ns: the last packet of either direction */
roce_inline __u64 dialogue_last(const struct roce_dialogue *d)
{
	return d->last_sent > d->last_answer ? d->last_sent : d->last_answer;
}

/* Accounts the time up to this packet. */
roce_inline void dialogue_wait(struct roce_dialogue *d, __u64 now)
{
	__u64 last = dialogue_last(d);

	if (d->outstanding && now > last)
		d->waiting_ns += now - last;
}

#ifndef __bpf__
/* Lower bound of bucket i, in ns. i = DIALOGUE_BUCKETS: the end of the last octave. */
static inline __u64 dialogue_bucket(int i)
{
	return i ? (1ull << (i / 2 + DIALOGUE_FIRST)) + (i & 1 ? 1ull << (i / 2 + DIALOGUE_FIRST - 1) : 0) : 0;
}

/* Requests that the latency is of, timed or not: exactly as many, or, of a sample, about as many. */
static inline __u64 dialogue_latencies(const struct roce_latency *l)
{
	__u64 count = 0;

	for (int i = 0; i < DIALOGUE_BUCKETS; i++)
		count += l->bucket[i];
	return count;
}

/* Quantile q (0 .. 1) of the latency in ns, interpolated inside its bucket. 0: no values. */
static inline __u64 dialogue_quantile(const struct roce_latency *l, double q)
{
	double rank = q * dialogue_latencies(l);
	__u64 below = 0;

	for (int i = 0; i < DIALOGUE_BUCKETS; i++) {
		__u64 from = dialogue_bucket(i), to = dialogue_bucket(i + 1);

		if (l->most < to || i == DIALOGUE_BUCKETS - 1)
			to = l->most;
		if (l->bucket[i] && below + l->bucket[i] >= rank)
			return from + (to - from) * (rank > below ? (rank - below) / l->bucket[i] : 0);
		below += l->bucket[i];
	}
	return l->most;
}

/* Mean latency in ns. 0: no values. */
static inline __u64 dialogue_mean(const struct roce_latency *l)
{
	__u64 count = dialogue_latencies(l);

	return count ? l->sum / count : 0;
}
#endif

#endif
