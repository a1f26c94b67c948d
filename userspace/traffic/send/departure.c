// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/clock.h"
#include "userspace/traffic/send/departure.h"

#define RUN_NS (5 * NSEC_PER_MSEC)
#define SPIN_NS (50 * NSEC_PER_USEC) /* the most by which a sleep may end late */
#define BUSY_NS NSEC_PER_MSEC	     /* a device without room is polled without a pause for this long, later with pauses */
#define STUCK_NS (5 * NSEC_PER_SEC)
#define NAP_NS (50 * NSEC_PER_USEC)
#define BEHIND_NS (250 * NSEC_PER_MSEC) /* no pause makes a sender this late: the plan's rate is beyond the device */

struct send_memory *departure_memory(void)
{
	struct send_memory *m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return m == MAP_FAILED ? NULL : m;
}

void departure_memory_free(struct send_memory *m)
{
	if (m)
		munmap(m, sizeof(*m));
}

uint32_t departure_waiting(const struct send_memory *m)
{
	uint32_t waiting = __atomic_load_n(&m->produced, __ATOMIC_ACQUIRE) - m->consumed;

	if (!waiting)
		sleep_until_ns(now_ns() + NAP_NS);
	return waiting;
}

void departure_frame(const struct send_memory *m, const struct slot *s, __u8 *to)
{
	memcpy(to, s->headers, SLOT_HEADERS);
	memcpy(to + s->header_bytes, m->payload + s->payload, s->payload_bytes);
	memcpy(to + s->frame_bytes - SLOT_TAIL, s->tail, SLOT_TAIL);
}

void departure_left(struct send_memory *m, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		m->bytes += departure_slot(m, i)->frame_bytes;
	__atomic_store_n(&m->consumed, m->consumed + count, __ATOMIC_RELEASE);
}

/* The slot's departure time. */
static uint64_t due(const struct send_memory *m, const struct slot *s)
{
	uint64_t planned = m->start + s->departure, spaced = m->last + m->spacing;

	return planned > spaced ? planned : spaced;
}

/* Waits until `when`. false: `until` came first. */
static bool wait_for(uint64_t when, uint64_t until)
{
	uint64_t now = now_ns(), end = when < until ? when : until;

	while (now < end) {
		if (end - now > SPIN_NS)
			sleep_until_ns(end - SPIN_NS);
		now = now_ns();
	}
	return now >= when;
}

/* How many slots to hand over: one while the rate is kept, else all that are far behind it. */
static uint32_t at_once(const struct send_memory *m, uint32_t most, uint64_t now)
{
	uint32_t count = 0;

	while (count < most && m->start + departure_slot(m, count)->departure + BEHIND_NS < now)
		count++;
	return count ?: 1;
}

static void note_lateness(struct send_memory *m, uint32_t count, uint64_t now)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t late = now - (m->start + departure_slot(m, i)->departure);

		m->late[late_bucket(late)]++;
		if (late > m->late_max)
			m->late_max = late;
		m->last = now;
	}
}

/* Waits for room. The device has had none since `since`. */
static bool have_patience(struct outlet *o, uint64_t since, uint64_t now)
{
	if (now - since > STUCK_NS) {
		snprintf(o->reason, sizeof(o->reason), "%s: takes no frames any more: is its link up?", o->plan->interface);
		return false;
	}
	if (now - since > BUSY_NS)
		sleep_until_ns(now + BUSY_NS / 10);
	else
		sched_yield();
	return true;
}

bool departure_run(struct outlet *o, uint32_t batch, departure_send *send)
{
	struct send_memory *m = o->memory;
	uint64_t now = now_ns(), until = now + RUN_NS, stuck = 0;
	bool paced = o->plan->rate.per_second > 0;
	uint32_t waiting;

	while ((waiting = departure_waiting(m)) && (now < until || stuck)) {
		uint32_t most = waiting < batch ? waiting : batch;
		int taken;

		if (paced && !stuck && !wait_for(due(m, departure_slot(m, 0)), until))
			break;
		taken = send(o, paced ? at_once(m, most, now) : most);
		if (taken < 0)
			return false;
		now = now_ns();
		if (paced)
			note_lateness(m, taken, now);
		departure_left(m, taken);
		if (taken)
			stuck = 0;
		else if (!have_patience(o, stuck = stuck ?: now, now))
			return false;
	}
	return true;
}
