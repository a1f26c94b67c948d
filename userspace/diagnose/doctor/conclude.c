// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Turns the symptoms of streams into findings. */
#include <stdlib.h>
#include <string.h>

#include "roce/packet/wire.h"
#include "userspace/diagnose/doctor/record.h"

#define ACKREQ_LEAST 16 /* messages in a row of which at least one should ask for an ACK */
#define LOSS_FEW 64 /* up to this many packets missing at the beginning of a stream may be lost */

static struct stream_record *record_at(const struct doctor *d, size_t i)
{
	return d->records.entries[i];
}

static bool all_bad(const struct stream_record *c)
{
	return c->bad >= PHANTOM && !c->good;
}

/* ---- a stream ---- */

static void show_icrcs(const struct stream_record *c, struct symptoms *symptoms, enum finding_kind kind)
{
	struct symptom *symptom = symptoms_get(symptoms, kind);
	size_t shown = 0;

	if (!symptom)
		return;
	symptom->packets += c->wrong;
	for (size_t i = 0; i < FINDING_EVIDENCE && shown < c->wrong && symptom->shown < FINDING_EVIDENCE; i++) {
		struct evidence *e = &symptom->evidence[symptom->shown];

		if (!c->bad_shown[i].frame || icrc_study_leaves_out(c->icrc, c->bad_shown[i].frame))
			continue;
		shown++;
		symptom->shown++;
		e->frame = c->bad_shown[i].frame;
		SAY(e->expected, "icrc %s", icrc_text(c->bad_shown[i].expected).text);
		SAY(e->found, "icrc %s", icrc_text(c->bad_shown[i].found).text);
	}
}

static void show_start(struct stream_record *c, enum finding_kind kind, __u32 expected, __u64 packets)
{
	struct symptom *symptom = symptoms_get(&c->symptoms, kind);

	if (!symptom)
		return;
	symptom->packets = packets;
	symptom->shown = 1;
	symptom->evidence[0].frame = c->psn.first_frame;
	SAY(symptom->evidence[0].expected, "PSN 0x%06x", expected);
	SAY(symptom->evidence[0].found, "PSN 0x%06x", c->psn.first);
}

static void say_start(struct stream_record *c, const char *text)
{
	struct symptom *symptom = symptoms_find(&c->symptoms, KIND_psn_start);

	if (symptom)
		SAY(symptom->figures, "%s", text);
}

/* Whether the receiver asks for a PSN that is none of this stream's, and has not acknowledged anything. */
static bool is_refused(const struct stream_record *c)
{
	__u32 sent = (c->waiting.psn - c->psn.first) & PSN_MASK;

	return c->refused && !c->acked && !c->wanted_came && ((c->wanted - c->psn.first) & PSN_MASK) > sent;
}

/* A message's beginning is missing, and those before it: the receiver asks for them, and they never come. */
static void lose_start(struct stream_record *c, __u32 start, __u32 packets)
{
	struct evidence *e = symptoms_add(&c->symptoms, KIND_loss, c->psn.first_frame);
	struct symptom *symptom = symptoms_find(&c->symptoms, KIND_loss);

	c->loss.gaps++;
	c->loss.skipped += packets;
	if (symptom)
		symptom->packets += packets - 1;
	if (!e)
		return;
	SAY(e->expected, "PSN 0x%06x", start);
	SAY(e->found, "PSN 0x%06x", c->psn.first);
}

/* Compares the first PSN with the one that the receiver's NAK asks for, or with that of connection management or --expect. */
static void conclude_start(struct stream_record *c)
{
	bool refused = is_refused(c), taken = !refused && c->responder.acked;
	__u32 start = refused ? c->wanted : c->start;
	__s32 off = psn_distance(start, c->psn.first);
	/* to the receiver all of them are duplicates, so that it acknowledges the PSN before the one that it expects */
	bool behind = off < 0 && start != NO_PSN && c->responder.acked_psn == ((start - 1) & PSN_MASK);
	__u64 packets = c->loss.packets;
	char text[SYMPTOM_FIGURES];

	/* what does not fit through the path is missing, also in front of the first packet that does */
	if (symptoms_find(&c->symptoms, KIND_path_mtu))
		return;
	if (!c->psn.first_frame || start == NO_PSN || !off || (!refused && c->loss.recovered))
		return;
	if (!refused && off > 0 && off <= (__s64)c->bad_before) /* they came, and their ICRCs were wrong */
		return;
	if (c->start != NO_PSN && c->psn.first == c->other_start) {
		show_start(c, KIND_psn_other_side, start, packets);
		return;
	}
	if (refused && off > 0 && off <= LOSS_FEW && !(c->psn.first_op & OP_FIRST)) {
		lose_start(c, start, off);
		return;
	}
	taken &= !behind;
	if (taken || (!refused && off > 0 && off <= LOSS_FEW)) /* lost packets explain it as well: count it once */
		packets = 1;
	show_start(c, KIND_psn_start, start, packets);
	if (packets < c->psn.steps + 1 && (taken || symptoms_find(&c->symptoms, KIND_psn_refused) ||
					   symptoms_find(&c->symptoms, KIND_retransmission)))
		symptoms_doubt(&c->symptoms, KIND_psn_start); /* what is not sure explains nothing */
	SAY(text,
	    "The receiver says so: its NAK (PSN sequence error) in frame %llu asks for 0x%06x, and it acknowledges nothing.",
	    c->wanted_frame, c->wanted);
	if (__builtin_bswap32(c->psn.first << 8) == start)
		say_start(c, "It is the right one with its bytes in the other order.");
	else if (refused)
		say_start(c, text);
	else if (packets == 1)
		say_start(c, "Or the first packets are lost, or were sent before the capture began.");
}

