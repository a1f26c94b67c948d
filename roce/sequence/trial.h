/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One packet never moves a sequence. A packet that no loss explains begins a trial (RFC 3550, A.1: probation): the stream keeps
 * its sequence, and follows the packet's one beside it until it is clear which of the two goes on. The memory of trials comes
 * from the pool of far windows. Without it, and without ROCE_HAS_LOOP, each packet is judged at once.
 */
#ifndef ROCE_SEQUENCE_TRIAL_H
#define ROCE_SEQUENCE_TRIAL_H

#include "roce/sequence/sequence.h"

#define TRIAL_PACKETS 16	 /* packets near each other that prove a sequence, if the old one does not go on */
#define TRIAL_RUN_MOST (1 << 20) /* a run of PSNs seen before that is longer is no retransmission */
#define TRIAL_BACK_MOST (1 << 22) /* ... nor one that goes back farther */
#define TRIAL_TURNS_MOST 8
#define TRIAL_TURN_PERIOD 65536	 /* a turn is forgotten with each number that this divides; psn_step() leaves these to trial_take() */

struct roce_trial {
	__u64 first;   /* number of its first packet */
	__u32 packets;
	__u32 row;     /* packets at its end that had the expected PSN */
	__u8 differs;  /* a packet is not the one remembered at its PSN */
	__u8 other;    /* it continues the other sequence of the stream */
	__u8 begins;   /* its first packet begins a message */
	__u8 asked;    /* the peer's stream was asked: */
	__u32 msn_falls;
	__u32 undecided; /* packets of it that count in psn_undecided */
	__u32 done;    /* nobody sends its first packet again: it was acknowledged, or lies before the connection's first PSN */
	struct roce_stream beside; /* the sequence, in the stream's numbers */
};

/* Memory from the pool, which few streams need at a time. */
struct roce_extra {
	struct roce_far far; /* first: far_of() returns it */
	struct roce_trial trial;      /* valid if HELD_TRIAL */
	struct roce_asked_more asked; /* valid if HELD_ASKED */
};

enum { HELD_TRIAL = 1, HELD_ASKED = 2 };

roce_inline struct roce_extra *extra_of(struct roce_far *far)
{
	return (struct roce_extra *)far;
}

roce_inline struct roce_trial *trial_of(struct roce_far *far)
{
	return &extra_of(far)->trial;
}

/* This part is not used any more. */
roce_inline void extra_leave(struct roce_stream *s, struct roce_far *far, __u64 part)
{
	far->held &= ~part;
	if (!far->count && !far->held)
		far_give(&s->psn);
}

/* Whether the request would overwrite another one that is not answered, as far as is known. */
roce_inline bool stream_may_spill(const struct roce_stream *s, const struct roce_packet *p)
{
	return roce_is_answered(p) && asked_oldest(&s->asked, s->acks.answered);
}

/* Makes room for a request: the oldest remembered one goes to the pool, unless it was answered. */
roce_rare stream_spill(struct roce_stream *s)
{
	struct roce_far *far = s ? far_of(&s->psn) : NULL;
	struct roce_asked_more *more;
	__u64 oldest;
	__u32 i;

	if (!s)
		return 0;
	oldest = asked_oldest(&s->asked, s->acks.answered);
	if (far && far->held & HELD_ASKED && !oldest && (__s64)(s->acks.answered - extra_of(far)->asked.behind) >= 0) {
		s->acks.spilled = false;
		extra_leave(s, far, HELD_ASKED);
	}
	if (!oldest)
		return 0;
	far = far_take(&s->psn);
	if (!far)
		return 0;
	more = &extra_of(far)->asked;
	if (!(far->held & HELD_ASKED))
		more->count = 0;
	far->held |= HELD_ASKED;
	i = more->count++ % ASKED_MORE;
	roce_opaque(i);
	if (i < ASKED_MORE)
		more->entry[i] = oldest;
	more->behind = s->acks.answered + ((asked_behind(oldest) - s->acks.answered) & ASKED_NUMBER);
	s->asked.entry[s->asked.count % ASKED] = 0;
	s->acks.spilled = true;
	return 0;
}

