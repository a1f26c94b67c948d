// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asks a responder, as a requester of RC would, along the steps of responder.def, and judges its answers (IBTA 9.7). It sends
 * little, and seldom: RDMA WRITEs of the pattern of `send` into the region that the responder's description gives, and what the
 * steps want beside these. The first step that is wrong ends it.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "lib/machine.h"
#include "lib/shell.h"
#include "lib/stop.h"
#include "roce/responder/responder.h"
#include "userspace/diagnose/bring_up/responder.h"
#include "userspace/observe/model/qpn.h"

#define NEIGHBOUR (4 * NSEC_PER_SEC) /* the kernel asks three times, a second apart */
#define LOOK (20 * NSEC_PER_MSEC) /* between two looks at the table */
#define AMONG 4 /* requests, of which each is to be acknowledged */
#define STRAY_QPN 0xfffffe /* of no QP, unless the description says so */
#define DISCARD 9 /* port */

/* opcodes of RC */
#define SEND_ONLY 0x04
#define WRITE_FIRST 0x06
#define WRITE_MIDDLE 0x07
#define WRITE_LAST 0x08
#define WRITE_ONLY 0x0a
#define READ_REQUEST 0x0c
#define READ_FIRST 0x0d
#define READ_MIDDLE 0x0e
#define READ_LAST 0x0f
#define READ_ONLY 0x10

/* A message of one packet, at the beginning of the memory. */
static struct asking_request small(const struct asking *a, __u32 psn)
{
	__u32 bytes = a->room < ASKING_SMALL ? a->room : ASKING_SMALL;

	return (struct asking_request){ .opcode = WRITE_ONLY, .psn = psn & PSN_MASK, .bytes = bytes, .dma_length = bytes };
}

/* ---- acknowledgements ---- */

static void judge_msn(struct asking *a, const struct asking_answer *n, __u32 messages, __u32 packets)
{
	__u32 found = n->packet.msn, right = (a->msn + messages) & PSN_MASK;

	a->packets += packets;
	if (!a->msn_known) {
		a->packets = 0;
		a->msn_begun = found;
	} else if (found != right) {
		bool by_packet = a->packets > 1 && ((a->msn_begun + a->packets) & PSN_MASK) == found;

		asking_wrong(a, STEP_msn, n, bring_up_text("MSN %u", right).text, "MSN %u%s", found, by_packet ? ": it counts packets" :
			     found == a->msn ? ": the message is not counted" : "");
		return; /* not known any more */
	}
	a->msn = found;
	a->msn_known = true;
}

/* Whether it acknowledges that PSN, of `messages` of so many packets. Else something is wrong, and if nothing else the step. */
static bool judge_ack(struct asking *a, enum bring_up_step step, const struct asking_answer *n, __u32 psn, __u32 messages,
		      __u32 packets)
{
	struct bring_up_text right = bring_up_text("an ACK of PSN 0x%x", psn);

	if (!is_ack(n)) {
		asking_wrong(a, step, n, right.text, "%s", asking_words(a, n).text);
		return false;
	}
	if (n->packet.number != psn)
		asking_wrong(a, STEP_ack_psn, n, right.text, "an ACK of PSN 0x%llx", n->packet.number);
	else
		asking_say(a, STEP_ack_psn, STEP_GOOD, "0x%x was the last", psn);
	judge_msn(a, n, messages, packets);
	return true;
}

/* Asks for a message of one packet, which shall be acknowledged. */
static bool ask_message(struct asking *a, enum bring_up_step step, const struct asking_request *q)
{
	const struct asking_answer *n = asking_ask(a, q, ASKING_TRIES);

	if (!n) {
		asking_silence(a, step, bring_up_text("an ACK of PSN 0x%x", q->psn).text);
		return false;
	}
	return judge_ack(a, step, n, q->psn, 1, 1);
}

/* The same, at the next PSN. */
static bool ask_next(struct asking *a, enum bring_up_step step)
{
	const struct asking_request q = small(a, a->psn);

	a->psn = (a->psn + 1) & PSN_MASK;
	return ask_message(a, step, &q);
}

/* ---- a missing PSN ---- */

/* Both PSNs of a gap come again. */
static bool heal(struct asking *a, enum bring_up_step step)
{
	return ask_next(a, step) && ask_next(a, step);
}

