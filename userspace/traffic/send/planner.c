// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/clock.h"
#include "lib/stop.h"
#include "roce/packet/wire.h"
#include "userspace/traffic/send/compose.h"
#include "userspace/traffic/send/fault.h"
#include "userspace/traffic/send/hits.h"
#include "userspace/traffic/send/observe.h"
#include "userspace/traffic/send/planner.h"
#include "userspace/traffic/send/qp.h"
#include "userspace/traffic/send/qp_order.h"

#define PUBLISH 32		/* unpaced: packets made before the outlet sees them */
#define FULL_NS (50 * NSEC_PER_USEC) /* pause while the ring is full */
#define LEAD_NS (250 * NSEC_PER_MSEC) /* the longest time from making a packet to its departure */
#define FILE_RATE 10e9		/* bits per second in a file if the plan has no rate */

/* A packet of a QP that is delayed behind later ones. */
struct held {
	struct held *next;
	uint64_t due;	 /* leaves after the QP's packet with this number */
	struct send_packet packet, before; /* before: the QP's previous packet; its number is 0 if there is none */
	uint64_t faults; /* set of the faults that are not yet applied (a bit each) */
};

struct planner {
	struct send_plan *plan;
	struct send_memory *memory;
	struct composer *composer;
	struct order order;
	struct send_qp *qps;
	struct send_packet *before;	/* [qps]: each QP's previous packet, if a fault needs it; number 0: none */
	struct truth *truth;
	struct send_frame frame, before_frame;
	bool goes_on;		/* a fault needs the ICRC of the packet made before */
	bool follows;		/* there is one, and its ICRC: */
	__u8 icrc_before[4];

	uint64_t random;
	struct hits hits;

	uint64_t produced;	/* packets made, published or not */
	uint64_t consumed;	/* the last value read; each read moves the cache line away from the outlet */
	uint64_t left_bits;	/* bits of the packets that left, and their number */
	uint64_t left;
	uint64_t made_when_left; /* packets made by the time the last one left */
	uint64_t departure, end; /* ns */
	uint64_t near;		/* departures up to this time are near; unpaced: all are */
	bool timed;		/* departure times are computed */
	uint64_t cell_user[CELLS]; /* position after the slot that used the cell last */
	uint64_t cells;		/* cells used so far */
	atomic_bool abandoned;
	bool whole;		/* the whole plan was made, and no packet is delayed any more */
};

static bool is_over(const struct planner *p)
{
	return stop || atomic_load_explicit(&p->abandoned, memory_order_relaxed);
}

static void publish(struct planner *p)
{
	__atomic_store_n(&p->memory->produced, p->produced, __ATOMIC_RELEASE);
}

/* Waits until the outlet has taken the packet before this position. */
static void wait_consumed(struct planner *p, uint64_t position)
{
	struct timespec nap = { .tv_nsec = FULL_NS };

	if (p->consumed >= position)
		return;
	while ((p->consumed = __atomic_load_n(&p->memory->consumed, __ATOMIC_ACQUIRE)) < position &&
	       !atomic_load(&p->abandoned)) {
		publish(p);
		nanosleep(&nap, NULL);
	}
}

static struct slot *free_slot(struct planner *p)
{
	if (p->produced >= RING_SLOTS)
		wait_consumed(p, p->produced - RING_SLOTS + 1);
	return &p->memory->ring[p->produced & (RING_SLOTS - 1)];
}

static double per_second(const struct send_plan *plan)
{
	return plan->rate.per_second ?: FILE_RATE;
}

/* Whether the rate counts packets; if not, it counts bits. */
static bool counts_packets(const struct send_plan *plan)
{
	return plan->rate.per_second && plan->rate.unit == RATE_PACKETS;
}

/* The next packet's departure time. The mean rate is exact; the packets of a burst share the time of its first. */
static uint64_t next_departure(const struct planner *p)
{
	if (!p->timed || p->left % p->plan->burst)
		return p->departure;
	return (counts_packets(p->plan) ? p->left : p->left_bits) * 1e9 / per_second(p->plan);
}

