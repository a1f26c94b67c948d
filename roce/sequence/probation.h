/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One packet never moves a sequence. A packet that no loss explains begins a probation (as in RFC 3550, A.1): the stream keeps
 * its sequence, and follows the packet's one beside it until it is clear which of the two goes on. The memory of probations
 * comes from the pool of late windows. Without it, and without ROCE_HAS_LOOP, each packet is judged at once.
 */
#ifndef ROCE_SEQUENCE_PROBATION_H
#define ROCE_SEQUENCE_PROBATION_H

#include "roce/sequence/sequence.h"

#define PROBATION_PACKETS 16	      /* packets near each other that prove a sequence, if the old one does not go on */
#define PROBATION_RUN_MOST (1 << 20)  /* a run of PSNs seen before that is longer is no retransmission */
#define PROBATION_BACK_MOST (1 << 22) /* ... nor one that goes back farther */
#define PROBATION_ALTERNATIONS_MOST 8
/* an alternation is forgotten with each number that this divides; psn_step() leaves these to probation_take() */
#define PROBATION_ALTERNATION_PERIOD 65536

struct roce_probation {
	__u64 first;   /* number of its first packet */
	__u32 packets;
	__u32 row;     /* packets at its end that had the expected PSN */
	__u8 differs;  /* a packet is not the one remembered at its PSN */
	__u8 interleaved; /* it continues the other sequence of the stream */
	__u8 begins;   /* its first packet begins a message */
	__u8 asked;    /* the peer's stream was asked: */
	__u32 msn_falls;
	__u32 undecided; /* packets of it that count in psn_undecided */
	__u32 done;    /* nobody sends its first packet again: it was acknowledged, or lies before the connection's first PSN */
	struct roce_stream beside; /* the sequence, in the stream's numbers */
};

/* Memory from the pool, which few streams need at a time. */
struct roce_extra {
	struct roce_late late; /* first: late_of() returns it */
	struct roce_probation probation; /* valid if HELD_PROBATION */
	struct roce_asked_more asked; /* valid if HELD_ASKED */
};

enum { HELD_PROBATION = 1, HELD_ASKED = 2 };

roce_inline struct roce_extra *extra_of(struct roce_late *window)
{
	return (struct roce_extra *)window;
}

roce_inline struct roce_probation *probation_of(struct roce_late *window)
{
	return &extra_of(window)->probation;
}

/* This part is not used any more. */
roce_inline void extra_leave(struct roce_stream *s, struct roce_late *window, __u64 part)
{
	window->held &= ~part;
	if (!window->count && !window->held)
		late_give(&s->psn);
}

/* Whether the request would overwrite another one that is not answered, as far as is known. */
roce_inline bool stream_may_spill(const struct roce_stream *s, const struct roce_packet *p)
{
	return roce_is_answered(p) && asked_oldest(&s->asked, s->acks.answered);
}

/* Makes room for a request: the oldest remembered one goes to the pool, unless it was answered. */
roce_rare stream_spill(struct roce_stream *s)
{
	struct roce_late *window = s ? late_of(&s->psn) : NULL;
	struct roce_asked_more *more;
	__u64 oldest;
	__u32 i;

	if (!s)
		return 0;
	oldest = asked_oldest(&s->asked, s->acks.answered);
	if (window && window->held & HELD_ASKED && !oldest && (__s64)(s->acks.answered - extra_of(window)->asked.behind) >= 0) {
		s->acks.spilled = false;
		extra_leave(s, window, HELD_ASKED);
	}
	if (!oldest)
		return 0;
	window = late_take(&s->psn);
	if (!window)
		return 0;
	more = &extra_of(window)->asked;
	if (!(window->held & HELD_ASKED))
		more->count = 0;
	window->held |= HELD_ASKED;
	i = more->count++ % ASKED_MORE;
	roce_opaque(i);
	if (i < ASKED_MORE)
		more->entry[i] = oldest;
	more->behind = s->acks.answered + ((asked_behind(oldest) - s->acks.answered) & ASKED_NUMBER);
	s->asked.entry[s->asked.count % ASKED] = 0;
	s->acks.spilled = true;
	return 0;
}

