// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/diagnose/flow/twice.h"

#define TWICE_SOON 100000 /* ns within which a copy follows: few packets are sent again so soon */

const struct twice_seen *twice_at(const struct twice *t, __u32 psn)
{
	const struct twice_seen *seen = &t->last[psn % TWICE_LAST];

	return seen->psn == psn + 1 ? seen : NULL;
}

int twice_opcode(const struct twice *t, __u32 psn)
{
	const struct twice_seen *seen = &t->last[psn % TWICE_LAST];

	return seen->psn == psn + 1 ? seen->opcode : -1;
}

__u64 twice_time(const struct twice *t, __u32 psn)
{
	const struct twice_seen *seen = &t->last[psn % TWICE_LAST];

	return seen->psn == psn + 1 ? seen->time : 0;
}

/* Whether the sender gives each packet another identification, as far as the packets around this PSN show. */
static bool counts(const struct twice *t, __u32 psn, __u16 ip_id)
{
	const struct twice_seen *before = twice_at(t, (psn - 1) & PSN_MASK), *behind = twice_at(t, (psn + 1) & PSN_MASK);

	return (before || behind) && (!before || before->ip_id != ip_id) && (!behind || behind->ip_id != ip_id);
}

static void take_copy(struct twice *t, struct symptoms *symptoms, const struct doctor_packet *taken,
		      const struct twice_seen *first)
{
	__u64 behind = first ? taken->stream->last_seen - first->time : 0;
	struct evidence *e = symptoms_add(symptoms, KIND_captured_twice, taken->number);

	if (!first)
		return;
	if (!t->copies++ || behind < t->least)
		t->least = behind;
	if (behind > t->most)
		t->most = behind;
	if (!e)
		return;
	SAY(e->expected, "once, in frame %llu", first->frame);
	SAY(e->found, "the same %.1f us later", behind / 1e3);
}

/* Another packet than before with this PSN, unless the QP turns out to be used again. */
static void take_other(struct twice *t, const struct twice_seen *now, const struct twice_seen *before)
{
	if (t->differing < FINDING_EVIDENCE) {
		t->differs[t->differing] = *now;
		t->from[t->differing] = *before;
	}
	t->differing++;
}

static void tell_others(struct twice *t, struct symptoms *symptoms)
{
	for (__u64 i = 0; i < t->differing; i++) {
		const struct twice_seen *now = &t->differs[i], *before = &t->from[i];
		struct evidence *e = symptoms_add(symptoms, KIND_retransmission_differs, i < FINDING_EVIDENCE ? now->frame : 0);

		if (!e || i >= FINDING_EVIDENCE)
			continue;
		SAY(e->expected, "frame %llu again: opcode 0x%02x, content %08x", before->frame, before->opcode, before->content);
		SAY(e->found, "opcode 0x%02x, content %08x", now->opcode, now->content);
	}
	t->differing = 0;
}

/* Whether a requester that sends this packet again must send it as it was. A READ is asked for from where it broke off. */
static bool is_fixed(const struct roce_packet *p)
{
	return (p->service == SERVICE_RC || p->service == SERVICE_XRC) && !(p->op & (OP_RESPONSE | OP_READ_REQUEST));
}

bool twice_left_out(const struct twice *t, __u32 psn)
{
	return t->left_out[psn % TWICE_LAST] == psn + 1;
}

void twice_forget_left_out(struct twice *t)
{
	memset(t->left_out, 0, sizeof(t->left_out));
}

/* Notes the PSNs between this packet and the one before. */
static void leave_out(struct twice *t, __u32 psn, bool damaged)
{
	__s32 ahead = t->follows ? psn_distance(t->latest, psn) : 0;

	for (__s32 i = 1; ahead <= TWICE_LAST && i < ahead; i++) {
		__u32 between = (t->latest + i) & PSN_MASK;

		t->left_out[between % TWICE_LAST] = between + 1;
	}
	if (ahead < 0 && twice_left_out(t, psn))
		t->left_out[psn % TWICE_LAST] = 0;
	t->latest = psn;
	t->follows = !damaged;
}

/* Whether the packet behind this PSN is remembered, and none with this PSN has come with a right ICRC. */
static bool never_came(const struct twice *t, __u32 psn)
{
	const struct twice_seen *at = &t->last[psn % TWICE_LAST];

	return twice_at(t, (psn + 1) & PSN_MASK) && (!at->psn || psn_distance(at->psn - 1, psn) > 0);
}

bool twice_take(struct twice *t, struct symptoms *symptoms, const struct doctor_packet *taken, __u32 content)
{
	const struct roce_packet *p = &taken->parsed->packet;
	bool again = taken->event->kinds & ROCE_EVENT(psn_duplicate), copy = taken->parsed->copy;
	struct twice_seen now = { taken->stream->last_seen, taken->number, p->number + 1, content, p->ip_id, p->opcode };
	const struct twice_seen *before = twice_at(t, p->number);
	bool same = before && before->content == content && before->ip_id == p->ip_id;

	if (taken->event->kinds & ROCE_EVENT(psn_resync))
		t->differing = 0;
	else if (!again)
		tell_others(t, symptoms);
	/* the engine compares 16 bits: now and then they are those of a packet sent again, or of one that was lost before */
	if (copy && (before ? !same : taken->parsed->icrc == ICRC_GOOD && never_came(t, p->number)))
		return true;
	copy |= again && same && counts(t, p->number, p->ip_id);
	if (copy) {
		take_copy(t, symptoms, taken, same ? before : NULL);
		return true;
	}
	leave_out(t, p->number, taken->parsed->icrc == ICRC_BAD);
	if (again && same && before->frame > t->refused && now.time - before->time < TWICE_SOON)
		t->undecided++;
	if (again && before && before->content != content && taken->parsed->icrc == ICRC_GOOD && is_fixed(p))
		take_other(t, &now, before);
	if (taken->parsed->icrc != ICRC_BAD)
		t->last[p->number % TWICE_LAST] = now;
	return false;
}

__u64 twice_settled(struct twice *t, const struct doctor_packet *taken)
{
	__u64 count = taken->stream->counters.value[COUNTER_captured_twice], more = count > t->counted ? count - t->counted : 0;

	t->counted = count;
	if (taken->parsed->copy)
		return 0;
	t->undecided -= more < t->undecided ? more : t->undecided;
	return more;
}

void twice_conclude(struct twice *t, struct symptoms *symptoms)
{
	struct symptom *symptom;

	tell_others(t, symptoms);
	symptom = symptoms_find(symptoms, KIND_retransmission) ?: symptoms_find(symptoms, KIND_duplicates);
	if (symptom && t->undecided)
		SAY(symptom->figures,
		    "Whether they were sent again or captured twice cannot be told of %llu: the same in all, within %d us, and "
		    "their sender does not count the IPv4 identification.", t->undecided, TWICE_SOON / 1000);
}
