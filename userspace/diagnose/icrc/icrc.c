// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "userspace/diagnose/icrc/icrc_study.h"

struct icrc_study *icrc_study_new(void)
{
	return calloc(1, sizeof(struct icrc_study));
}

/* Bytes of packets that are kept, of all studies, and the most. */
#define KEPT_MOST (64 << 20)
static _Atomic size_t kept;

/* Keeps a copy for solve(). If there is no room, it has fewer packets. */
static void keep_packet(struct solve_packet *to, const struct icrc_case *c)
{
	const struct roce_packet *p = c->packet;
	__u32 bth = p->l4_offset + (p->rocev1 ? 0 : WIRE_UDP_LEN);
	size_t bytes = p->icrc_offset + WIRE_ICRC_LEN;
	__u8 *copy;

	if (p->icrc_offset > SOLVE_BYTES || bth + sizeof(struct wire_bth) > SOLVE_HEADERS || kept + bytes > KEPT_MOST)
		return;
	copy = malloc(bytes);
	if (!copy)
		return;
	memcpy(copy, c->frame->bytes, bytes);
	kept += bytes;
	*to = (struct solve_packet){
		.frame = copy, .ip = p->l3_offset, .udp = p->l4_offset, .bth = bth,
		.icrc = p->icrc_offset, .ipv6 = p->ip_version != 4,
	};
}

static void forget_packet(struct solve_packet *p)
{
	if (p->frame)
		kept -= p->icrc + WIRE_ICRC_LEN;
	free((void *)p->frame);
}

void icrc_study_free(struct icrc_study *s)
{
	if (!s)
		return;
	for (__u32 i = 0; i < s->count; i++) {
		free(s->packet[i].detail);
		forget_packet(&s->packet[i].kept);
	}
	symptoms_free(&s->places.symptoms);
	symptoms_free(&s->moved);
	free(s);
}

void icrc_study_good(struct icrc_study *s, __u64 packets)
{
	s->good += packets;
}

/* What ought to go in of the fields. */
static void read_fields(struct flips *f, const __u8 *frame)
{
	for (__u32 i = 0; i < f->change_count; i++) {
		struct field_change *c = &f->changes[i];
		__u32 bytes = flip_field_bytes(c->field);

		for (__u32 k = 0; k < bytes; k++)
			c->sent = c->sent << 8 | (flip_field_masked(c->field) ? 0xff : frame[c->at + k]);
	}
}

/* If there is no memory, nothing explains the packet. */
static void keep(struct icrc_studied *to, const struct icrc_attempt *a, const struct flips *f)
{
	if (!a->fitting && !f->count && !f->change_count)
		return;
	to->detail = malloc(sizeof(*to->detail));
	if (!to->detail)
		return;
	to->fitting = a->fitting;
	to->detail->flips = *f;
	memcpy(to->detail->fits, a->fits, sizeof(a->fits));
}

bool icrc_study_take(struct icrc_study *s, const struct roce_key *stream, const struct icrc_case *c)
{
	struct icrc_place at = icrc_places_take(&s->places, c->number, c->frame, c->packet);
	struct icrc_attempt a;
	struct flips f;

	if (at.kind != FINDING_KINDS)
		return true;
	if (!s->bad++)
		s->stream = *stream;
	s->blank += !!at.blank;
	if (s->count == ICRC_STUDIED)
		return false;
	icrc_try(c, &a);
	flips_find(c->packet, a.right, a.found, &f);
	read_fields(&f, c->frame->bytes);
	s->packet[s->count] = (struct icrc_studied){ .number = c->number, .psn = c->packet->number, .right = a.right, .found = a.found,
						     .bits = f.bits, .blank = at.blank,
						     .short_of_icrc = icrc_place_payload_lacks(c->packet, WIRE_ICRC_LEN) };
	memcpy(s->packet[s->count].behind, a.behind, sizeof(a.behind));
	keep(&s->packet[s->count], &a, &f);
	if (!a.fitting)
		keep_packet(&s->packet[s->count].kept, c);
	s->count++;
	return false;
}

bool icrc_study_is_unappended(const struct icrc_study *s)
{
	return symptoms_find(&s->places.symptoms, KIND_icrc_not_appended);
}

__u64 icrc_study_places(struct icrc_study *s, struct symptoms *symptoms, bool unappended)
{
	s->unappended = icrc_places_conclude(&s->places, symptoms, unappended);
	return s->unappended && s->left_out != LEFT_OUT_ALL ? s->blank : 0;
}

__u64 icrc_study_left_out(const struct icrc_study *s)
{
	const struct symptom *moved = symptoms_find(&s->moved, KIND_icrc_of_another_packet);

	if (s->left_out == LEFT_OUT_ALL)
		return s->bad;
	return (s->unappended ? s->blank : 0) + (s->left_out == LEFT_OUT_MOVED && moved ? moved->packets : 0);
}

bool icrc_study_leaves_out(const struct icrc_study *s, __u64 number)
{
	for (__u32 i = 0; i < s->count && s->left_out == LEFT_OUT_MOVED; i++)
		if (s->packet[i].number == number)
			return s->packet[i].moved;
	return s->left_out == LEFT_OUT_ALL;
}