/* Where a packet d ahead lies: PROBATION_NONE if the stream may take it, else the kind of probation. */
roce_inline enum probation_kind probation_kind_of(const struct roce_stream *s, const struct roce_packet *p, __s64 d,
						  const struct roce_peer_info *info)
{
	bool response = p->op & OP_RESPONSE;
	__s64 own = d & -(__s64)stream_is_read_jump(s, d);

	if (d > 0 && response && (p->op & OP_FIRST || (info && info->valid && info->from == s->psn.next && info->wanted)))
		return PROBATION_NONE;
	if (d > PSN_GAP_MAX + own)
		return PROBATION_ELSEWHERE;
	if (d > PSN_WINDOW + own)
		return PROBATION_GAP;
	if (d >= -PSN_REACH || (stream_is_reliable(p) && (response || d >= -PROBATION_BACK_MOST)))
		return PROBATION_NONE;
	return PROBATION_ELSEWHERE;
}

/* A hash of the packet with its number, never 0. A retransmission has the same. */
roce_inline __u32 probation_what(const struct roce_packet *p)
{
	__u32 what = (p->opcode << 16 ^ p->payload_bytes) * 31 + (__u32)(p->va ^ p->va >> 32);

	/* which field counts the slots of a ring is learnt meanwhile */
	what = ((what * 31 + p->dma_length) * 31 + (p->op & OP_RING ? 0 : p->immediate)) * 31 + p->rkey;
	return what + !what;
}

/*
 * The index of the sample. Samples are the first packet of the sequence, and the last packet whose number is a multiple of 256,
 * of 4 * 256, of 4^2 * 256, ... So a run of PSNs seen before, wherever it begins, meets one before it is as long as it went
 * back.
 */
roce_inline __u32 probation_sample_of(const struct roce_stream *s, __u64 number)
{
	if (number == s->psn.begin)
		return 0;
	return 1 + !(number & 0x3ff) + !(number & 0xfff) + !(number & 0x3fff) + !(number & 0xffff) + !(number & 0x3ffff) +
	       !(number & 0xfffff);
}

roce_inline void probation_remember(struct roce_stream *s, const struct roce_packet *p, __u64 number)
{
	__u32 i = probation_sample_of(s, number);

	if (!stream_is_reliable(p) || p->op & (OP_RESPONSE | OP_CUT) || (number != s->psn.begin && number % PSN_PERIOD))
		return;
	roce_opaque(i);
	if (i < STREAM_SAMPLES)
		s->sample[i] = (struct roce_sample){ .number = number, .what = probation_what(p) };
}

/* Clears the sequence beside, and lets it take its first packet. */
roce_rare probation_open(struct roce_stream *s, const struct roce_packet *p, __u64 number, __u32 kind)
{
	struct roce_late *window = s ? late_take(&s->psn) : NULL;
	struct roce_probation *t;
	struct roce_stream *b;
	volatile __u64 *words;
	__s64 behind;

	if (!window || !p)
		return 0;
	t = probation_of(window);
	b = &t->beside;
	words = (volatile __u64 *)t; /* without volatile the compiler calls memset() */
	for (__u32 i = 0; i < sizeof(*t) / 8; i++)
		words[i] = 0;
	window->held |= HELD_PROBATION;
	s->probation = kind;
	behind = p->kind == ROCE_UDP ? (__s64)(p->number - s->sequence.interleaved_next) :
				       psn_distance(s->sequence.interleaved_next & PSN_MASK, p->number);
	t->interleaved = s->sequence.has_interleaved && behind >= 0 && behind <= PSN_WINDOW;
	t->begins = !!(p->op & OP_FIRST);
	t->done = s->pair.from && s->pair.first_psn == (s->psn.begin & PSN_MASK);
	t->first = number;
	t->packets = 1;
	b->met = true;
	b->sequence.run = p->run;
	b->path_mtu = s->path_mtu;
	psn_start(&b->psn, number);
	b->psn.late = PSN_NO_LATE;
	b->last.arrival = s->last.arrival;
	b->arrival.before = s->arrival.before;
	b->arrival.before_next = number - (1ull << 62); /* nothing of the sequence has arrived there */
	if (p->op & OP_RING && kind != PROBATION_GAP) {
		message_resume(&b->message, &s->message); /* it may go on in the ring */
		b->message.begin = 0;
		b->ring.span = s->ring.span;
		b->ring.beside = true;
	}
	probation_remember(b, p, number);
	stream_take(b, p, NULL);
	stream_take_block(b, p);
	return 1;
}

