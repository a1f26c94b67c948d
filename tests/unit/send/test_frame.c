// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whole frames of `rocescope send`. Each way of computing the ICRC is compared with CRCs made bit by bit from the words of
 * roce/icrc/icrc_mistake.def; the right way also with zlib, the engine and two packets with published ICRCs.
 */
#include <stdlib.h>
#include <zlib.h>

#include "roce/datagram/datagram.h"
#include "roce/icrc/checksum.h"
#include "tests/support/slice8.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/traffic/send/compose.h"
#include "userspace/traffic/send/icrc_way.h"

#define VALUE 0xdeadbeef
#define ETHERNET 14
#define TAG 4

static const struct send_plan plain, with_checksum = { .udp_checksum = true };
static __u8 payload_memory[CELL_OFFSET(CELLS)];
static uint64_t seed = 1;

/* xorshift64 */
static __u8 random_byte(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> 32;
}

struct test_form {
	bool ipv6, tagged;
	uint32_t extension, payload, pad; /* bytes */
};

static __u8 *put(__u8 *p, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		*p++ = value >> 8 * i;
	return p;
}

/* Random bytes under plausible headers with right lengths; garbage in the ICRC field. */
static void make(struct send_frame *f, const struct test_form *form)
{
	__u8 *p = f->bytes;

	memset(f, 0, sizeof(*f));
	for (uint32_t i = 0; i < CELL_BYTES; i++)
		f->bytes[i] = random_byte();
	p += 12;
	if (form->tagged)
		p = put(p, 0x81006064, 4);
	p = put(p, form->ipv6 ? 0x86dd : 0x0800, 2);
	f->ipv6 = form->ipv6;
	f->ip = p - f->bytes;
	if (form->ipv6) {
		put(put(p, 0x64812345, 4) + 2, 0x113f, 2);
		p += 40;
	} else {
		put(put(put(p, 0x4548, 2) + 2, 0x12344000, 4), 0x3f11, 2);
		p += 20;
	}
	f->udp = p - f->bytes;
	p = put(put(p, 0xc0071000 + 0x2b7, 4), 0, 4);
	f->bth = p - f->bytes;
	/* SEND Only, WRITE Only, WRITE Only with immediate */
	*p = form->extension == 20 ? 0x2b : form->extension ? 0x2a : 0x24;
	p = put(p + 1, 0x40 | form->pad << 4, 1);
	put(p, 0xffff4000, 4);
	p += 10;
	f->extension = p - f->bytes;
	f->payload = f->extension + form->extension;
	f->length = f->payload + form->payload + form->pad + 4;
	frame_lengths(f);
	f->follows = true;
	for (int i = 0; i < 4; i++)
		f->icrc_before[i] = random_byte();
}

/*
 * Computes the field bit by bit. The register starts with ones. Each data bit is added to the bit shifted out; if the sum is 1,
 * the polynomial is added. The register is then complemented and shifted out at the same end, bits in the order in which they
 * came in. before: the field of a packet of which the register goes on (least significant bit first), or NULL.
 */
static void crc_field(const __u8 *bytes, size_t length, uint32_t polynomial, bool lsb_first, const __u8 *before, __u8 field[4])
{
	uint32_t r = ~0u;

	for (int i = 0; before && i < 32; i++)
		r ^= (uint32_t)(before[i / 8] >> i % 8 & 1) << (31 - i);
	for (size_t i = 0; i < 8 * length; i++) {
		uint32_t bit = bytes[i / 8] >> (lsb_first ? i % 8 : 7 - i % 8) & 1;

		r = r << 1 ^ (r >> 31 ^ bit ? polynomial : 0);
	}
	memset(field, 0, 4);
	for (int i = 0; i < 32; i++)
		field[i / 8] |= (~r >> (31 - i) & 1) << (lsb_first ? i % 8 : 7 - i % 8);
}

static void zlib_field(const __u8 *bytes, size_t length, const __u8 *before, __u8 field[4])
{
	uint32_t start = before ? before[0] | before[1] << 8 | before[2] << 16 | (uint32_t)before[3] << 24 : 0;
	uint32_t crc = crc32(start, bytes, length);

	for (int i = 0; i < 4; i++)
		field[i] = crc >> 8 * i;
}

