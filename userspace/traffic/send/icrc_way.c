// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Each ICRC mistake of send (roce/icrc/icrc_mistake.def) is a small change to the recipe of a right ICRC. */
#include <isa-l/crc.h>
#include <string.h>

#include "lib/bytes.h"
#include "userspace/traffic/send/icrc_way.h"

/* crc: of the bytes before, 0 at first. Complemented on entry and on return, like zlib's crc32(). */
typedef uint32_t crc_function(uint32_t crc, const __u8 *bytes, uint32_t length);

struct way_recipe {
	const struct send_frame *frame, *before;
	uint32_t value;

	/* input: bytes of ones; the masked headers from `from` to `to`; payload and pad */
	uint32_t ones;
	__u8 headers[CELL_BYTES];
	uint32_t from, to;
	const __u8 *payload;
	uint32_t payload_bytes;
	__u8 changed[CELL_BYTES]; /* the payload, if it is not the frame's */
	uint32_t ones_behind, zeroes_behind; /* bytes */

	/* the checksum function */
	crc_function *crc;
	uint32_t start;	  /* the CRC of what went before */
	uint32_t flipped; /* bits to invert in the finished CRC */
	bool msb_first;	  /* the field's byte order */
	bool exchanged;	  /* use the other byte order */
	bool constant;	  /* the field holds `field` instead */
	uint32_t field;
};

static uint32_t crc32_lsb_first(uint32_t crc, const __u8 *bytes, uint32_t length)
{
	return crc32_gzip_refl(crc, bytes, length);
}

static uint32_t crc32_msb_first(uint32_t crc, const __u8 *bytes, uint32_t length)
{
	return crc32_ieee(crc, bytes, length);
}

/* ISA-L's function neither complements nor changes the bytes, but does not declare them const. */
static uint32_t crc32c(uint32_t crc, const __u8 *bytes, uint32_t length)
{
	return ~crc32_iscsi((unsigned char *)bytes, length, ~crc);
}

/* Sets the variable fields of a copy of the headers to ones (IBTA 7.8.1 for IPv6, as the GRH; A17.3.3). */
static void mask(__u8 *headers, const struct send_frame *f)
{
	__u8 *ip = headers + f->ip, *udp = headers + f->udp, *bth = headers + f->bth;

	if (f->ipv6) {
		ip[0] |= 0x0f;
		memset(ip + 1, 0xff, 3); /* traffic class, flow label */
		ip[7] = 0xff;		 /* hop limit */
	} else {
		ip[1] = 0xff;		  /* TOS */
		ip[8] = 0xff;		  /* TTL */
		memset(ip + 10, 0xff, 2); /* checksum */
	}
	memset(udp + 6, 0xff, 2); /* checksum */
	bth[4] = 0xff;		  /* FECN, BECN, resv8a */
}

static void way_zero(struct way_recipe *r)
{
	r->constant = true;
	r->field = 0;
}

static void way_constant(struct way_recipe *r)
{
	r->constant = true;
	r->field = r->value;
	r->msb_first = true;
}

static void way_swapped(struct way_recipe *r)
{
	r->exchanged = true;
}

static void way_not_complemented(struct way_recipe *r)
{
	r->flipped = ~0u;
}

static void way_no_ones(struct way_recipe *r)
{
	r->ones = 0;
}

/* Restores bytes of a header as they are sent. mask: the bits to restore in each byte. */
static void unmask(struct way_recipe *r, uint32_t at, uint32_t bytes, __u8 mask)
{
	for (uint32_t i = at; i < at + bytes; i++)
		r->headers[i] = (r->headers[i] & ~mask) | (r->frame->bytes[i] & mask);
}

static void way_unmasked_tos(struct way_recipe *r)
{
	if (r->frame->ipv6) {
		unmask(r, r->frame->ip, 1, 0x0f);
		unmask(r, r->frame->ip + 1, 1, 0xf0);
	} else {
		unmask(r, r->frame->ip + 1, 1, 0xff);
	}
}

static void way_unmasked_ttl(struct way_recipe *r)
{
	unmask(r, r->frame->ip + (r->frame->ipv6 ? 7 : 8), 1, 0xff);
}

static void way_unmasked_ip_checksum(struct way_recipe *r)
{
	if (!r->frame->ipv6)
		unmask(r, r->frame->ip + 10, 2, 0xff);
}