/* Where a packet d ahead lies: TRIAL_NONE if the stream may take it, else the kind of trial. */
roce_inline enum trial_kind trial_kind_of(const struct roce_stream *s, const struct roce_packet *p, __s64 d,
					  const struct roce_peer_info *info)
{
	bool response = p->op & OP_RESPONSE;
	__s64 own = d & -(__s64)stream_is_read_jump(s, d);

	if (d > 0 && response && (p->op & OP_FIRST || (info && info->valid && info->from == s->psn.next && info->wanted)))
		return TRIAL_NONE;
	if (d > PSN_GAP_MAX + own)
		return TRIAL_ELSEWHERE;
	if (d > PSN_WINDOW + own)
		return TRIAL_GAP;
	if (d >= -PSN_REACH || (stream_is_reliable(p) && (response || d >= -TRIAL_BACK_MOST)))
		return TRIAL_NONE;
	return TRIAL_ELSEWHERE;
}

/* A hash of the packet with its number, never 0. A retransmission has the same. */
roce_inline __u32 trial_what(const struct roce_packet *p)
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
roce_inline __u32 trial_sample_of(const struct roce_stream *s, __u64 number)
{
	if (number == s->psn.begin)
		return 0;
	return 1 + !(number & 0x3ff) + !(number & 0xfff) + !(number & 0x3fff) + !(number & 0xffff) + !(number & 0x3ffff) +
	       !(number & 0xfffff);
}

roce_inline void trial_remember(struct roce_stream *s, const struct roce_packet *p, __u64 number)
{
	__u32 i = trial_sample_of(s, number);

	if (!stream_is_reliable(p) || p->op & (OP_RESPONSE | OP_CUT) || (number != s->psn.begin && number % PSN_PERIOD))
		return;
	roce_opaque(i);
	if (i < STREAM_SAMPLES)
		s->sample[i] = (struct roce_sample){ .number = number, .what = trial_what(p) };
}

/* Clears the sequence beside, and lets it take its first packet. */
roce_rare trial_open(struct roce_stream *s, const struct roce_packet *p, __u64 number, __u32 kind)
{
	struct roce_far *far = s ? far_take(&s->psn) : NULL;
	struct roce_trial *t;
	struct roce_stream *b;
	volatile __u64 *words;
	__s64 behind;

	if (!far || !p)
		return 0;
	t = trial_of(far);
	b = &t->beside;
	words = (volatile __u64 *)t; /* without volatile the compiler calls memset() */
	for (__u32 i = 0; i < sizeof(*t) / 8; i++)
		words[i] = 0;
	far->held |= HELD_TRIAL;
	s->trial = kind;
	behind = p->kind == ROCE_UDP ? (__s64)(p->number - s->sequence.other) :
				       psn_distance(s->sequence.other & PSN_MASK, p->number);
	t->other = s->sequence.has_other && behind >= 0 && behind <= PSN_WINDOW;
	t->begins = !!(p->op & OP_FIRST);
	t->done = s->pair.from && s->pair.first_psn == (s->psn.begin & PSN_MASK);
	t->first = number;
	t->packets = 1;
	b->met = true;
	b->sequence.run = p->run;
	b->path_mtu = s->path_mtu;
	psn_start(&b->psn, number);
	b->psn.far = PSN_NO_FAR;
	b->last.arrival = s->last.arrival;
	b->arrival.before = s->arrival.before;
	b->arrival.before_next = number - (1ull << 62); /* nothing of the sequence has arrived there */
	if (p->op & OP_RING && kind != TRIAL_GAP) {
		message_resume(&b->message, &s->message); /* it may go on in the ring */
		b->message.begin = 0;
		b->ring.span = s->ring.span;
		b->ring.beside = true;
	}
	trial_remember(b, p, number);
	stream_take(b, p, NULL);
	stream_take_block(b, p);
	return 1;
}