/* Takes another packet of the sequence beside. */
roce_inline void probation_follow(struct roce_probation *t, const struct roce_packet *p, __s64 d)
{
	if (t->beside.sequence.unknown_psns | t->beside.reads.bytes) {
		stream_revise(&t->beside, p);
		d = stream_distance(&t->beside, p);
	}
	if (t->beside.last.arrival != p->arrival)
		stream_arrive(&t->beside, p->arrival);
	t->row = d ? 0 : t->row + 1;
	t->packets++;
	if (!d)
		probation_remember(&t->beside, p, t->beside.psn.next);
	stream_take(&t->beside, p, NULL);
	stream_take_block(&t->beside, p);
}

roce_inline void probation_end(struct roce_stream *s, struct roce_late *window)
{
	s->probation = PROBATION_NONE;
	extra_leave(s, window, HELD_PROBATION);
}

/* The old sequence goes on. */
roce_inline void probation_close(struct roce_stream *s, struct roce_late *window)
{
	struct roce_probation *t = probation_of(window);
	__u64 *v = s->counters.value;

	if (s->probation != PROBATION_AGAIN) {
		v[COUNTER_psn_interleaved] += t->interleaved ? t->packets : 0;
		v[COUNTER_psn_strays] += t->interleaved ? 0 : t->packets;
		s->sequence.interleaved_next = t->beside.psn.next;
		s->sequence.has_interleaved = true;
	}
	probation_end(s, window);
}

