// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Packets to a responder, and its answers (responder.h). */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/machine.h"
#include "lib/shown.h"
#include "lib/stop.h"
#include "roce/packet/wire.h"
#include "roce/responder/respond.h"
#include "userspace/diagnose/bring_up/responder.h"
#include "userspace/observe/model/qpn.h"

#define TURN_MS 20

/* ---- what is said ---- */

bool asking_is_over(const struct asking *a)
{
	return stop || a->to->report.wrong <= STEP_answers || (a->to->report.wrong < STEPS && !a->b->options->all_steps);
}

void asking_say(struct asking *a, enum bring_up_step step, enum bring_up_state state, const char *format, ...)
{
	struct bring_up_result *r = &a->to->report.step[step];
	va_list values;

	if (r->state == STEP_WRONG)
		return;
	r->state = state;
	va_start(values, format);
	vsnprintf(r->found, sizeof(r->found), format, values);
	va_end(values);
	shown(r->found);
}

void asking_wrong(struct asking *a, enum bring_up_step step, const struct asking_answer *n, const char *expected,
		  const char *format, ...)
{
	struct bring_up_report *r = &a->to->report;
	struct bring_up_exchange *e = bring_up_exchange(a->b, NULL);
	char found[BRING_UP_TEXT];
	va_list values;

	va_start(values, format);
	vsnprintf(found, sizeof(found), format, values);
	va_end(values);
	a->msn_known = false;
	if (n && e->count - n->row <= BRING_UP_ROWS) {
		struct bring_up_row *row = &e->rows[n->row % BRING_UP_ROWS];

		row->failed = step;
		SAY(row->note, "expected %s: %s", expected, found);
	}
	if (r->step[step].state == STEP_WRONG)
		return;
	asking_say(a, step, STEP_WRONG, "expected %s; found %s", expected, found);
	SAY(r->step[step].fix, "%s", step_fix(step));
	if (step < r->wrong)
		r->wrong = step;
}

struct bring_up_text asking_words(const struct asking *a, const struct asking_answer *n)
{
	const struct bring_up_exchange *e = bring_up_exchange(a->b, NULL);

	return bring_up_text("%s", e->count - n->row <= BRING_UP_ROWS ? e->rows[n->row % BRING_UP_ROWS].words : "another answer");
}

void asking_silence(struct asking *a, enum bring_up_step step, const char *expected)
{
	if (asking_is_over(a))
		return;
	end_read(&a->b->end);
	if (!a->b->end.link || !a->b->end.link->carrier)
		asking_wrong(a, STEP_carrier, NULL, "a carrier", "that it has gone");
	else
		asking_wrong(a, step, NULL, expected, "that nothing comes within %llu s", ASKING_WAIT / NSEC_PER_SEC);
}

/* ---- what comes ---- */

/* Keeps the answer until it is judged. */
static void keep(struct asking *a, const struct sniffed *f, const struct bring_up_packet *m)
{
	struct asking_answer *n = &a->answer[a->came++ % ASKING_ANSWERS];
	const struct roce_packet *p = &m->parsed.packet;
	struct bring_up_row *row = bring_up_add(a->b, f->time, false, p);
	size_t length = strlen(row->words);

	if (p->kind != ROCE_PACKET)
		SAY(row->words, "%s", m->wrong);
	else if (p->op & OP_AETH)
		snprintf(row->words + length, sizeof(row->words) - length, ", MSN %u", p->msn);
	n->packet = *p;
	n->icrc = m->parsed.icrc;
	SAY(n->wrong, "%s", m->wrong);
	n->row = bring_up_exchange(a->b, NULL)->count - 1;
	n->took = f->time > a->sent ? f->time - a->sent : 0;
	n->length = f->frame.captured;
	memcpy(n->bytes, f->frame.bytes, n->length);
	a->to->answers++;
}