static void conclude_response(const struct doctor *d, struct stream_record *c)
{
	const struct path *back = doctor_path(d, c->key.dst, c->key.src);
	struct symptom *symptom;

	if (c->key.kind != KEY_CONNECTED || c->key.side != SIDE_REQUEST || c->acked ||
	    (c->service != SERVICE_RC && c->service != SERVICE_XRC) || c->asked < FINDING_PACKETS)
		return;
	/* bare transport headers have one address at both ends: the opposite direction cannot be told from this one */
	if (!memcmp(c->key.src, c->key.dst, 16))
		return;
	if (!back || back->responses)
		return;
	symptom = symptoms_get(&c->symptoms, KIND_no_response);
	if (!symptom)
		return;
	symptom->packets = c->asked;
}

/* Whether acknowledgements, and nothing else, came for packets that were sent again. */
static bool is_acked_again(const struct stream_record *c)
{
	return c->acked && !c->twice.refused && c->acked <= c->loss.again;
}

/*
 * Without AckReq there are no ACKs, or only of what comes again. A responder that acknowledges every packet does no harm. ACKREQ_LEAST
 * messages without one rule out a sender that asks only now and then.
 */
static void conclude_ackreq(const struct doctor *d, struct stream_record *c)
{
	const struct path *back = doctor_path(d, c->key.dst, c->key.src);
	struct symptom *symptom;

	if (c->key.kind != KEY_CONNECTED || c->key.side != SIDE_REQUEST || c->ackreqs || c->silent < ACKREQ_LEAST ||
	    (back && back->responses && !is_acked_again(c)) || (c->service != SERVICE_RC && c->service != SERVICE_XRC))
		return;
	symptom = symptoms_get(&c->symptoms, KIND_no_ackreq);
	if (!symptom)
		return;
	symptom->packets = c->silent;
	symptom->shown = 1;
	symptom->evidence[0].frame = c->silent_frame;
	SAY(symptom->evidence[0].expected, "AckReq in one of %llu messages", c->silent);
	SAY(symptom->evidence[0].found, "none");
}

/* If First and Middle packets are four bytes short of the path MTU, the end of their payload was read as the ICRC. */
static void conclude_absent(struct stream_record *c)
{
	if (all_bad(c) && c->lint.short_of_icrc >= FINDING_PACKETS && !symptoms_find(&c->symptoms, KIND_icrc_absent))
		show_icrcs(c, &c->symptoms, KIND_icrc_absent);
}

/* Lengths that count too much or too little tell a wrong payload: what follows from it is no symptom. */
static void drop_sizes(struct symptoms *s)
{
	if (!symptoms_find(s, KIND_icrc_uncounted) && !symptoms_find(s, KIND_icrc_before_end))
		return;
	for (size_t i = s->count; i-- > 0;) {
		enum finding_kind kind = s->list[i].kind;

		if (finding_rules[kind].class == CLASS_SIZE || finding_rules[kind].class == CLASS_DMA || kind == KIND_icrc_absent ||
		    kind == KIND_extra_imm || kind == KIND_extra_reth || kind == KIND_missing_imm || kind == KIND_missing_reth ||
		    kind == KIND_refused_length)
			symptoms_drop(s, kind);
	}
}

/* Four bytes that stand in the ICRC's place are payload as well. */
static void conclude_absent_size(struct stream_record *c)
{
	struct symptom *size = symptoms_find(&c->symptoms, KIND_lint_payload_not_path_mtu);

	if (!size || !symptoms_find(&c->symptoms, KIND_icrc_absent))
		return;
	if (roce_is_path_mtu(c->lint.partial + WIRE_ICRC_LEN))
		symptoms_drop(&c->symptoms, KIND_lint_payload_not_path_mtu);
	else
		SAY(size->figures, "The four bytes that stand in the ICRC's place are payload as well: it is %u.",
		    c->lint.partial + WIRE_ICRC_LEN);
}

/* The receiver's path MTU is known: it says better which size is right. */
static void conclude_size(struct symptoms *s)
{
	static const enum finding_kind sizes[] = { KIND_lint_payload_not_path_mtu, KIND_lint_payload_mixed,
						   KIND_lint_payload_beyond_mtu };
	const struct symptom *refused = symptoms_find(s, KIND_refused_length);

	for (size_t i = 0; refused && !refused->cause_count && i < ROCE_ARRAY_SIZE(sizes); i++) {
		symptoms_drop(s, sizes[i]);
		refused = symptoms_find(s, KIND_refused_length);
	}
}