static __u8 *append(__u8 *to, const __u8 *from, size_t bytes)
{
	memcpy(to, from, bytes);
	return to + bytes;
}

/* Appends the IP header as the CRC covers it. */
static __u8 *append_ip(__u8 *to, const struct test_form *form, const __u8 *ip, int way, const __u8 *lengths)
{
	__u8 *h = to;

	to = append(to, ip, form->ipv6 ? 40 : 20);
	if (form->ipv6) {
		uint32_t first = ip[0] << 24 | ip[1] << 16 | ip[2] << 8 | ip[3];

		first |= way == ICRC_WAY_unmasked_tos ? 0 : 0x0ff00000;
		first |= way == ICRC_WAY_unmasked_flow_label ? 0 : 0x000fffff;
		put(h, first, 4);
		h[4] = lengths[0];
		h[5] = lengths[1];
		h[7] |= way == ICRC_WAY_unmasked_ttl ? 0 : 0xff;
	} else {
		h[1] |= way == ICRC_WAY_unmasked_tos ? 0 : 0xff;
		h[2] = lengths[0];
		h[3] = lengths[1];
		h[8] |= way == ICRC_WAY_unmasked_ttl ? 0 : 0xff;
		h[10] |= way == ICRC_WAY_unmasked_ip_checksum ? 0 : 0xff;
		h[11] |= way == ICRC_WAY_unmasked_ip_checksum ? 0 : 0xff;
	}
	return to;
}

/* The input of the CRC, by the specification and the words of the way. Returns its length. */
static size_t message(__u8 *to, const struct test_form *form, const struct send_frame *f, int way, const struct test_form *old,
		      const struct send_frame *before)
{
	uint32_t link = ETHERNET + (form->tagged ? TAG : 0), network = form->ipv6 ? 40 : 20;
	const __u8 *from = f->bytes, *ip = from + link, *udp = ip + network, *bth = udp + 8;
	const __u8 *payload = bth + 12 + form->extension;
	uint32_t old_ip = ETHERNET + (old->tagged ? TAG : 0), old_udp = old_ip + (old->ipv6 ? 40 : 20);
	__u8 *p = to, lengths[4] = { ip[form->ipv6 ? 4 : 2], ip[form->ipv6 ? 5 : 3], udp[4], udp[5] };

	if (way == ICRC_WAY_stale_length) {
		memcpy(lengths, before->bytes + old_ip + (old->ipv6 ? 4 : 2), 2);
		memcpy(lengths + 2, before->bytes + old_udp + 4, 2);
	} else if (way == ICRC_WAY_short_lengths) {
		put(lengths, form->payload + form->pad + form->extension + 12 + 8 + (form->ipv6 ? 0 : 20), 2);
		put(lengths + 2, form->payload + form->pad + form->extension + 12 + 8, 2);
	}
	if (way != ICRC_WAY_no_ones)
		p = put(p, ~0ull, 8);
	if (way == ICRC_WAY_with_ethernet)
		p = append(p, from, link);
	if (way == ICRC_WAY_previous_header) {
		/* everything that the right ICRC of that packet covers, without its payload and pad */
		p = to + message(to, old, before, ICRC_WAY_RIGHT, old, before) - old->payload - old->pad;
	} else {
		if (way != ICRC_WAY_without_ip)
			p = append_ip(p, form, ip, way, lengths);
		p = append(append(p, udp, 4), lengths + 2, 2);
		p = put(p, way == ICRC_WAY_unmasked_udp_checksum ? 0 : 0xffff, 2);
		p = append(p, bth, 12 + form->extension);
		if (way != ICRC_WAY_unmasked_resv8a)
			p[-12 - (int)form->extension + 4] = 0xff;
		if (way == ICRC_WAY_stale_psn)
			memcpy(p - 3 - form->extension, before->bytes + old_udp + 8 + 9, 3);
	}
	if (way == ICRC_WAY_words_swapped)
		for (uint32_t i = 0; i < form->payload + form->pad; i += 4)
			for (int k = 3; k >= 0; k--)
				*p++ = payload[i + k];
	else
		p = append(p, payload, form->payload + (way == ICRC_WAY_no_pad ? 0 : form->pad));
	return p - to;
}

