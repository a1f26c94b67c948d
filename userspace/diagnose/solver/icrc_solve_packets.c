// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is solved for: fields of headers, and the packets that tell of them. */
#include <stdlib.h>
#include <string.h>

#include "userspace/diagnose/solver/icrc_solver.h"

#define BTH_BYTES 12

/* ---- fields ---- */

static const struct {
	const char *name, *words;
	__u8 header;
	bool masked;
} fields[SOLVE_COUNT] = {
#define SOLVE_FIELD(name, header, masked, words) { #name, words, FIRST_##header, masked },
	SOLVE_FIELDS
#undef SOLVE_FIELD
};

const char *solve_field_words(enum solve_field f)
{
	return fields[f].words;
}

const char *solve_field_name(enum solve_field f)
{
	return fields[f].name;
}

bool solve_field_masked(enum solve_field f)
{
	return fields[f].masked;
}

enum solve_first solve_field_first(enum solve_field f)
{
	return fields[f].header;
}

__u32 set_to_mask(void)
{
	__u32 set = 0;

	for (int f = 0; f < SOLVE_COUNT; f++)
		set |= fields[f].masked ? set_of(f) : 0;
	return set;
}

__u32 set_before(enum solve_first first)
{
	__u32 set = 0;

	for (int f = 0; f < SOLVE_COUNT; f++)
		set |= fields[f].header < first ? set_of(f) : 0;
	return set;
}

/* ---- where they are ---- */

static void place(struct solver_layout *l, enum solve_field f, __u32 at, __u32 bytes)
{
	l->place[f] = (struct solver_place){ at, bytes, 0xff, 0xff };
}

static void place_ipv4(struct solver_layout *l)
{
	place(l, SOLVE_tos, l->ip + 1, 1);
	place(l, SOLVE_ip_length, l->ip + 2, 2);
	place(l, SOLVE_ip_id, l->ip + 4, 2);
	place(l, SOLVE_ip_flags, l->ip + 6, 2);
	place(l, SOLVE_ttl, l->ip + 8, 1);
	place(l, SOLVE_ip_checksum, l->ip + 10, 2);
	place(l, SOLVE_ip_addresses, l->ip + 12, l->udp - l->ip - 12);
}

static void place_ipv6(struct solver_layout *l)
{
	l->place[SOLVE_tos] = (struct solver_place){ l->ip, 2, 0x0f, 0xf0 };
	l->place[SOLVE_flow_label] = (struct solver_place){ l->ip + 1, 3, 0x0f, 0xff };
	place(l, SOLVE_ip_length, l->ip + 4, 2);
	place(l, SOLVE_ttl, l->ip + 7, 1);
	place(l, SOLVE_ip_addresses, l->ip + 8, l->udp - l->ip - 8);
}

void layout_find(struct solver_layout *l, const struct solve_packet *packet)
{
	*l = (struct solver_layout){
		.ip = packet->ip, .udp = packet->udp, .bth = packet->bth, .end = packet->bth + BTH_BYTES, .ipv6 = packet->ipv6,
	};
	place(l, SOLVE_ethernet, 0, l->ip);
	if (l->ipv6)
		place_ipv6(l);
	else
		place_ipv4(l);
	if (l->udp != l->bth) {
		place(l, SOLVE_source_port, l->udp, 2);
		place(l, SOLVE_destination_port, l->udp + 2, 2);
		place(l, SOLVE_udp_length, l->udp + 4, 2);
		place(l, SOLVE_udp_checksum, l->udp + 6, 2);
	}
	place(l, SOLVE_opcode, l->bth, 1);
	place(l, SOLVE_bth_flags, l->bth + 1, 1);
	place(l, SOLVE_pkey, l->bth + 2, 2);
	place(l, SOLVE_resv8a, l->bth + 4, 1);
	place(l, SOLVE_dqpn, l->bth + 5, 3);
	place(l, SOLVE_ackreq, l->bth + 8, 1);
	place(l, SOLVE_psn, l->bth + 9, 3);
}

