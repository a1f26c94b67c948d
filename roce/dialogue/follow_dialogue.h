/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the packets of both directions make a dialogue (roce/dialogue/dialogue.h). */
#ifndef ROCE_DIALOGUE_FOLLOW_DIALOGUE_H
#define ROCE_DIALOGUE_FOLLOW_DIALOGUE_H

#include "roce/dialogue/dialogue.h"
#include "roce/sequence/sequence.h"

/* Whether a dialogue uses this packet. Its ICRC is not bad. Responses without their AETH may be NAKs. */
roce_inline bool dialogue_wants(const struct roce_packet *p)
{
	return p->kind == ROCE_PACKET && p->op && !(p->op & OP_CNP) && (p->op & (OP_CUT | OP_RESPONSE)) != (OP_CUT | OP_RESPONSE) &&
	       (p->service == SERVICE_RC || p->service == SERVICE_XRC);
}

/* 0 .. 63: the highest bit of x | 1. Without branches, because the verifier follows each. */
roce_inline __u32 dialogue_highest(__u64 x)
{
	return __builtin_popcountll(roce_bits_below(x | 1)) - 1;
}

/* weight: requests that the one with this latency stands for */
roce_inline void latency_add(struct roce_latency *l, __u64 ns, __u64 weight)
{
	__u32 highest = dialogue_highest(ns), i = 0;

	if (highest >= DIALOGUE_FIRST)
		i = (highest - DIALOGUE_FIRST) * 2 + (ns >> (highest - 1) & 1);
	if (i >= DIALOGUE_BUCKETS)
		i = DIALOGUE_BUCKETS - 1;
	l->sum += ns * weight;
	if (ns > l->most)
		l->most = ns;
	roce_opaque(i);
	if (i < DIALOGUE_BUCKETS)
		l->bucket[i] += weight;
}

roce_inline void pending_restart(struct roce_pending *q)
{
	q->length = q->shift = q->skip = 0;
}

roce_inline __u64 *pending_entry(struct roce_pending *q, __u32 i)
{
	return &q->entry[(q->begin + i) % DIALOGUE_PENDING];
}

/* The next number drawn. */
roce_inline __u16 pending_draw(const struct roce_pending *q)
{
	return q->random * 25173u + 13849; /* has all values before it repeats one (Knuth, TAOCP 2, 3.2.1.2, theorem A) */
}

/* Which of 2^shift requests is timed, counted from 0. With one shift more it is the same one, or the one 2^shift later. */
roce_inline __u32 pending_place(const struct roce_pending *q)
{
	return q->random * 40503u >> 15 & ((1u << q->shift) - 1); /* lower bits of `random` repeat early */
}

/* Makes room: one of each two entries is dropped. */
roce_inline void pending_thin(struct roce_pending *q)
{
	__u32 second = pending_draw(q) >> 8; /* a bit for each two entries */

	for (__u32 i = 0; i < DIALOGUE_PENDING / 2; i++)
		*pending_entry(q, i) = *pending_entry(q, 2 * i + (second >> i & 1));
	q->length = DIALOGUE_PENDING / 2;
	q->shift++;
}

/* Times more of the next requests. Each entry that waits becomes two, so that all have the same weight. */
roce_inline void pending_widen(struct roce_pending *q)
{
	for (__u32 i = DIALOGUE_PENDING - 1; i; i--)
		*pending_entry(q, i) = *pending_entry(q, i / 2);
	q->length *= 2;
	q->shift--;
}

roce_inline void pending_add(struct roce_pending *q, __u64 number, __u64 now)
{
	if (q->skip) {
		q->skip--;
		return;
	}
	if (q->length == DIALOGUE_PENDING) {
		__u32 half = 1u << q->shift;

		if (q->shift == DIALOGUE_SHIFT)
			return;
		pending_thin(q);
		if (pending_place(q) & half) { /* not this one, but its like in the other half */
			q->skip = half - 1;
			return;
		}
	}
	*pending_entry(q, q->length++) = now << 24 | (number & PSN_MASK);
	/* the rest of these 2^shift requests, and of the next ones those before the one that is timed */
	q->skip = (1u << q->shift) - 1 - pending_place(q);
	q->random = pending_draw(q);
	if (q->shift && q->length < DIALOGUE_PENDING / 2)
		pending_widen(q);
	q->skip += pending_place(q);
}