/* Whether payload was taken for the DETH of this stream: it is no stream. */
static bool lacks_deth(const struct stream_record *c)
{
	return c->deth && deth_is_missing(c->deth);
}

/* What follows from its source QPN is no symptom. */
static void drop_sequence(struct symptoms *s)
{
	for (size_t i = s->count; i-- > 0;) {
		enum finding_class class = finding_rules[s->list[i].kind].class;

		if (class == CLASS_COUNT || class == CLASS_PSN || class == CLASS_GRAMMAR || class == CLASS_LOSS)
			symptoms_drop(s, s->list[i].kind);
	}
}

static void conclude_record(struct doctor *d, struct stream_record *c)
{
	bool reliable = c->service == SERVICE_RC || c->service == SERVICE_XRC;
	const struct doctor_sender *sender = index_find(&d->senders, c->key.src);

	reads_settle_gaps(c->reads, &c->loss);
	loss_conclude(&c->loss, &c->symptoms, reliable);
	twice_conclude(&c->twice, &c->symptoms);
	message_study_conclude(&c->message, &c->symptoms, all_bad(c));
	lint_study_conclude(&c->lint, &c->symptoms);
	conclude_absent(c);
	if (c->icrc)
		c->wrong -= icrc_study_places(c->icrc, &c->symptoms, sender && sender->unappended);
	drop_sizes(&c->symptoms);
	psn_study_conclude(&c->psn, &c->symptoms, message_study_payload(&c->message));
	receiver_conclude(&d->receiver, c->to_receiver, &c->symptoms);
	ends_conclude(d, c);
	if (!d->selection) { /* the first packet may be any, and the answers of it need not be there */
		conclude_start(c);
		conclude_ackreq(d, c);
	}
	conclude_response(d, c);
	if (c->trusted && c->wrong)
		show_icrcs(c, &c->symptoms, KIND_corruption);
	if (lacks_deth(c))
		drop_sequence(&c->symptoms);
	if (c->deaf) {
		symptoms_drop(&c->symptoms, KIND_retransmission);
		symptoms_drop(&c->symptoms, KIND_duplicate_unanswered);
	}
	conclude_absent_size(c);
	causes_explain(NULL, &c->symptoms, &c->key, false);
	conclude_size(&c->symptoms);
}

/* ---- all streams ---- */

/* below: as for add_below(). NULL: none. */
static struct finding *find_named(const struct findings *f, const char *kind, bool habit, size_t below)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->list[i].kind, kind) && f->list[i].habit == habit && f->list[i].below == below)
			return &f->list[i];
	return NULL;
}

struct finding *doctor_find(const struct findings *f, enum finding_kind kind)
{
	char wanted[FINDING_KIND];

	finding_name(kind, wanted);
	return find_named(f, wanted, false, 0);
}

/* A habit of some streams is another finding than the fault of others, and both than a consequence of another finding. */
static struct finding *find_or_add(struct findings *f, const struct symptom *symptom, size_t below)
{
	char wanted[FINDING_KIND];
	struct finding *to;

	finding_name(symptom->kind, wanted);
	to = find_named(f, wanted, symptom->habit, below);
	if (to)
		return to;
	to = findings_add(f);
	if (to) {
		memcpy(to->kind, wanted, sizeof(wanted));
		to->below = below;
	}
	return to;
}

/* below: number of the finding of which it is a consequence; 0: none. */
static struct finding *add_below(struct findings *f, const struct symptom *symptom, const struct roce_key *stream, size_t below)
{
	const struct finding_rule *rule = &finding_rules[symptom->kind];
	struct finding *to = find_or_add(f, symptom, below);

	if (!to)
		return NULL;
	if (!to->streams) {
		to->weight = rule->weight;
		to->hint = rule->class == CLASS_HINT;
		to->habit = symptom->habit;
		to->stream = symptom->of ? *symptom->of : *stream;
		to->asks = rule->asks;
		SAY(to->fix, "%s", rule->fix);
		SAY(to->text, "%s.%s%s", rule->words, *symptom->figures ? " " : "", symptom->figures);
	}
	to->streams++;
	to->packets += symptom->packets;
	to->certain |= !to->hint && !to->habit && !below && !symptom->doubted && to->packets >= FINDING_PACKETS;
	for (size_t i = 0; i < symptom->shown && to->evidence_count < FINDING_EVIDENCE; i++)
		to->evidence[to->evidence_count++] = symptom->evidence[i];
	return to;
}

static bool add_symptom(struct findings *f, const struct symptom *symptom, const struct roce_key *stream)
{
	return add_below(f, symptom, stream, 0);
}

static bool add_symptoms(struct findings *f, const struct symptoms *s, const struct roce_key *stream)
{
	bool added = true;

	for (size_t i = 0; i < s->count; i++)
		added &= add_symptom(f, &s->list[i], stream);
	return added;
}

