// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Turns the signs of streams into findings. */
#include <stdlib.h>
#include <string.h>

#include "userspace/doctor/chart.h"

#define ACKREQ_LEAST 16 /* messages in a row of which at least one should ask for an ACK */
#define LOSS_FEW 64 /* up to this many packets missing at the beginning of a stream may be lost */

static struct chart *chart_at(const struct doctor *d, size_t i)
{
	return d->charts.entries[i];
}

static bool all_bad(const struct chart *c)
{
	return c->bad >= PHANTOM && !c->good;
}

/* ---- a stream ---- */

static void show_icrcs(const struct chart *c, struct signs *signs, enum finding_kind kind)
{
	struct sign *sign = signs_get(signs, kind);

	if (!sign)
		return;
	sign->packets += c->bad;
	for (size_t i = 0; i < c->bad && i < FINDING_EVIDENCE && sign->shown < FINDING_EVIDENCE; i++) {
		struct evidence *e = &sign->evidence[sign->shown++];

		e->frame = c->bad_shown[i].frame;
		lint_say_icrc(e->expected, c->bad_shown[i].expected);
		lint_say_icrc(e->found, c->bad_shown[i].found);
	}
}

static void show_start(struct chart *c, enum finding_kind kind, __u32 expected, __u64 packets)
{
	struct sign *sign = signs_get(&c->signs, kind);

	if (!sign)
		return;
	sign->packets = packets;
	sign->shown = 1;
	sign->evidence[0].frame = c->psn.first_frame;
	SAY(sign->evidence[0].expected, "PSN 0x%06x", expected);
	SAY(sign->evidence[0].found, "PSN 0x%06x", c->psn.first);
}

static void say_start(struct chart *c, const char *text)
{
	struct sign *sign = signs_find(&c->signs, KIND_psn_start);

	if (sign)
		SAY(sign->figures, "%s", text);
}

/* Compares the first PSN with the one known from connection management or --expect. */
static void conclude_start(struct chart *c)
{
	__s32 off = psn_distance(c->start, c->psn.first);
	__u64 packets = c->psn.steps + 1;

	if (!c->psn.first_frame || c->start == NO_PSN || !off || c->loss.recovered)
		return;
	if (c->psn.first == c->other_start) {
		show_start(c, KIND_psn_other_side, c->start, packets);
		return;
	}
	if (off > 0 && off <= LOSS_FEW) /* lost packets explain it as well: count it once */
		packets = 1;
	show_start(c, KIND_psn_start, c->start, packets);
	if (__builtin_bswap32(c->psn.first << 8) == c->start)
		say_start(c, "It is the right one with its bytes in the other order.");
	else if (packets == 1)
		say_start(c, "Or the first packets are lost, or were sent before the capture began.");
}

/* Compares the first PSN with the one that the NAK asks for, if the receiver has not acknowledged anything. */
static void conclude_refused(struct chart *c)
{
	char text[SIGN_FIGURES];
	__u32 sent = (c->waiting.psn - c->psn.first) & PSN_MASK;

	if (!c->refused || c->acked || ((c->wanted - c->psn.first) & PSN_MASK) <= sent ||
	    signs_find(&c->signs, KIND_psn_start) || signs_find(&c->signs, KIND_psn_other_side))
		return;
	show_start(c, KIND_psn_start, c->wanted, c->psn.steps + 1);
	SAY(text,
	    "The receiver says so: its NAK (PSN sequence error) in frame %llu asks for 0x%06x, and it acknowledges nothing.",
	    c->wanted_frame, c->wanted);
	say_start(c, text);
}

/* The opposite direction. NULL: not in the capture. */
static const struct path *way_back(const struct doctor *d, const struct chart *c)
{
	__u8 key[32];

	memcpy(key, c->key.dst, 16);
	memcpy(key + 16, c->key.src, 16);
	return index_find(&d->paths, key);
}