/*
 * ns from the entry's time to now. 0: the clocks of two CPUs differ, and the request seems to come after its answer (requests do
 * not wait for half of the 18 minutes).
 */
roce_inline __u64 pending_age(__u64 entry, __u64 now)
{
	__u64 ns = ((now << 24) - (entry & ~(__u64)PSN_MASK)) >> 24;

	return ns >> 39 ? 0 : ns;
}

/* Requests before the number `behind` are answered. only: time nothing but the request with this PSN; `behind`: time all. */
roce_inline void pending_answer(struct roce_pending *q, __u64 behind, __u32 only, __u64 now, struct roce_latency *l)
{
	__u64 before = ~0ull;

	for (int i = 0; i < DIALOGUE_PENDING; i++) {
		__u64 entry = *pending_entry(q, 0);
		__u32 psn = entry & PSN_MASK;

		if (!q->length || psn_distance(behind & PSN_MASK, psn) >= 0)
			break;
		q->begin++;
		q->length--;
		if (only > PSN_MASK || only == psn) {
			latency_add(l, pending_age(entry, now), 1ull << q->shift);
			l->timed += entry != before; /* a doubled one was timed once */
		}
		before = entry;
	}
}

#define PENDING_ALL (PSN_MASK + 1)

roce_inline void dialogue_count(struct roce_dialogue *d)
{
	d->outstanding = d->sent - d->answered;
	if (d->outstanding > d->outstanding_most)
		d->outstanding_most = d->outstanding;
	if (!d->outstanding) {
		d->reads = 0; /* the last packet of a lost response may never have been seen */
		pending_restart(&d->acks); /* a new burst: each one is timed again */
		pending_restart(&d->responses);
	}
	if (d->reads > d->reads_most)
		d->reads_most = d->reads;
}

/* Starts again with new, larger numbers: another connection, or another place in the sequence. */
roce_inline void dialogue_restart(struct roce_dialogue *d, const struct roce_stream *s, __u32 psn)
{
	const __u64 *v = s->counters.value;

	d->connection = s->pair.connection;
	d->resyncs = v[COUNTER_psn_resyncs];
	d->sent = d->answered = d->next = (d->sent | PSN_MASK) + 1 + psn;
	d->outstanding = d->reads = 0;
	d->again = d->negative = d->single = 0;
	pending_restart(&d->acks);
	pending_restart(&d->responses);
	d->met = true;
}

roce_inline void dialogue_clear(struct roce_dialogue *d)
{
	volatile __u64 *words = (__u64 *)d; /* without volatile the compiler calls memset() */

	_Static_assert(sizeof(*d) % 8 == 0, "whole words");
	for (__u32 i = 0; i < sizeof(*d) / 8; i++)
		words[i] = 0;
}

/* Why this request is sent again: a NAK, or the requester's own conclusion. */
roce_inline enum dialogue_cause dialogue_why(const struct roce_dialogue *d, const struct roce_packet *p, __u64 number)
{
	if (d->negative)
		return d->negative - 1;
	return roce_is_answered(p) && number < d->answered ? DIALOGUE_GAP : DIALOGUE_TIMEOUT;
}

/* Adds to the counter of this cause. ns: time without a packet before. */
roce_inline void dialogue_count_cause(struct roce_dialogue *d, __u64 counter[DIALOGUE_CAUSES], __u32 cause, __u64 ns)
{
	roce_opaque(cause);
	if (cause < DIALOGUE_CAUSES)
		counter[cause]++;
	if (cause == DIALOGUE_TIMEOUT)
		d->timeout_ns = ns;
}

/* The packet that was sent again was the only one: selective repeat, not go-back-N. */
roce_inline void dialogue_alone(struct roce_dialogue *d)
{
	if (d->single)
		dialogue_count_cause(d, d->selective, d->single - 1, d->single_ns);
	d->single = 0;
}