/* Paced packets are made shortly before they leave, because packets in the ring leave even after a stop. false: stopped. */
static bool wait_until_near(struct planner *p)
{
	struct timespec nap = { .tv_nsec = LEAD_NS / 100 };
	uint64_t departure = next_departure(p);

	while (departure > p->near) {
		uint64_t start = __atomic_load_n(&p->memory->start, __ATOMIC_RELAXED), now = now_ns();

		if (is_over(p))
			return false;
		p->near = (start && now > start ? now - start : 0) + LEAD_NS;
		if (departure <= p->near)
			return true;
		publish(p);
		nanosleep(&nap, NULL);
	}
	return true;
}

static void leave(struct planner *p, struct slot *s, bool soon)
{
	s->departure = p->departure = next_departure(p);
	p->left_bits += 8ull * s->frame_bytes;
	p->left++;
	p->made_when_left = p->hits.packets;
	p->produced++;
	if (soon || p->produced % PUBLISH == 0)
		publish(p);
}

static void leave_slot(struct planner *p, const struct send_packet *packet)
{
	struct truth_packet observed = {
		.opcode = packet->opcode, .icrc_good = true, .dqpn = packet->dqpn, .sqpn = packet->sqpn, .psn = packet->psn,
		.dma_length = packet->dma_length, .rkey = packet->rkey, .va = packet->va, .immediate = packet->immediate,
		/* the composer counts a CNP's reserved bytes as headers */
		.payload_bytes = p->plan->op == SEND_CNP ? CNP_RESERVED : packet->payload_bytes,
	};
	struct slot *s = free_slot(p);

	compose_slot(p->composer, packet, s);
	observed.frame_bytes = s->frame_bytes;
	truth_observe(p->truth, packet->qp->truth, &observed);
	leave(p, s, p->plan->rate.per_second);
}

/* A cell of the payload memory is free once the last packet that used it has left. */
static uint32_t free_cell(struct planner *p)
{
	uint32_t cell = p->cells++ % CELLS;

	wait_consumed(p, p->cell_user[cell]);
	p->cell_user[cell] = p->produced + 1;
	return cell;
}

/* The QP's previous packet; NULL: no fault needs it. */
static struct send_packet *made_before(const struct planner *p, const struct send_qp *qp)
{
	return p->before ? &p->before[qp->index] : NULL;
}

static const struct send_frame *frame_before(struct planner *p, const struct send_packet *before)
{
	if (!before || !before->number)
		return NULL;
	compose_frame(p->composer, before, &p->before_frame);
	return &p->before_frame;
}

/* If several faults set a constant, the last one counts. */
static uint32_t constant_icrc(const struct planner *p, uint64_t faults)
{
	uint32_t value = 0;

	for (; faults; faults &= faults - 1) {
		const struct send_fault *f = hits_first(&p->hits, faults);

		if (f->kind == FAULT_icrc_constant)
			value = f->value;
	}
	return value;
}

/* A packet's random bytes depend only on the seed and the packet, so its copies are equal. */
static uint64_t random_of(const struct planner *p, const struct send_packet *packet)
{
	uint64_t state = p->plan->seed * 0x9e3779b97f4a7c15ull ^ (uint64_t)packet->qp->index << 40 ^ packet->number;

	state |= 1ull << 63;
	fault_random(&state);
	return state;
}

/* Composes the packet with its faults, up to its ICRC. */
static void make_frame(struct planner *p, const struct send_packet *packet, const struct send_packet *before, uint64_t faults)
{
	struct send_frame *f = &p->frame;

	compose_frame(p->composer, packet, f);
	f->follows = packet->follows;
	memcpy(f->icrc_before, packet->icrc_before, sizeof(f->icrc_before));
	for (uint64_t left = faults; left; left &= left - 1) {
		const struct send_fault *fault = hits_first(&p->hits, left);

		if (fault_stage(fault->kind) == FAULT_FRAME || fault_stage(fault->kind) == FAULT_ICRC)
			fault_frame(fault, packet, f);
	}
	frame_seal(f, p->plan, constant_icrc(p, faults), frame_before(p, before));
}