static void conclude_response(const struct doctor *d, struct chart *c)
{
	const struct path *back = way_back(d, c);
	struct sign *sign;

	if (c->key.kind != KEY_CONNECTED || c->key.side != SIDE_REQUEST || c->acked ||
	    (c->service != SERVICE_RC && c->service != SERVICE_XRC) || c->asked < FINDING_PACKETS)
		return;
	/* bare transport headers have one address at both ends: the opposite direction cannot be told from this one */
	if (!memcmp(c->key.src, c->key.dst, 16))
		return;
	if (!back || back->responses)
		return;
	sign = signs_get(&c->signs, KIND_no_response);
	if (!sign)
		return;
	sign->packets = c->asked;
	SAY(sign->figures, "%llu packets asked for it.", c->asked);
}

/* Without AckReq there are no ACKs. ACKREQ_LEAST messages without one rule out a sender that asks only now and then. */
static void conclude_ackreq(const struct doctor *d, struct chart *c)
{
	const struct path *back = way_back(d, c);
	struct sign *sign;

	if (c->key.kind != KEY_CONNECTED || c->key.side != SIDE_REQUEST || c->ackreqs || c->silent < ACKREQ_LEAST ||
	    (back && back->responses) || (c->service != SERVICE_RC && c->service != SERVICE_XRC))
		return;
	sign = signs_get(&c->signs, KIND_no_ackreq);
	if (!sign)
		return;
	sign->packets = c->silent;
	sign->shown = 1;
	sign->evidence[0].frame = c->silent_frame;
	SAY(sign->evidence[0].expected, "AckReq in one of %llu messages", c->silent);
	SAY(sign->evidence[0].found, "none");
}

/* If First and Middle packets are four bytes short of the path MTU, the end of their payload was read as the ICRC. */
static void conclude_absent(struct chart *c)
{
	if (all_bad(c) && c->lint.short_of_icrc >= FINDING_PACKETS && !signs_find(&c->signs, KIND_icrc_absent))
		show_icrcs(c, &c->signs, KIND_icrc_absent);
}

static void conclude_chart(struct doctor *d, struct chart *c)
{
	bool reliable = c->service == SERVICE_RC || c->service == SERVICE_XRC;

	loss_conclude(&c->loss, &c->signs, reliable);
	message_study_conclude(&c->message, &c->signs, all_bad(c));
	lint_study_conclude(&c->lint, &c->signs);
	conclude_absent(c);
	psn_study_conclude(&c->psn, &c->signs, message_study_payload(&c->message));
	receiver_conclude(&d->receiver, &c->signs);
	if (!d->selection) { /* the first packet may be any, and the answers of it need not be there */
		conclude_start(c);
		conclude_refused(c);
		conclude_ackreq(d, c);
	}
	conclude_response(d, c);
	if (c->trusted && c->bad)
		show_icrcs(c, &c->signs, KIND_corruption);
	explain_chart(c);
	if (d->selection)
		explain_selection(c);
	if (c->start == NO_PSN && signs_find(&c->signs, KIND_no_response))
		signs_add(&c->signs, KIND_hint_first_psn, c->psn.first_frame);
}

/* ---- all streams ---- */

/* NULL: none of that kind. */
static struct finding *find(const struct findings *f, enum finding_kind kind)
{
	char wanted[FINDING_KIND];

	finding_name(kind, wanted);
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->list[i].kind, wanted))
			return &f->list[i];
	return NULL;
}

/* A habit of some streams is another finding than the fault of others. */
static struct finding *find_or_add(struct findings *f, const struct sign *sign)
{
	char wanted[FINDING_KIND];
	struct finding *to;

	finding_name(sign->kind, wanted);
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->list[i].kind, wanted) && f->list[i].habit == sign->habit)
			return &f->list[i];
	to = findings_add(f);
	if (to)
		memcpy(to->kind, wanted, sizeof(wanted));
	return to;
}