/* Takes another packet of the sequence beside. */
roce_inline void trial_follow(struct roce_trial *t, const struct roce_packet *p, __s64 d)
{
	if (t->beside.sequence.stepped | t->beside.reads.bytes) {
		stream_look_back(&t->beside, p);
		d = stream_distance(&t->beside, p);
	}
	if (t->beside.last.arrival != p->arrival)
		stream_arrive(&t->beside, p->arrival);
	t->row = d ? 0 : t->row + 1;
	t->packets++;
	if (!d)
		trial_remember(&t->beside, p, t->beside.psn.next);
	stream_take(&t->beside, p, NULL);
	stream_take_block(&t->beside, p);
}

roce_inline void trial_end(struct roce_stream *s, struct roce_far *far)
{
	s->trial = TRIAL_NONE;
	extra_leave(s, far, HELD_TRIAL);
}

/* The old sequence goes on. */
roce_inline void trial_close(struct roce_stream *s, struct roce_far *far)
{
	struct roce_trial *t = trial_of(far);
	__u64 *v = s->counters.value;

	if (s->trial != TRIAL_AGAIN) {
		v[COUNTER_psn_interleaved] += t->other ? t->packets : 0;
		v[COUNTER_psn_strays] += t->other ? 0 : t->packets;
		s->sequence.other = t->beside.psn.next;
		s->sequence.has_other = true;
	}
	trial_end(s, far);
}

/* The stream takes over what was counted beside it. */
roce_inline void trial_count(struct roce_stream *s, const struct roce_stream *b)
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
	s->sequence.stepped = b->sequence.stepped;
}

/* The sequence beside becomes that of the stream. p: its last packet. */
roce_rare trial_win(struct roce_stream *s, const struct roce_packet *p, __u32 by)
{
	struct roce_far *far = s ? far_of(&s->psn) : NULL;
	struct roce_trial *t;
	struct roce_stream *b;
	__u64 *v;

	if (!far || !p)
		return 0;
	v = s->counters.value;
	t = trial_of(far);
	b = &t->beside;
	v[COUNTER_psn_restarts]++;
	v[COUNTER_psn_resyncs]++;
	v[COUNTER_psn_undecided] -= t->undecided;
	s->sequence.restart_by = by;
	s->sequence.turns += t->other && s->sequence.turns < TRIAL_TURNS_MOST;
	s->sequence.other = s->psn.next;
	s->sequence.has_other = true;
	trial_count(s, b);
	for (int i = 0; i < PSN_WORDS; i++)
		s->psn.seen[i] = b->psn.seen[i];
	s->psn.next = b->psn.next;
	s->psn.begin = b->psn.begin;
	s->psn.unknown_before = b->psn.unknown_before;
	s->psn.reordered = b->psn.reordered;
	s->path_mtu = b->path_mtu;
	s->reads.mtu_least = b->reads.mtu_least;
	s->reads.mtu_guess = b->reads.mtu_guess;
	s->reads.doubt_from = b->reads.doubt_from;
	s->reads.doubt_row = b->reads.doubt_row;
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
	if (p->service == SERVICE_UC && s->trial == TRIAL_AGAIN)
		message_anew(&s->message);
	s->trial = TRIAL_NONE;
	far_give(&s->psn);
	return 1;
}