static bool masks_late(int way)
{
	return way >= ICRC_WAY_late_mask_8 && way <= ICRC_WAY_late_mask_64;
}

/* The packet from there on as it is sent, but for the UDP checksum, which is not known yet. Returns its length. */
static size_t message_sent(__u8 *to, const struct test_form *form, const struct send_frame *f, uint32_t from)
{
	uint32_t udp = ETHERNET + (form->tagged ? TAG : 0) + (form->ipv6 ? 40 : 20);

	memcpy(to, f->bytes + from, f->length - 4 - from);
	put(to + udp + 6 - from, 0, 2);
	return f->length - 4 - from;
}

/* The mask of a right ICRC, so many bytes too late. to: from the IP header on. */
static void mask_late(__u8 *to, size_t length, const struct test_form *form, uint32_t late)
{
	uint32_t udp = form->ipv6 ? 40 : 20, v4[] = { 1, 8, 10, 11 }, v6[] = { 0, 1, 2, 3, 7 };
	uint32_t rest[] = { udp + 6, udp + 7, udp + 8 + 4 };

	for (uint32_t i = 0; i < (form->ipv6 ? 5 : 4); i++) {
		uint32_t at = form->ipv6 ? v6[i] : v4[i];

		if (at + late < length)
			to[at + late] |= at ? 0xff : 0x0f;
	}
	for (int i = 0; i < 3; i++)
		if (rest[i] + late < length)
			to[rest[i] + late] = 0xff;
}

/* Ways that change what a right ICRC covers at one place. to: from the IP header on. Returns the new length. */
static size_t message_changed(__u8 *to, size_t length, const struct test_form *form, int way)
{
	__u8 *udp = to + (form->ipv6 ? 40 : 20), *bth = udp + 8;

	if (way == ICRC_WAY_masked_ip_id && !form->ipv6)
		put(to + 4, 0xffff, 2);
	else if (way == ICRC_WAY_masked_ip_flags && !form->ipv6)
		put(to + 6, 0xffff, 2);
	else if (way == ICRC_WAY_masked_lengths)
		put(to + (form->ipv6 ? 4 : 2), 0xffff, 2), put(udp + 4, 0xffff, 2);
	else if (way == ICRC_WAY_masked_source_port)
		put(udp, 0xffff, 2);
	else if (way == ICRC_WAY_masked_opcode)
		put(bth, 0xff, 1);
	else if (way == ICRC_WAY_masked_dqpn)
		put(bth + 5, 0xffffff, 3);
	else if (way == ICRC_WAY_masked_ackreq)
		put(bth + 8, 0xff, 1);
	else if (way == ICRC_WAY_masked_psn)
		put(bth + 9, 0xffffff, 3);
	else if (way == ICRC_WAY_extra_byte)
		return put(to + length, 0, 1) - to;
	else if (way == ICRC_WAY_ones_behind)
		return put(to + length, ~0ull, 8) - to;
	else if (way == ICRC_WAY_short_byte)
		return length - (form->payload + form->pad > 0);
	return length;
}

/* The input of the CRC, by the words of the way. Returns its length. */
static size_t any_message(__u8 *to, const struct test_form *form, const struct send_frame *f, int way,
			  const struct test_form *old,
			  const struct send_frame *before)
{
	uint32_t link = ETHERNET + (form->tagged ? TAG : 0);
	bool bare = way == ICRC_WAY_ones_behind || way == ICRC_WAY_not_reset_bare;
	size_t length;

	if (way == ICRC_WAY_ethernet_fcs)
		return message_sent(to, form, f, 0);
	if (masks_late(way)) {
		length = message_sent(put(to, ~0ull, 8), form, f, link);
		mask_late(to + 8, length, form, 8 << (way - ICRC_WAY_late_mask_8));
		return 8 + length;
	}
	length = message(to, form, f, way, old, before);
	if (bare)
		memmove(to, to + 8, length -= 8);
	if (bare)
		return message_changed(to, length, form, way);
	return way == ICRC_WAY_no_ones ? length : 8 + message_changed(to + 8, length - 8, form, way);
}

