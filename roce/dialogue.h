/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What requests and responses of a pair say together, where both are seen at one place: how long an answer takes, how many
 * PSNs are outstanding, how long the requester waits for answers, and why it went back (go-back-N). It belongs to the
 * request stream; its storage is the caller's, as the stream's is, and is guarded with it.
 */
#ifndef ROCE_DIALOGUE_H
#define ROCE_DIALOGUE_H

#include "roce/stream.h"

/* Two buckets an octave: bucket 2n + h holds latencies from 2^(n+9) * (h ? 1.5 : 1) ns on; the first and last all beyond. */
#define DIALOGUE_BUCKETS 52
#define DIALOGUE_FIRST 9 /* the first bucket ends at 1.5 * 2^9 ns */

struct roce_latency {
	__u64 count;
	__u64 sum; /* ns */
	__u64 most; /* ns */
	__u64 bucket[DIALOGUE_BUCKETS]; /* a million a second would be too many for 32 bits within 72 minutes */
};

/* Why a requester sends again what it had sent before. */
enum dialogue_cause {
	DIALOGUE_NAK,	  /* a NAK of a PSN sequence error */
	DIALOGUE_RNR,	  /* the receiver was not ready */
	DIALOGUE_GAP,	  /* responses to READs are missing: the requester's own conclusion */
	DIALOGUE_TIMEOUT, /* nothing at all came */
	DIALOGUE_CAUSES
};

#define DIALOGUE_PENDING 16 /* so many requests are timed at a time; those beyond are left out of the latency */

/* Requests whose answer is waited for, in the order of their PSNs. */
struct roce_pending {
	__u64 entry[DIALOGUE_PENDING]; /* time (ns) << 24 | PSN: of 18 minutes, in which nothing goes unanswered */
	__u32 begin, end; /* counted on: they are entry[begin % DIALOGUE_PENDING] ... */
};

/* Numbers are PSNs counted on in 64 bits. All zero at first. */
struct roce_dialogue {
	__u64 sent;	   /* behind the newest PSN that was requested */
	__u64 answered;	   /* behind the newest one that was acknowledged, or whose READ response came */
	__u64 last_sent;   /* ns: any request, also one sent again */
	__u64 last_answer; /* ns: that acknowledged something new */
	__u64 silent_since; /* ns: since when something is outstanding, and not even a NAK has come */
	__u32 outstanding; /* PSNs sent and not answered */
	__u32 outstanding_most;
	__u32 reads;	   /* READs and atomics sent and not answered */
	__u32 reads_most;
	__u64 waiting_ns;  /* time in which something was outstanding, until the last packet of either */
	/*
	 * Of that: in which nothing more was sent until an answer came, and then more was sent at once. A requester that has
	 * something to send and may not does so: its window is full.
	 */
	__u64 full_ns;
	__u64 back[DIALOGUE_CAUSES]; /* episodes of going back */
	__u64 back_packets; /* sent again in them */
	struct roce_latency ack;  /* from a request that asks for an acknowledgement, sent first, to what acknowledges it */
	struct roce_latency read; /* from a READ or atomic request, sent first, to its first response packet */

	/* for itself */
	__u64 begun;	  /* the stream's first_seen: else this is of another one, which had its place before */
	__u64 connection; /* the stream's, and its counters, ... */
	__u64 resyncs;
	__u64 duplicates; /* ... when it was looked at last */
	__u64 next;	  /* behind the request that was sent last */
	__u8 met;	  /* a request was seen: there are numbers */
	__u8 again;	  /* it goes back */
	__u8 negative;	  /* 1 + enum dialogue_cause of the last NAK, until the requester goes back */
	__u8 heard;	  /* there was an answer: before, nobody knows whether answers come by here */
	__u8 reserved[4];
	struct roce_pending acks, responses;
};

/* Whether the packet, whose ICRC is not bad, says something to a dialogue. */
roce_inline bool dialogue_wants(const struct roce_packet *p)
{
	return p->kind == ROCE_PACKET && p->op && !(p->op & OP_CNP) &&
	       (p->service == SERVICE_RC || p->service == SERVICE_XRC);
}

/* 0 .. 63: that of the highest bit of x | 1. Without branches, which the verifier would follow. */
roce_inline __u32 dialogue_highest(__u64 x)
{
	return __builtin_popcountll(psn_below(x | 1)) - 1;
}

