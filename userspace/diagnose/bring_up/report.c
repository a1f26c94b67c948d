// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The state of each step, from what the streams have shown. */
#include <string.h>

#include "lib/address.h"
#include "lib/list.h"
#include "lib/shell.h"
#include "lib/shown.h"
#include "userspace/diagnose/bring_up/bring_up.h"
#include "userspace/diagnose/doctor/doctor.h"
#include "userspace/observe/model/qpn.h"

#define ASKS 3 /* requests, so many in vain, are no accident */
#define AGAIN 2 /* a packet that was acknowledged comes once again if the acknowledgement was late */

static const struct {
	const char *name, *words, *asks, *fix;
} steps[] = {
#define STEP(id, words, asks, fix) { #id, words, asks, fix },
#include "userspace/diagnose/bring_up/step.def"
#undef STEP
	[SENDER_STEPS] =
#define STEP(id, words, asks, fix) { #id, words, asks, fix },
#include "userspace/diagnose/bring_up/responder.def"
#undef STEP
};

/* Why a step cannot be told. */
static const char *const unknown[STEPS] = {
	[STEP_qpn] = "no RDMA device and no `rocescope receive` here tells its QPs: give --receiver FILE or --expect FILE",
	[STEP_state] = "RDMA netlink or `rocescope receive` on this interface would tell it",
	[STEP_service] = "RDMA netlink, `rocescope receive` or --receiver FILE would tell it",
	[STEP_pkey] = "RDMA netlink, `rocescope receive` or --receiver FILE would tell it",
	[STEP_psn] = "nobody tells the PSN that the QP expects: give --expect FILE",
	[STEP_memory] = "RDMA netlink tells no addresses: give --receiver FILE; until then a NAK says what is refused",
	[STEP_path_mtu] = "give --receiver FILE, or --expect FILE with mtu",
};

struct bring_up_name step_name(enum bring_up_step step)
{
	struct bring_up_name n;