/*
 * Instead of the next PSN another packet, or none, and then the PSN behind it. Returns the answer. NULL: there is none, also
 * the second time: a NAK comes once, and may be lost.
 */
static const struct asking_answer *ask_gap(struct asking *a, enum bring_up_step step, const struct asking_request *instead)
{
	const struct asking_answer *n = NULL;

	for (int i = 0; i < 2 && !n && !asking_is_over(a); i++) {
		struct asking_request behind, first = instead ? *instead : (struct asking_request){ 0 };

		if (i && !heal(a, step))
			return NULL;
		first.psn = a->psn;
		behind = small(a, a->psn + 1);
		if (instead)
			asking_transmit(a, &first);
		asking_transmit(a, &behind);
		n = asking_wait(a, a->psn);
	}
	return n;
}

/* Whether the answer to a gap says that the next PSN is missing. */
static bool judge_nak(struct asking *a, enum bring_up_step step, const struct asking_answer *n, const char *because)
{
	struct bring_up_text right = bring_up_text("a NAK that asks for PSN 0x%x%s", a->psn, because);

	if (!n)
		asking_silence(a, step, right.text);
	else if (is_ack(n))
		asking_wrong(a, step, n, right.text, "an ACK of PSN 0x%llx", n->packet.number);
	else if (!is_nak(n, AETH_NAK_SEQUENCE) || n->packet.number != a->psn)
		asking_wrong(a, step, n, right.text, "%s", asking_words(a, n).text);
	else {
		judge_msn(a, n, 0, 0);
		return true;
	}
	if (n && is_ack(n)) {
		a->psn = (a->psn + 2) & PSN_MASK; /* both were taken, as it seems */
		a->msn_known = false;
		a->late++;
	}
	return false;
}

/* A packet that shall be dropped without a word. */
static void ask_dropped(struct asking *a, enum bring_up_step step, const struct asking_request *dropped, const char *because,
			const char *good)
{
	if (judge_nak(a, step, ask_gap(a, step, dropped), because) && heal(a, step))
		asking_say(a, step, STEP_GOOD, "%s", good);
}

/* ---- the steps ---- */

static void ask_carrier(struct asking *a)
{
	end_read(&a->b->end);
	bring_up_conclude_link(a->b, &a->to->report.step[STEP_carrier]);
	if (asking_state(a, STEP_carrier) != STEP_WRONG)
		return;
	a->to->report.wrong = STEP_carrier;
	if (!a->to->report.step[STEP_carrier].fix[0])
		SAY(a->to->report.step[STEP_carrier].fix, "%s", step_fix(STEP_carrier));
}

/* Has the kernel ask for the address, by a datagram to the port of discarding. */
static void provoke(struct asking *a, const __u8 hop[16])
{
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(DISCARD) };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(DISCARD), .sin6_scope_id = a->b->end.ifindex };

	memcpy(&four.sin_addr, hop + sizeof(address_ipv4_prefix), 4);
	memcpy(&six.sin6_addr, hop, 16);
	if (a->plan.ipv6)
		sendto(a->udp, "", 0, MSG_DONTWAIT, (struct sockaddr *)&six, sizeof(six));
	else
		sendto(a->udp, "", 0, MSG_DONTWAIT, (struct sockaddr *)&four, sizeof(four));
}

static void ask_neighbour(struct asking *a)
{
	const char *interface = a->b->options->interface;
	__u64 until = now_ns() + NEIGHBOUR;
	struct place_route route = { 0 };
	const __u8 *hop = a->to->dst;
	bool found;

	places_route(&route, a->to->dst);
	if (route.has_gateway && route.leaves_by == a->b->end.ifindex)
		hop = route.gateway;
	found = machine_neighbour(interface, hop, a->plan.dst_mac);
	if (!found)
		provoke(a, hop);
	while (!found && !stop && now_ns() < until) {
		asking_turn(a, now_ns() + LOOK);
		found = machine_neighbour(interface, hop, a->plan.dst_mac);
	}
	if (found)
		asking_say(a, STEP_neighbour, STEP_GOOD, "%s%s has %s", hop == a->to->dst ? "" : "the router ",
			   address_text(hop).text, mac_text(a->plan.dst_mac).text);
	else if (!stop)
		asking_wrong(a, STEP_neighbour, NULL, bring_up_text("the MAC address of %s", address_text(hop).text).text,
			     "no answer to ARP or neighbour discovery, and no entry in the table of %s", interface);
}