/* The gap is a loss: the stream takes it, and the packet behind it. p: the packet that proves it. */
roce_rare trial_accept(struct roce_stream *s, const struct roce_packet *p)
{
	struct roce_far *far = s ? far_of(&s->psn) : NULL;
	struct roce_trial *t;
	__u64 skipped;

	if (!far || !p)
		return 0;
	t = trial_of(far);
	skipped = t->first - s->psn.next;
	stream_skips(s, skipped);
	trial_count(s, &t->beside);
	if (p->service != SERVICE_UC && t->beside.message.begin) { /* the packet behind the gap had immediate data */
		s->message.immediate = t->beside.message.immediate;
		s->message.begin = t->beside.message.begin;
		s->message.counts &= ~BLOCK_LOOK;
	}
	if (t->beside.asked.count)
		s->asked.entry[s->asked.count++ % ASKED] = t->beside.asked.entry[0];
	psn_plan(&s->psn, 0, skipped, t->beside.psn.next - t->first);
	psn_forward(&s->psn);
	trial_end(s, far);
	return 1;
}

/*
 * A packet that the stream cannot take now. number: in the stream's numbers. Returns whether the packet waits; otherwise the
 * stream takes it after all.
 */
roce_inline bool trial_wait(struct roce_stream *s, const struct roce_packet *p, __u64 number, enum trial_kind kind)
{
	struct roce_far *far = s->trial ? far_of(&s->psn) : NULL;
	struct roce_trial *t;
	__u32 turns;
	__s64 d;

	if (!far)
		return trial_open(s, p, number, kind);
	t = trial_of(far);
	if (s->trial == TRIAL_GAP && (kind == TRIAL_GAP || number - t->first <= PSN_GAP_MAX)) {
		if (number == t->first)
			return true;
		trial_accept(s, p);
		d = stream_distance(s, p);
		kind = trial_kind_of(s, p, d, NULL); /* it may be behind a large gap itself */
		return kind && trial_open(s, p, s->psn.next + d, kind);
	}
	d = number - t->beside.psn.next;
	if (p->kind != ROCE_UDP)
		d = psn_distance(0, d & PSN_MASK);
	if (s->trial == TRIAL_ELSEWHERE && d >= -FAR_REACH && d <= PSN_GAP_MAX) {
		trial_follow(t, p, d);
		turns = t->other ? 2 * s->sequence.turns : 0;
		if (t->row >> turns || t->packets / TRIAL_PACKETS >> turns)
			trial_win(s, p, RESTART_ELSEWHERE);
		return true;
	}
	trial_close(s, far);
	return trial_open(s, p, number, kind);
}

/* Whether the stream remembers another packet with this number. */
roce_inline bool trial_differs(const struct roce_stream *s, const struct roce_packet *p, __u64 number)
{
	bool differs = false;

	if (p->op & OP_CUT)
		return false; /* most of what is remembered was cut off */
	for (int i = 0; i < STREAM_SAMPLES; i++)
		differs |= s->sample[i].what && s->sample[i].number == (__u32)number && s->sample[i].what != trial_what(p);
	return differs;
}

/* Whether this run began before the stream's first packet. PSNs from before it count as seen, though they were not. */
roce_inline bool trial_is_before(const struct roce_stream *s, const struct roce_trial *t)
{
	return (__s64)(t->first - s->psn.begin) < 0;
}

/*
 * Nothing is sent again on this service, so three packets that were seen are another sequence. Those before the first packet seen are
 * it only if that packet is long past: before, it may have overtaken them.
 */
roce_inline bool trial_is_anew(const struct roce_stream *s, const struct roce_trial *t, __u64 number)
{
	__u64 begin = s->psn.begin;

	return t->row >= 2 && ((__s64)(number - begin) >= 2 || s->psn.next - begin >= TRIAL_PACKETS);
}

/* Another sequence, if this run of PSNs seen before proves it. number: of its last packet. */
roce_inline enum roce_restart_by trial_again_by(const struct roce_stream *s, const struct roce_trial *t, const struct roce_packet *p,
						__u64 number, const struct roce_peer_info *info)
{
	if (!stream_is_reliable(p))
		return trial_is_anew(s, t, number) ? RESTART_RUN : RESTART_NONE;
	if (info && info->valid && t->asked && info->msn_falls != t->msn_falls && t->row)
		return RESTART_MSN;
	if (t->differs && t->row)
		return RESTART_PACKET;
	/* what was sent before the first packet seen cannot be compared */
	if (t->done && t->begins && trial_is_before(s, t) && t->row + 1 >= TRIAL_PACKETS)
		return RESTART_ELSEWHERE;
	return t->packets >= TRIAL_RUN_MOST ? RESTART_RUN : RESTART_NONE;
}