/* One finding of all packets to a QP, however many streams they seem to be. */
static bool conclude_deths(const struct doctor *d, struct findings *f)
{
	bool added = true;

	for (size_t i = 0; i < d->deths.count; i++) {
		const struct deth_study *study = d->deths.entries[i];
		struct roce_key key = { .kind = KEY_CONNECTED, .qpn = study->key.qpn };
		struct symptoms symptoms = { 0 };

		if (!deth_is_missing(study))
			continue;
		memcpy(key.src, study->key.src, sizeof(key.src));
		memcpy(key.dst, study->key.dst, sizeof(key.dst));
		deth_conclude(study, &symptoms);
		added &= !symptoms.failed && add_symptoms(f, &symptoms, &key);
		symptoms_free(&symptoms);
	}
	return added;
}

/* Words the finding of loss: which streams lose, when, and how many packets at a time. */
static void say_loss(const struct doctor *d, const struct roce_totals *totals, struct findings *f)
{
	__u64 gaps = 0, lost = 0, resent = 0, largest = 0, streams = 0, losing = 0, period = 0;
	bool periodic = true;
	struct finding *to = doctor_find(f, KIND_loss);
	char text[128], of[32] = "", again[128] = "";
	const struct symptom *symptom;
	const char *where = "";

	if (!to)
		return;
	for (size_t i = 0; i < d->records.count; i++) {
		const struct stream_record *c = record_at(d, i);
		const struct loss *l = &c->loss;

		if (!c->psn.met)
			continue;
		streams++;
		symptom = symptoms_find(&c->symptoms, KIND_loss);
		if (!symptom || symptom->cause_count)
			continue;
		losing++;
		gaps += l->gaps;
		lost += symptom->packets;
		resent += l->resent;
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
	if (resent)
		SAY(again, " %llu of them came later, healed by retransmission: they were lost before this place.", resent);
	if (periodic && period)
		snprintf(to->text, sizeof(to->text),
			 "%s%llu at once at most, in %llu of %llu streams. It is always packet %llu after the "
			 "last one: a counter or a buffer of that size.%s%s",
			 text, largest, losing, streams, period, where, again);
	else
		snprintf(to->text, sizeof(to->text), "%s%llu at once at most, in %llu of %llu streams.%s%s", text, largest,
			 losing, streams, where, again);
}

/* Words the finding of copies: how many, and how far behind the first frame. Live not all of them were taken, but all were counted. */
static void say_twice(const struct doctor *d, const struct roce_totals *totals, struct findings *f)
{
	__u64 packets = totals->value[COUNTER_roce_packets] + totals->value[COUNTER_rocev1_packets];
	struct finding *to = doctor_find(f, KIND_captured_twice);
	__u64 least = ~0ull, most = 0;
	char text[80] = "";

	if (!to)
		return;
	if (!d->selection && to->packets < totals->value[COUNTER_captured_twice])
		to->packets = totals->value[COUNTER_captured_twice];
	for (size_t i = 0; i < d->records.count; i++) {
		const struct twice *t = &record_at(d, i)->twice;

		if (t->copies && t->least < least)
			least = t->least;
		if (t->most > most)
			most = t->most;
	}
	if (least < most)
		SAY(text, ", %.1f to %.1f us behind the first frame", least / 1e3, most / 1e3);
	else if (least == most)
		SAY(text, ", %.1f us behind the first frame", most / 1e3);
	SAY(to->text, "%s: %llu of %llu packets (%.1f %%)%s.", finding_rules[KIND_captured_twice].words, to->packets, packets,
	    packets ? 100.0 * to->packets / packets : 0.0, text);
}

static bool conclude_icrcs(struct doctor *d, struct findings *f)
{
	struct icrc_study **studies = calloc(d->records.count + 1, sizeof(*studies));
	size_t count = 0;
	bool added;

	if (!studies)
		return false;
	for (size_t i = 0; i < d->records.count; i++) {
		const struct stream_record *c = record_at(d, i);
		const struct doctor_sender *sender = c->icrc && doctor_is_phantom(d, c) ?
						     index_find(&d->senders, c->key.src) : NULL;

		if (!c->icrc || symptoms_find(&c->symptoms, KIND_icrc_absent))
			continue;
		if (sender) /* damage has made a stream of a packet: its sender is that of all others */
			icrc_study_good(c->icrc, sender->good);
		studies[count++] = c->icrc;
	}
	added = icrc_study_conclude(studies, count, f);
	free(studies);
	return added;
}

/* Damaged packets. If other streams have good ICRCs, the bad ICRCs of phantoms are damage on the path as well. */
static bool conclude_corruption(struct doctor *d, struct findings *f)
{
	bool added = true, trusted = false;

	for (size_t i = 0; i < d->records.count; i++) {
		const struct stream_record *c = record_at(d, i);
		const struct symptom *symptom = symptoms_find(&c->symptoms, KIND_corruption);

		trusted |= c->trusted;
		added &= !symptom || add_symptom(f, symptom, &c->key);
	}
	for (size_t i = 0; trusted && i < d->records.count; i++) {
		struct symptoms damaged = { 0 };

		if (!doctor_is_phantom(d, record_at(d, i)))
			continue;
		show_icrcs(record_at(d, i), &damaged, KIND_corruption);
		added &= add_symptoms(f, &damaged, &record_at(d, i)->key);
		symptoms_free(&damaged);
	}
	return added;
}

/* ---- mistakes in ICRCs, and damage ---- */

static bool is_icrc(const struct finding *f)
{
	return !strncmp(f->kind, "icrc-", 5);
}

static void drop(struct findings *f, const struct finding *it)
{
	size_t i = it - f->list;

	memmove(&f->list[i], &f->list[i + 1], (--f->count - i) * sizeof(*f->list));
}

/*
 * Random flips agree now and then by chance. A finding that explains less than half of the packets studied becomes a candidate.
 */
static void doubt_flips(struct findings *f, const struct finding *corruption)
{
	__u64 looked_into = corruption->packets < ICRC_STUDIED ? corruption->packets : ICRC_STUDIED;

	for (size_t i = 0; i < f->count; i++)
		if (is_icrc(&f->list[i]) && 2 * f->list[i].packets < looked_into)
			f->list[i].certain = false;
}

/* Whether a finding says more than damage does: a certain one, or, if damage is only a candidate, any but `unexplained`. */
static bool is_named(const struct findings *f, const struct finding *corruption)
{
	for (size_t i = 0; i < f->count; i++)
		if (is_icrc(&f->list[i]) &&
		    (f->list[i].certain || (!corruption->certain && strcmp(f->list[i].kind, "icrc-unexplained"))))
			return true;
	return false;
}

/* A few packets that a mistake in the ICRC would explain, among many damaged ones: their damage happens to look like it. */
static bool is_coincidence(const struct findings *f, __u64 packets)
{
	const struct finding *corruption = doctor_find(f, KIND_corruption);

	return corruption && corruption->certain && packets * FINDING_PACKETS < corruption->packets;
}

static void drop_coincidences(struct findings *f)
{
	for (size_t i = f->count; i-- > 0;)
		if (is_icrc(&f->list[i]) && !f->list[i].certain && is_coincidence(f, f->list[i].packets))
			drop(f, &f->list[i]);
}

/* Damage, or a mistake of the sender? */
static void settle_icrcs(struct findings *f)
{
	const struct finding *corruption = doctor_find(f, KIND_corruption), *unexplained;

	if (!corruption)
		return;
	doubt_flips(f, corruption);
	drop_coincidences(f);
	corruption = doctor_find(f, KIND_corruption);
	unexplained = find_named(f, "icrc-unexplained", false, 0);
	/* One or two packets of an unknown sender: damage changed the address of another sender's packets. */
	if (unexplained && unexplained->packets < FINDING_PACKETS) {
		drop(f, unexplained);
		unexplained = NULL;
		corruption = doctor_find(f, KIND_corruption);
	}
	/* no path damages most of its packets */
	if (is_named(f, corruption) || (unexplained && unexplained->packets >= corruption->packets))
		drop(f, corruption);
}

/* The first mistake of that sender that is certain. NULL: none. */
static struct finding *find_mistake(const struct findings *f, const __u8 src[16])
{
	for (size_t i = 0; i < f->count; i++)
		if (is_icrc(&f->list[i]) && f->list[i].certain && !memcmp(f->list[i].stream.src, src, 16))
			return &f->list[i];
	return NULL;
}

/* ---- causes and consequences ---- */

/* The finding of that cause. NULL: it is not told. */
static struct finding *find_cause(const struct findings *f, int cause, const struct roce_key *stream)
{
	struct finding *found = cause < FINDING_KINDS ? doctor_find(f, cause) : NULL;

	return found ?: cause == KIND_corruption || cause == KIND_wrong_icrc ? find_mistake(f, stream->src) : NULL;
}

static void name_cause(struct finding *to, const char *kind)
{
	for (size_t i = 0; i < to->cause_count; i++)
		if (!strcmp(to->causes[i], kind))
			return;
	if (to->cause_count < FINDING_CAUSES)
		SAY(to->causes[to->cause_count++], "%s", kind);
}

/* Names the causes of a symptom, which may be consequences themselves. */
static void name_causes(const struct findings *f, struct finding *to, const struct symptom *symptom,
			const struct roce_key *stream)
{
	for (size_t i = 0; i < symptom->cause_count; i++) {
		const struct finding *cause = find_cause(f, symptom->causes[i], stream);
		char kind[FINDING_KIND];

		if (symptom->causes[i] < FINDING_KINDS)
			finding_name(symptom->causes[i], kind);
		if (cause || symptom->causes[i] < FINDING_KINDS)
			name_cause(to, cause ? cause->kind : kind);
	}
}

/* Adds packets that no cause explains, though it explains others of their kind. The finding comes behind the cause. */
static bool add_rest(struct findings *f, const struct symptom *rest, const struct symptom *symptom,
		     const struct roce_key *stream,
		     int weight)
{
	struct finding *to = add_below(f, rest, stream, 0);

	if (!to)
		return false;
	name_causes(f, to, symptom, stream);
	if (to->weight >= weight)
		to->weight = weight - 1;
	return true;
}

/* Removes it from the causes of a symptom. false: it is none. */
static bool remove_cause(struct symptom *symptom, int cause)
{
	for (size_t i = 0; i < symptom->cause_count; i++) {
		if (symptom->causes[i] != cause)
			continue;
		symptom->causes[i] = symptom->causes[--symptom->cause_count];
		return true;
	}
	return false;
}

/* Of the packets that came again for the root the first one is shown. */
static void show_share(struct symptom *told, const struct symptom *share)
{
	if (told->evidence[0].frame == share->evidence[0].frame)
		return;
	told->evidence[0] = share->evidence[0];
	told->shown = 1;
}

/*
 * Several causes, and it is known which packets came again for which of them: each cause but the root gets its share. What is left in
 * *told is the root's.
 */
static bool add_shares(struct findings *f, struct symptom *told, const struct roce_key *stream, const struct loss *l)
{
	static const struct {
		enum finding_kind cause;
		enum loss_call why;
	} reasons[] = {
		{ KIND_loss, CALL_LOSS }, { KIND_psn_refused, CALL_BEHIND }, { KIND_reorder, CALL_LATE }, { KIND_rnr, CALL_RNR },
		{ KIND_corruption, CALL_DAMAGE },
	};

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(reasons); i++) {
		struct finding *cause, *to;
		struct symptom share;

		if (!loss_share(l, reasons[i].why, &share))
			continue;
		if (told->root == (int)reasons[i].cause) {
			show_share(told, &share);
			continue;
		}
		cause = find_cause(f, reasons[i].cause, stream);
		if (!cause || share.packets > told->packets || !remove_cause(told, reasons[i].cause))
			continue;
		cause->certain |= cause->packets + share.packets >= FINDING_PACKETS;
		told->packets -= share.packets;
		to = add_below(f, &share, stream, cause->number);
		if (!to)
			return false;
		cause = find_cause(f, reasons[i].cause, stream);
		name_cause(to, cause->kind);
	}
	return true;
}