/* Nobody answers ARP for the address from which the responder takes packets, if it is none of ours. */
static void say_address(struct asking *a)
{
	struct bring_up_result *r = &a->to->report.step[STEP_answers];
	struct address_text own = address_text(a->to->src);
	__u64 devices;

	if (r->state == STEP_WRONG && !places_has(&a->b->end.places, a->to->src, &devices))
		SAY(r->fix, "%s, from which it takes packets, is no address of this machine, so nobody answers its ARP: `ip address "
		    "add %s dev %s`, or write our MAC address into it. %s", own.text, own.text,
		    shell_name(a->b->options->interface).text, step_fix(STEP_answers));
}

/* The first request. Its answer is judged by the steps from here to `msn`. */
static void ask_first(struct asking *a)
{
	const struct asking_request q = small(a, a->psn);
	const struct asking_answer *n = asking_ask(a, &q, ASKING_TRIES);

	if (n) {
		a->first = *n;
		a->psn = (a->psn + 1) & PSN_MASK;
		asking_say(a, STEP_answers, STEP_GOOD, "the first answer came after %.0f us", n->took / 1e3);
	} else if (a->to->answers) {
		asking_say(a, STEP_answers, STEP_GOOD, "something came");
	} else {
		asking_silence(a, STEP_answers, bring_up_text("an answer from QPN %s to an RDMA WRITE, PSN 0x%x",
							      qpn_text(a->qp->qpn).text, q.psn).text);
		say_address(a);
	}
}

/* Sends the same again, so that there are more wrong ICRCs: one alone tells little. */
static void ask_bad_icrc(struct asking *a)
{
	enum bring_up_step first_wrong = a->to->report.wrong;

	if (asking_state(a, STEP_ack_icrc) != STEP_WRONG)
		return;
	for (int i = 0; i < 3 && !stop; i++) {
		const struct asking_request q = small(a, a->begun);
		__u64 until;

		a->to->report.wrong = STEPS; /* or nothing would be sent */
		asking_transmit(a, &q);
		until = now_ns() + ASKING_WAIT;
		for (__u64 came = a->came; a->came == came && !stop && now_ns() < until;)
			asking_turn(a, until);
		while (a->judged < a->came)
			asking_can_read(a, &a->answer[a->judged++ % ASKING_ANSWERS]);
		a->to->report.wrong = first_wrong;
	}
	bring_up_conclude_icrc(a->b, &a->to->report.step[STEP_ack_icrc]);
}

/* The PSN that it expects, by its answer to another one. false: it does not tell. */
static bool learn_psn(struct asking *a, const struct asking_answer *n)
{
	bool nak = is_nak(n, AETH_NAK_SEQUENCE);

	if ((!nak && !is_ack(n)) || n->packet.number == a->begun || a->psn_told)
		return false;
	a->psn = (n->packet.number + !nak) & PSN_MASK;
	return true;
}

/* It refuses the packet with that PSN, so that it expected no other. */
static bool is_refusal(const struct asking_answer *n, __u32 psn)
{
	return n->packet.opcode == ASKING_ACK && !is_ack(n) && !is_nak(n, AETH_NAK_SEQUENCE) && n->packet.number == psn;
}

/* The first message. The QP may have a past: then it is told by a NAK, or by the ACK of a duplicate, where it goes on. */
static void ask_taken(struct asking *a)
{
	const struct asking_answer *first = &a->first, *n = first;
	__u32 psn = a->begun;

	a->msn_known = true; /* it is new: nothing is complete */
	if (learn_psn(a, first)) {
		const struct asking_request q = small(a, a->psn);

		psn = a->psn;
		a->psn = (a->psn + 1) & PSN_MASK;
		a->msn_known = false;
		n = asking_ask(a, &q, ASKING_TRIES);
		if (asking_is_over(a))
			return;
		if (!n || !is_ack(n) || n->packet.number != psn) {
			if (is_ack(first) && !(n && is_refusal(n, psn)))
				asking_wrong(a, STEP_ack_psn, first, bring_up_text("an ACK of PSN 0x%x", a->begun).text,
					     "an ACK of PSN 0x%llx", first->packet.number);
			else if (!n)
				asking_silence(a, STEP_taken,
					       bring_up_text("an ACK of PSN 0x%x, for which its NAK asks", psn).text);
			else
				judge_ack(a, STEP_taken, n, psn, 1, 1);
			asking_say(a, STEP_taken, STEP_GOOD, "it was answered");
			return;
		}
	}
	if (is_nak(n, AETH_NAK_SEQUENCE) && a->psn_told && n->packet.number != psn)
		asking_wrong(a, STEP_taken, n, bring_up_text("an ACK of PSN 0x%x, the first one by --expect", psn).text,
			     "a NAK that asks for PSN 0x%llx", n->packet.number);
	else if (judge_ack(a, STEP_taken, n, psn, 1, 1))
		asking_say(a, STEP_taken, STEP_GOOD, psn == a->begun ? "at PSN 0x%x" : "at PSN 0x%x: the QP has a past", psn);
}