/* Call before the sequence takes a packet, for trial_count_once(). In memory, because the stack has no room. */
roce_inline void trial_note(struct roce_stream *s)
{
	s->psn.messages = s->counters.value[COUNTER_messages];
	s->psn.blocks = s->counters.value[COUNTER_blocks];
}

/* Both sequences have taken the packet. A message or a block that both have counted stays with the stream alone. */
roce_inline void trial_count_once(const struct roce_stream *s, struct roce_stream *b)
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
roce_inline void trial_join(struct roce_stream *s, struct roce_trial *t)
{
	if (t->differs)
		return;
	s->counters.value[COUNTER_psn_undecided] = t->undecided = 0;
	if (!trial_is_before(s, t))
		return;
	s->psn.begin = t->first;
	s->sample[0] = t->beside.sample[0];
}

/* The stream has taken a packet whose PSN had been seen, or had been missing. */
roce_inline void trial_again(struct roce_stream *s, const struct roce_packet *p, __u64 number, const struct roce_peer_info *info)
{
	struct roce_far *far = s->trial ? far_of(&s->psn) : NULL;
	struct roce_trial *t;
	enum roce_restart_by by;
	__s64 d = far ? number - trial_of(far)->beside.psn.next : 0;
	__u32 before;

	if (!far && number + 1 == s->psn.next)
		return; /* what follows would be new in either sequence; and some send one PSN again and again (UD) */
	if (far && d && stream_is_reliable(p) && stream_is_read_jump(&trial_of(far)->beside, d))
		d = 1;
	if (far && (!d || (stream_is_reliable(p) && d >= -PSN_WINDOW && d <= PSN_WINDOW))) {
		trial_note(&trial_of(far)->beside);
		trial_follow(trial_of(far), p, d);
	} else if (stream_is_reliable(p) || p->op & OP_FIRST) {
		trial_open(s, p, number, TRIAL_AGAIN);
		far = far_of(&s->psn);
	} else if (far) {
		trial_end(s, far);
		far = NULL;
	}
	if (!far)
		return;
	t = trial_of(far);
	trial_count_once(s, &t->beside);
	t->differs |= trial_differs(s, p, number);
	by = trial_again_by(s, t, p, number, info);
	if (info && info->valid && !t->asked) {
		t->msn_falls = info->msn_falls;
		t->done |= !(p->op & OP_RESPONSE) && (__s64)(info->acknowledged - t->first) > 0;
		t->asked = true;
	}
	if (by) {
		trial_win(s, p, by);
		return;
	}
	if (number == s->psn.begin && stream_is_reliable(p))
		trial_join(s, t);
	before = psn_before(t->first, s->psn.begin) & 1;
	t->undecided += before;
	s->counters.value[COUNTER_psn_undecided] += before;
}

/* The sequence goes on where it was, behind a run of PSNs seen before. */
roce_inline void trial_goes_on(struct roce_stream *s, struct roce_far *far)
{
	trial_join(s, trial_of(far));
	trial_end(s, far);
}

/*
 * The stream has taken a packet. number: the packet's, before that. late: counted as seen before, or as unknown. recovered:
 * PSNs that had been missing.
 */