static bool add_sign(struct findings *f, const struct sign *sign, const struct roce_key *stream)
{
	const struct finding_rule *rule = &finding_rules[sign->kind];
	struct finding *to = find_or_add(f, sign);

	if (!to)
		return false;
	if (!to->streams) {
		to->weight = rule->weight;
		to->hint = rule->class == CLASS_HINT;
		to->habit = sign->habit;
		to->stream = *stream;
		to->asks = rule->asks;
		SAY(to->fix, "%s", rule->fix);
		SAY(to->text, "%s.%s%s", rule->words, *sign->figures ? " " : "", sign->figures);
	}
	to->streams++;
	to->packets += sign->packets;
	to->certain |= !to->hint && !to->habit && !sign->doubted && to->packets >= FINDING_PACKETS;
	for (size_t i = 0; i < sign->shown && to->evidence_count < FINDING_EVIDENCE; i++)
		to->evidence[to->evidence_count++] = sign->evidence[i];
	return true;
}

static bool add_signs(struct findings *f, const struct signs *s, const struct roce_key *stream)
{
	bool added = true;

	for (size_t i = 0; i < s->count; i++)
		added &= add_sign(f, &s->list[i], stream);
	return added;
}

/* Words the finding of loss: which streams lose, when, and how many packets at a time. */
static void say_loss(const struct doctor *d, const struct roce_totals *totals, struct findings *f)
{
	__u64 gaps = 0, lost = 0, largest = 0, streams = 0, losing = 0, period = 0;
	bool periodic = true;
	struct finding *to = find(f, KIND_loss);
	char text[128], of[32] = "";
	const char *where = "";

	if (!to)
		return;
	for (size_t i = 0; i < d->charts.count; i++) {
		const struct chart *c = chart_at(d, i);
		const struct loss *l = &c->loss;

		if (!c->psn.met)
			continue;
		streams++;
		if (!signs_find(&c->signs, KIND_loss))
			continue;
		losing++;
		gaps += l->gaps;
		lost += l->skipped - l->recovered;
		if (l->largest > largest)
			largest = l->largest;
		periodic &= l->periodic && l->gaps > 2 && (!period || l->period == period);
		period = l->period;
	}
	if (!d->selection)
		SAY(of, " of %llu", totals->value[COUNTER_roce_packets] + totals->value[COUNTER_rocev1_packets] + lost);
	SAY(text, "%s: %llu%s. PSNs are left out %llu time%s, ", finding_rules[KIND_loss].words, lost, of, gaps, gaps == 1 ? "" : "s");
	if (streams > 2 && losing == 1)
		where = " Only one stream loses: its QP, its queue, its path by hash.";
	else if (d->gaps_together && 2 * d->gaps_together >= d->gaps && 4 * d->burst * burst_frames(d) < d->latest)
		where = " Most streams lose at the same time: a port, a buffer or a pause for all of them.";
	if (periodic && period)
		snprintf(to->text, sizeof(to->text),
			 "%s%llu at once at most, in %llu of %llu streams. It is always packet %llu after the "
			 "last one: a counter or a buffer of that size.%s",
			 text, largest, losing, streams, period, where);
	else
		snprintf(to->text, sizeof(to->text), "%s%llu at once at most, in %llu of %llu streams.%s", text, largest,
			 losing, streams, where);
}

static bool conclude_icrcs(struct doctor *d, struct findings *f)
{
	struct icrc_study **studies = calloc(d->charts.count + 1, sizeof(*studies));
	size_t count = 0;
	bool added;

	if (!studies)
		return false;
	for (size_t i = 0; i < d->charts.count; i++)
		if (chart_at(d, i)->icrc && !signs_find(&chart_at(d, i)->signs, KIND_icrc_absent))
			studies[count++] = chart_at(d, i)->icrc;
	added = icrc_study_conclude(studies, count, f);
	free(studies);
	return added;
}