static void ask_second(struct asking *a)
{
	ask_next(a, STEP_taken);
}

/* One that is not answered at first may have been lost. */
static void ask_each(struct asking *a)
{
	int asked = 0, missed = 0;

	for (int more = AMONG; more-- && !asking_is_over(a); asked++) {
		const struct asking_request q = small(a, a->psn);
		const struct asking_answer *n = asking_ask(a, &q, 1);

		a->psn = (a->psn + 1) & PSN_MASK;
		if (n) {
			judge_ack(a, STEP_ackreq, n, q.psn, 1, 1);
			continue;
		}
		if (!missed++)
			more += AMONG;
		else
			asking_wrong(a, STEP_ackreq, NULL, "an ACK for each packet with AckReq",
				     "%d of %d without one until they came again", missed, asked + 1);
		a->late++;
		if (!ask_message(a, STEP_ackreq, &q))
			return;
	}
	if (!asking_is_over(a))
		asking_say(a, STEP_ackreq, STEP_GOOD, "%d of %d were acknowledged at once", asked - missed, asked);
}

/* A message of several packets, with AckReq in the last one. */
static void ask_long(struct asking *a)
{
	__u32 mtu = a->endpoint->end.path_mtu, packets = (a->room + mtu - 1) / mtu, first = a->psn;
	__u32 last = (first + packets - 1) & PSN_MASK;
	const struct asking_answer *n = NULL;

	if (packets < 2) {
		asking_say(a, STEP_msn, STEP_GOOD, "%u; its region has no room for a message of several packets", a->msn);
		return;
	}
	for (int i = 0; i < ASKING_TRIES && !n && !asking_is_over(a); i++) {
		a->late += i ? packets : 0;
		for (__u32 k = 0; k < packets; k++)
			asking_transmit(a, &(struct asking_request){
				.opcode = !k ? WRITE_FIRST : k + 1 < packets ? WRITE_MIDDLE : WRITE_LAST,
				.psn = (first + k) & PSN_MASK, .bytes = k + 1 < packets ? mtu : a->room - k * mtu, .offset = k * mtu, .dma_length = a->room,
				.quiet = k + 1 < packets });
		do
			n = asking_wait(a, first);
		while (n && is_ack(n) && n->packet.number != last && psn_distance(first, n->packet.number) >= 0 &&
		       psn_distance(n->packet.number, last) > 0); /* more than was asked for */
	}
	a->psn = (last + 1) & PSN_MASK;
	if (!n) {
		asking_silence(a, STEP_taken,
			       bring_up_text("an ACK of PSN 0x%x, the last of a message of %u packets", last, packets).text);
	} else if (judge_ack(a, STEP_taken, n, last, 1, packets)) {
		a->written = a->room;
		asking_say(a, STEP_msn, STEP_GOOD, "%u after the last message, which had %u packets", a->msn, packets);
	}
}

static void ask_nak(struct asking *a)
{
	if (judge_nak(a, STEP_nak, ask_gap(a, STEP_nak, NULL), "") && !asking_is_over(a))
		asking_say(a, STEP_nak, STEP_GOOD, "a NAK for PSN 0x%x", a->psn);
}