static void expect(const struct test_form *form, const struct send_frame *f, int way, const struct test_form *old,
		   const struct send_frame *before, __u8 field[4])
{
	static __u8 bytes[2 * CELL_BYTES];
	size_t length = any_message(bytes, form, f, way, old, before);
	const __u8 *start = way == ICRC_WAY_not_reset || way == ICRC_WAY_not_reset_bare ? f->icrc_before : NULL;
	__u8 zlibs[4], other[4];

	crc_field(bytes, length, way == ICRC_WAY_crc32c ? 0x1edc6f41 : 0x04c11db7, way != ICRC_WAY_msb_first, start, field);
	zlib_field(bytes, length, start, zlibs);
	if (way != ICRC_WAY_crc32c && way != ICRC_WAY_msb_first)
		assert_memory_equal(field, zlibs, 4);
	memcpy(other, field, 4);
	if (way == ICRC_WAY_zero)
		memset(field, 0, 4);
	if (way == ICRC_WAY_constant)
		put(field, VALUE, 4);
	for (int i = 0; i < 4; i++) {
		if (way == ICRC_WAY_swapped)
			field[i] = other[3 - i];
		if (way == ICRC_WAY_not_complemented)
			field[i] = ~other[i];
	}
}

/* The k-th form: both IP versions, with and without a tag, three sets of extension headers. */
static struct test_form form_of(int k, uint32_t payload)
{
	static const uint32_t extensions[] = { 0, 16, 20 };

	return (struct test_form){ .ipv6 = k & 1, .tagged = k & 2, .extension = extensions[k / 4 % 3], .payload = payload,
			      .pad = -payload & 3 };
}

#define FORMS 12

static struct icrc_ways only(enum icrc_way way)
{
	struct icrc_ways ways = { 0 };

	icrc_add(&ways, way);
	return ways;
}

static void check_way(const struct test_form *form, struct send_frame *f, int way, const struct test_form *old,
		      const struct send_frame *before, bool checksum)
{
	struct send_frame copy = *f;
	__u8 field[4], right[4];

	f->icrc = only(way);
	frame_seal(f, checksum ? &with_checksum : &plain, VALUE, before);
	expect(form, f, way, old, before, field);
	expect(form, f, ICRC_WAY_RIGHT, old, before, right);
	assert_memory_equal(f->bytes + f->length - 4, field, 4);
	assert_int_equal(frame_icrc_good(f), !memcmp(field, right, 4));
	/* nothing else changes, in the frame or behind it */
	if (checksum)
		memcpy(copy.bytes + f->udp + 6, f->bytes + f->udp + 6, 2);
	memcpy(copy.bytes + f->length - 4, field, 4);
	copy.icrc = only(way);
	assert_memory_equal(f, &copy, sizeof(copy));
}

static void every_way(void **state)
{
	static const uint32_t payloads[] = { 0, 1, 2, 3, 4, 5, 7, 63, 64, 65, 255, 256, 1023, 1408, 4096 };
	static struct send_frame f, before;

	(void)state;
	for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++)
		for (int k = 0; k < FORMS; k++) {
			struct test_form form = form_of(k, payloads[i]);
			/* another tag, other extension headers and another length; every fifth time the same ones */
			struct test_form old = form_of((k + (i % 5 ? 6 : 0)) % FORMS, payloads[i] + (i % 5 ? 9 : 0));

			make(&before, &old);
			make(&f, &form);
			for (int way = 0; way < ICRC_WAYS; way++)
				check_way(&form, &f, way, &old, &before, (i + k) % 2);
		}
}

static void longest(void **state)
{
	static struct send_frame f;
	struct test_form form = { .ipv6 = true, .tagged = true, .extension = 20 };

	(void)state;
	form.pad = 1;
	form.payload = CELL_BYTES - 2 - (ETHERNET + TAG + 40 + 8 + 12 + 20 + form.pad + 4);
	make(&f, &form);
	assert_int_equal(f.length, CELL_BYTES - 2); /* without the Ethernet header a multiple of 4 */
	for (int way = 0; way < ICRC_WAYS; way++)
		check_way(&form, &f, way, &form, &f, way % 2);
}

