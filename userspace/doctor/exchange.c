// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/doctor/exchange.h"

#define CLOCK 1000 /* ns by which a capture's times may be rounded */
#define FLIGHT 64  /* requests that may be on their way when a NAK comes, where no acknowledgement told how many */
#define FLIGHT_MORE 16

/* ---- RNR NAKs ---- */

/* Units of 10 us. The timers go up by a factor of about 1.4: two for each power of two; 0 stands for the largest. */
static __u32 rnr_units(__u32 timer)
{
	if (timer == 1)
		return 1;
	timer = timer ?: 32;
	return timer % 2 ? 3u << (timer - 3) / 2 : 1u << timer / 2;
}

struct rnr_text rnr_text(__u32 timer)
{
	__u32 units = rnr_units(timer);
	struct rnr_text t;

	SAY(t.text, "%u.%02u ms", units / 100, units % 100);
	return t;
}

void exchange_rnr(struct exchange *x, const struct roce_packet *p, __u64 time)
{
	struct exchange_rnr *r = &x->rnr;
	__u32 timer = p->syndrome & 31;

	if (!r->met || p->number != r->psn) {
		r->psns++;
		r->row = 0;
	}
	r->row++;
	if (r->row > r->row_most)
		r->row_most = r->row;
	if (!r->naks || rnr_units(timer) < rnr_units(r->least))
		r->least = timer;
	if (!r->naks || rnr_units(timer) > rnr_units(r->most))
		r->most = timer;
	r->naks++;
	r->met = r->open = true;
	r->answered = false;
	r->psn = r->next = p->number;
	r->timer = timer;
	r->time = time;
}

void exchange_add_rnr(struct exchange_rnr *to, const struct exchange_rnr *r)
{
	if (!r->naks)
		return;
	if (!to->naks || rnr_units(r->least) < rnr_units(to->least))
		to->least = r->least;
	if (!to->naks || rnr_units(r->most) > rnr_units(to->most))
		to->most = r->most;
	if (r->hurried && (!to->hurried || r->shortest < to->shortest))
		to->shortest = r->shortest;
	if (r->row_most > to->row_most)
		to->row_most = r->row_most;
	to->naks += r->naks;
	to->psns += r->psns;
	to->again += r->again;
	to->waited += r->waited;
	to->hurried += r->hurried;
}

/* Compares the time since the NAK with the timer. */
static void take_wait(struct exchange_rnr *r, __u64 time)
{
	__u64 wait = time - r->time, timer = 10000ull * rnr_units(r->timer);

	r->answered = true;
	if (!r->time || time <= r->time)
		return;
	if (wait + CLOCK >= timer) {
		r->waited++;
		return;
	}
	if (!r->hurried++ || wait < r->shortest)
		r->shortest = wait;
}

/* Counts a request of the run that an RNR NAK asks for again. */
static void take_again(struct exchange_rnr *r, const struct step *p, __u64 time)
{
	if (!r->open || psn_distance(r->next, p->psn) < 0)
		return;
	if (p->psn == r->psn && !r->answered)
		take_wait(r, time);
	if (!(p->event.kinds & ROCE_EVENT(psn_duplicate)))
		return;
	r->next = (p->psn + 1) & PSN_MASK;
	r->again++;
}

/* ---- the MSN ---- */

static void forget_messages(struct exchange_msn *m)
{
	m->begun = m->known = false;
	m->count = 0;
}

/* A new request. */
static void take_end(struct exchange_msn *m, const struct step *p)
{
	/* the PSNs of a READ are those of its response */
	if (p->event.kinds & (ROCE_EVENT(psn_gap) | ROCE_EVENT(psn_resync)) || p->apart || p->op & OP_READ_REQUEST)
		forget_messages(m);
	if (p->op & OP_READ_REQUEST)
		return;
	if (!m->begun)
		m->from = p->psn;
	m->begun = true;
	if (p->op & OP_LAST)
		m->ends[m->count++ % EXCHANGE_ENDS] = p->psn;
}

/* Messages that ended behind one PSN and not behind the other. -1: not all of them are remembered. */
static __s32 messages_between(const struct exchange_msn *m, __u32 behind, __u32 to)
{
	__u32 most = m->count < EXCHANGE_ENDS ? m->count : EXCHANGE_ENDS;
	__s32 n = 0;

	for (__u32 i = 1; i <= most; i++) {
		__u32 end = m->ends[(m->count - i) % EXCHANGE_ENDS];

		if (psn_distance(behind, end) <= 0)
			return n;
		n += psn_distance(end, to) >= 0;
	}
	return m->count > EXCHANGE_ENDS ? -1 : n;
}

static void take_msn(struct exchange *x, const struct roce_packet *p, __u64 frame)
{
	struct exchange_msn *m = &x->msn;
	__u32 psn = p->number, behind = m->known ? m->psn : (m->from - 1) & PSN_MASK;
	__s32 packets = psn_distance(behind, psn);
	__s32 messages = messages_between(m, behind, psn);
	__u32 expected = (m->msn + messages) & PSN_MASK, counted = (m->msn + packets) & PSN_MASK;

	if (!m->begun || packets <= 0 || psn_distance(psn, x->newest) < 0)
		return;
	if (messages < 0) {
		forget_messages(m);
		return;
	}
	if (!m->known) {
		m->begin = (p->msn - packets) & PSN_MASK;
		m->messages = 0;
	} else if (messages != packets) {
		m->steps++;
		m->by_packet += p->msn == counted;
		if (p->msn == counted && m->shown < FINDING_EVIDENCE) {
			m->odd[m->shown].frame = frame;
			m->odd[m->shown].expected = expected;
			m->odd[m->shown++].found = p->msn;
		}
	}
	m->messages += messages;
	m->known = true;
	m->psn = psn;
	m->msn = p->msn;
}