/* The stream takes over what was counted beside it. */
roce_inline void probation_count(struct roce_stream *s, const struct roce_stream *b)
{
	const __u64 *from = b->counters.value;
	__u64 *v = s->counters.value;

#define COUNTER(name, unit, kind, scope, ...)  \
	if (SCOPE_##scope == SCOPE_STREAM)     \
		v[COUNTER_##name] += from[COUNTER_##name];
#include "roce/stream/counters.def"
#undef COUNTER
	s->reads.bytes = b->reads.bytes;
	s->reads.end = b->reads.end;
	s->reads.at = b->reads.at;
	s->sequence.unknown_psns = b->sequence.unknown_psns;
}

/* The sequence beside becomes that of the stream. p: its last packet. */
roce_rare probation_win(struct roce_stream *s, const struct roce_packet *p, __u32 by)
{
	struct roce_late *window = s ? late_of(&s->psn) : NULL;
	struct roce_probation *t;
	struct roce_stream *b;
	__u64 *v;

	if (!window || !p)
		return 0;
	v = s->counters.value;
	t = probation_of(window);
	b = &t->beside;
	v[COUNTER_psn_restarts]++;
	v[COUNTER_psn_resyncs]++;
	v[COUNTER_psn_undecided] -= t->undecided;
	s->sequence.restart_by = by;
	s->sequence.alternations += t->interleaved && s->sequence.alternations < PROBATION_ALTERNATIONS_MOST;
	s->sequence.interleaved_next = s->psn.next;
	s->sequence.has_interleaved = true;
	probation_count(s, b);
	for (int i = 0; i < PSN_WORDS; i++)
		s->psn.seen[i] = b->psn.seen[i];
	s->psn.next = b->psn.next;
	s->psn.begin = b->psn.begin;
	s->psn.unknown_before = b->psn.unknown_before;
	s->psn.reordered = b->psn.reordered;
	s->path_mtu = b->path_mtu;
	s->reads.mtu_least = b->reads.mtu_least;
	s->reads.mtu_guess = b->reads.mtu_guess;
	s->reads.mtu_guess_from = b->reads.mtu_guess_from;
	s->reads.mtu_guess_row = b->reads.mtu_guess_row;
	s->arrival.before = b->arrival.before;
	s->arrival.since = b->arrival.since;
	s->arrival.next = b->arrival.next;
	s->arrival.before_next = b->arrival.before_next;
	for (int i = 0; i < STREAM_DEPTHS; i++)
		stream_lint_add(&s->arrival.depth[i], b->arrival.depth[i]);
	for (int i = 0; i < STREAM_SAMPLES; i++)
		s->sample[i] = b->sample[i];
	if (p->kind != ROCE_UDP)
		s->asked = b->asked;
	s->acks.spilled = false;
	block_forget_all(s);
	if (p->service != SERVICE_UC || b->ring.beside) {
		message_resume(&s->message, &b->message);
		s->blocks = b->blocks;
	}
	if (p->service == SERVICE_UC && s->probation == PROBATION_AGAIN)
		message_anew(&s->message);
	s->probation = PROBATION_NONE;
	late_give(&s->psn);
	return 1;
}

/* The gap is a loss: the stream takes it, and the packet behind it. p: the packet that proves it. */
roce_rare probation_accept(struct roce_stream *s, const struct roce_packet *p)
{
	struct roce_late *window = s ? late_of(&s->psn) : NULL;
	struct roce_probation *t;
	__u64 skipped;

	if (!window || !p)
		return 0;
	t = probation_of(window);
	skipped = t->first - s->psn.next;
	stream_skips(s, skipped);
	probation_count(s, &t->beside);
	if (p->service != SERVICE_UC && t->beside.message.begin) { /* the packet behind the gap had immediate data */
		s->message.immediate = t->beside.message.immediate;
		s->message.begin = t->beside.message.begin;
		s->message.counts &= ~BLOCK_CHECK;
	}
	if (t->beside.asked.count)
		s->asked.entry[s->asked.count++ % ASKED] = t->beside.asked.entry[0];
	psn_plan(&s->psn, 0, skipped, t->beside.psn.next - t->first);
	psn_forward(&s->psn);
	probation_end(s, window);
	return 1;
}

/*
 * A packet that the stream cannot take now. number: in the stream's numbers. Returns whether the packet waits; otherwise the
 * stream takes it after all.
 */
roce_inline bool probation_wait(struct roce_stream *s, const struct roce_packet *p, __u64 number, enum probation_kind kind)
{
	struct roce_late *window = s->probation ? late_of(&s->psn) : NULL;
	struct roce_probation *t;
	__u32 alternations;
	__s64 d;

	if (!window)
		return probation_open(s, p, number, kind);
	t = probation_of(window);
	if (s->probation == PROBATION_GAP && (kind == PROBATION_GAP || number - t->first <= PSN_GAP_MAX)) {
		if (number == t->first)
			return true;
		probation_accept(s, p);
		d = stream_distance(s, p);
		kind = probation_kind_of(s, p, d, NULL); /* it may be behind a large gap itself */
		return kind && probation_open(s, p, s->psn.next + d, kind);
	}
	d = number - t->beside.psn.next;
	if (p->kind != ROCE_UDP)
		d = psn_distance(0, d & PSN_MASK);
	if (s->probation == PROBATION_ELSEWHERE && d >= -LATE_REACH && d <= PSN_GAP_MAX) {
		probation_follow(t, p, d);
		alternations = t->interleaved ? 2 * s->sequence.alternations : 0;
		if (t->row >> alternations || t->packets / PROBATION_PACKETS >> alternations)
			probation_win(s, p, RESTART_ELSEWHERE);
		return true;
	}
	probation_close(s, window);
	return probation_open(s, p, number, kind);
}

/* Whether the stream remembers another packet with this number. */
roce_inline bool probation_differs(const struct roce_stream *s, const struct roce_packet *p, __u64 number)
{
	bool differs = false;

	if (p->op & OP_CUT)
		return false; /* most of what is remembered was cut off */
	for (int i = 0; i < STREAM_SAMPLES; i++)
		differs |= s->sample[i].what && s->sample[i].number == (__u32)number && s->sample[i].what != probation_what(p);
	return differs;
}

/* Whether this run began before the stream's first packet. PSNs from before it count as seen, though they were not. */
roce_inline bool probation_is_before(const struct roce_stream *s, const struct roce_probation *t)
{
	return (__s64)(t->first - s->psn.begin) < 0;
}

/*
 * Nothing is sent again on this service, so three packets that were seen are another sequence. Those before the first packet seen are
 * it only if that packet is long past: before, it may have overtaken them.
 */
roce_inline bool probation_is_anew(const struct roce_stream *s, const struct roce_probation *t, __u64 number)
{
	__u64 begin = s->psn.begin;

	return t->row >= 2 && ((__s64)(number - begin) >= 2 || s->psn.next - begin >= PROBATION_PACKETS);
}

/* Another sequence, if this run of PSNs seen before proves it. number: of its last packet. */
roce_inline enum roce_restart_by probation_again_by(const struct roce_stream *s, const struct roce_probation *t,
						    const struct roce_packet *p, __u64 number,
						    const struct roce_peer_info *info)
{
	if (!stream_is_reliable(p))
		return probation_is_anew(s, t, number) ? RESTART_RUN : RESTART_NONE;
	if (info && info->valid && t->asked && info->msn_falls != t->msn_falls && t->row)
		return RESTART_MSN;
	if (t->differs && t->row)
		return RESTART_PACKET;
	/* what was sent before the first packet seen cannot be compared */
	if (t->done && t->begins && probation_is_before(s, t) && t->row + 1 >= PROBATION_PACKETS)
		return RESTART_ELSEWHERE;
	return t->packets >= PROBATION_RUN_MOST ? RESTART_RUN : RESTART_NONE;
}

/* Call before the sequence takes a packet, for probation_count_once(). In memory, because the stack has no room. */
roce_inline void probation_note(struct roce_stream *s)
{
	s->psn.messages = s->counters.value[COUNTER_messages];
	s->psn.blocks = s->counters.value[COUNTER_blocks];
}

/* Both sequences have taken the packet. A message or a block that both have counted stays with the stream alone. */
roce_inline void probation_count_once(const struct roce_stream *s, struct roce_stream *b)
{
	const __u64 *v = s->counters.value;
	__u64 *beside = b->counters.value;

	beside[COUNTER_messages] -= (v[COUNTER_messages] - s->psn.messages) & (beside[COUNTER_messages] - b->psn.messages) & 1;
	beside[COUNTER_blocks] -= (v[COUNTER_blocks] - s->psn.blocks) & (beside[COUNTER_blocks] - b->psn.blocks) & 1;
}

/*
 * The run is a part of the sequence: it has come to the first packet seen, sent again, or the sequence goes on where it was. If it
 * began before that packet, the sequence begins with it.
 */
roce_inline void probation_join(struct roce_stream *s, struct roce_probation *t)
{
	if (t->differs)
		return;
	s->counters.value[COUNTER_psn_undecided] = t->undecided = 0;
	if (!probation_is_before(s, t))
		return;
	s->psn.begin = t->first;
	s->sample[0] = t->beside.sample[0];
}

/* The stream has taken a packet whose PSN had been seen, or had been missing. */
roce_inline void probation_again(struct roce_stream *s, const struct roce_packet *p, __u64 number,
				 const struct roce_peer_info *info)
{
	struct roce_late *window = s->probation ? late_of(&s->psn) : NULL;
	struct roce_probation *t;
	enum roce_restart_by by;
	__s64 d = window ? number - probation_of(window)->beside.psn.next : 0;
	__u32 before;

	if (!window && number + 1 == s->psn.next)
		return; /* what follows would be new in either sequence; and some send one PSN again and again (UD) */
	if (window && d && stream_is_reliable(p) && stream_is_read_jump(&probation_of(window)->beside, d))
		d = 1;
	if (window && (!d || (stream_is_reliable(p) && d >= -PSN_WINDOW && d <= PSN_WINDOW))) {
		probation_note(&probation_of(window)->beside);
		probation_follow(probation_of(window), p, d);
	} else if (stream_is_reliable(p) || p->op & OP_FIRST) {
		probation_open(s, p, number, PROBATION_AGAIN);
		window = late_of(&s->psn);
	} else if (window) {
		probation_end(s, window);
		window = NULL;
	}
	if (!window)
		return;
	t = probation_of(window);
	probation_count_once(s, &t->beside);
	t->differs |= probation_differs(s, p, number);
	by = probation_again_by(s, t, p, number, info);
	if (info && info->valid && !t->asked) {
		t->msn_falls = info->msn_falls;
		t->done |= !(p->op & OP_RESPONSE) && (__s64)(info->acknowledged - t->first) > 0;
		t->asked = true;
	}
	if (by) {
		probation_win(s, p, by);
		return;
	}
	if (number == s->psn.begin && stream_is_reliable(p))
		probation_join(s, t);
	before = psn_before(t->first, s->psn.begin) & 1;
	t->undecided += before;
	s->counters.value[COUNTER_psn_undecided] += before;
}

/* The sequence goes on where it was, behind a run of PSNs seen before. */
roce_inline void probation_goes_on(struct roce_stream *s, struct roce_late *window)
{
	probation_join(s, probation_of(window));
	probation_end(s, window);
}

/*
 * The stream has taken a packet. number: the packet's, before that. seen: it counted as seen before, or as unknown. recovered:
 * its PSNs had been missing.
 */
roce_inline void probation_taken(struct roce_stream *s, const struct roce_packet *p, __u64 number, bool seen, bool recovered,
				 const struct roce_peer_info *info)
{
	struct roce_late *window = s->probation ? late_of(&s->psn) : NULL;

	if (!window)
		s->probation = PROBATION_NONE;
	if (!seen && !recovered) {
		probation_remember(s, p, number);
		s->sequence.alternations -= s->sequence.alternations && !(number % PROBATION_ALTERNATION_PERIOD);
	}
	if (window && s->probation == PROBATION_GAP && (__s64)(s->psn.next - probation_of(window)->first) > 0)
		probation_close(s, window);
	else if (window && s->probation == PROBATION_ELSEWHERE)
		probation_close(s, window);
	else if (window && s->probation == PROBATION_AGAIN && !seen && !(recovered && stream_is_reliable(p)))
		probation_goes_on(s, window);
	else if (s->probation == PROBATION_AGAIN || (!s->probation && seen))
		probation_again(s, p, number, info);
}

/*
 * The First or Only of a response that is far behind: an old one, if the requester says so, else other traffic has moved the
 * circle of PSNs on by half of it.
 */
roce_inline void probation_anchor(struct roce_stream *s, __u64 number, const struct roce_peer_info *info)
{
	if (info && info->valid && (__s64)(info->number - s->psn.next) < 0)
		return;
	stream_restart(s, info && info->valid ? info->number : number);
}

/* A packet of UC waits, but its receiver takes it. */
roce_inline void probation_message(struct roce_stream *s, const struct roce_packet *p, enum probation_kind kind)
{
	stream_message(s, p, PSN_RESYNC, 1);
	if (p->op & OP_IMMDT && (kind == PROBATION_GAP || !(p->op & OP_RING)))
		stream_block(s, p, kind == PROBATION_GAP ? BLOCK_BEYOND : BLOCK_ELSEWHERE);
}

/* Takes a packet with a known opcode. */
roce_inline void probation_take(struct roce_stream *s, const struct roce_packet *p, const struct roce_peer_info *info)
{
	__s64 d = s->met ? stream_distance(s, p) : 0;
	__u64 *v = s->counters.value, number = s->met ? s->psn.next + d : p->number, seen, recovered;
	enum probation_kind kind = PROBATION_NONE;

	if (s->met && s->sequence.run == p->run) {
		kind = probation_kind_of(s, p, d, info);
		if (p->op & OP_RESPONSE && p->op & OP_FIRST && d < -PSN_REACH)
			probation_anchor(s, number, info);
	}
	if (kind && probation_wait(s, p, number, kind)) {
		s->sequence.waited += s->probation != PROBATION_NONE;
		if (p->service == SERVICE_UC)
			probation_message(s, p, kind);
		return;
	}
	seen = stream_seen_before(s);
	recovered = v[COUNTER_psn_recovered];
	probation_note(s);
	if (s->met && s->sequence.unknown_psns | s->reads.bytes | s->reads.mtu_guess)
		stream_revise(s, p);
	stream_take(s, p, info);
	stream_take_block(s, p);
	probation_taken(s, p, number, stream_seen_before(s) != seen, v[COUNTER_psn_recovered] != recovered, info);
}

/* Takes any packet that may have a place in the sequence. */
roce_rare stream_rare(struct roce_stream *s, const struct roce_packet *p, const struct roce_peer_info *info)
{
	__u32 period;

	if (!s || !p)
		return 0;
	s->message.changes++;
	stream_ask_mtu(s, info);
	period = s->psn.next / PSN_PERIOD;
	if (period != s->acks.asked_period && s->pair.from && !(p->op & OP_RESPONSE))
		stream_count_unseen(s, info);
	s->acks.asked_period = period;
	if (info && info->valid && !(p->op & OP_RESPONSE)) {
		s->acks.answered = info->acknowledged;
		if (s->acks.spilled || stream_may_spill(s, p))
			stream_spill(s);
	}
	if (p->kind == ROCE_PACKET && !p->op) {
		stream_take(s, p, info);
		stream_take_block(s, p);
	} else {
		probation_take(s, p, info);
	}
	s->plain = PLAIN_NOT;
	if (s->met && !s->reads.bytes && !s->sequence.unknown_psns && !s->probation && !stream_is_due(s))
		s->plain = psn_is_whole(&s->psn) ? PLAIN_ALL : PLAIN;
	return 0;
}

#endif