/*
 * A request is sent again. If it is followed by the next one, or nothing was sent after it, the requester goes back; if it is
 * the only one, it repeats selectively.
 */
roce_inline void dialogue_back(struct roce_dialogue *d, const struct roce_packet *p, __u64 number, __u64 end, __u64 now)
{
	__u64 last = dialogue_last(d), ns = now > last ? now - last : 0;

	if (d->again && (number == d->next || (!d->single && number > d->next))) {
		d->back_packets += 1 + !!d->single;
		if (d->single)
			dialogue_count_cause(d, d->back, d->single - 1, d->single_ns);
		d->single = 0;
		return;
	}
	dialogue_alone(d);
	d->single = 1 + dialogue_why(d, p, number);
	d->single_ns = ns;
	d->negative = 0;
	d->again = true;
	if ((__s64)(end - d->sent) < 0)
		return;
	d->back_packets++;
	dialogue_count_cause(d, d->back, d->single - 1, ns);
	d->single = 0;
}

roce_inline void dialogue_forth(struct roce_dialogue *d, const struct roce_packet *p, __u64 number, __u64 now)
{
	__u64 wait = d->last_answer - d->last_sent;

	if (d->last_answer > d->last_sent && (now - d->last_answer) * 8 <= wait)
		d->full_ns += wait;
	if (!d->outstanding)
		d->silent_since = now;
	dialogue_alone(d);
	d->again = false;
	if (roce_is_answered(p)) {
		d->reads++;
		pending_add(&d->responses, number, now);
	} else if (p->ackreq) {
		pending_add(&d->acks, number, now);
	}
}

/*
 * Takes one request packet for which dialogue_wants() holds. s: its stream, after roce_observe(). again: this packet made it
 * count a duplicate. now: ns; both directions use the same clock.
 */
roce_inline void dialogue_request(struct roce_dialogue *d, const struct roce_stream *s, const struct roce_packet *p, bool again,
				  __u64 now)
{
	const __u64 *v = s->counters.value;
	__u64 number, end;

	/* answers to requests sent before the pair was known were not seen */
	if (!s->trusted || !s->pair.from)
		return;
	if (d->begun != s->first_seen) {
		dialogue_clear(d);
		d->begun = s->first_seen;
	}
	if (!d->met || d->connection != s->pair.connection || d->resyncs != v[COUNTER_psn_resyncs]) {
		dialogue_wait(d, now); /* readers have already been told of the time until now */
		dialogue_restart(d, s, p->number);
	}
	if (psn_distance(s->psn.next & PSN_MASK, p->number) >= 0)
		return; /* the stream has not taken it: perhaps it is none of its packets */
	number = d->sent + psn_distance(d->sent & PSN_MASK, p->number);
	end = number + stream_span(s, p);
	if ((__s64)(number - d->sent) < 0 && !again)
		return; /* late only */
	dialogue_wait(d, now);
	if ((__s64)(number - d->sent) >= 0)
		dialogue_forth(d, p, number, now);
	else
		dialogue_back(d, p, number, end, now);
	d->last_sent = now;
	d->next = end;
	if ((__s64)(end - d->sent) > 0)
		d->sent = end;
	dialogue_count(d);
}

/* What a response says of requests up to its PSN. 0: it acknowledges them; else 1 + enum dialogue_cause. */
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
		d->sent = behind; /* a READ whose span was not known */
	d->last_answer = now;
	dialogue_count(d);
}

/* Takes one response packet for which dialogue_wants() holds. s: the stream of requests, found by roce_peer_key(). */
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
	/*
	 * What was not sent cannot be acknowledged: a forged or stray one would hide all requests up to there. Only responses
	 * may be ahead, while the span of READs is not known.
	 */
	if ((__s64)(behind - d->sent) > 0 && (s->path_mtu || p->op & OP_ACK))
		return;
	progress = (__s64)(behind - d->answered) > 0;
	d->silent_since = now;
	d->heard = true;
	if (progress)
		dialogue_progress(d, p, behind, now);
	if (progress || negative)
		d->negative = negative;
}

#endif