roce_inline void trial_taken(struct roce_stream *s, const struct roce_packet *p, __u64 number, bool late, bool recovered,
			     const struct roce_peer_info *info)
{
	struct roce_far *far = s->trial ? far_of(&s->psn) : NULL;

	if (!far)
		s->trial = TRIAL_NONE;
	if (!late && !recovered) {
		trial_remember(s, p, number);
		s->sequence.turns -= s->sequence.turns && !(number % TRIAL_TURN_PERIOD);
	}
	if (far && s->trial == TRIAL_GAP && (__s64)(s->psn.next - trial_of(far)->first) > 0)
		trial_close(s, far);
	else if (far && s->trial == TRIAL_ELSEWHERE)
		trial_close(s, far);
	else if (far && s->trial == TRIAL_AGAIN && !late && !(recovered && stream_is_reliable(p)))
		trial_goes_on(s, far);
	else if (s->trial == TRIAL_AGAIN || (!s->trial && late))
		trial_again(s, p, number, info);
}

/*
 * The First or Only of a response that is far behind: an old one, if the requester says so, else other traffic has moved the
 * circle of PSNs on by half of it.
 */
roce_inline void trial_anchor(struct roce_stream *s, __u64 number, const struct roce_peer_info *info)
{
	if (info && info->valid && (__s64)(info->number - s->psn.next) < 0)
		return;
	stream_restart(s, info && info->valid ? info->number : number);
}

/* A packet of UC waits, but its receiver takes it. */
roce_inline void trial_message(struct roce_stream *s, const struct roce_packet *p, enum trial_kind kind)
{
	stream_message(s, p, PSN_RESYNC, 1);
	if (p->op & OP_IMMDT && (kind == TRIAL_GAP || !(p->op & OP_RING)))
		stream_block(s, p, kind == TRIAL_GAP ? BLOCK_BEYOND : BLOCK_ELSEWHERE);
}

/* Takes a packet with a known opcode. */
roce_inline void trial_take(struct roce_stream *s, const struct roce_packet *p, const struct roce_peer_info *info)
{
	__s64 d = s->met ? stream_distance(s, p) : 0;
	__u64 *v = s->counters.value, number = s->met ? s->psn.next + d : p->number, late, recovered;
	enum trial_kind kind = TRIAL_NONE;

	if (s->met && s->sequence.run == p->run) {
		kind = trial_kind_of(s, p, d, info);
		if (p->op & OP_RESPONSE && p->op & OP_FIRST && d < -PSN_REACH)
			trial_anchor(s, number, info);
	}
	if (kind && trial_wait(s, p, number, kind)) {
		s->sequence.waited += s->trial != TRIAL_NONE;
		if (p->service == SERVICE_UC)
			trial_message(s, p, kind);
		return;
	}
	late = stream_seen_before(s);
	recovered = v[COUNTER_psn_recovered];
	trial_note(s);
	if (s->met && s->sequence.stepped | s->reads.bytes | s->reads.mtu_guess)
		stream_look_back(s, p);
	stream_take(s, p, info);
	stream_take_block(s, p);
	trial_taken(s, p, number, stream_seen_before(s) != late, v[COUNTER_psn_recovered] != recovered, info);
}

/* Takes any packet that may have a place in the sequence. */
roce_rare stream_rare(struct roce_stream *s, const struct roce_packet *p, const struct roce_peer_info *info)
{
	__u32 looked;

	if (!s || !p)
		return 0;
	s->message.changes++;
	stream_ask_mtu(s, info);
	looked = s->psn.next / PSN_PERIOD;
	if (looked != s->acks.looked && s->pair.from && !(p->op & OP_RESPONSE))
		stream_settle(s, info);
	s->acks.looked = looked;
	if (info && info->valid && !(p->op & OP_RESPONSE)) {
		s->acks.answered = info->acknowledged;
		if (s->acks.spilled || stream_may_spill(s, p))
			stream_spill(s);
	}
	if (p->kind == ROCE_PACKET && !p->op) {
		stream_take(s, p, info);
		stream_take_block(s, p);
	} else {
		trial_take(s, p, info);
	}
	s->plain = PLAIN_NOT;
	if (s->met && !s->reads.bytes && !s->sequence.stepped && !s->trial && !stream_is_look(s))
		s->plain = psn_is_whole(&s->psn) ? PLAIN_ALL : PLAIN;
	return 0;
}

#endif
