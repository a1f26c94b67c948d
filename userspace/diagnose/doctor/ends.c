// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What both ends show together: packets that do not fit through the path, answers that nobody takes, a receiver that is not ready. */
#include <string.h>

#include "userspace/diagnose/doctor/record.h"

/* Whether an answer acknowledges what never came. */
static bool is_acknowledged(const struct stream_record *c)
{
	return responder_has_acked(&c->responder, c->message.headless_shown[0].psn);
}

/* "The receiver asks for PSN 0x000010, in frame 4. " */
static void say_wanted(const struct stream_record *c, char text[96])
{
	const struct exchange_nak *n = &c->exchange.nak;

	text[0] = 0;
	if (c->refused || n->open)
		snprintf(text, 96, "The receiver asks for PSN 0x%06x, in frame %llu. ", c->refused ? c->wanted : n->psn,
			 c->refused ? c->wanted_frame : n->frame);
}

/* Only Lasts come, and never the First and Middle packets, which are filled to the path MTU. */
static void conclude_path_mtu(const struct doctor *d, struct stream_record *c)
{
	const struct path *way = doctor_path(d, c->key.src, c->key.dst);
	const struct message_study *m = &c->message;
	bool missing = c->loss.skipped || c->refused || c->key.side == SIDE_RESPONSE; /* of READs only Lasts are sent by nobody */
	struct symptom *symptom;
	char asks[96];

	if (!way || m->filled || m->bare || m->headless < FINDING_PACKETS || !missing)
		return;
	symptom = symptoms_get(&c->symptoms, KIND_path_mtu);
	if (!symptom)
		return;
	symptom->packets = m->headless;
	symptom->shown = m->headless < FINDING_EVIDENCE ? m->headless : FINDING_EVIDENCE;
	for (size_t i = 0; i < symptom->shown; i++) {
		symptom->evidence[i].frame = m->headless_shown[i].frame;
		SAY(symptom->evidence[i].expected, "PSN 0x%06x before it", (m->headless_shown[i].psn - 1) & PSN_MASK);
		SAY(symptom->evidence[i].found, "Last 0x%06x, payload %u", m->headless_shown[i].psn,
		    m->headless_shown[i].payload);
	}
	say_wanted(c, asks);
	SAY(symptom->figures,
	    "IP datagrams of up to %u bytes come, of which %llu are Lasts; no First and no Middle comes. %s%s.",
	    way->largest, m->headless, asks,
	    is_acknowledged(c) ? "But the receiver acknowledges: what is missing is perhaps only not seen here, where a mirror's MTU is less" :
			       "No message of several packets is complete");
	symptom->doubted = is_acknowledged(c) || way->filled;
}

void ends_conclude_reads(const struct doctor *d)
{
	for (size_t i = 0; i < d->records.count && !d->selection; i++) {
		struct stream_record *c = d->records.entries[i];

		if (c->answered_by && record_is_complete_with_answers(c))
			reads_conclude(c->reads, &c->twice, &c->answered_by->symptoms);
	}
}

/*
 * Streams that the NAK of c may be of; 1: it is c's. 0: one of them has heeded it, or another one tells of it. Those that go on have
 * it as their oldest one.
 */
static size_t streams_of_nak(const struct doctor *d, const struct stream_record *c)
{
	const struct path *way = doctor_path(d, c->key.src, c->key.dst);
	const struct exchange_nak *n = &c->exchange.nak;
	size_t streams = 0;

	if (!n->shared)
		return 1;
	for (const struct stream_record *other = way ? way->streams : NULL; other; other = other->beside) {
		if (!other->exchange.nak.frame)
			continue;
		if (other->exchange.nak.frame != n->frame) /* it had taken an older one, and may have been meant as well */
			return 0;
		if ((!streams++ && other != c) || !exchange_ignores(&other->exchange, &other->responder))
			return 0;
	}
	return streams;
}

/*
 * Whether these requests have got the answers of others: only PSNs tell which of several streams is answered, and there are answers to
 * PSNs that were never sent here.
 */
static bool is_misled(const struct doctor *d, const struct stream_record *c)
{
	const struct path *way = doctor_path(d, c->key.src, c->key.dst);

	return !c->responder.paired && way && way->several && responder_is_ahead(&c->responder);
}

/* Whether it is known which answers are to these requests, and all of them were taken. */
static bool has_own_answers(const struct doctor *d, const struct stream_record *c)
{
	return record_is_complete_with_answers(c) && !record_is_contended(c) && !is_misled(d, c);
}

void ends_add_naks(const struct doctor *d)
{
	for (size_t i = 0; i < d->records.count; i++) {
		struct stream_record *c = d->records.entries[i];
		struct path *way = c->responder.naks && has_own_answers(d, c) ? doctor_path(d, c->key.src, c->key.dst) : NULL;

		if (!way)
			continue;
		responder_add_naks(&way->naks, &c->responder);
		if (!symptoms_find(&c->symptoms, KIND_reorder))
			goback_add(&way->gobacks, &c->goback, symptoms_find(&c->symptoms, KIND_loss));
	}
}