/* One more behind the gap, and then the PSN that is missing. Between them nothing shall come. */
static void ask_once(struct asking *a)
{
	const struct asking_request behind = small(a, a->psn + 2), missing = small(a, a->psn);
	const struct asking_answer *n = NULL;
	unsigned int naks = 0;

	if (asking_state(a, STEP_nak) != STEP_GOOD)
		return;
	asking_transmit(a, &behind);
	for (int i = 0; i < ASKING_TRIES && !n && !asking_is_over(a); i++) {
		a->late += i > 0;
		asking_transmit(a, &missing);
		while ((n = asking_wait(a, a->psn)) && is_nak(n, AETH_NAK_SEQUENCE) && naks++ < ASKING_ANSWERS)
			asking_wrong(a, STEP_nak_once, n, bring_up_text("silence until PSN 0x%x comes", a->psn).text,
				     "another NAK for PSN 0x%llx", n->packet.number);
	}
	if (asking_is_over(a))
		return;
	asking_say(a, STEP_nak_once, STEP_GOOD, "no other NAK came");
	a->psn = (a->psn + 1) & PSN_MASK;
	if (!n)
		asking_silence(a, STEP_healed, bring_up_text("an ACK of PSN 0x%x, sent again after the NAK", missing.psn).text);
	else if (judge_ack(a, STEP_healed, n, missing.psn, 1, 1) && ask_next(a, STEP_healed) && !asking_is_over(a))
		asking_say(a, STEP_healed, STEP_GOOD, "PSNs 0x%x and 0x%x were taken when they came again", missing.psn,
			   behind.psn - 1);
}

static void ask_duplicate(struct asking *a)
{
	__u32 last = (a->psn - 1) & PSN_MASK, old = (a->psn - 2) & PSN_MASK, msn = a->msn;
	const struct asking_request q = small(a, old);
	const struct asking_answer *n = asking_ask(a, &q, ASKING_TRIES);

	if (!n) {
		asking_silence(a, STEP_duplicate, bring_up_text("an ACK of PSN 0x%x, which came again", old).text);
		return;
	}
	if (!is_ack(n) || (n->packet.number != last && n->packet.number != old)) {
		asking_wrong(a, STEP_duplicate, n,
			     bring_up_text("an ACK of PSN 0x%x to the duplicate of PSN 0x%x", last, old).text, "%s",
			     asking_words(a, n).text);
		return;
	}
	if (a->msn_known && n->packet.msn != msn && (n->packet.number != old || n->packet.msn != ((msn - 1) & PSN_MASK))) {
		asking_wrong(a, STEP_duplicate, n, bring_up_text("MSN %u, as before", msn).text,
			     "MSN %u: the duplicate is counted as a message", n->packet.msn);
		return;
	}
	if (ask_next(a, STEP_duplicate) && !asking_is_over(a))
		asking_say(a, STEP_duplicate, STEP_GOOD, "PSN 0x%x was acknowledged again", old);
}

/* A SEND of no bytes uses nothing up, and needs a receive. */
static void ask_rnr(struct asking *a)
{
	const struct asking_request q = { .opcode = SEND_ONLY, .psn = a->psn };
	const struct asking_answer *n;

	if (a->endpoint->receives) {
		asking_say(a, STEP_rnr, STEP_NOT_TOLD,
			   "the description does not say that no receive is posted (\"receives\": 0)");
		return;
	}
	n = asking_ask(a, &q, ASKING_TRIES);
	if (!n) {
		asking_silence(a, STEP_rnr, bring_up_text("an RNR NAK of PSN 0x%x", a->psn).text);
		return;
	}
	if (n->packet.opcode != ASKING_ACK || n->packet.syndrome >> 5 != 1 || n->packet.number != a->psn) {
		asking_wrong(a, STEP_rnr, n, bring_up_text("an RNR NAK of PSN 0x%x", a->psn).text, "%s", asking_words(a, n).text);
		a->psn = (a->psn + is_ack(n)) & PSN_MASK;
		return;
	}
	judge_msn(a, n, 0, 0);
	if (ask_next(a, STEP_rnr) && !asking_is_over(a))
		asking_say(a, STEP_rnr, STEP_GOOD, "an RNR NAK with timer %u", n->packet.syndrome & 31);
}

/* ---- pad and READ ---- */

/* Bytes of the message with a pad of three: less than those of the others, which have written behind it. */
static __u32 padded(const struct asking *a)
{
	return small(a, 0).bytes - 3;
}