static void conclude_msn(const struct exchange *x, struct signs *signs)
{
	const struct exchange_msn *m = &x->msn;
	struct sign *sign;

	if (m->by_packet < 2 || m->by_packet * 10 < m->steps * 9)
		return;
	sign = signs_get(signs, KIND_ack_msn);
	if (!sign)
		return;
	sign->packets = m->by_packet;
	sign->shown = m->shown;
	for (size_t i = 0; i < m->shown; i++) {
		sign->evidence[i].frame = m->odd[i].frame;
		SAY(sign->evidence[i].expected, "MSN %u", m->odd[i].expected);
		SAY(sign->evidence[i].found, "MSN %u", m->odd[i].found);
	}
	if (m->begin)
		SAY(sign->figures, "It went up by %u where %llu message%s complete.", (m->msn - m->begin) & PSN_MASK, m->messages,
		    m->messages == 1 ? " is" : "s are");
	else
		SAY(sign->figures, "MSN %u where %llu message%s complete.", m->msn, m->messages, m->messages == 1 ? " is" : "s are");
}

/* ---- NAKs ---- */

void exchange_nak(struct exchange *x, const struct roce_packet *p, __u64 frame)
{
	struct exchange_nak *n = &x->nak;

	if (!x->met || n->open || psn_distance(x->first, p->number) < 0 || psn_distance(p->number, x->newest) < 0)
		return;
	n->open = true;
	n->apart = false;
	n->psn = p->number;
	n->newest = x->newest;
	n->frame = frame;
}

static void take_nak(struct exchange_nak *n, const struct step *p)
{
	if (!n->open)
		return;
	n->apart |= p->apart;
	if (psn_distance(n->psn, p->psn) > 0)
		return;
	n->open = false;
	n->heeded++;
}

/* More than ever were in flight: the sender would have gone back meanwhile. */
static bool is_ignored(const struct exchange *x)
{
	__u32 most = x->acked ? 2 * x->flight + FLIGHT_MORE : FLIGHT;

	return x->nak.open && psn_distance(x->nak.newest, x->newest) > (__s32)most;
}

static void conclude_nak(const struct exchange *x, struct signs *signs)
{
	const struct exchange_nak *n = &x->nak;
	struct sign *sign = is_ignored(x) ? signs_get(signs, KIND_nak_ignored) : NULL;
	__u32 on = psn_distance(n->newest, x->newest);

	if (!sign)
		return;
	sign->packets = on;
	sign->doubted = n->apart || n->heeded;
	sign->shown = 1;
	sign->evidence[0].frame = n->frame;
	SAY(sign->evidence[0].expected, "PSN 0x%06x sent again", n->psn);
	SAY(sign->evidence[0].found, "PSN 0x%06x to 0x%06x", (n->newest + 1) & PSN_MASK, x->newest);
	SAY(sign->figures, "The NAK in frame %llu asks for PSN 0x%06x; %u packets come behind it, up to 0x%06x, and never that one.",
	    n->frame, n->psn, on, x->newest);
}

/* ---- packets ---- */

void exchange_anew(struct exchange *x)
{
	x->met = x->acked = false;
	x->rnr.open = x->nak.open = false;
	forget_messages(&x->msn);
}

void exchange_request(struct exchange *x, const struct step *p, __u64 time)
{
	if (p->event.kinds & ROCE_EVENT(psn_resync))
		exchange_anew(x);
	if (!x->met) {
		x->met = true;
		x->first = p->psn;
		x->newest = (p->psn - 1) & PSN_MASK;
	}
	take_again(&x->rnr, p, time);
	take_nak(&x->nak, p);
	if (psn_distance(x->newest, p->psn) <= 0)
		return;
	x->newest = p->psn;
	x->rnr.open &= !x->rnr.answered;
	take_end(&x->msn, p);
}

void exchange_ack(struct exchange *x, const struct roce_packet *p, __u64 frame)
{
	__u32 behind = x->acked ? x->acked_psn : (x->first - 1) & PSN_MASK;
	__s32 flight = psn_distance(behind, x->newest);

	if (!x->met || psn_distance(x->first, p->number) < 0)
		return;
	if (flight > 0 && (__u32)flight > x->flight)
		x->flight = flight;
	if (!x->acked || psn_distance(x->acked_psn, p->number) > 0)
		x->acked_psn = p->number;
	x->acked = true;
	if (x->nak.open && psn_distance(x->nak.psn, p->number) >= 0)
		x->nak.open = false;
	take_msn(x, p, frame);
}

void exchange_conclude(const struct exchange *x, struct signs *signs)
{
	conclude_nak(x, signs);
	conclude_msn(x, signs);
}