static void leave_frame(struct planner *p, const struct send_packet *packet, const struct send_packet *before, uint64_t faults)
{
	uint64_t random = random_of(p, packet);
	struct send_frame *f = &p->frame;
	struct truth_packet observed;
	struct slot *s;

	make_frame(p, packet, before, faults);
	for (uint64_t left = faults; left; left &= left - 1) {
		const struct send_fault *fault = hits_first(&p->hits, left);

		if (fault_stage(fault->kind) == FAULT_AFTER)
			fault_after(fault, f, &random);
	}
	s = free_slot(p);
	frame_slot(f, p->memory->payload, free_cell(p), s);
	observed = frame_observed(f);
	truth_observe(p->truth, packet->qp->truth, &observed);
	leave(p, s, p->plan->rate.per_second);
}

static void leave_packet(struct planner *p, const struct send_packet *packet, const struct send_packet *before, uint64_t faults)
{
	if (faults)
		leave_frame(p, packet, before, faults);
	else
		leave_slot(p, packet);
}

/* Inserts the packet after those that are due no later. before: may be NULL. Returns false without memory. */
static bool held_add(struct send_qp *qp, const struct send_packet *p, const struct send_packet *before, uint64_t faults,
		     uint64_t due)
{
	struct held **at = &qp->held, *h = malloc(sizeof(*h));

	if (!h)
		return false;
	if (qp->held && qp->held_last->due <= due) /* usually it belongs at the end: skip the search */
		at = &qp->held_last->next;
	while (*at && (*at)->due <= due)
		at = &(*at)->next;
	*h = (struct held){ .next = *at, .due = due, .packet = *p, .faults = faults };
	if (before)
		h->before = *before;
	*at = h;
	if (!h->next)
		qp->held_last = h;
	return true;
}

/* Removes and returns the first packet if it is due by that number, else NULL. The caller frees it. */
static struct held *held_due(struct send_qp *qp, uint64_t number)
{
	struct held *h = qp->held;

	if (!h || h->due > number)
		return NULL;
	qp->held = h->next;
	return h;
}

static void leave_held(struct planner *p, struct send_qp *qp, uint64_t number)
{
	for (struct held *h; (h = held_due(qp, number)); free(h))
		leave_packet(p, &h->packet, &h->before, h->faults);
}

/* Sends the packets that the QP still delays at its end. false: stopped before all of them were near. */
static bool leave_rest(struct planner *p, struct send_qp *qp)
{
	while (qp->held) {
		struct held *h;

		if (!wait_until_near(p))
			return false;
		h = held_due(qp, UINT64_MAX);
		leave_packet(p, &h->packet, &h->before, h->faults);
		free(h);
	}
	return true;
}

static uint32_t later_by(struct planner *p, const struct send_fault *f)
{
	return f->by + (f->by_most > f->by ? fault_random(&p->random) % (f->by_most - f->by + 1) : 0);
}

static void hold(const struct send_packet *packet, const struct send_packet *before, uint64_t faults, uint64_t due)
{
	if (!held_add(packet->qp, packet, before, faults, due))
		err(1, "no memory for packets that leave later");
}

/*
 * If a fault needs it: tells the packet the ICRC of the packet made before it, and keeps its own one. What was before is known
 * when a packet is made, not when it leaves: a duplicate is the same as the first, and a late packet the same as in time.
 */