/* On a packet for which all of them matter, no two ways give the same ICRC. */
static void ways_differ(void **state)
{
	static struct send_frame f, before;
	struct test_form form = { .extension = 16, .payload = 1021, .pad = 3 }, old = { .extension = 20, .payload = 800 };

	(void)state;
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		uint32_t seen[ICRC_WAYS];

		form.ipv6 = old.ipv6 = ipv6;
		make(&before, &old);
		make(&f, &form);
		for (int way = 0; way < ICRC_WAYS; way++) {
			bool other_version = way == (ipv6 ? ICRC_WAY_unmasked_ip_checksum : ICRC_WAY_unmasked_flow_label) ||
					     (ipv6 && (way == ICRC_WAY_masked_ip_id || way == ICRC_WAY_masked_ip_flags));
			struct icrc_ways ways = only(way);

			icrc_make(&f, &ways, VALUE, &before, (__u8 *)&seen[way]);
			for (int i = 0; i < way; i++)
				if (seen[i] == seen[way]) /* it makes no difference in the other version */
					assert_true(other_version && seen[i] == seen[ICRC_WAY_RIGHT]);
				else
					assert_true(!other_version || i != ICRC_WAY_RIGHT);
		}
	}
}

static void no_difference(void **state)
{
	static const enum icrc_way stale[] = { ICRC_WAY_previous_header, ICRC_WAY_stale_psn, ICRC_WAY_stale_length };
	struct test_form form = { .extension = 16, .payload = 64 };
	static struct send_frame f;

	(void)state;
	make(&f, &form);
	for (int i = 0; i < 3; i++) {
		f.icrc = only(stale[i]);
		frame_seal(&f, &plain, 0, NULL);
		assert_true(frame_icrc_good(&f));
		f.bytes[f.length - 2] ^= 1;
		assert_false(frame_icrc_good(&f));
	}
	f.icrc = only(ICRC_WAY_unmasked_ttl);
	frame_seal(&f, &plain, 0, NULL);
	assert_false(frame_icrc_good(&f));
	f.bytes[f.ip + 8] = 0xff;
	frame_seal(&f, &plain, 0, NULL);
	assert_true(frame_icrc_good(&f));
}

/* The engine's verdicts on ICRC, lengths and checksums. */
static void engine(const struct send_frame *f, struct roce_packet *p, bool *icrc_good)
{
	static struct slice8 tables;
	static __u8 window[CELL_BYTES + ROCE_WINDOW_BYTES];

	slice8_make(&tables);
	memcpy(window, f->bytes, f->length);
	roce_parse(window, f->length, f->length, NULL, p);
	assert_int_equal(p->kind, ROCE_PACKET);
	roce_take_whole(p, window, CELL_BYTES);
	icrc_mask(window, p);
	*icrc_good = slice8_register(&tables, ICRC_REGISTER, window, p->l3_offset, icrc_end(p)) == ICRC_REGISTER;
}

static void by_the_engine(void **state)
{
	static struct send_frame f;
	struct roce_packet p;
	bool icrc_good;

	(void)state;
	for (int k = 0; k < 4 * FORMS; k++) {
		struct test_form form = form_of(k, 19 * k);

		make(&f, &form);
		frame_seal(&f, k / FORMS % 2 ? &with_checksum : &plain, 0, NULL);
		engine(&f, &p, &icrc_good);
		assert_true(icrc_good);
		assert_int_equal(p.icrc_offset, f.length - 4);
		assert_int_equal(p.payload_bytes, form.payload);
		assert_int_equal(p.udp_length, p.ip_payload);
		assert_false(p.ip_checksum_wrong);
		assert_false(p.udp_checksum_wrong);
		assert_int_equal(!!p.udp_checksum, k / FORMS % 2);
		for (int way = ICRC_WAY_RIGHT + 1; way < ICRC_WAYS; way++) {
			f.icrc = only(way);
			frame_seal(&f, k / FORMS % 2 ? &with_checksum : &plain, VALUE, NULL);
			engine(&f, &p, &icrc_good);
			assert_int_equal(icrc_good, frame_icrc_good(&f));
			assert_false(p.udp_checksum_wrong);
		}
	}
}