roce_inline void latency_add(struct roce_latency *l, __u64 ns)
{
	__u32 highest = dialogue_highest(ns), i = 0;

	if (highest >= DIALOGUE_FIRST)
		i = (highest - DIALOGUE_FIRST) * 2 + (ns >> (highest - 1) & 1);
	if (i >= DIALOGUE_BUCKETS)
		i = DIALOGUE_BUCKETS - 1;
	l->count++;
	l->sum += ns;
	if (ns > l->most)
		l->most = ns;
	roce_opaque(i);
	if (i < DIALOGUE_BUCKETS)
		l->bucket[i]++;
}

roce_inline void pending_add(struct roce_pending *q, __u64 number, __u64 now)
{
	if (q->end - q->begin < DIALOGUE_PENDING)
		q->entry[q->end++ % DIALOGUE_PENDING] = now << 24 | (number & PSN_MASK);
}

/* Those before the number `behind` are answered. only: nothing but the request of this PSN is timed; behind it: all are. */
roce_inline void pending_answer(struct roce_pending *q, __u64 behind, __u32 only, __u64 now, struct roce_latency *l)
{
	for (int i = 0; i < DIALOGUE_PENDING; i++) {
		__u64 entry = q->entry[q->begin % DIALOGUE_PENDING];
		__u32 psn = entry & PSN_MASK;

		if (q->begin == q->end || psn_distance(behind & PSN_MASK, psn) >= 0)
			break;
		q->begin++;
		if (only > PSN_MASK || only == psn)
			latency_add(l, ((now << 24) - (entry & ~(__u64)PSN_MASK)) >> 24);
	}
}

#define PENDING_ALL (PSN_MASK + 1)

/* Time goes on, to this packet. */
roce_inline void dialogue_wait(struct roce_dialogue *d, __u64 now)
{
	__u64 last = d->last_sent > d->last_answer ? d->last_sent : d->last_answer;

	if (d->outstanding && now > last)
		d->waiting_ns += now - last;
}

roce_inline void dialogue_count(struct roce_dialogue *d)
{
	d->outstanding = d->sent - d->answered;
	if (d->outstanding > d->outstanding_most)
		d->outstanding_most = d->outstanding;
	if (!d->outstanding)
		d->reads = 0; /* of a lost response the last packet may never have been seen */
	if (d->reads > d->reads_most)
		d->reads_most = d->reads;
}

/* Other numbers than before, and larger ones: of another connection, or elsewhere in the sequence. */
roce_inline void dialogue_restart(struct roce_dialogue *d, const struct roce_stream *s, __u32 psn)
{
	const __u64 *v = s->counters.value;

	d->connection = s->pair.connection;
	d->resyncs = v[COUNTER_psn_resyncs];
	d->duplicates = v[COUNTER_psn_duplicates];
	d->sent = d->answered = d->next = (d->sent | PSN_MASK) + 1 + psn;
	d->outstanding = d->reads = 0;
	d->again = d->negative = 0;
	d->acks.begin = d->acks.end = d->responses.begin = d->responses.end = 0;
	d->met = true;
}

roce_inline void dialogue_clear(struct roce_dialogue *d)
{
	volatile __u64 *words = (__u64 *)d; /* else the compiler calls memset() for so many */

	_Static_assert(sizeof(*d) % 8 == 0, "whole words");
	for (__u32 i = 0; i < sizeof(*d) / 8; i++)
		words[i] = 0;
}

/* A request that was sent before: a NAK was the cause, or the requester's own conclusion. */
roce_inline enum dialogue_cause dialogue_why(const struct roce_dialogue *d, const struct roce_packet *p, __u64 number)
{
	if (d->negative)
		return d->negative - 1;
	return roce_is_answered(p) && number < d->answered ? DIALOGUE_GAP : DIALOGUE_TIMEOUT;
}

roce_inline void dialogue_back(struct roce_dialogue *d, const struct roce_packet *p, __u64 number)
{
	__u32 cause = dialogue_why(d, p, number);

	d->back_packets++;
	if (!d->again || number < d->next) {
		roce_opaque(cause);
		if (cause < DIALOGUE_CAUSES)
			d->back[cause]++;
		d->negative = 0;
	}
	d->again = true;
}

roce_inline void dialogue_forth(struct roce_dialogue *d, const struct roce_packet *p, __u64 number, __u64 now)
{
	__u64 wait = d->last_answer - d->last_sent;

	if (d->last_answer > d->last_sent && (now - d->last_answer) * 8 <= wait)
		d->full_ns += wait;
	if (!d->outstanding)
		d->silent_since = now;
	d->again = false;
	if (roce_is_answered(p)) {
		d->reads++;
		pending_add(&d->responses, number, now);
	} else if (p->ackreq) {
		pending_add(&d->acks, number, now);
	}
}

