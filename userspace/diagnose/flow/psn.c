// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/diagnose/flow/psn.h"

#define MOST(n, of) ((n) >= FINDING_PACKETS && (n) * 10 >= (of) * 9) /* loss may disturb a model now and then */
#define WRAP_LEAST 4 /* bits of the narrowest counter */
#define FLIGHT 1024 /* packets that a sender may send, of any stream, while one is late */
#define WRAP_ONCE 8  /* from this width on, one wrap is no coincidence */

static __u32 after(__u32 psn)
{
	return (psn + 1) & PSN_MASK;
}

static __u32 swap(__u32 psn)
{
	return __builtin_bswap32(psn << 8);
}

/* Width of a counter that went from all ones to 0 while the bits above it did not change. 0: none. */
static __u32 early_wrap(__u32 before, __u32 now)
{
	__u32 changed = before ^ now;

	if (!changed || changed & (changed + 1) || (before & changed) != changed || changed == PSN_MASK)
		return 0;
	return __builtin_popcount(changed);
}

static void count_stride(struct psn_study *s, __u32 step)
{
	if (step == s->stride) {
		s->stride_votes++;
		s->stride_seen++;
	} else if (s->stride_votes) {
		s->stride_votes--;
	} else {
		s->stride = step;
		s->stride_votes = s->stride_seen = 1;
	}
}

static void count_models(struct psn_study *s, const struct doctor_step *p)
{
	const struct doctor_step *b = &s->before;
	__u32 step = (p->psn - b->psn) & PSN_MASK, bits = early_wrap(b->psn, p->psn);
	bool begins = p->op & OP_FIRST, ended = b->op & OP_LAST;

	s->steps++;
	s->right += step == 1;
	s->still += step == 0;
	s->within += step == 0 && !ended;
	s->between += step == 1 && ended;
	s->swapped += ((swap(p->psn) - swap(b->psn)) & PSN_MASK) == 1;
	for (int i = 0; i < PSN_UNITS; i++)
		s->units[i] += step == (b->payload + (1u << i) - 1) >> i;
	s->restarts += begins && s->begun && p->psn == s->begin;
	s->restarts_within += !begins && step == 1;
	count_stride(s, step);
	if (bits && bits != s->wrap_bits) {
		s->wrap_bits = bits;
		s->wraps = 0;
	}
	s->wraps += bits > 0;
	s->wrap_behind = bits ? 0 : s->wrap_behind + (step == 1);
	if (step != 1 && s->odd_count < FINDING_EVIDENCE) {
		s->odd[s->odd_count].frame = p->frame;
		s->odd[s->odd_count].expected = after(b->psn);
		s->odd[s->odd_count++].found = p->psn;
	}
}

/* Whether it is a packet that was remembered, with the same PSN. */
static bool is_again(const struct psn_study *s, const struct doctor_step *p)
{
	if (p->psn == s->first && p->content == s->first_content)
		return true;
	return s->recent[p->psn % PSN_NEAR].psn == p->psn + 1 && s->recent[p->psn % PSN_NEAR].content == p->content;
}

/* Whether the step from the packet before tells how the sender counts. */
static bool is_step(const struct psn_study *s, const struct doctor_step *p)
{
	const struct doctor_step *b = &s->before;

	if (b->op & OP_READ_REQUEST) /* its span is the engine's guess */
		return false;
	if (p->op & OP_RESPONSE && p->resent) /* its MSN may be another one */
		return false;
	if (p->psn == b->psn)
		/* if equal: a retransmission; and a READ that is asked for from inside of it is answered by other packets */
		return p->content != b->content && (p->opcode == b->opcode || !(p->op & OP_RESPONSE));
	if (p->op & OP_RESPONSE && p->op & OP_FIRST) /* a responder may skip acknowledged PSNs between responses */
		return false;
	/* nor does it if the sender goes back */
	return !((p->service == SERVICE_RC || p->service == SERVICE_XRC) && psn_distance(b->psn, p->psn) < 0 && is_again(s, p));
}

static void take_outlier(struct psn_study *s, struct symptoms *symptoms, const struct doctor_step *p)
{
	struct evidence *e = symptoms_add(symptoms, KIND_psn_outlier, p->frame);

	s->outliers_same = !s->outliers++ || (s->outliers_same && p->psn == s->outlier_psn);
	s->outlier_psn = p->psn;
	if (!e)
		return;
	SAY(e->expected, "PSN 0x%06x", after(s->counted));
	SAY(e->found, "PSN 0x%06x", p->psn);
}

/*
 * Whether the packet belongs before the first one, which has overtaken it. Its identification tells, if the sender counts these. Else
 * only a packet beside the first ones may be late.
 */