/* Four bytes of IP options, inserted as a fault does: the ICRC covers them unchanged. */
static void ip_options(void **state)
{
	static struct send_frame f;
	struct test_form form = { .extension = 16, .payload = 64 };
	struct roce_packet p;
	bool icrc_good;

	(void)state;
	make(&f, &form);
	frame_insert(&f, f.udp, 4);
	memset(f.bytes + f.udp - 4, 1, 4);
	f.bytes[f.ip] = 0x46;
	frame_lengths(&f);
	frame_seal(&f, &with_checksum, 0, NULL);
	engine(&f, &p, &icrc_good);
	assert_true(icrc_good);
	assert_false(p.ip_checksum_wrong || p.udp_checksum_wrong);
	assert_int_equal(p.payload_bytes, 64);
}

static void without_icrc(void **state)
{
	static struct send_frame f;
	struct test_form form = { .extension = 16, .payload = 64 };
	__u8 last[4], *udp;

	(void)state;
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		form.ipv6 = ipv6;
		make(&f, &form);
		frame_remove(&f, f.length - 4, 4);
		f.without_icrc = true;
		memset(f.bytes + f.payload, 0, 2);
		frame_lengths(&f);
		memcpy(last, f.bytes + f.length - 4, 4);
		frame_seal(&f, &with_checksum, 0, NULL);
		assert_memory_equal(f.bytes + f.length - 4, last, 4);
		assert_int_equal(f.length, f.payload + 64);
		assert_false(frame_icrc_good(&f));
		/* these data bytes make the checksum 0, which is sent as all ones (RFC 768) */
		udp = f.bytes + f.udp;
		memcpy(f.bytes + f.payload, udp + 6, 2);
		frame_seal(&f, &with_checksum, 0, NULL);
		assert_int_equal(udp[6] << 8 | udp[7], 0xffff);
	}
}

/* With a deliberately wrong UDP length, the checksum covers the bytes that this length names, as far as they exist. */
static void checksum_follows_length(void **state)
{
	static struct send_frame f;
	struct test_form form = { .payload = 64 };
	uint32_t sum, length;

	(void)state;
	for (int more = -8; more <= 8; more++) {
		__u8 *udp, *ip;

		make(&f, &form);
		udp = f.bytes + f.udp;
		ip = f.bytes + f.ip;
		length = f.length - f.udp + more;
		put(udp + 4, length, 2);
		memset(f.bytes + f.length, 0xa5, 16); /* behind the frame's end: must not be read */
		frame_seal(&f, &with_checksum, 0, NULL);
		sum = 17 + length;
		for (uint32_t i = 12; i < 20; i++)
			sum += ip[i] << (i % 2 ? 0 : 8);
		for (uint32_t i = 0; i < length && i < f.length - f.udp; i++)
			sum += udp[i] << (i % 2 ? 0 : 8);
		assert_int_equal(sum % 0xffff, 0);
	}
}

/* The parts of a frame behind `at` move. */
static void insert_and_remove(void **state)
{
	static struct send_frame f, g;
	struct test_form form = { .tagged = true, .extension = 16, .payload = 37, .pad = 3 };

	(void)state;
	make(&f, &form);
	for (uint32_t at = 0; at <= f.length; at++)
		for (uint32_t bytes = 0; bytes <= 21; bytes++) {
			g = f;
			frame_insert(&g, at, bytes);
			assert_int_equal(g.length, f.length + bytes);
			assert_memory_equal(g.bytes, f.bytes, at);
			for (uint32_t i = at; i < at + bytes; i++)
				assert_int_equal(g.bytes[i], 0);
			assert_memory_equal(g.bytes + at + bytes, f.bytes + at, f.length - at);
			assert_int_equal(g.ip, f.ip + (at <= f.ip ? bytes : 0));
			assert_int_equal(g.udp, f.udp + (at <= f.udp ? bytes : 0));
			assert_int_equal(g.bth, f.bth + (at <= f.bth ? bytes : 0));
			assert_int_equal(g.extension, f.extension + (at < f.extension ? bytes : 0));
			assert_int_equal(g.payload, f.payload + (at <= f.payload ? bytes : 0));
			frame_remove(&g, at, bytes);
			assert_int_equal(g.length, f.length);
			assert_memory_equal(g.bytes, f.bytes, f.length);
			assert_int_equal(g.ip, f.ip);
			assert_int_equal(g.udp, f.udp);
			assert_int_equal(g.bth, f.bth);
			assert_int_equal(g.extension, f.extension);
			assert_int_equal(g.payload, f.payload);
		}
}