static void take_frame(struct asking *a, const struct sniffed *f)
{
	struct bring_up_packet m;
	const struct roce_packet *p = &m.parsed.packet;

	if (f->frame.captured < WIRE_ETH_LEN || !memcmp(f->frame.bytes + 6, a->plan.src_mac, 6))
		return;
	if (!bring_up_classify(&f->frame, &m)) {
		other_frames_count(&a->b->other_frames, &f->frame, p);
		return;
	}
	if (memcmp(p->src_mac, a->plan.dst_mac, 6) && memcmp(p->src, a->to->dst, 16)) {
		a->b->others++;
		memcpy(a->b->other, p->dst, 16);
		return;
	}
	if (p->kind == ROCE_PACKET && (p->op & OP_CNP || (p->op & OP_KNOWN && !(p->op & OP_RESPONSE))))
		return; /* a congestion notification; a request of its own */
	a->b->frames++;
	keep(a, f, &m);
}

void asking_turn(struct asking *a, __u64 until)
{
	__u64 now = now_ns(), ms = until > now ? (until - now) / NSEC_PER_MSEC + 1 : 0;

	sniffer_read(&a->b->sniffer, ms < TURN_MS ? ms : TURN_MS);
	for (size_t i = 0; i < a->b->sniffer.read; i++)
		take_frame(a, a->b->sniffer.order[i]);
	a->meanwhile(a->context);
}

/* ---- what each answer shows ---- */

static bool has_headers(struct asking *a, const struct asking_answer *n)
{
	const struct roce_packet *p = &n->packet;

	if (n->wrong[0])
		asking_wrong(a, STEP_headers, n, "UDP to port 4791", "%s", n->wrong);
	else if (p->ip_checksum_wrong)
		asking_wrong(a, STEP_headers, n, "a right IP header checksum", "a wrong one");
	else if (memcmp(p->src, a->to->dst, 16))
		asking_wrong(a, STEP_headers, n, bring_up_text("answers from %s", address_text(a->to->dst).text).text,
			     "answers from %s", address_text(p->src).text);
	else if (memcmp(p->dst, a->to->src, 16))
		asking_wrong(a, STEP_headers, n, bring_up_text("answers to %s", address_text(a->to->src).text).text,
			     "answers to %s", address_text(p->dst).text);
	else if (p->service != SERVICE_RC || !(p->op & OP_RESPONSE))
		asking_wrong(a, STEP_headers, n, "an acknowledgement of RC (opcode 0x11)", "opcode 0x%02x", p->opcode);
	else if (!responder_pkey_fits(p->pkey, a->endpoint->pkey))
		asking_wrong(a, STEP_headers, n, bring_up_text("P_Key 0x%04x", a->endpoint->pkey).text, "P_Key 0x%04x",
			     p->pkey);
	else
		asking_say(a, STEP_headers, STEP_GOOD, "%s > %s, UDP port 4791", address_text(p->src).text,
			   address_text(p->dst).text);
	return p->kind == ROCE_PACKET && p->service == SERVICE_RC && p->op & OP_RESPONSE;
}

static void judge_icrc(struct asking *a, const struct asking_answer *n)
{
	struct bring_up *b = a->b;
	struct bring_up_bad *bad = &b->bad[b->bad_count];

	if (n->icrc != ICRC_BAD) {
		asking_say(a, STEP_ack_icrc, STEP_GOOD, "the ICRC is right");
		return;
	}
	asking_wrong(a, STEP_ack_icrc, n, bring_up_text("ICRC %s", icrc_text(observer_icrc(&n->packet, n->bytes)).text).text,
		     "ICRC %s", icrc_text(n->packet.icrc).text);
	if (b->bad_count == BRING_UP_BAD || n->length > sizeof(bad->bytes))
		return;
	b->bad_count++;
	bad->length = n->length;
	memcpy(bad->bytes, n->bytes, n->length);
}

/* Our QPN is that of --expect, or the one to which the first answer goes. */
static void judge_qpn(struct asking *a, const struct asking_answer *n)
{
	__u32 qpn = n->packet.dqpn;

	if (a->to->sqpn == NO_QPN && qpn < 2) {
		asking_wrong(a, STEP_ack_qpn, n, "the QPN of a requester",
			     "answers to QPN %s, which is for management: the responder was not told "
			     "our QPN", qpn_text(qpn).text);
		return;
	}
	if (a->to->sqpn == NO_QPN)
		a->to->sqpn = qpn;
	if (a->to->sqpn != qpn)
		asking_wrong(a, STEP_ack_qpn, n, bring_up_text("answers to QPN %s", qpn_text(a->to->sqpn).text).text,
			     "answers to QPN %s", qpn_text(qpn).text);
	else
		asking_say(a, STEP_ack_qpn, STEP_GOOD, "QPN %s", qpn_text(qpn).text);
}