/* Tells a symptom below its cause. c: its stream; NULL: one of --udp. */
static bool add_consequence(struct findings *f, const struct symptom *symptom, const struct roce_key *stream,
			    const struct stream_record *c)
{
	struct finding *cause = find_cause(f, symptom->root, stream), *to;
	__u64 uncalled = c && symptom->part ? c->loss.again_for[CALL_NONE].packets : 0;
	bool part = c && symptom->part;
	struct symptom told = *symptom, rest;

	if (!cause || (part && uncalled >= symptom->packets))
		return add_symptom(f, symptom, stream);
	if (part && loss_uncalled(&c->loss, &rest)) {
		told.packets -= uncalled;
		uncalled = 0;
		if (!add_rest(f, &rest, symptom, stream, cause->weight))
			return false;
	}
	if (part && !add_shares(f, &told, stream, &c->loss))
		return false;
	if (!told.packets)
		return true;
	cause = find_cause(f, symptom->root, stream);
	/* these packets agree with the cause */
	cause->certain |= part && cause->packets + told.packets - uncalled >= FINDING_PACKETS;
	to = add_below(f, &told, stream, cause->number);
	if (!to)
		return false;
	name_causes(f, to, &told, stream);
	return true;
}

/* What is sound only if all packets were seen, and what it would explain. */
static bool is_unsound(const struct doctor *d, const struct symptom *s)
{
	int kind = s->cause_count ? s->root : (int)s->kind;

	return d->selection && (s->kind == KIND_psn_refused || s->kind == KIND_no_response || kind == KIND_psn_refused ||
				kind == KIND_no_response);
}