/* If other streams have good ICRCs, the bad ICRCs of phantoms are damage on the path. */
static bool conclude_phantoms(struct doctor *d, struct findings *f)
{
	bool added = true, trusted = false;

	for (size_t i = 0; i < d->charts.count; i++)
		trusted |= chart_at(d, i)->trusted;
	for (size_t i = 0; trusted && i < d->charts.count; i++) {
		struct signs damaged = { 0 };

		if (!doctor_is_phantom(d, chart_at(d, i)))
			continue;
		show_icrcs(chart_at(d, i), &damaged, KIND_corruption);
		added &= add_signs(f, &damaged, &chart_at(d, i)->key);
		signs_free(&damaged);
	}
	return added;
}

/* Adds what this machine knows. Where its counters are compared with PSNs that are not lost, but counted wrong, it is left out. */
static bool add_machine(const struct doctor *d, struct findings *f)
{
	size_t count = d->machine.count - (d->machine_of_loss && !find(f, KIND_loss));

	for (size_t i = 0; i < count; i++) {
		struct finding *to = findings_add(f);

		if (!to)
			return false;
		*to = d->machine.list[i];
	}
	return true;
}

struct doctor_checked doctor_checked(const struct doctor *d)
{
	struct doctor_checked checked = {
		.packets = d->packets, .streams = d->charts.count, .receiver = d->receiver.told, .received = d->receiver.packets,
	};

	checked.datagrams = d->flows.datagrams;
	checked.flows = d->flows.list.count;
	if (!d->packets && !d->flows.datagrams)
		strangers_say(&d->strangers, checked.instead);
	for (size_t i = 0; i < d->charts.count; i++) {
		const struct chart *c = chart_at(d, i);

		checked.icrcs += c->good + c->bad;
		checked.sequences += c->psn.steps > 0;
		checked.messages += c->message.ended;
		checked.starts += c->started;
	}
	return checked;
}

static bool conclude_flows(struct doctor *d, struct findings *f, struct signs *hints)
{
	char instead[DOCTOR_INSTEAD];
	bool added = true;

	strangers_say(&d->strangers, instead);
	flows_conclude(&d->flows, hints, instead, d->selection);
	for (size_t i = 0; i < ROCE_UDP_PORTS; i++) {
		const struct flow_port *p = &d->flows.port[i];

		added &= !p->any.signs.failed && add_signs(f, &p->any.signs, &p->any.key) &&
			 add_signs(f, &p->swapped.signs, &p->swapped.key);
	}
	for (size_t i = 0; i < d->flows.list.count; i++) {
		const struct flow *w = d->flows.list.entries[i];

		added &= !w->signs.failed && add_signs(f, &w->signs, &w->key);
	}
	return added;
}

bool doctor_conclude(struct doctor *d, const struct roce_totals *totals, struct findings *f)
{
	static const struct roce_key nobody;
	bool added = !d->loose.failed;
	struct signs hints = { 0 };

	for (size_t i = 0; i < d->charts.count; i++)
		d->large |= chart_at(d, i)->trusted || chart_at(d, i)->packets >= PHANTOM;
	for (size_t i = 0; i < d->charts.count; i++) {
		struct chart *c = chart_at(d, i);

		doctor_settle(d, c);
		if (doctor_is_phantom(d, c))
			continue;
		conclude_chart(d, c);
		added &= !c->signs.failed && add_signs(f, &c->signs, &c->key);
	}
	strangers_conclude(&d->strangers, &d->loose);
	for (size_t i = 0; i < d->loose.count; i++)
		added &= add_sign(f, &d->loose.list[i], &d->loose_key[d->loose.list[i].kind]);
	added &= conclude_flows(d, f, &hints);
	if (d->left_out || d->flows.left_out)
		signs_add(&hints, KIND_hint_streams, 0);
	if (d->selection)
		signs_add(&hints, KIND_hint_selection, 0);
	expect_conclude(d, &hints);
	added &= add_signs(f, &hints, &nobody);
	signs_free(&hints);
	added &= conclude_icrcs(d, f) && conclude_phantoms(d, f);
	added &= add_machine(d, f);
	say_loss(d, totals, f);
	explain_findings(f);
	findings_sort(f);
	return added;
}