/* The UDP checksum covers the ICRC, so it is not known yet: use 0. */
static void way_unmasked_udp_checksum(struct way_recipe *r)
{
	memset(r->headers + r->frame->udp + 6, 0, 2);
}

static void way_unmasked_resv8a(struct way_recipe *r)
{
	unmask(r, r->frame->bth + 4, 1, 0xff);
}

static void way_unmasked_flow_label(struct way_recipe *r)
{
	if (!r->frame->ipv6)
		return;
	unmask(r, r->frame->ip + 1, 1, 0x0f);
	unmask(r, r->frame->ip + 2, 2, 0xff);
}

static void way_with_ethernet(struct way_recipe *r)
{
	r->from = 0;
}

static void way_without_ip(struct way_recipe *r)
{
	r->from = r->frame->udp;
}

static void way_msb_first(struct way_recipe *r)
{
	r->crc = crc32_msb_first;
	r->msb_first = true;
}

static void way_crc32c(struct way_recipe *r)
{
	r->crc = crc32c;
	r->msb_first = false;
}

/* The register still holds the previous header, whatever its length. */
static void way_previous_header(struct way_recipe *r)
{
	if (!r->before)
		return;
	memcpy(r->headers, r->before->bytes, r->before->payload);
	mask(r->headers, r->before);
	r->from = r->before->ip;
	r->to = r->before->payload;
}

static void way_stale_psn(struct way_recipe *r)
{
	if (r->before)
		memcpy(r->headers + r->frame->bth + 9, r->before->bytes + r->before->bth + 9, 3);
}

static __u8 *ip_length(__u8 *headers, const struct send_frame *f)
{
	return headers + f->ip + (f->ipv6 ? 4 : 2);
}

static __u8 *udp_length(__u8 *headers, const struct send_frame *f)
{
	return headers + f->udp + 4;
}

static void way_stale_length(struct way_recipe *r)
{
	const struct send_frame *b = r->before;

	if (!b)
		return;
	memcpy(ip_length(r->headers, r->frame), ip_length((__u8 *)b->bytes, b), 2);
	memcpy(udp_length(r->headers, r->frame), udp_length((__u8 *)b->bytes, b), 2);
}

static void way_no_pad(struct way_recipe *r)
{
	uint32_t pad = r->frame->bytes[r->frame->bth + 1] >> 4 & 3; /* IBTA 9.2.5 */

	r->payload_bytes -= pad < r->payload_bytes ? pad : r->payload_bytes;
}

static void shorten(__u8 *length)
{
	put16(length, get16(length) - ICRC_FIELD);
}

static void way_short_lengths(struct way_recipe *r)
{
	shorten(ip_length(r->headers, r->frame));
	shorten(udp_length(r->headers, r->frame));
}

static void way_short_byte(struct way_recipe *r)
{
	r->payload_bytes -= r->payload_bytes > 0;
}

static void way_extra_byte(struct way_recipe *r)
{
	r->zeroes_behind = 1;
}

static void way_ones_behind(struct way_recipe *r)
{
	r->ones_behind = 8;
	r->ones = 0;
}

/* The register still holds what the packet before left in it. */
static void way_not_reset(struct way_recipe *r)
{
	if (r->frame->follows)
		memcpy(&r->start, r->frame->icrc_before, sizeof(r->start));
}

static void way_not_reset_bare(struct way_recipe *r)
{
	way_not_reset(r);
	r->ones = 0;
}

/* The headers as they are sent. The UDP checksum covers the ICRC, so it is not known yet: use 0. */
static void unmask_all(struct way_recipe *r)
{
	memcpy(r->headers, r->frame->bytes, r->frame->payload);
	way_unmasked_udp_checksum(r);
}

static void way_ethernet_fcs(struct way_recipe *r)
{
	unmask_all(r);
	r->from = 0;
	r->ones = 0;
}

#define WAY_MASKED(name, header, at, bytes) \
	static void way_masked_##name(struct way_recipe *r) { memset(r->headers + r->frame->header + (at), 0xff, bytes); }