static uint32_t after_removal(uint32_t offset, uint32_t at, uint32_t bytes)
{
	uint32_t gone = 0;

	for (uint32_t i = at; i < at + bytes; i++)
		gone += i < offset;
	return offset - gone;
}

static void remove_from_within(void **state)
{
	static struct send_frame f, g;
	struct test_form form = { .ipv6 = true, .extension = 20, .payload = 8 };

	(void)state;
	make(&f, &form);
	for (uint32_t at = 0; at <= f.length; at++)
		for (uint32_t bytes = 0; bytes <= f.length - at; bytes++) {
			g = f;
			frame_remove(&g, at, bytes);
			assert_int_equal(g.length, f.length - bytes);
			assert_memory_equal(g.bytes, f.bytes, at);
			assert_memory_equal(g.bytes + at, f.bytes + at + bytes, f.length - at - bytes);
			assert_int_equal(g.ip, after_removal(f.ip, at, bytes));
			assert_int_equal(g.udp, after_removal(f.udp, at, bytes));
			assert_int_equal(g.bth, after_removal(f.bth, at, bytes));
			assert_int_equal(g.extension, after_removal(f.extension, at, bytes));
			assert_int_equal(g.payload, after_removal(f.payload, at, bytes));
			/* the rest has no meaningful ICRC, but no way may access bytes outside */
			for (int way = 0; way < ICRC_WAYS; way += bytes % 7 ? 5 : 1) {
				g.icrc = only(way);
				frame_seal(&g, &plain, 0, &f);
			}
		}
}

/* Rebuilds the frame as an outlet does: all headers, then the payload, then the tail. */
static uint32_t rebuild(const struct slot *s, const __u8 *memory, __u8 *frame)
{
	memcpy(frame, s->headers, s->frame_bytes < SLOT_HEADERS ? s->frame_bytes : SLOT_HEADERS);
	memcpy(frame + s->header_bytes, memory + s->payload, s->payload_bytes);
	memcpy(frame + s->frame_bytes - SLOT_TAIL, s->tail, SLOT_TAIL);
	return s->frame_bytes;
}

static void check_slot(const struct send_frame *f, uint32_t cell)
{
	static __u8 frame[CELL_BYTES], untouched[sizeof(payload_memory)];
	struct slot s = { .departure = 77 };
	uint32_t begin = CELL_OFFSET(cell), end = begin + CELL_BYTES;

	memset(untouched, 0xa5, sizeof(untouched));
	memset(payload_memory, 0xa5, sizeof(payload_memory));
	memset(&s.headers, 0xa5, sizeof(s.headers));
	frame_slot(f, payload_memory, cell, &s);
	assert_int_equal(rebuild(&s, payload_memory, frame), f->length);
	assert_memory_equal(frame, f->bytes, f->length);
	assert_int_equal(s.departure, 77);
	assert_true(s.header_bytes <= SLOT_HEADERS && s.header_bytes + s.payload_bytes <= s.frame_bytes);
	for (uint32_t i = s.header_bytes; i < SLOT_HEADERS; i++)
		assert_int_equal(s.headers[i], 0);
	assert_memory_equal(payload_memory, untouched, begin);
	assert_memory_equal(payload_memory + end, untouched, sizeof(payload_memory) - end);
}