/* Adds the symptoms of a stream that are explained, or those that are not. */
static bool add_some(const struct doctor *d, struct findings *f, const struct symptoms *s, const struct roce_key *stream,
		     const struct stream_record *c, bool explained)
{
	bool added = !s->failed;

	for (size_t i = 0; i < s->count; i++) {
		const struct symptom *symptom = &s->list[i];

		/* damage is there already */
		if (symptom->kind == KIND_corruption || is_unsound(d, symptom) || explained != (symptom->cause_count > 0))
			continue;
		added &= explained ? add_consequence(f, symptom, stream, c) : add_symptom(f, symptom, stream);
	}
	return added;
}

/* Looks for the causes of all symptoms, and adds findings, and below them their consequences. */
static bool add_records(struct doctor *d, struct findings *f, struct causes *elsewhere)
{
	bool added = true;

	for (size_t i = 0; i < d->records.count; i++) {
		struct stream_record *c = record_at(d, i);
		const struct symptom *silence;

		if (doctor_is_phantom(d, c))
			continue;
		causes_explain(elsewhere, &c->symptoms, &c->key,
			       c->icrc && icrc_study_is_explained(c->icrc) && find_mistake(f, c->key.src));
		silence = symptoms_find(&c->symptoms, KIND_no_response);
		if (c->start == NO_PSN && silence && !silence->cause_count && !d->selection)
			symptoms_add(&c->symptoms, KIND_hint_first_psn, c->psn.first_frame);
		added &= add_some(d, f, &c->symptoms, &c->key, c, false);
	}
	for (size_t i = 0; i < d->records.count; i++)
		if (!doctor_is_phantom(d, record_at(d, i)))
			added &= add_some(d, f, &record_at(d, i)->symptoms, &record_at(d, i)->key, record_at(d, i), true);
	return added;
}