bool asking_can_read(struct asking *a, const struct asking_answer *n)
{
	if (!has_headers(a, n))
		return false;
	judge_icrc(a, n);
	judge_qpn(a, n);
	return true;
}

/* The next answer that can be read; NULL: none comes until then. It is valid until others are waited for. */
static const struct asking_answer *next_answer(struct asking *a, __u64 until)
{
	while (!asking_is_over(a)) {
		if (a->came - a->judged > ASKING_ANSWERS)
			a->judged = a->came - ASKING_ANSWERS;
		if (a->judged < a->came) {
			const struct asking_answer *n = &a->answer[a->judged++ % ASKING_ANSWERS];

			if (asking_can_read(a, n))
				return n;
			continue;
		}
		if (now_ns() >= until)
			return NULL;
		asking_turn(a, until);
	}
	return NULL;
}

/* ---- what is sent ---- */

static void add_row(struct asking *a, const struct asking_request *q)
{
	const struct observer_frame frame = { .bytes = a->frame.bytes, .captured = a->frame.length, .wire = a->frame.length };
	struct observer_parsed parsed;
	struct bring_up_row *row;
	size_t length;

	observer_parse(&frame, NULL, &parsed);
	row = bring_up_add(a->b, a->sent, true, &parsed.packet);
	length = strlen(row->words);
	if (q->bad_icrc)
		snprintf(row->words + length, sizeof(row->words) - length, ", with a wrong ICRC");
}

void asking_transmit(struct asking *a, const struct asking_request *q)
{
	const struct send_packet p = {
		.opcode = q->opcode, .dqpn = q->dqpn ?: a->qp->qpn, .psn = q->psn, .rkey = q->rkey ?: a->qp->rkey,
		.va = a->qp->address + q->offset, .dma_length = q->dma_length, .payload = q->offset, .payload_bytes = q->bytes,
		.pad = -q->bytes & 3, .port = a->plan.port, .ackreq = !q->quiet,
	};

	while (!asking_is_over(a) && now_ns() < a->next)
		asking_turn(a, a->next);
	if (asking_is_over(a))
		return;
	compose_frame(a->composer, &p, &a->frame);
	frame_seal(&a->frame, &a->plan, 0, NULL);
	if (q->bad_icrc)
		a->frame.bytes[a->frame.length - 1] ^= 0xff;
	a->sent = clock_ns(CLOCK_REALTIME);
	add_row(a, q);
	if (send(a->raw, a->frame.bytes, a->frame.length, 0) < 0)
		asking_wrong(a, STEP_carrier, NULL, "that packets leave", "that the interface refuses them: %s",
			     cause_of_interface(errno).text);
	a->next = now_ns() + a->gap;
	a->to->requests++;
}

/* An acknowledgement of what was sent again because nothing came in time. */
static bool is_late(struct asking *a, const struct asking_answer *n, __u32 psn)
{
	if (!a->late || !is_ack(n) || psn_distance(n->packet.number, psn) <= 0)
		return false;
	a->late--;
	return true;
}

const struct asking_answer *asking_wait(struct asking *a, __u32 psn)
{
	__u64 until = now_ns() + ASKING_WAIT;
	const struct asking_answer *n;

	do
		n = next_answer(a, until);
	while (n && is_late(a, n, psn));
	return n;
}

const struct asking_answer *asking_ask(struct asking *a, const struct asking_request *q, int tries)
{
	const struct asking_answer *n = NULL;

	for (int i = 0; i < tries && !n && !asking_is_over(a); i++) {
		a->late += i > 0;
		asking_transmit(a, q);
		n = asking_wait(a, q->psn);
	}
	return n;
}