/* Whether the pad went to memory, READ tells. */
static void ask_pad(struct asking *a)
{
	struct asking_request q = small(a, a->psn);

	if (q.bytes < 4 || q.bytes & 3) {
		asking_say(a, STEP_pad, STEP_NOT_TOLD, "its region has %u bytes", a->room);
		return;
	}
	q.bytes = q.dma_length = padded(a);
	a->psn = (a->psn + 1) & PSN_MASK;
	if (ask_message(a, STEP_pad, &q) && !asking_is_over(a))
		asking_say(a, STEP_pad, STEP_GOOD, "%u bytes were acknowledged", q.bytes);
}

/* The bytes of a response are not those that were written. */
static void say_others(struct asking *a, const struct asking_answer *n, const __u8 *bytes, __u32 k, const char *of)
{
	static const __u8 zero[3];
	__u32 from = padded(a);

	if (!k && asking_state(a, STEP_pad) == STEP_GOOD && !memcmp(bytes, a->payload, from) && !memcmp(bytes + from, zero, 3))
		asking_wrong(a, STEP_pad, n, bring_up_text("that a message of %u bytes writes these", from).text,
			     "by a READ that the three bytes of its pad are in memory, too");
	else
		asking_wrong(a, STEP_read, n, bring_up_text("the bytes that were written%s", of).text, "others");
}

static bool is_read_response(const struct asking_answer *n)
{
	return n->packet.opcode >= READ_FIRST && n->packet.opcode <= READ_ONLY;
}

/* Whether it is response k of so many. */
static bool judge_response(struct asking *a, const struct asking_answer *n, __u32 k, __u32 count, __u32 bytes)
{
	__u8 opcode = count == 1 ? READ_ONLY : !k ? READ_FIRST : k + 1 < count ? READ_MIDDLE : READ_LAST;
	__u32 mtu = a->endpoint->end.path_mtu, size = k + 1 < count ? mtu : bytes - k * mtu, psn = (a->psn + k) & PSN_MASK;
	const struct roce_packet *p = &n->packet;
	struct bring_up_text of = bring_up_text(" in response %u of %u", k + 1, count);
	__u32 at = p->icrc_offset - p->pad - p->payload_bytes;

	if (p->opcode != opcode) {
		asking_wrong(a, STEP_read, n, bring_up_text("opcode 0x%02x%s", opcode, of.text).text, "%s",
			     asking_words(a, n).text);
	} else if (p->number != psn) {
		asking_wrong(a, STEP_read, n, bring_up_text("PSN 0x%x%s", psn, of.text).text, "PSN 0x%llx", p->number);
	} else if (p->payload_bytes != size) {
		asking_wrong(a, STEP_read, n, bring_up_text("%u bytes%s", size, of.text).text, "%u bytes", p->payload_bytes);
	} else if (p->op & OP_AETH && p->syndrome >> 5) {
		asking_wrong(a, STEP_read, n, bring_up_text("the AETH of an ACK%s", of.text).text, "syndrome 0x%02x",
			     p->syndrome);
	} else if (at + size <= n->length && memcmp(n->bytes + at, a->payload + k * mtu, size)) {
		say_others(a, n, n->bytes + at, k, of.text);
	} else {
		return true;
	}
	return false;
}

/* Reads what was written, and looks whether anything else comes before the next acknowledgement. */
static void ask_read(struct asking *a)
{
	__u32 bytes = a->written, count = (bytes + a->endpoint->end.path_mtu - 1) / a->endpoint->end.path_mtu, k = 0;
	const struct asking_request q = { .opcode = READ_REQUEST, .psn = a->psn, .dma_length = bytes };
	struct asking_request next;
	const struct asking_answer *n = NULL;

	if (!a->endpoint->reads) {
		asking_say(a, STEP_read, STEP_NOT_TOLD,
			   "the description does not say that the responder serves READs (\"read\": true)");
		return;
	}
	for (int i = 0; i < ASKING_TRIES && k < count && !asking_is_over(a); i++) {
		asking_transmit(a, &q);
		for (k = 0; k < count && (n = asking_wait(a, a->psn)); k++)
			if (!judge_response(a, n, k, count, bytes))
				return;
	}
	if (k < count) {
		asking_silence(a, STEP_read, bring_up_text("%u responses for %u bytes, of which %u came", count, bytes, k).text);
		return;
	}
	a->psn = (a->psn + count) & PSN_MASK;
	a->msn = (a->msn + 1) & PSN_MASK;
	next = small(a, a->psn);
	n = asking_ask(a, &next, ASKING_TRIES);
	if (n && is_read_response(n))
		asking_wrong(a, STEP_read, n, bring_up_text("%u responses", count).text, "more of them");
	if (!n || asking_is_over(a)) {
		asking_silence(a, STEP_read, bring_up_text("an ACK of PSN 0x%x, the one behind the responses", a->psn).text);
		return;
	}
	a->psn = (a->psn + 1) & PSN_MASK;
	if (judge_ack(a, STEP_read, n, next.psn, 1, 1) && !asking_is_over(a))
		asking_say(a, STEP_read, STEP_GOOD, "%u bytes in %u responses, as they were written", bytes, count);
}