static void go_on(struct planner *p, struct send_packet *packet, uint64_t faults)
{
	if (!p->goes_on)
		return;
	packet->follows = p->follows;
	memcpy(packet->icrc_before, p->icrc_before, sizeof(p->icrc_before));
	make_frame(p, packet, made_before(p, packet->qp), faults);
	if (p->frame.without_icrc)
		return;
	p->follows = true;
	memcpy(p->icrc_before, p->frame.bytes + p->frame.length - sizeof(p->icrc_before), sizeof(p->icrc_before));
}

/* Makes a packet that some faults hit. false: it is not made, and takes no PSN. */
static bool make_with_faults(struct planner *p, struct send_packet *packet, uint64_t hits)
{
	const struct send_packet *before = made_before(p, packet->qp);
	bool drop = false, again = false;
	uint32_t by = 0, again_by = 0;
	uint64_t bytes = 0; /* faults of the later stages */

	for (uint64_t left = hits; left; left &= left - 1) {
		struct send_fault *f = hits_first(&p->hits, left);

		if (f->kind == FAULT_drop) {
			drop = true;
		} else if (f->kind == FAULT_duplicate) {
			again = true;
			again_by = later_by(p, f);
		} else if (f->kind == FAULT_reorder) {
			by = later_by(p, f);
		} else {
			bytes |= left & -left;
			if (fault_stage(f->kind) == FAULT_PACKET && !fault_packet(f, p->plan, packet)) {
				f->hits++; /* other faults of this stage have no effect here */
				return false;
			}
		}
	}
	go_on(p, packet, bytes);
	for (uint64_t left = hits; left; left &= left - 1)
		hits_first(&p->hits, left)->hits++;
	if (drop)
		return true;
	if (again && (by || again_by))
		hold(packet, before, bytes, packet->number + by + again_by);
	if (by)
		hold(packet, before, bytes, packet->number + by);
	else
		leave_packet(p, packet, before, bytes);
	if (again && !by && !again_by)
		leave_packet(p, packet, before, bytes);
	return true;
}

static void make_one(struct planner *p, struct send_qp *qp)
{
	struct send_packet packet;
	uint32_t psn = qp->psn;
	uint64_t hits;
	bool made;

	qp_packet(p->plan, qp, &packet);
	hits = hits_of(&p->hits, &packet, &p->random);
	if (!hits) {
		go_on(p, &packet, 0);
		leave_slot(p, &packet);
		made = true;
	} else {
		made = make_with_faults(p, &packet, hits);
	}
	order_made(&p->order, qp, packet.place & AT_LAST);
	if (!made)
		qp_take_back(qp, psn);
	else if (p->before)
		*made_before(p, qp) = packet;
	if (!qp->held)
		return;
	if (packet.place & AT_LAST && !qp->messages_left)
		leave_rest(p, qp);
	else if (made)
		leave_held(p, qp, packet.number);
}

/* The time reached if dropped packets took their time as well: a plan may drop all its packets. */
static double reached_ns(const struct planner *p)
{
	uint64_t without = p->hits.packets - p->made_when_left;

	if (!without)
		return next_departure(p);
	if (!counts_packets(p->plan))
		without *= 8ull * plan_longest_frame(p->plan);
	return next_departure(p) + without * 1e9 / per_second(p->plan);
}

static bool time_is_up(const struct planner *p, uint64_t begun)
{
	if (!p->end)
		return false;
	if (p->timed)
		return reached_ns(p) >= p->end;
	return p->hits.packets % 256 == 0 && now_ns() - begun >= p->end;
}

void planner_run(struct planner *p)
{
	uint64_t begun = now_ns();
	uint32_t empty = 0; /* QPs without delayed packets */
	struct send_qp *qp = NULL;

	while (!time_is_up(p, begun) && (qp = order_next(&p->order)) && !is_over(p) && wait_until_near(p))
		make_one(p, qp);
	p->whole = time_is_up(p, begun) || !qp;
	while (empty < p->plan->qps && leave_rest(p, &p->qps[empty]))
		empty++;
	p->whole &= empty == p->plan->qps;
	publish(p);
	__atomic_store_n(&p->memory->ended, 1, __ATOMIC_RELEASE);
}

