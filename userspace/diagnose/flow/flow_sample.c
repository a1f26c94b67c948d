// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#include "roce/datagram/datagram.h"
#include "userspace/diagnose/flow/flow_sample.h"

#define STEPS_LEAST 8 /* of a regular field */
#define CLASSES 16 /* most flows that are mixed */

void sample_take(struct flow_sample *s, const struct doctor_packet *p)
{
	const struct roce_packet *packet = &p->parsed->packet;
	__u32 from = packet->l4_offset + WIRE_UDP_LEN, captured = p->frame->captured;
	__u32 bytes = captured > from ? captured - from : 0;
	struct sample_head *h;

	s->ended |= p->apart && s->count;
	if (s->ended || s->count == SAMPLE_MOST)
		return;
	if (s->count == s->room) {
		size_t room = s->room ? 4 * s->room : 4;

		room = room > SAMPLE_MOST ? SAMPLE_MOST : room;
		h = realloc(s->heads, room * sizeof(*h));
		if (!h) {
			s->ended = true;
			return;
		}
		s->heads = h;
		s->room = room;
	}
	if (bytes > packet->payload_bytes)
		bytes = packet->payload_bytes;
	h = &s->heads[s->count++];
	*h = (struct sample_head){ .frame = p->number, .payload = packet->payload_bytes, .bytes = bytes };
	h->content = crc32_gzip_refl(packet->payload_bytes, p->frame->bytes + from, bytes);
	if (h->bytes > SAMPLE_BYTES)
		h->bytes = SAMPLE_BYTES;
	memcpy(h->data, p->frame->bytes + from, h->bytes);
}

void sample_free(struct flow_sample *s)
{
	free(s->heads);
	*s = (struct flow_sample){ 0 };
}

bool sample_value(const struct sample_head *h, const struct udp_field *field, __u64 *value)
{
	const struct roce_cursor d = { .window = h->data, .available = h->bytes };

	*value = 0;
	return datagram_field(&d, field, 0, value);
}

static __u64 mask(__u32 bits)
{
	return ~0ull >> (64 - bits);
}

__u64 stride_size(const struct stride *s, bool *back)
{
	__u64 other = -s->by & mask(s->bits);

	*back = other < s->by;
	return *back ? other : s->by;
}

bool stride_is_regular(const struct stride *s, size_t eighths)
{
	return s->steps >= STEPS_LEAST && s->by && 8 * s->right >= eighths * s->steps;
}

/* The steps of a field. Returns how many there are. */
static size_t steps_of(const struct flow_sample *s, const struct udp_field *field, __u64 steps[SAMPLE_MOST])
{
	size_t count = 0;
	__u64 before = 0, value;
	bool met = false;

	for (size_t i = 0; i < s->count; i++) {
		if (i && s->heads[i].content == s->heads[i - 1].content)
			continue;
		if (!sample_value(&s->heads[i], field, &value))
			continue;
		if (met)
			steps[count++] = (value - before) & mask(field->bits);
		before = value;
		met = true;
	}
	return count;
}

/* The value that more than half of them have, if there is one (Boyer and Moore, 1981). */
static __u64 majority(const __u64 *values, size_t count)
{
	__u64 best = 0;
	size_t votes = 0;

	for (size_t i = 0; i < count; i++) {
		if (!votes)
			best = values[i];
		votes += values[i] == best ? 1 : -1;
	}
	return best;
}

struct stride sample_stride(const struct flow_sample *s, const struct udp_field *field, __u64 unit)
{
	__u64 steps[SAMPLE_MOST], most = unit > mask(field->bits) / STRIDE_NEAR ? mask(field->bits) : STRIDE_NEAR * unit;
	struct stride r = { .steps = steps_of(s, field, steps), .bits = field->bits };

	r.by = majority(steps, r.steps);
	for (size_t i = 0; i < r.steps; i++) {
		r.right += steps[i] == r.by;
		r.still += !steps[i];
		r.near += steps[i] && (steps[i] <= most || (-steps[i] & mask(field->bits)) <= most);
	}
	return r;
}

/* Whether a counts better than b: more steps are equal, the steps are smaller, its place is a multiple of its size. */
static bool is_better(const struct stride *a, const struct udp_field *at, const struct stride *b, const struct udp_field *than)
{
	bool back[2];
	__u64 size[2] = { stride_size(a, &back[0]), stride_size(b, &back[1]) };

	if (a->right != b->right)
		return a->right > b->right;
	if (back[0] != back[1])
		return back[1];
	if (size[0] != size[1])
		return size[0] < size[1];
	return !(at->at % at->bits) && than->at % than->bits;
}

bool sample_find_counter(const struct flow_sample *s, struct udp_field *field, struct stride *stride)
{
	static const __u8 widths[] = { 32, 64, 16 };
	bool found = false;

	for (size_t w = 0; w < sizeof(widths); w++)
		for (__u32 i = 0; i < 2 * SAMPLE_BYTES; i++) {
			const struct udp_field at = { .at = i / 2 * 8, .bits = widths[w], .little = i % 2 };
			struct stride r = sample_stride(s, &at, 1);

			if (!stride_is_regular(&r, 7) || (found && !is_better(&r, &at, stride, field)))
				continue;
			*stride = r;
			*field = at;
			found = true;
		}
	return found;
}

/* A flow among those that are mixed. */
struct class {
	__u64 name, number;
};

static bool separates(const struct flow_sample *s, const struct udp_field *number, __u64 unit, const struct udp_field *field)
{
	struct class classes[CLASSES];
	size_t count = 0, steps = 0, right = 0, k;
	__u64 name, value;

	for (size_t i = 0; i < s->count; i++) {
		if (!sample_value(&s->heads[i], number, &value) || !sample_value(&s->heads[i], field, &name))
			continue;
		for (k = 0; k < count && classes[k].name != name; k++)
			;
		if (k == CLASSES)
			return false;
		if (k < count) {
			steps++;
			right += ((value - classes[k].number) & mask(number->bits)) == unit;
		}
		count += k == count;
		classes[k] = (struct class){ name, value };
	}
	return count > 1 && steps >= STEPS_LEAST && steps >= 3 * count && 8 * right >= 7 * steps;
}

bool sample_find_separator(const struct flow_sample *s, const struct udp_field *number, __u64 unit, struct udp_field *field)
{
	static const __u8 widths[] = { 8, 16, 32 };

	for (size_t w = 0; w < sizeof(widths); w++)
		for (__u32 at = 0; at < 8 * SAMPLE_BYTES; at += 8) {
			*field = (struct udp_field){ .at = at, .bits = widths[w] };
			if ((at + widths[w] <= number->at || at >= number->at + (number->bits + 7) / 8 * 8u) &&
			    separates(s, number, unit, field))
				return true;
		}
	return false;
}