WAY_MASKED(ip_id, ip, 4, r->frame->ipv6 ? 0 : 2)
WAY_MASKED(ip_flags, ip, 6, r->frame->ipv6 ? 0 : 2)
WAY_MASKED(source_port, udp, 0, 2)
WAY_MASKED(opcode, bth, 0, 1)
WAY_MASKED(dqpn, bth, 5, 3)
WAY_MASKED(ackreq, bth, 8, 1)
WAY_MASKED(psn, bth, 9, 3)

static void way_masked_lengths(struct way_recipe *r)
{
	memset(ip_length(r->headers, r->frame), 0xff, 2);
	memset(udp_length(r->headers, r->frame), 0xff, 2);
}

/* The mask is applied that many bytes behind the fields, to headers and payload. */
static void mask_late(struct way_recipe *r, uint32_t late)
{
	__u8 bits[CELL_BYTES] = { 0 };

	unmask_all(r);
	mask(bits, r->frame);
	memcpy(r->changed, r->payload, r->payload_bytes);
	for (uint32_t at = r->from, to; at < r->to; at++) {
		to = at + late;
		if (to < r->to)
			r->headers[to] |= bits[at];
		else if (to - r->to < r->payload_bytes)
			r->changed[to - r->to] |= bits[at];
	}
	r->payload = r->changed;
}

#define WAY_LATE_MASK(bytes) \
	static void way_late_mask_##bytes(struct way_recipe *r) { mask_late(r, bytes); }

WAY_LATE_MASK(8)
WAY_LATE_MASK(16)
WAY_LATE_MASK(32)
WAY_LATE_MASK(64)

/* An incomplete last word is left unchanged. */
static void way_words_swapped(struct way_recipe *r)
{
	uint32_t whole = r->payload_bytes / 4 * 4;

	for (uint32_t i = 0; i < whole; i++)
		r->changed[i] = r->payload[i ^ 3];
	memcpy(r->changed + whole, r->payload + whole, r->payload_bytes - whole);
	r->payload = r->changed;
}

static void (*const ways[ICRC_WAYS])(struct way_recipe *r) = {
	[ICRC_WAY_constant] = way_constant,
#define MISTAKE_MADE(name, ...) [ICRC_WAY_##name] = way_##name,
#include "roce/icrc/icrc_mistake.def"
};

static void right_recipe(struct way_recipe *r, const struct send_frame *f)
{
	uint32_t end = f->length > ICRC_FIELD ? f->length - ICRC_FIELD : 0;

	r->frame = f;
	r->ones = 8;
	r->from = f->ip;
	r->to = f->payload < end ? f->payload : end;
	/* mask the whole headers, even if the frame ends within them */
	memcpy(r->headers, f->bytes, f->payload);
	mask(r->headers, f);
	r->payload = f->bytes + r->to;
	r->payload_bytes = end - r->to;
	r->crc = crc32_lsb_first;
	r->flipped = r->start = r->ones_behind = r->zeroes_behind = 0;
	r->msb_first = r->exchanged = r->constant = false;
}

static uint32_t follow(const struct way_recipe *r)
{
	static const __u8 ones[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, zeroes[1];
	uint32_t crc;

	if (r->constant)
		return r->field;
	crc = r->crc(r->start, ones, r->ones);
	if (r->from < r->to)
		crc = r->crc(crc, r->headers + r->from, r->to - r->from);
	crc = r->crc(crc, r->payload, r->payload_bytes);
	crc = r->crc(crc, ones, r->ones_behind);
	return r->crc(crc, zeroes, r->zeroes_behind) ^ r->flipped;
}

void icrc_add(struct icrc_ways *ways, enum icrc_way way)
{
	if (way != ICRC_WAY_RIGHT && !memchr(ways->way, way, ways->count))
		ways->way[ways->count++] = way;
}

void icrc_make(const struct send_frame *f, const struct icrc_ways *made, uint32_t value, const struct send_frame *before,
	       __u8 field[ICRC_FIELD])
{
	struct way_recipe r;
	uint32_t icrc;

	right_recipe(&r, f);
	r.value = value;
	r.before = before;
	for (int i = 0; i < made->count; i++)
		ways[made->way[i]](&r);
	icrc = follow(&r);
	for (int i = 0; i < ICRC_FIELD; i++)
		field[i] = icrc >> 8 * (r.msb_first != r.exchanged ? ICRC_FIELD - 1 - i : i);
}