static void conclude_responder(const struct doctor *d, struct stream_record *c)
{
	const struct path *way = doctor_path(d, c->key.src, c->key.dst);
	const struct responder_end end = {
		.naks = way ? way->naks : (struct responder_naks){ 0 },
		.start = c->start, .time = d->end,
		.complete = record_is_complete_with_answers(c),
		.contended = record_is_contended(c) || is_misled(d, c), .resent = c->loss.resent,
		.twice = 4 * (c->twice.copies + c->twice.undecided) > c->packets,
	};
	size_t streams = streams_of_nak(d, c);

	responder_study_conclude(&c->responder, &c->symptoms, &end);
	for (size_t i = 0; c->answered_by && i < c->symptoms.count; i++)
		if (finding_rules[c->symptoms.list[i].kind].class == CLASS_RESPONDER)
			c->symptoms.list[i].of = &c->answered_by->key;
	if (streams)
		exchange_conclude(&c->exchange, &c->responder, &c->symptoms, streams);
}

void ends_conclude(const struct doctor *d, struct stream_record *c)
{
	const struct path *way = doctor_path(d, c->key.src, c->key.dst);
	const struct goback_runs none = { 0 };

	if (d->selection) /* which packets come, and which answers, somebody chose */
		return;
	conclude_path_mtu(d, c);
	conclude_responder(d, c);
	if (is_misled(d, c)) {
		symptoms_drop(&c->symptoms, KIND_duplicate_answered_otherwise);
		return;
	}
	if (!record_is_complete_with_answers(c))
		return;
	duplicates_conclude(&c->duplicates, &c->symptoms, c->silence.longest);
	goback_conclude(&c->goback, &c->symptoms, way ? &way->gobacks : &none);
}

static void say(struct finding *to, enum finding_kind kind, const char *figures)
{
	SAY(to->text, "%s. %s", finding_rules[kind].words, figures);
}

/* How many packets were in vain. */
static void say_silence(struct findings *f)
{
	struct finding *to = doctor_find(f, KIND_no_response);
	char text[SYMPTOM_FIGURES];

	if (!to)
		return;
	SAY(text, "%llu packets asked for it.", to->packets);
	say(to, KIND_no_response, text);
}

/* Packets that asked for an acknowledgement, where packets of this kind explain why they got none. */
static __u64 unanswered(const struct doctor *d, enum finding_kind astray)
{
	__u64 packets = 0;

	for (size_t i = 0; i < d->records.count; i++) {
		const struct stream_record *c = d->records.entries[i];
		const struct symptom *symptom = symptoms_find(&c->symptoms, KIND_no_response);

		for (size_t k = 0; symptom && k < symptom->cause_count; k++)
			packets += symptom->causes[k] == (int)astray ? symptom->packets : 0;
	}
	return packets;
}

/* What the packets are that nobody takes, and what became of those that they answer. */
static void say_astray(const struct doctor *d, struct findings *f)
{
	for (size_t i = 0; i < d->paths.count; i++) {
		const struct path *path = d->paths.entries[i];
		struct finding *to = path->astray_requests + path->astray_responses ? doctor_find(f, path->astray) : NULL;
		__u64 requests = 0, responses = 0, asked;
		char text[SYMPTOM_FIGURES], more[128] = "";

		if (!to || strlen(to->text) > strlen(finding_rules[path->astray].words) + 1)
			continue;
		for (size_t k = i; k < d->paths.count; k++) {
			const struct path *other = d->paths.entries[k];

			requests += other->astray == path->astray ? other->astray_requests : 0;
			responses += other->astray == path->astray ? other->astray_responses : 0;
		}
		asked = unanswered(d, path->astray);
		if (asked)
			SAY(more, " What they answer waits in vain: %llu packets asked for an acknowledgement.", asked);
		SAY(text, "Nobody takes these packets: %llu request%s and %llu answer%s.%s", requests, requests == 1 ? "" : "s", responses,
		    responses == 1 ? "" : "s", more);
		say(to, path->astray, text);
	}
}

/* For how long a receiver that is not ready wants the sender to wait, and whether that waits. */
static void say_rnr(const struct doctor *d, struct findings *f)
{
	enum finding_kind kind = doctor_find(f, KIND_rnr) ? KIND_rnr : KIND_rnr_without_need;
	struct finding *to = doctor_find(f, kind);
	char text[SYMPTOM_FIGURES], range[64] = "", wait[160] = "";
	struct exchange_rnr all = { 0 };

	for (size_t i = 0; i < d->records.count; i++)
		exchange_add_rnr(&all, &((struct stream_record *)d->records.entries[i])->exchange.rnr);
	if (!to || !all.naks)
		return;
	if (all.least != all.most)
		SAY(range, " to %s (0x%02x)", rnr_text(all.most).text, all.most);
	if (all.hurried)
		SAY(wait, " The sender does not wait: %llu of %llu times it is earlier, once after %llu.%03llu ms.", all.hurried,
		    all.hurried + all.waited, all.shortest / 1000000, all.shortest / 1000 % 1000);
	else if (all.waited)
		SAY(wait, " The sender waits for it, %llu of %llu times.", all.waited, all.waited);
	SAY(text, "It asks %llu time%s for a pause of %s (timer 0x%02x)%s, for %llu packet%s, up to %llu times in a row.%s %llu packet%s sent "
	    "again for it.", all.naks, all.naks == 1 ? "" : "s", rnr_text(all.least).text, all.least, range, all.psns,
	    all.psns == 1 ? "" : "s", all.row_most, wait, all.again, all.again == 1 ? " is" : "s are");
	say(to, kind, text);
}

void ends_say(const struct doctor *d, struct findings *f)
{
	say_silence(f);
	say_astray(d, f);
	say_rnr(d, f);
}