	SAY(n.text, "%s", steps[step].name);
	for (char *c = n.text; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return n;
}

const char *step_words(enum bring_up_step step)
{
	return steps[step].words;
}

const char *step_asks(enum bring_up_step step)
{
	return steps[step].asks;
}

const char *step_fix(enum bring_up_step step)
{
	return steps[step].fix;
}

void bring_up_list_steps(void)
{
	list_words("Of a sender:");
	for (enum bring_up_step s = 0; s < SENDER_STEPS; s++)
		list_entry(step_name(s).text, steps[s].words);
	list_words("Of a responder, with --responder, or found by itself:");
	for (enum bring_up_step s = SENDER_STEPS; s < STEPS; s++)
		list_entry(step_name(s).text, steps[s].words);
}

static void set(struct bring_up_result *r, enum bring_up_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void set(struct bring_up_result *r, enum bring_up_state state, const char *format, ...)
{
	va_list values;

	r->state = state;
	va_start(values, format);
	vsnprintf(r->found, sizeof(r->found), format, values);
	va_end(values);
	shown(r->found);
}

/* ---- before the packets ---- */

void bring_up_conclude_link(const struct bring_up *b, struct bring_up_result *r)
{
	const struct place_link *l = b->end.link;
	const char *name = b->options->interface;

	if (!l) {
		set(r, STEP_WRONG, "%s is gone", name);
	} else if (!l->up) {
		set(r, STEP_WRONG, "%s is down", name);
		SAY(r->fix, "`ip link set dev %s up`", shell_name(name).text);
	} else if (!l->carrier) {
		set(r, STEP_WRONG, "%s has no carrier: the other end is down, or the cable is out", name);
	} else {
		set(r, STEP_GOOD, "up, with a carrier, MTU %u", l->mtu);
	}
}

/* The step at which the stream is now. */
static enum bring_up_step reached(const struct bring_up_stream *s)
{
	return s->failed < STEPS ? s->failed : s->taken ? STEP_answer : STEP_psn;
}

/* The sender is one by RC that does not answer ARP: the kernel cannot send acknowledgements to it. */
static bool is_silent(const struct bring_up *b, const struct bring_up_stream *s)
{
	const struct places *p = &b->end.places;

	for (size_t k = 0; s && k < p->silent_count && s->service == SERVICE_RC && !s->answers; k++)
		if (!memcmp(p->silent[k].address, s->src, 16))
			return true;
	return false;
}

static void conclude_arp(const struct bring_up *b, struct bring_up_result *r)
{
	const struct sniffer_receiver *receiver = b->end.receiver;
	const struct bring_up_stream *s = b->shown;
	__u64 devices;

	if (!receiver->program && is_silent(b, s))
		set(r, STEP_WRONG, "%s does not answer ARP, so that nothing can be sent to it", address_text(s->src).text);
	else if (s && reached(s) > STEP_mac)
		set(r, STEP_GOOD, "the sender knows our MAC address");
	else if (b->asks >= ASKS && receiver->program && !places_has(&b->end.places, receiver->setup.own, &devices))
		set(r, STEP_WRONG, "the sender asks for %s, and nobody answers: %s does not have the address",
		    address_text(receiver->setup.own).text, b->options->interface);
	else if (b->asks >= ASKS && !b->stream_count)
		set(r, STEP_WRONG, "the sender has asked %llu times for our address, and sends nothing: it does not take the answer",
		    b->asks);
	else if (b->asks)
		set(r, STEP_GOOD, "the sender asks for our address");
	else if (b->astray.times >= ASKS && !b->astray.several)
		set(r, STEP_WRONG, "%s asks for %s, which is not an address of this machine", address_text(b->astray.from).text,
		    address_text(b->astray.whom).text);
}

/* ---- packets ---- */

static void say_failure(const struct bring_up_stream *s, struct bring_up_result *r)
{
	char of[64] = "";

	if (s->roce)
		SAY(of, ", QPN %s", qpn_text(s->dqpn).text);
	set(r, STEP_WRONG, "%s%s%s%s (%s%s, %llu packet%s)", s->expected[0] ? "expected " : "", s->expected,
	    s->expected[0] ? "; found " : "", s->found, address_text(s->src).text, of, s->failures, s->failures == 1 ? "" : "s");
	if (s->kind != FINDING_KINDS)
		SAY(r->fix, "%s", finding_rules[s->kind].fix);
}

/* The QP is in the error state, which is not what is wrong first: another failure has put it there. */
static bool is_in_error(const struct bring_up_stream *s)
{
	return s && s->in_error && s->failed < STEPS && s->failed != STEP_state;
}

/* What is good, of a pair that is further than the step. */
static void say_good(const struct bring_up_stream *s, enum bring_up_step step, struct bring_up_result *r)
{
	r->state = STEP_GOOD;
	switch (step) {
	case STEP_ip: SAY(r->found, "%s > %s", address_text(s->src).text, address_text(s->dst).text); break;
	case STEP_qpn: SAY(r->found, "QPN %s%s%s", qpn_text(s->dqpn).text, s->taker[0] ? ": " : "", s->taker); break;
	case STEP_service: SAY(r->found, "%s", roce_service_name(s->service)); break;
	case STEP_psn: SAY(r->found, "0x%x was the last", s->last_psn); break;
	case STEP_path_mtu: SAY(r->found, "the largest payload is %u", s->path_mtu); break;
	default: SAY(r->found, "%s", steps[step].words);
	}
}

static void conclude_packets(const struct bring_up_stream *s, enum bring_up_step step, struct bring_up_result *r)
{
	if (s->failed == step)
		say_failure(s, r);
	else if (step == STEP_state && is_in_error(s))
		set(r, STEP_WRONG, "QP %s is in the error state, since %s is wrong: %llu packet%s refused", qpn_text(s->dqpn).text,
		    step_name(s->failed).text, s->in_error, s->in_error == 1 ? " was" : "s were");
	else if (reached(s) > step && s->not_told >> step & 1)
		set(r, STEP_NOT_TOLD, "%s", unknown[step]);
	else if (reached(s) > step)
		say_good(s, step, r);
}

/* Of its messages only the ends come, which are shorter than the rest. */
static bool is_cut(const struct bring_up_stream *s)
{
	return s->alone >= ASKS;
}

/* Frames that are longer than the MTU are not seen by anybody: nothing comes, or PSNs are missing. */
static void conclude_mtu(const struct bring_up *b, struct bring_up_result *r)
{
	const struct place_link *l = b->end.link;
	const struct bring_up_stream *s = b->shown;
	bool missing = !s || s->failed == STEP_psn;

	if (s && is_cut(s))
		set(r, STEP_WRONG, "%llu Last packets came to QPN %s, but no First and no Middle, and the PSNs before them are "
		    "missing: what is longer is lost on the way, where an MTU is too small", s->alone, qpn_text(s->dqpn).text);
	if (l && missing && l->refused > b->end.refused)
		set(r, STEP_WRONG, "%s has dropped %llu frames before anybody saw them, and its MTU is %u", b->options->interface,
		    l->refused - b->end.refused, l->mtu);
}

/* ---- the ICRC ---- */

static void study_bad(struct bring_up *b, struct doctor *d, struct observer *o)
{
	for (size_t i = 0; i < b->bad_count; i++) {
		const struct observer_frame frame = { .bytes = b->bad[i].bytes, .captured = b->bad[i].length,
						      .wire = b->bad[i].length };
		struct observer_parsed parsed;
		struct roce_event event;
		struct doctor_packet p = { .number = i + 1, .frame = &frame, .parsed = &parsed, .event = &event };

		observer_parse(&frame, NULL, &parsed);
		p.stream = observer_follow(o, &frame, &parsed, i, &event);
		doctor_take(d, &p);
	}
}

/* Has the doctor name the mistake, when there are more packets than the last time. */
static void name_mistake(struct bring_up *b)
{
	struct observer o = { .table.max = BRING_UP_STREAMS };
	struct doctor *d = b->named < b->bad_count ? doctor_new() : NULL;
	struct findings found = { 0 };

	if (!d)
		return;
	study_bad(b, d, &o);
	b->named = b->bad_count;
	b->mistake.kind[0] = 0;
	doctor_conclude(d, &o.totals, &found);
	for (size_t i = found.count; i-- > 0;)
		if (!strncmp(found.list[i].kind, "icrc-", 5) || !strcmp(found.list[i].kind, "pad-missing"))
			b->mistake = found.list[i];
	findings_free(&found);
	observer_free(&o);
	doctor_free(d);
}

void bring_up_conclude_icrc(struct bring_up *b, struct bring_up_result *r)
{
	size_t length = strlen(r->found);

	if (r->state != STEP_WRONG)
		return;
	name_mistake(b);
	if (!b->mistake.kind[0])
		return;
	snprintf(r->found + length, sizeof(r->found) - length, ". %s: %s", b->mistake.kind, b->mistake.text);
	SAY(r->fix, "%s", b->mistake.fix);
}

/* ---- answers ---- */

/* Another pair of the same sender whose answers go to the same QPN. */
static const struct bring_up_stream *find_twin(const struct bring_up *b, const struct bring_up_stream *s)
{
	for (size_t i = 0; s->answer_qpn != NO_QPN && i < b->stream_count; i++) {
		const struct bring_up_stream *t = &b->streams[i];

		if (t->answer_qpn == s->answer_qpn && t->dqpn != s->dqpn && !memcmp(t->src, s->src, 16) &&
		    t->service == SERVICE_RC && bring_up_is_active(b, t))
			return t;
	}
	return NULL;
}

/* Answers to twins are taken for those of one of them. */
static void conclude_answer(const struct bring_up *b, const struct bring_up_stream *s, struct bring_up_result *r)
{
	if (s->service != SERVICE_RC)
		set(r, STEP_GOOD, "%s is not answered", roce_service_name(s->service));
	else if (s->answers)
		set(r, STEP_GOOD, "%llu answers", s->answers);
	else if (s->asked >= ASKS && !find_twin(b, s))
		set(r, STEP_WRONG, "%llu packets to QPN %s ask for an answer (AckReq), and none has left", s->asked, qpn_text(s->dqpn).text);
	else if (!s->asked && s->messages >= ASKS)
		set(r, STEP_WRONG, "the sender never asks for an answer: AckReq is in none of %llu packets to QPN %s, which end %llu "
		    "messages", s->packets, qpn_text(s->dqpn).text, s->messages);
}

static void conclude_accepted(const struct bring_up *b, const struct bring_up_stream *s, struct bring_up_result *r)
{
	const struct expected_pair *pair = end_expected(&b->end, s->src, s->dst, s->dqpn);
	const struct bring_up_stream *twin = find_twin(b, s);

	if (s->service != SERVICE_RC)
		set(r, STEP_GOOD, "%s is not answered", roce_service_name(s->service));
	else if (!s->answers || s->answer_qpn == NO_QPN)
		return;
	else if (s->answer_qpn < 2)
		set(r, STEP_WRONG, "answers for QPN %s go to QPN %s: the receiver was not told the sender's QPN",
		    qpn_text(s->dqpn).text, qpn_text(s->answer_qpn).text);
	else if (pair && pair->pair.peer_qpn != s->answer_qpn)
		set(r, STEP_WRONG, "expected answers to QPN %s; found answers to QPN %s", qpn_text(pair->pair.peer_qpn).text,
		    qpn_text(s->answer_qpn).text);
	else if (twin)
		set(r, STEP_WRONG, "answers for QPN %s and for QPN %s go to one QPN, %s", qpn_text(s->dqpn).text,
		    qpn_text(twin->dqpn).text, qpn_text(s->answer_qpn).text);
	else if (s->again >= AGAIN)
		set(r, STEP_WRONG, "PSN 0x%x to QPN %s was acknowledged, to QPN %s, and has come %u times again", s->acked,
		    qpn_text(s->dqpn).text, qpn_text(s->answer_qpn).text, s->again);
	else
		set(r, STEP_GOOD, "the sender goes on");
}

/* ---- all of it ---- */

/* A NIC that takes RoCE itself shows nothing of it. */
static void conclude_offload(const struct bring_up *b, struct bring_up_report *r)
{
	const struct rdma_host_device *d = end_offload(&b->end);

	for (enum bring_up_step s = STEP_mac; d && !b->stream_count && s < SENDER_STEPS; s++)
		if (r->step[s].state == STEP_NOT_YET)
			set(&r->step[s], STEP_NOT_TOLD, "the NIC takes RoCE itself (RDMA device %s, driver %s), so that nothing of it is "
			    "seen here: mirror the port", d->name, d->driver);
}

void bring_up_conclude(struct bring_up *b, struct bring_up_report *r)
{
	if (b->asked) {
		*r = b->asked->report;
		return;
	}
	*r = (struct bring_up_report){ .wrong = STEPS };
	bring_up_conclude_link(b, &r->step[STEP_link]);
	conclude_arp(b, &r->step[STEP_arp]);
	for (enum bring_up_step s = STEP_mac; b->shown && s < STEP_answer; s++)
		conclude_packets(b->shown, s, &r->step[s]);
	conclude_mtu(b, &r->step[STEP_mtu]);
	bring_up_conclude_icrc(b, &r->step[STEP_icrc]);
	if (b->shown && b->shown->failed == STEPS && b->shown->taken) {
		conclude_answer(b, b->shown, &r->step[STEP_answer]);
		conclude_accepted(b, b->shown, &r->step[STEP_accepted]);
	}
	conclude_offload(b, r);
	for (enum bring_up_step s = SENDER_STEPS; s-- > 0;) {
		if (r->step[s].state != STEP_WRONG)
			continue;
		if (s != STEP_state || !is_in_error(b->shown))
			r->wrong = s;
		if (!r->step[s].fix[0])
			SAY(r->step[s].fix, "%s", steps[s].fix);
	}
}