/*
 * One request packet, for which dialogue_wants() holds, of stream s, which has observed it. now: ns, by the clock of all
 * packets of both directions.
 */
roce_inline void dialogue_request(struct roce_dialogue *d, const struct roce_stream *s, const struct roce_packet *p, __u64 now)
{
	const __u64 *v = s->counters.value;
	__u64 number, end;
	bool duplicate;

	/* what is sent before the pair is known, nobody saw answered */
	if (!s->trusted || !s->pair.from)
		return;
	if (d->begun != s->first_seen) {
		dialogue_clear(d);
		d->begun = s->first_seen;
	}
	if (!d->met || d->connection != s->pair.connection || d->resyncs != v[COUNTER_psn_resyncs]) {
		dialogue_wait(d, now); /* until now it was waited for, which readers have been told */
		dialogue_restart(d, s, p->number);
	}
	number = d->sent + psn_distance(d->sent & PSN_MASK, p->number);
	end = number + stream_span(s, p);
	duplicate = d->duplicates != v[COUNTER_psn_duplicates];
	d->duplicates = v[COUNTER_psn_duplicates];
	if ((__s64)(number - d->sent) < 0 && !duplicate)
		return; /* only late */
	dialogue_wait(d, now);
	if ((__s64)(number - d->sent) >= 0)
		dialogue_forth(d, p, number, now);
	else
		dialogue_back(d, p, number);
	d->last_sent = now;
	d->next = end;
	if ((__s64)(end - d->sent) > 0)
		d->sent = end;
	dialogue_count(d);
}

/* What an answer says of the requests before and with its PSN: 0: it acknowledges them; else 1 + enum dialogue_cause. */
roce_inline __u8 dialogue_negative(const struct roce_packet *p)
{
	__u32 kind = p->op & OP_ACK ? p->syndrome >> 5 & 3 : 0; /* as in count_rare() */

	return kind == 3 ? 1 + DIALOGUE_NAK : kind == 1 ? 1 + DIALOGUE_RNR : 0;
}

roce_inline void dialogue_progress(struct roce_dialogue *d, const struct roce_packet *p, __u64 behind, __u64 now)
{
	dialogue_wait(d, now);
	pending_answer(&d->acks, behind, PENDING_ALL, now, &d->ack);
	if (!(p->op & OP_ACK)) {
		pending_answer(&d->responses, behind, p->number, now, &d->read);
		if (p->op & OP_LAST && d->reads)
			d->reads--;
	}
	d->answered = behind;
	if ((__s64)(behind - d->sent) > 0)
		d->sent = behind; /* a READ's span that was not known */
	d->last_answer = now;
	dialogue_count(d);
}

/* One response packet, for which dialogue_wants() holds, to stream s of requests: that of roce_peer_key(). */
roce_inline void dialogue_response(struct roce_dialogue *d, const struct roce_stream *s, const struct roce_packet *p, __u64 now)
{
	__u8 negative = dialogue_negative(p);
	bool progress;
	__u64 behind;
	__s32 ahead;

	if (!d->met || d->begun != s->first_seen || d->connection != s->pair.connection)
		return;
	ahead = psn_distance(d->sent & PSN_MASK, p->number);
	if (ahead > PSN_GAP_MAX)
		return;
	behind = d->sent + ahead + !negative;
	progress = (__s64)(behind - d->answered) > 0;
	d->silent_since = now;
	d->heard = true;
	if (progress)
		dialogue_progress(d, p, behind, now);
	if (progress || negative)
		d->negative = negative;
}

#ifndef __bpf__
/* The least latency (ns) that belongs into bucket i; of i = DIALOGUE_BUCKETS where the last octave ends. */
static inline __u64 dialogue_bucket(int i)
{
	return i ? (1ull << (i / 2 + DIALOGUE_FIRST)) + (i & 1 ? 1ull << (i / 2 + DIALOGUE_FIRST - 1) : 0) : 0;
}

/* The latency (ns) that a part q (0 .. 1) of all keep below: right to a bucket, within which they are taken to be even. 0: none. */
static inline __u64 dialogue_quantile(const struct roce_latency *l, double q)
{
	double rank = q * l->count;
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

/* ns; 0: none. */
static inline __u64 dialogue_mean(const struct roce_latency *l)
{
	return l->count ? l->sum / l->count : 0;
}
#endif

#endif