/* ---- beginning and end ---- */

static bool report(const char *what, const char *why)
{
	fprintf(stderr, "rocescope: doctor: --responder: %s%s\n", what, why);
	return false;
}

/* The QP, its memory, and what --expect knows of both ends. */
static bool find_qp(struct asking *a)
{
	const struct endpoint *t = a->endpoint;
	const struct expected_pair *pair;
	const struct roce_region *region;
	__u64 room;

	a->qp = &t->end.qp[0];
	region = endpoint_region(t, a->qp->rkey);
	room = region && a->qp->address - region->va < region->bytes ? region->bytes - (a->qp->address - region->va) : 0;
	a->room = room < 2 * t->end.path_mtu + ASKING_SMALL ? room : 2 * t->end.path_mtu + ASKING_SMALL;
	a->written = a->room < ASKING_SMALL ? a->room : ASKING_SMALL;
	a->to->dqpn = a->qp->qpn;
	a->to->sqpn = NO_QPN;
	a->psn = a->qp->psn;
	memcpy(a->to->dst, t->end.gid, 16);
	pair = end_expected(&a->b->end, NULL, a->to->dst, a->qp->qpn);
	if (pair) {
		memcpy(a->to->src, pair->key.src, 16);
		a->to->sqpn = pair->pair.peer_qpn;
		a->psn_told = pair->pair.first_psn != PAIR_NO_PSN;
		a->psn = a->psn_told ? pair->pair.first_psn : a->psn;
	} else if (t->has_peer) {
		memcpy(a->to->src, t->peer, 16);
	} else if (!machine_address(a->b->options->interface, a->to->dst, a->to->src)) {
		return report("the interface has no address that fits to ", address_text(a->to->dst).text);
	}
	a->begun = a->psn;
	return a->room || report("the description has no region with address and rkey of its QP ", qpn_text(a->qp->qpn).text);
}

static bool make_plan(struct asking *a)
{
	struct send_plan *p = &a->plan;

	*p = (struct send_plan){ .ipv6 = !address_is_ipv4(a->to->dst), .ttl = 64, .dont_fragment = true,
				.port = 49152 + (a->qp->qpn & 0x3fff),
			    .pkey = a->endpoint->pkey };
	memcpy(p->src, a->to->src, 16);
	memcpy(p->dst, a->to->dst, 16);
	if (!machine_mac(a->b->options->interface, p->src_mac))
		return report("the interface has no Ethernet address", "");
	a->payload = calloc(1, PAYLOAD_CELLS);
	if (!a->payload)
		return report("there is not enough memory", "");
	a->composer = composer_new(p, a->payload);
	return true;
}

/* One socket for frames. The other one has the port of answers, if nobody else has it: the kernel would refuse them by ICMP. */
static bool open_sockets(struct asking *a)
{
	struct sockaddr_ll link = { .sll_family = AF_PACKET, .sll_ifindex = a->b->end.ifindex };
	/* of either family: the port is at the same place, and zeroes are any address */
	struct sockaddr_in6 any = { .sin6_family = a->plan.ipv6 ? AF_INET6 : AF_INET, .sin6_port = htons(WIRE_ROCEV2_PORT) };
	const char *interface = a->b->options->interface;

	a->raw = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* protocol 0: it receives nothing */
	if (a->raw < 0 || bind(a->raw, (struct sockaddr *)&link, sizeof(link)))
		return report("a socket of AF_PACKET: ", cause_of_interface(errno).text);
	a->udp = socket(any.sin6_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (a->udp < 0)
		return report("a socket of UDP: ", cause(errno).text);
	bind(a->udp, (struct sockaddr *)&any, sizeof(any));
	setsockopt(a->udp, SOL_SOCKET, SO_BINDTODEVICE, interface, strlen(interface));
	return true;
}

bool asking_begin(struct asking *a)
{
	return find_qp(a) && make_plan(a) && open_sockets(a);
}

void asking_end(struct asking *a)
{
	if (a->raw >= 0)
		close(a->raw);
	if (a->udp >= 0)
		close(a->udp);
	composer_free(a->composer);
	free(a->payload);
}