static bool is_before_first(const struct psn_study *s, const struct doctor_step *p)
{
	__u16 behind = s->before.identification - p->identification;
	__s32 before = psn_distance(p->psn, s->first);

	if (before <= 0 || before >= PSN_NEAR)
		return false;
	if (s->before.identification && p->identification)
		return behind && behind < FLIGHT;
	return psn_distance(s->first, s->counted) < PSN_NEAR;
}

/* Whether the newest packet before this PSN is a READ, and none with this PSN has come: the READ may be answered by one packet. */
static bool is_behind_some_read(const struct psn_study *s, const struct doctor_step *p)
{
	for (__u32 i = 0; i < PSN_NEAR; i++) {
		__u32 psn = (p->psn - i) & PSN_MASK;

		if (s->recent[psn % PSN_NEAR].psn == psn + 1)
			return i && s->recent[psn % PSN_NEAR].read;
	}
	return false;
}

/*
 * Whether the packet has a wrong PSN and the next packet continues as if it were right. A packet that is only late, early or a
 * duplicate is no outlier.
 */
static bool is_outlier(const struct psn_study *s, const struct doctor_step *p, bool goes_on)
{
	__s32 off = psn_distance(after(s->counted), p->psn);

	if (!goes_on || !off || (off > 0 && off < PSN_NEAR) || p->event.kinds & ROCE_EVENT(psn_recovered))
		return false;
	if ((s->vacant && p->psn == s->counted) || is_before_first(s, p))
		return false;
	/* a response to a READ that comes again may have another MSN */
	if (p->op & OP_RESPONSE && p->event.kinds & ROCE_EVENT(psn_duplicate))
		return false;
	return off < -PSN_NEAR || off > 0 || !(is_again(s, p) || is_behind_some_read(s, p));
}

/* Whether the packet before is a READ, and this one may be the next: how many PSNs a READ takes is the engine's guess. */
static bool is_behind_read(const struct psn_study *s, const struct doctor_step *p)
{
	const __u32 displaced = ROCE_EVENT(psn_duplicate) | ROCE_EVENT(psn_recovered);

	return s->before.op & OP_READ_REQUEST && !(s->before.event.kinds & displaced) && psn_distance(s->counted, p->psn) > 0;
}

/* Where p is in the sequence. Counts past a packet with a wrong PSN. */
static enum psn_how follow(struct psn_study *s, struct symptoms *symptoms, const struct doctor_step *p,
			   const struct doctor_step *next)
{
	bool goes_on = next && !next->apart && next->psn == ((s->counted + 2) & PSN_MASK);

	if (p->damaged || is_outlier(s, p, goes_on)) {
		if (!p->damaged)
			take_outlier(s, symptoms, p);
		s->excused = !p->damaged;
		s->vacant |= p->damaged && p->psn == after(s->counted);
		if (goes_on || p->psn == after(s->counted))
			s->counted = after(s->counted);
		return PSN_TAKEN;
	}
	if (is_step(s, p) && s->before.psn == s->counted)
		count_models(s, p);
	if (s->excused)
		return PSN_RESUMES;
	if (p->psn == after(s->counted))
		return PSN_FOLLOWS;
	if (p->event.kinds & ROCE_EVENT(psn_gap))
		return PSN_LEAPS;
	if (!is_behind_read(s, p))
		return PSN_ELSEWHERE;
	return p->guessed ? PSN_PERHAPS : PSN_FOLLOWS;
}

enum psn_how psn_study_take(struct psn_study *s, struct symptoms *symptoms, const struct doctor_step *p,
			    const struct doctor_step *next)
{
	enum psn_how how = s->met ? PSN_ELSEWHERE : PSN_FIRST;

	if (s->met && !p->apart)
		how = follow(s, symptoms, p, next);
	else if (p->damaged)
		how = PSN_TAKEN;
	if (how == PSN_TAKEN)
		return how;
	if (!s->met) {
		s->first = p->psn;
		s->first_content = p->content;
		s->first_op = p->op;
		s->first_frame = p->frame;
	}
	if (p->op & OP_FIRST && !s->begun) {
		s->begin = p->psn;
		s->begun = true;
	}
	s->met = true;
	s->ones |= p->psn;
	s->zeroes |= ~p->psn & PSN_MASK;
	s->before = *p;
	s->recent[p->psn % PSN_NEAR].psn = p->psn + 1;
	s->recent[p->psn % PSN_NEAR].content = p->content;
	s->recent[p->psn % PSN_NEAR].read = p->op & OP_READ_REQUEST;
	s->counted = p->psn;
	s->excused = s->vacant = false;
	return how;
}

/* ---- conclusions ---- */

