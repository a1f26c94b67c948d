// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Operations on a whole frame, and its conversion to a slot. None of it is the engine's code (icrc_way.h). */
#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include "lib/bytes.h"
#include "userspace/traffic/send/compose.h"
#include "userspace/traffic/send/icrc_way.h"

#define IPV6_BYTES 40 /* without the extension headers, which its length field counts */

void frame_lengths(struct send_frame *f)
{
	__u8 *ip = f->bytes + f->ip;

	put16(f->bytes + f->udp + 4, f->length - f->udp);
	if (f->ipv6) {
		put16(ip + 4, f->length - f->ip - IPV6_BYTES);
		return;
	}
	put16(ip + 2, f->length - f->ip);
	put16(ip + 10, 0);
	put16(ip + 10, ~sum_fold(sum_add(0, ip, f->udp - f->ip)));
}

void frame_insert(struct send_frame *f, uint32_t at, uint32_t bytes)
{
	uint16_t *const starts[] = { &f->ip, &f->udp, &f->bth, &f->payload };

	assert(at <= f->length && bytes <= CELL_BYTES - f->length);
	memmove(f->bytes + at + bytes, f->bytes + at, f->length - at);
	memset(f->bytes + at, 0, bytes);
	f->length += bytes;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (*starts[i] >= at)
			*starts[i] += bytes;
	if (f->extension > at)
		f->extension += bytes;
}

void frame_remove(struct send_frame *f, uint32_t at, uint32_t bytes)
{
	uint16_t *const starts[] = { &f->ip, &f->udp, &f->bth, &f->extension, &f->payload };

	assert(at <= f->length && bytes <= f->length - at);
	memmove(f->bytes + at, f->bytes + at + bytes, f->length - at - bytes);
	f->length -= bytes;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (*starts[i] > at)
			*starts[i] = *starts[i] - at > bytes ? *starts[i] - bytes : at;
}

/* RFC 768, RFC 8200 8.1: covers as many bytes as the UDP length says and the frame has. */
static void udp_checksum(struct send_frame *f)
{
	__u8 *ip = f->bytes + f->ip, *udp = f->bytes + f->udp;
	uint32_t length = get16(udp + 4), there = f->length - f->udp;
	uint32_t sum = IPPROTO_UDP + length;

	put16(udp + 6, 0);
	sum = f->ipv6 ? sum_add(sum, ip + 8, 32) : sum_add(sum, ip + 12, 8);
	sum = sum_fold(sum_add(sum, udp, length < there ? length : there));
	put16(udp + 6, (uint16_t)~sum ?: 0xffff); /* 0 would mean: no checksum */
}

void frame_seal(struct send_frame *f, const struct send_plan *plan, uint32_t value, const struct send_frame *before)
{
	if (!f->without_icrc && f->length >= ICRC_FIELD)
		icrc_make(f, &f->icrc, value, before, f->bytes + f->length - ICRC_FIELD);
	if (plan->udp_checksum)
		udp_checksum(f);
}

bool frame_icrc_good(const struct send_frame *f)
{
	__u8 right[ICRC_FIELD];

	if (f->length < ICRC_FIELD)
		return false;
	icrc_make(f, &(struct icrc_ways){ 0 }, 0, NULL, right);
	return !memcmp(right, f->bytes + f->length - ICRC_FIELD, ICRC_FIELD);
}

void frame_slot(const struct send_frame *f, __u8 *payload, uint32_t cell, struct slot *s)
{
	uint32_t headers = f->payload < f->length ? f->payload : f->length;

	assert(f->length >= SLOT_TAIL && cell < CELLS);
	if (headers > SLOT_HEADERS)
		headers = SLOT_HEADERS;
	memset(s->headers, 0, SLOT_HEADERS);
	memcpy(s->headers, f->bytes, headers);
	memcpy(payload + CELL_OFFSET(cell), f->bytes + headers, f->length - headers);
	memcpy(s->tail, f->bytes + f->length - SLOT_TAIL, SLOT_TAIL);
	s->payload = CELL_OFFSET(cell);
	s->header_bytes = headers;
	s->payload_bytes = f->length - headers;
	s->frame_bytes = f->length;
}