static void slots(void **state)
{
	static struct send_frame f;
	struct test_form form;

	(void)state;
	for (int k = 0; k < FORMS; k++) {
		form = form_of(k, 7 * k);
		make(&f, &form);
		check_slot(&f, k % 3 ? k : CELLS - 1);
	}
	/* up to headers longer than a slot can hold */
	for (int more = 1; more < 40; more++) {
		frame_insert(&f, f.payload, 1);
		check_slot(&f, 0);
	}
	assert_true(f.payload > SLOT_HEADERS + 20);
	frame_insert(&f, f.length, CELL_BYTES - f.length);
	check_slot(&f, CELLS - 1);
	/* cut within the headers */
	f.length = 60;
	check_slot(&f, 3);
	frame_remove(&f, 50, f.length - 50);
	check_slot(&f, 3);
	frame_remove(&f, SLOT_TAIL, f.length - SLOT_TAIL);
	check_slot(&f, 4);
}

/* IPv4 and UDP headers before the given bytes. MAC addresses do not matter. */
static struct send_frame bare_ipv4(uint32_t id_flags, uint16_t tos, uint64_t addresses, uint16_t port, uint32_t length)
{
	struct send_frame f = { .length = length, .ip = 14, .udp = 34, .bth = 42, .extension = 54, .payload = 54 };
	__u8 *p = put(f.bytes + 12, 0x0800, 2);

	p = put(put(p, 0x4500 | tos, 2) + 2, id_flags, 4);
	p = put(put(put(p, 0x4011, 2) + 2, addresses, 8), port, 2);
	put(p, 4791, 2);
	frame_lengths(&f);
	return f;
}

/*
 * The UC SEND Only of scapy's RoCE tests: its fields, and the checksums and ICRC that they give.
 * https://github.com/secdev/scapy/blob/master/test/contrib/roce.uts
 */
static void golden_send(void **state)
{
	static const __u8 payload[20] = {
		0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a,
		0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00,
	};
	static const __u8 ip_checksum[2] = { 0xb4, 0xd5 }, udp_checksum[2] = { 0xac, 0xa2 };
	static const __u8 icrc[4] = { 0x78, 0xf3, 0x53, 0xf3 };
	struct send_frame f = bare_ipv4(0x04784000, 1, 0xc0a80007c0a80007, 49152, 78);
	__u8 *p = f.bytes + f.bth;

	(void)state;
	p = put(put(put(p, 0x2460ffff, 4), 211, 4), 13571856, 4);
	memcpy(p, payload, sizeof(payload));
	frame_seal(&f, &with_checksum, 0, NULL);
	assert_memory_equal(f.bytes + f.ip + 10, ip_checksum, 2);
	assert_memory_equal(f.bytes + f.udp + 6, udp_checksum, 2);
	assert_memory_equal(f.bytes + f.length - 4, icrc, 4);
	assert_true(frame_icrc_good(&f));
}

/* The congestion notification that scapy's tests captured on a ConnectX-4 Lx. */
static void golden_cnp(void **state)
{
	static const __u8 ip_checksum[2] = { 0x91, 0x61 }, icrc[4] = { 0x82, 0xfd, 0x00, 0x2a };
	struct send_frame f = bare_ipv4(0x718c4000, 0xc2, 0x0a0011010a001201, 0, 74);

	(void)state;
	put(put(f.bytes + f.bth, 0x8100ffff, 4), 0x40000118, 4);
	frame_seal(&f, &plain, 0, NULL);
	assert_memory_equal(f.bytes + f.ip + 10, ip_checksum, 2);
	assert_memory_equal(f.bytes + f.length - 4, icrc, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way), cmocka_unit_test(longest), cmocka_unit_test(ways_differ),
		cmocka_unit_test(no_difference), cmocka_unit_test(by_the_engine), cmocka_unit_test(ip_options),
		cmocka_unit_test(without_icrc), cmocka_unit_test(checksum_follows_length),
		cmocka_unit_test(insert_and_remove), cmocka_unit_test(remove_from_within), cmocka_unit_test(slots),
		cmocka_unit_test(golden_send), cmocka_unit_test(golden_cnp),
	};

	return cmocka_run_group_tests_name("send_frame", tests, NULL, NULL);
}
