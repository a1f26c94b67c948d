// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <endian.h>
#include <string.h>

#include "rxe_tests/rdma_stream/ring.h"
#include "userspace/traffic/streams/filler.h"

#define MAGIC	0x5243535352494e47	/* "RCSSRING" */

struct ring_span ring_share(struct ring_span all, unsigned int workers, unsigned int number)
{
	uint64_t each = all.count / workers, more = all.count % workers;

	return (struct ring_span){
		.first = all.first + number * each + (number < more ? number : more),
		.count = each + (number < more),
	};
}

uint64_t ring_before_end(struct ring_span span, uint64_t capacity)
{
	uint64_t left = capacity - span.first % capacity;

	return span.count < left ? span.count : left;
}

bool ring_episode(struct ring_episodes *e, bool on, uint64_t now)
{
	uint64_t lasted = now - e->since_ns;

	if (on == e->on)
		return false;
	e->on = on;
	if (on) {
		e->count++;
		e->since_ns = now;
		return true;
	}
	e->total_ns += lasted;
	if (lasted > e->longest_ns)
		e->longest_ns = lasted;
	return true;
}

bool ring_press(struct ring_pressure *p, uint64_t waiting, uint64_t now)
{
	return ring_episode(&p->episodes, p->episodes.on ? waiting > p->lower : waiting >= p->upper, now);
}

uint64_t ring_threshold(uint64_t capacity, unsigned int percent)
{
	return (capacity * percent + 99) / 100;
}

bool ring_fits(const struct ring_credit *c, uint64_t sent)
{
	if (sent % c->unit)
		return true;
	return !c->paused && sent + c->unit <= c->handed_back + c->capacity;
}

void ring_header(char header[RING_HEADER], uint64_t number)
{
	uint64_t words[2] = { htobe64(MAGIC), htobe64(number) };

	memcpy(header, words, RING_HEADER);
}

bool ring_right(const char *message, size_t bytes, uint64_t number)
{
	char header[RING_HEADER];

	ring_header(header, number);
	return !memcmp(message, header, RING_HEADER) &&
	       filler_right(message + RING_HEADER, bytes - RING_HEADER, ring_filler(number), 0);
}