/* ---- what is wrong on purpose ---- */

static void ask_zero(struct asking *a)
{
	const struct asking_request q = { .opcode = WRITE_ONLY, .psn = a->psn };

	a->psn = (a->psn + 1) & PSN_MASK;
	if (ask_message(a, STEP_zero, &q) && ask_next(a, STEP_zero) && !asking_is_over(a))
		asking_say(a, STEP_zero, STEP_GOOD, "it was acknowledged, and the next one, too");
}

static void ask_wrong_icrc(struct asking *a)
{
	struct asking_request q = small(a, 0);

	q.bad_icrc = true;
	ask_dropped(a, STEP_bad_icrc, &q, ", whose ICRC was wrong", "it was dropped");
}

static void ask_wrong_qpn(struct asking *a)
{
	struct asking_request q = small(a, 0);

	for (q.dqpn = STRAY_QPN; endpoint_qp(a->endpoint, q.dqpn);)
		q.dqpn--;
	ask_dropped(a, STEP_bad_qpn, &q, bring_up_text(", which went to QPN %s", qpn_text(q.dqpn).text).text, "it was dropped");
}

/* It ends the QP, and so comes last. */
static void ask_wrong_rkey(struct asking *a)
{
	struct asking_request q = small(a, a->psn);
	const struct asking_answer *n;
	struct bring_up_text right = bring_up_text("NAK, remote access error, PSN 0x%x", a->psn);

	for (q.rkey = a->qp->rkey ^ 0x5a5a5a5a; !q.rkey || endpoint_region(a->endpoint, q.rkey);)
		q.rkey++;
	n = asking_ask(a, &q, ASKING_TRIES);
	if (!n)
		asking_silence(a, STEP_bad_rkey, right.text);
	else if (is_ack(n))
		asking_wrong(a, STEP_bad_rkey, n, right.text, "an ACK: it takes rkey 0x%x, which is none of its regions'",
			     q.rkey);
	else if (!is_nak(n, AETH_NAK_ACCESS) || n->packet.number != a->psn)
		asking_wrong(a, STEP_bad_rkey, n, right.text, "%s", asking_words(a, n).text);
	else
		asking_say(a, STEP_bad_rkey, STEP_GOOD, "NAK, remote access error; the QP is in error now: connect it anew");
}

/* ---- all of it ---- */

static void run(struct asking *a)
{
	static void (*const rest[])(struct asking *a) = {
		ask_second, ask_long, ask_each, ask_nak, ask_once, ask_duplicate, ask_rnr, ask_pad, ask_read, ask_zero,
		ask_wrong_icrc, ask_wrong_qpn, ask_wrong_rkey,
	};

	ask_carrier(a);
	if (!asking_is_over(a))
		ask_neighbour(a);
	if (!asking_is_over(a))
		ask_first(a);
	ask_bad_icrc(a);
	if (!a->first.length)
		return;
	if (!asking_is_over(a))
		ask_taken(a);
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]) && !asking_is_over(a); i++)
		rest[i](a);
}

bool bring_up_ask(struct bring_up *b, void (*meanwhile)(void *context), void *context)
{
	struct asking *a = calloc(1, sizeof(*a));
	bool asks;

	if (!a) {
		fputs("rocescope: there is not enough memory\n", stderr);
		return false;
	}
	a->b = b;
	a->to = b->asked;
	a->endpoint = b->options->endpoint;
	a->meanwhile = meanwhile;
	a->context = context;
	a->raw = a->udp = -1;
	a->gap = NSEC_PER_SEC / b->options->rate.per_second;
	asks = asking_begin(a);
	if (asks)
		run(a);
	asking_end(a);
	free(a);
	return asks;
}