__u8 place_bits(const struct solver_place *p, __u32 at)
{
	return (at == p->at ? p->first : 0xff) & (at == p->at + p->bytes - 1 ? p->last : 0xff);
}

bool samples_add_difference(const struct samples *s, enum solve_field f, __u32 i, __u32 k, __u8 *headers)
{
	const struct solver_place *p = &s->layout.place[f];
	bool differ = false;

	for (__u32 at = p->at; at < p->at + p->bytes; at++) {
		__u8 bits = (s->list[i].header[at] ^ s->list[k].header[at]) & place_bits(p, at);

		headers[at] ^= bits;
		differ |= bits;
	}
	return differ;
}

/* ---- which packets ---- */

static void find_varying(struct samples *s)
{
	for (int f = 0; f < SOLVE_COUNT; f++)
		for (__u32 i = 1; i < s->count; i++) {
			__u8 headers[SOLVE_HEADERS] = {};

			if (samples_add_difference(s, f, i, 0, headers))
				s->varies |= set_of(f);
		}
}

static __u32 found_of(const struct solve_packet *p)
{
	const __u8 *icrc = p->frame + p->icrc;

	return icrc[0] | icrc[1] << 8 | icrc[2] << 16 | (__u32)icrc[3] << 24;
}

static bool has_found(const struct samples *s, __u32 found)
{
	for (__u32 i = 0; i < s->count; i++)
		if (s->list[i].found == found)
			return true;
	return false;
}

static void take(struct samples *s, const struct solve_packet *p)
{
	struct solver_sample *to = &s->list[s->count];
	__u8 *mirrored;

	to->bytes = p->icrc - s->layout.end;
	to->header = p->frame;
	to->rest[0] = p->frame + s->layout.end;
	to->rest[1] = mirrored = arena_take(&s->arena, to->bytes);
	to->found = found_of(p);
	if (!mirrored)
		return;
	memcpy(mirrored, to->rest[0], to->bytes);
	mirror_bytes(mirrored, to->bytes);
	s->most = to->bytes > s->most ? to->bytes : s->most;
	s->count++;
}

/* Takes the shortest. Packets of a second length tell start from xor, so the last place is for one, if there is one. */
static void take_shortest(struct samples *s, const struct solve_packet **sorted, size_t count)
{
	for (size_t i = 0; i < count && s->count < SOLVE_PACKETS; i++) {
		const struct solve_packet *p = sorted[i];
		bool last = s->count == SOLVE_PACKETS - 1, same = s->count && s->list[0].bytes == p->icrc - s->layout.end;

		if (!has_found(s, found_of(p)) && !(last && same && sorted[count - 1]->icrc != p->icrc))
			take(s, p);
	}
}

static bool is_alike(const struct solver_layout *l, const struct solve_packet *p)
{
	return p->ip == l->ip && p->udp == l->udp && p->bth == l->bth && p->ipv6 == l->ipv6 && p->icrc >= l->end &&
	       p->icrc <= l->end + SOLVE_BYTES;
}

static int by_length(const void *a, const void *b)
{
	const struct solve_packet *x = *(const struct solve_packet *const *)a, *y = *(const struct solve_packet *const *)b;

	return x->icrc != y->icrc ? (x->icrc < y->icrc ? -1 : 1) : x < y ? -1 : x > y;
}

bool samples_read(struct samples *s, const struct solve_packet *packets, size_t count)
{
	const struct solve_packet **sorted = malloc(count * sizeof(*sorted));
	size_t alike = 0;

	if (!sorted)
		return false;
	layout_find(&s->layout, packets);
	for (size_t i = 0; i < count; i++)
		if (is_alike(&s->layout, &packets[i]))
			sorted[alike++] = &packets[i];
	qsort(sorted, alike, sizeof(*sorted), by_length);
	if (s->layout.end <= SOLVE_HEADERS)
		take_shortest(s, sorted, alike);
	free(sorted);
	find_varying(s);
	return s->count > 1;
}