bool planner_whole(const struct planner *p)
{
	return p->whole;
}

void planner_abandon(struct planner *p)
{
	atomic_store(&p->abandoned, true);
}

struct truth *planner_truth(const struct planner *p)
{
	return p->truth;
}

/* Late packets catch up at twice the rate at most, so that no bursts leave which the plan does not have. */
static uint64_t spacing_ns(const struct send_plan *plan)
{
	/* payload bytes of the shortest packet */
	uint32_t last = plan->message ? plan->message % plan->mtu ?: plan->mtu : 0;
	double units = plan->rate.unit == RATE_PACKETS ? 1 : 8.0 * (WIRE_ETH_LEN + WIRE_IPV4_LEN + last);

	return plan->rate.per_second && plan->burst == 1 ? units * 1e9 / plan->rate.per_second / 2 : 0;
}

static void prepare_faults(struct planner *p)
{
	const struct send_plan *plan = p->plan;
	bool stale = false;

	if (plan->fault_count > FAULTS_MOST)
		errx(1, "at most %d faults in one plan", FAULTS_MOST);
	hits_start(&p->hits, plan, &p->random);
	for (size_t i = 0; i < plan->fault_count; i++)
		stale |= fault_stage(plan->faults[i].kind) == FAULT_ICRC;
	for (size_t i = 0; i < plan->fault_count; i++)
		p->goes_on |= plan->faults[i].kind == FAULT_icrc_not_reset || plan->faults[i].kind == FAULT_icrc_not_reset_bare;
	p->before = stale ? calloc(plan->qps, sizeof(*p->before)) : NULL;
	if (stale && !p->before)
		err(1, "no memory for %u QPs", plan->qps);
}

struct planner *planner_new(struct send_plan *plan, struct send_memory *memory)
{
	struct planner *p = calloc(1, sizeof(*p));

	if (!p)
		err(1, "no memory");
	p->plan = plan;
	p->memory = memory;
	p->random = plan->seed * 2 + 1;
	for (int i = 0; i < 8; i++) /* seeds that differ little must give sequences that differ much */
		fault_random(&p->random);
	memory->spacing = spacing_ns(plan);
	p->timed = plan->file || plan->rate.per_second;
	p->end = plan->duration * 1e9;
	p->near = plan->rate.per_second && !plan->file ? 0 : UINT64_MAX;
	p->composer = composer_new(plan, memory->payload);
	p->qps = qps_new(plan, &p->random);
	p->truth = truth_new(plan);
	if (!p->qps || !p->truth)
		err(1, "no memory for %u QPs", plan->qps);
	for (uint32_t i = 0; i < plan->qps; i++)
		p->qps[i].truth = truth_of_qp(p->truth, &p->qps[i]);
	prepare_faults(p);
	order_start(&p->order, plan, p->qps);
	return p;
}

void planner_free(struct planner *p)
{
	for (uint32_t i = 0; i < p->plan->qps; i++)
		for (struct held *h; (h = held_due(&p->qps[i], UINT64_MAX)); )
			free(h);
	truth_free(p->truth);
	composer_free(p->composer);
	free(p->before);
	free(p->qps);
	free(p);
}

uint32_t plan_longest_frame(const struct send_plan *plan)
{
	uint32_t payload = plan->message < plan->mtu ? plan->message : plan->mtu, growth = 0;

	for (size_t i = 0; i < plan->fault_count; i++)
		growth += fault_growth(&plan->faults[i], plan);
	return WIRE_ETH_LEN + (plan->tagged ? WIRE_VLAN_LEN : 0) + (plan->ipv6 ? WIRE_IPV6_LEN : WIRE_IPV4_LEN) + WIRE_UDP_LEN +
	       sizeof(struct wire_bth) + qp_extension_bytes(plan) + ((payload + 3) & ~3u) + WIRE_ICRC_LEN + growth;
}