static void add_symptom(const struct psn_study *s, struct symptoms *symptoms, enum finding_kind kind, __u64 packets)
{
	struct symptom *symptom = symptoms_get(symptoms, kind);

	if (!symptom)
		return;
	symptom->packets = packets;
	symptom->shown = s->odd_count;
	for (size_t i = 0; i < s->odd_count; i++) {
		symptom->evidence[i].frame = s->odd[i].frame;
		SAY(symptom->evidence[i].expected, "PSN 0x%06x", s->odd[i].expected);
		SAY(symptom->evidence[i].found, "PSN 0x%06x", s->odd[i].found);
	}
}

static void say_figures(struct symptoms *symptoms, enum finding_kind kind, const char *figures)
{
	struct symptom *symptom = symptoms_find(symptoms, kind);

	if (symptom)
		SAY(symptom->figures, "%s", figures);
}

/* Steps of a constant N, or steps in units of the payload. */
static bool conclude_steps(const struct psn_study *s, struct symptoms *symptoms, enum message_payload payload)
{
	bool stride = s->stride > 1 && s->stride <= PSN_GAP_MAX && MOST(s->stride_seen, s->steps);
	const char *doubt = "";
	char text[SYMPTOM_FIGURES];
	int unit = 0;

	if (payload == PAYLOAD_MISSING) /* the packets between are missing */
		return false;
	while (unit < PSN_UNITS && !MOST(s->units[unit], s->steps))
		unit++;
	if (unit == 0 || (unit < PSN_UNITS && !stride)) {
		SAY(text, unit ? "It counts beats of %u bytes." : "It counts bytes.", 1u << unit);
		add_symptom(s, symptoms, KIND_psn_by_bytes, s->units[unit]);
		say_figures(symptoms, KIND_psn_by_bytes, text);
		return true;
	}
	if (!stride)
		return false;
	if (payload == PAYLOAD_UNKNOWN)
		doubt = " Or it counts right, and packets are lost before this place at a regular distance: messages of several packets "
			"would tell.";
	if (unit < PSN_UNITS)
		SAY(text, "It counts by %u, which is the payload in beats of %u bytes.%s", s->stride, 1u << unit, doubt);
	else
		SAY(text, "It counts by %u.%s", s->stride, doubt);
	add_symptom(s, symptoms, KIND_psn_by_n, s->stride_seen);
	say_figures(symptoms, KIND_psn_by_n, text);
	if (payload == PAYLOAD_UNKNOWN) {
		symptoms_doubt(symptoms, KIND_psn_by_n);
		symptoms_doubt(symptoms, KIND_loss);
	}
	return true;
}

static bool conclude_wrap(const struct psn_study *s, struct symptoms *symptoms)
{
	char text[SYMPTOM_FIGURES];
	__u64 agree = s->wrap_behind + (s->wraps > 1 ? s->wraps * (1u << s->wrap_bits) : 0);

	/* the bits above the counter never change */
	if (!s->wraps || (s->ones & s->zeroes) >> s->wrap_bits || s->wrap_bits < WRAP_LEAST ||
	    (s->wrap_bits < WRAP_ONCE && s->wraps < FINDING_PACKETS))
		return false;
	SAY(text, "Its counter has %u bits.", s->wrap_bits);
	add_symptom(s, symptoms, KIND_psn_wrap, agree > s->steps ? s->steps : agree);
	say_figures(symptoms, KIND_psn_wrap, text);
	return true;
}

bool psn_study_conclude(const struct psn_study *s, struct symptoms *symptoms, enum message_payload payload)
{
	if (s->outliers) {
		char text[SYMPTOM_FIGURES];

		SAY(text, "It is 0x%06x each time; the packets behind go on as if nothing had been.", s->outlier_psn);
		say_figures(symptoms, KIND_psn_outlier, s->outliers_same && s->outliers > 1 ? text : "");
	}
	if (MOST(s->right, s->steps))
		return conclude_wrap(s, symptoms);
	if (MOST(s->still, s->steps) || (s->still && s->still == s->steps)) {
		add_symptom(s, symptoms, KIND_psn_constant, s->still);
	} else if (s->within >= FINDING_PACKETS && s->between && MOST(s->within + s->between, s->steps)) {
		add_symptom(s, symptoms, KIND_psn_per_message, s->within);
	} else if (MOST(s->swapped, s->steps)) {
		add_symptom(s, symptoms, KIND_psn_swapped, s->swapped);
	} else if (s->restarts > 1 && MOST(s->restarts + s->restarts_within, s->steps)) {
		add_symptom(s, symptoms, KIND_psn_restart, s->restarts);
	} else if (!conclude_wrap(s, symptoms)) {
		return conclude_steps(s, symptoms, payload);
	}
	return true;
}