static void note_causes(const struct doctor *d, struct causes *c)
{
	for (size_t i = 0; i < d->records.count; i++)
		for (size_t k = 0; k < record_at(d, i)->symptoms.count; k++)
			causes_note(c, &record_at(d, i)->symptoms.list[k], &record_at(d, i)->key);
	for (size_t i = 0; i < d->loose.count; i++)
		causes_note(c, &d->loose.list[i], &d->loose_key[d->loose.list[i].kind]);
}

/* Adds what this machine knows. Where its counters are compared with PSNs that are not lost, but counted wrong, it is left out. */
static bool add_machine(const struct doctor *d, struct findings *f)
{
	size_t count = d->machine.count - (d->machine_of_loss && !doctor_find(f, KIND_loss));

	for (size_t i = 0; i < count; i++) {
		struct finding *to = findings_add(f);
		size_t number;

		if (!to)
			return false;
		number = to->number;
		*to = d->machine.list[i];
		to->number = number;
	}
	return true;
}

struct doctor_checked doctor_checked(const struct doctor *d)
{
	struct doctor_checked checked = {
		.packets = d->packets, .answers = d->answers, .receiver = d->receiver.endpoint, .received = d->receiver.packets,
	};

	checked.datagrams = d->flows.datagrams;
	checked.flows = d->flows.list.count;
	if (!d->packets && !d->flows.datagrams)
		other_frames_say(&d->others, checked.instead);
	for (size_t i = 0; i < d->records.count; i++) {
		const struct stream_record *c = record_at(d, i);

		checked.streams += !lacks_deth(c);
		checked.icrcs += c->good + c->bad;
		checked.sequences += c->psn.steps > 0;
		checked.messages += c->message.ended;
		checked.starts += c->started;
		checked.compared += c->responder.answers;
	}
	for (size_t i = 0; i < d->deths.count; i++)
		checked.streams += deth_is_missing(d->deths.entries[i]);
	return checked;
}

static bool conclude_flows(struct doctor *d, struct findings *f, struct symptoms *hints)
{
	char instead[OTHER_FRAMES_TEXT];
	bool added = true;

	other_frames_say(&d->others, instead);
	flows_conclude(&d->flows, hints, instead, d->selection);
	for (size_t i = 0; i < ROCE_UDP_PORTS; i++) {
		const struct flow_port *p = &d->flows.port[i];

		added &= !p->any.symptoms.failed && add_symptoms(f, &p->any.symptoms, &p->any.key) &&
			 add_symptoms(f, &p->swapped.symptoms, &p->swapped.key);
	}
	for (size_t i = 0; i < d->flows.list.count; i++) {
		struct flow *w = d->flows.list.entries[i];

		causes_explain(NULL, &w->symptoms, &w->key, false);
		added &= add_some(d, f, &w->symptoms, &w->key, NULL, false);
	}
	for (size_t i = 0; i < d->flows.list.count; i++) {
		const struct flow *w = d->flows.list.entries[i];

		added &= add_some(d, f, &w->symptoms, &w->key, NULL, true);
	}
	return added;
}

/* A mirror cut the frames. Where all of them lack nothing but ICRC and pad, their sender does not send these. */
static void drop_cut(struct symptoms *s, bool others)
{
	symptoms_drop(s, KIND_malformed_ip_length);
	if (!others)
		return;
	symptoms_drop(s, KIND_icrc_not_appended);
	symptoms_drop(s, KIND_pad_missing);
}

/* Of frames that end anywhere, some end where ICRC or pad would begin. */
static void outvote(struct symptoms *s, enum finding_kind kind)
{
	struct symptom *anywhere = symptoms_find(s, KIND_malformed_ip_length), *symptom = symptoms_find(s, kind);

	if (!anywhere || !symptom || anywhere->packets < symptom->packets)
		return;
	anywhere->packets += symptom->packets;
	symptoms_drop(s, kind);
}

static bool is_rocev1(const struct stream_record *c)
{
	return c->before.packet.rocev1;
}

/*
 * Short frames that a mirror cut are no mistake of their sender. Others are malformed: no receiver takes them. They only stand in
 * their streams' sequences. Of RoCEv1 nothing but the frames of the stream tells.
 */
static void conclude_short(struct doctor *d, const struct roce_totals *totals)
{
	bool cut = snapshot_short_is_cut(totals), others = symptoms_find(&d->loose, KIND_malformed_ip_length);

	for (size_t i = 0; i < d->records.count; i++)
		others |= !is_rocev1(record_at(d, i)) && symptoms_find(&record_at(d, i)->early, KIND_malformed_ip_length);
	if (cut)
		drop_cut(&d->loose, others);
	for (size_t i = 0; i < d->records.count; i++) {
		struct stream_record *c = record_at(d, i);
		bool odd = symptoms_find(&c->early, KIND_malformed_ip_length);

		if (cut || (odd && is_rocev1(c))) {
			drop_cut(&c->early, others || odd);
		} else if (c->short_packets) {
			d->packets -= c->short_packets;
			symptoms_drop(&c->symptoms, KIND_hint_truncated);
			outvote(&c->early, KIND_icrc_not_appended);
			outvote(&c->early, KIND_pad_missing);
		}
		symptoms_merge(&c->symptoms, &c->early);
	}
}

/* Notes which senders have packets without an ICRC. */
static void note_unappended(struct doctor *d)
{
	for (size_t i = 0; i < d->records.count; i++) {
		const struct stream_record *c = record_at(d, i);
		struct doctor_sender *sender = index_find(&d->senders, c->key.src);

		if (sender && (symptoms_find(&c->symptoms, KIND_icrc_not_appended) ||
			       (c->icrc && icrc_study_is_unappended(c->icrc))))
			sender->unappended = true;
	}
}

/* A damaged packet, which seems to be of another stream, has the right ICRC of the one that is sent again for it. */
static void leave_out_phantoms(struct doctor *d)
{
	for (size_t i = 0; i < d->records.count; i++) {
		const struct stream_record *c = record_at(d, i);
		struct doctor_sender *sender = c->icrc && doctor_is_phantom(d, c) ? index_find(&d->senders, c->key.src) : NULL;

		if (sender)
			icrc_others_leave_out(&sender->others, c->icrc);
	}
}

/* A hint of frames that a counter counts. */
static void hint_counted(const struct roce_totals *totals, enum roce_counter counter, struct symptoms *hints,
			 enum finding_kind kind)
{
	__u64 frames = totals->value[counter];
	struct symptom *symptom = frames ? symptoms_get(hints, kind) : NULL;

	if (symptom)
		symptom->packets = frames;
}

/* Whether other packets tell better why these frames are malformed: damage of a few, or READ responses without an AETH. */
static bool is_told_better(const struct doctor *d, const struct findings *f, const struct symptom *symptom)
{
	bool aeth = false;

	if (symptom->kind == KIND_icrc_absent)
		return (symptom->packets < FINDING_PACKETS && symptom->packets == d->damaged_opcodes) ||
		       is_coincidence(f, symptom->packets);
	for (size_t i = 0; i < d->records.count; i++)
		aeth |= !!symptoms_find(&record_at(d, i)->symptoms, KIND_read_response_aeth);
	return aeth && symptom->kind == KIND_malformed_short && symptom->packets == d->short_responses;
}

bool doctor_conclude(struct doctor *d, const struct roce_totals *totals, struct findings *f)
{
	static const struct roce_key nobody;
	bool added = !d->loose.failed;
	struct symptoms hints = { 0 };
	struct causes elsewhere;

	conclude_short(d, totals);
	note_unappended(d);
	near_study_conclude(&d->near, &d->loose);
	for (size_t i = 0; i < d->records.count; i++) {
		d->large |= record_at(d, i)->trusted || record_at(d, i)->packets >= PHANTOM;
		doctor_settle(d, record_at(d, i));
	}
	silence_conclude(d);
	ends_add_naks(d);
	ends_conclude_reads(d);
	neighbours_conclude(d);
	hosts_conclude(d);
	leave_out_phantoms(d);
	for (size_t i = 0; i < d->records.count; i++) {
		struct stream_record *c = record_at(d, i);
		const struct doctor_sender *sender = c->icrc ? index_find(&d->senders, c->key.src) : NULL;

		if (doctor_is_phantom(d, c))
			continue;
		if (sender)
			c->wrong -= icrc_another_conclude(&sender->others, c->icrc, &c->symptoms);
		conclude_record(d, c);
	}
	added &= conclude_deths(d, f);
	added &= conclude_icrcs(d, f) && conclude_corruption(d, f);
	settle_icrcs(f);
	causes_init(&elsewhere);
	note_causes(d, &elsewhere);
	for (size_t i = 0; i < d->loose.count; i++) {
		const struct symptom *symptom = &d->loose.list[i];

		if (!is_told_better(d, f, symptom))
			added &= add_symptom(f, symptom, &d->loose_key[symptom->kind]);
	}
	added &= add_records(d, f, &elsewhere);
	causes_free(&elsewhere);
	added &= conclude_flows(d, f, &hints);
	if (d->left_out || d->flows.left_out)
		symptoms_add(&hints, KIND_hint_streams, 0);
	if (d->selection)
		symptoms_add(&hints, KIND_hint_selection, 0);
	expect_conclude(d, &hints);
	hint_counted(totals, COUNTER_headless_frames, &hints, KIND_hint_headless);
	hint_counted(totals, COUNTER_tunnelled_frames, &hints, KIND_hint_tunnel);
	added &= add_symptoms(f, &hints, &nobody);
	symptoms_free(&hints);
	added &= add_machine(d, f);
	say_loss(d, totals, f);
	behind_say(d, f);
	ends_say(d, f);
	say_twice(d, totals, f);
	findings_sort(f);
	return added;
}
