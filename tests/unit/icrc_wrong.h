/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Wrong ICRCs for the doctor's tests, by their names and without the doctor's code. All input bytes are joined, and their CRC
 * is computed by zlib or bit by bit.
 */
#ifndef TESTS_ICRC_WRONG_H
#define TESTS_ICRC_WRONG_H

#include "tests/unit/frame.h"

struct wrong {
	const struct test_frame *f, *of_stream, *of_sender; /* the last two may be NULL */
	struct test_frame h; /* the headers that are used */
	const char *lead; /* "ones", "zeroes", "" */
	bool ethernet, tags, no_ip, no_udp, no_transport;
	char tos, ttl, ip_checksum, udp_checksum, resv8a, flow_label; /* 'o'nes, 's'ent, 'z'ero */
	bool only_headers, no_pad, with_icrc, zero_pad;
	int fill, fill_from_ip; /* bytes of the bus, filled in */
	int cut, cut_from_ip;
	int less; /* bytes missing at the end */
	int extra; /* bytes of zero at the end */
	bool ones_behind;
	int mask_late; /* bytes */
	int swap;
	bool swap_headers;
	const struct test_frame *late; /* the frame whose ICRC is sent */
	uint32_t polynomial, seed;
	bool msb_first, not_complemented, zero;
	char order; /* 'r'ight, 's'wapped, 'b'its, 'h'alves */
};

static inline bool wrong_v6(const struct test_frame *f)
{
	return f->bytes[f->l3] >> 4 == 6;
}

static inline void wrong_same(struct test_frame *to, int at, const struct test_frame *from, int from_at, int bytes)
{
	memcpy(to->bytes + at, from->bytes + from_at, bytes);
}

static inline void wrong_lengths(struct test_frame *to, const struct test_frame *from, int less)
{
	int ip_to = to->l3 + (wrong_v6(to) ? 4 : 2), ip_from = from->l3 + (wrong_v6(from) ? 4 : 2);
	int ip = from->bytes[ip_from] << 8 | from->bytes[ip_from + 1];

	put(to->bytes + ip_to, less < 0 ? 0 : ip - less, 2);
	if (to->udp && from->udp)
		put(to->bytes + to->udp + 4,
		    less < 0 ? 0 : (from->bytes[from->udp + 4] << 8 | from->bytes[from->udp + 5]) - less, 2);
}

/* Where the extension header with that letter (tests/unit/ibta.h) begins. 0: the packet has none. */
static inline int wrong_extension(const struct test_frame *f, int letter)
{
	static const struct {
		char letter;
		int bytes;
	} headers[] = { { 'Y', 4 }, { 'D', 8 }, { 'X', 4 }, { 'H', 4 }, { 'R', 16 }, { 'T', 28 }, { 'A', 4 }, { 't', 8 }, { 'I', 4 } };
	const struct ibta_opcode *o = ibta_find(f->bytes[f->bth]);
	int at = f->bth + 12;

	for (size_t i = 0; o && i < sizeof(headers) / sizeof(*headers); i++) {
		if (!strchr(o->what, headers[i].letter))
			continue;
		if (headers[i].letter == letter)
			return at;
		at += headers[i].bytes;
	}
	return 0;
}

/* Where a header field is, by the specification. false: the packet has no such field. */
static inline bool wrong_field(const struct test_frame *f, const char *name, int *at, int *bytes)
{
	static const struct {
		const char *name;
		int header; /* 4, 6: IP of that version; 17: UDP; 0: BTH; else the letter of an extension header (tests/unit/ibta.h) */
		int offset, bytes;
	} fields[] = {
		{ "ip_length", 4, 2, 2 }, { "ip_length", 6, 4, 2 }, { "ip_id", 4, 4, 2 }, { "ip_flags", 4, 6, 2 },
		{ "ip_protocol", 4, 9, 1 }, { "ip_protocol", 6, 6, 1 }, { "ip_checksum", 4, 10, 2 },
		{ "source_address", 4, 12, 4 }, { "source_address", 6, 8, 16 }, { "destination_address", 4, 16, 4 },
		{ "destination_address", 6, 24, 16 }, { "source_port", 17, 0, 2 }, { "destination_port", 17, 2, 2 },
		{ "udp_length", 17, 4, 2 }, { "opcode", 0, 0, 1 }, { "bth_flags", 0, 1, 1 }, { "pkey", 0, 2, 2 },
		{ "dqpn", 0, 5, 3 }, { "ackreq", 0, 8, 1 }, { "psn", 0, 9, 3 }, { "qkey", 'D', 0, 4 }, { "sqpn", 'D', 5, 3 },
		{ "va", 'R', 0, 8 }, { "rkey", 'R', 8, 4 }, { "dma_length", 'R', 12, 4 }, { "msn", 'A', 1, 3 },
		{ "immediate", 'I', 0, 4 },
	};
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		int header = fields[i].header, extension = wrong_extension(f, header);

		if (strcmp(fields[i].name, name))
			continue;
		*bytes = fields[i].bytes;
		if (header == (wrong_v6(f) ? 6 : 4))
			*at = f->l3 + fields[i].offset;
		else if (header == 17 && f->udp)
			*at = f->udp + fields[i].offset;
		else if (!header)
			*at = f->bth + fields[i].offset;
		else if (extension)
			*at = extension + fields[i].offset;
		else
			continue;
		return true;
	}
	return false;
}

/* One field goes in otherwise. how: 'z'ero, 'o'nes, 's'wapped, 'b'efore: that of frame b. A field that is not there changes nothing. */
static inline void wrong_one(struct wrong *w, const char *name, char how, const struct test_frame *b)
{
	uint8_t was[16];
	int at, bytes, from, count;

	if (!strcmp(name, "ip_checksum"))
		w->ip_checksum = 's';
	if (!wrong_field(&w->h, name, &at, &bytes))
		return;
	memcpy(was, w->h.bytes + at, bytes);
	if (how == 'b' && (!b || !wrong_field(b, name, &from, &count) || count != bytes))
		return;
	for (int i = 0; i < bytes; i++)
		w->h.bytes[at + i] = how == 'z' ? 0 : how == 'o' ? 255 : how == 's' ? was[bytes - 1 - i] : b->bytes[from + i];
}

/* The packet's headers as those of another version: 1: RoCEv1; 4, 6: RoCEv2 over that IP. */
static inline void wrong_version(struct wrong *w, int version)
{
	struct test_frame *h = &w->h;
	const struct test_frame f = *h;
	uint8_t address[2][16] = {}, *p = h->bytes + h->l3;
	int transport = f.end - f.bth;

	for (int i = 0; i < 2; i++) {
		if (wrong_v6(&f))
			memcpy(address[i], f.bytes + f.l3 + 8 + 16 * i, 16);
		else
			memcpy(put(address[i] + 10, 0xffff, 2), f.bytes + f.l3 + 12 + 4 * i, 4);
	}
	if (version == 4) {
		p = put(put(put(p, 0x4500, 2), 28 + transport, 2), 0x00004000, 4);
		p = put(put(put(p, 64, 1), 17, 1), 0, 2);
		for (int i = 0; i < 2; i++, p += 4)
			memcpy(p, address[i] + 12, 4);
	} else {
		p = put(put(p, 0x60000000, 4), transport + (version == 6 ? 8 : 0), 2);
		p = put(put(p, version == 6 ? 17 : 0x1b, 1), 64, 1);
		p = memcpy(p, address, 32), p += 32;
	}
	h->udp = version == 1 ? 0 : p - h->bytes;
	if (version != 1 && f.udp)
		p = memcpy(p, f.bytes + f.udp, 8), p += 8;
	else if (version != 1)
		p = put(put(put(put(p, 0xd00d, 2), 4791, 2), transport + 8, 2), 0, 2);
	h->bth = p - h->bytes;
	memcpy(p, f.bytes + f.bth, f.payload - f.bth);
	h->payload = h->bth + f.payload - f.bth;
}

static inline void wrong_extensions(struct test_frame *to, const struct test_frame *from)
{
	if (to->payload - to->bth == from->payload - from->bth)
		wrong_same(to, to->bth + 12, from, from->bth + 12, to->payload - to->bth - 12);
}

static inline void wrong_all_masks(struct wrong *w, char how)
{
	w->tos = w->ttl = w->ip_checksum = w->udp_checksum = w->resv8a = w->flow_label = how;
}

static inline void wrong_stale(struct wrong *w, const char *what, const struct test_frame *b)
{
	struct test_frame *h = &w->h;

	if (!b)
		wrong_one(w, what, 'b', NULL);
	else if (!strcmp(what, "length"))
		wrong_lengths(h, b, 0);
	else if (!strcmp(what, "extensions"))
		wrong_extensions(h, b);
	else if (!strcmp(what, "bth"))
		wrong_same(h, h->bth, b, b->bth, 12);
	else if (!strcmp(what, "header"))
		*h = *b;
	else
		wrong_one(w, what, 'b', b);
}

static inline void wrong_zeroed(struct wrong *w, const char *what)
{
	struct test_frame *h = &w->h;

	if (!strcmp(what, "tos"))
		w->tos = 'z';
	else if (!strcmp(what, "ttl"))
		w->ttl = 'z';
	else if (!strcmp(what, "ip_checksum"))
		w->ip_checksum = 'z';
	else if (!strcmp(what, "resv8a"))
		w->resv8a = 'z';
	else if (!strcmp(what, "flow_label"))
		w->flow_label = 'z';
	else if (!strcmp(what, "extensions"))
		memset(h->bytes + h->bth + 12, 0, h->payload - h->bth - 12);
	else if (!strcmp(what, "lengths"))
		wrong_lengths(h, h, -1);
	else
		wrong_one(w, what, 'z', NULL);
}

/* A field, or both lengths. */
static inline void wrong_both(struct wrong *w, const char *what, char how)
{
	bool lengths = !strcmp(what, "lengths");

	wrong_one(w, lengths ? "ip_length" : what, how, NULL);
	if (lengths)
		wrong_one(w, "udp_length", how, NULL);
}

/* The register goes on from that frame's ICRC. */
static inline void wrong_goes_on(struct wrong *w, const struct test_frame *b)
{
	uint32_t icrc;

	if (!b)
		return;
	memcpy(&icrc, b->bytes + b->icrc, 4);
	w->seed = ~icrc;
}

static inline void wrong_unmasked(struct wrong *w, const char *what)
{
	if (!strcmp(what, "tos"))
		w->tos = 's';
	else if (!strcmp(what, "ttl"))
		w->ttl = 's';
	else if (!strcmp(what, "ip_checksum"))
		w->ip_checksum = 's';
	else if (!strcmp(what, "udp_checksum"))
		w->udp_checksum = 'z';
	else if (!strcmp(what, "resv8a"))
		w->resv8a = 's';
	else if (!strcmp(what, "flow_label"))
		w->flow_label = 's';
}

/* If several ends are named, the last one counts. */
static inline void wrong_end(struct wrong *w)
{
	w->only_headers = w->no_pad = w->with_icrc = w->zero_pad = false;
	w->fill = w->cut = w->less = 0;
}

/* false: unknown name. */
static inline bool wrong_do(struct wrong *w, const char *name)
{
	struct test_frame *h = &w->h;
	uint8_t *psn = h->bytes + h->bth + 9;

#define IS(what) else if (!strcmp(name, what))
	if (!strcmp(name, "zero"))
		w->zero = true;
	IS("swapped") w->order = 's';
	IS("not_complemented") w->not_complemented = true;
	IS("bits_reversed") w->order = 'b';
	IS("halves_swapped") w->order = 'h';
	IS("msb_first") w->msb_first = true;
	IS("crc32c") w->polynomial = 0x82f63b78;
	IS("poly_not_reflected") w->polynomial = 0x04c11db7;
	IS("seed_zero") w->seed = 0;
	IS("no_ones") w->lead = "";
	IS("zeroes_for_ones") w->lead = "zeroes";
	IS("with_ethernet") w->ethernet = w->tags = true;
	IS("with_untagged") w->ethernet = true;
	IS("without_ip") w->no_ip = true;
	IS("without_udp") w->no_udp = true;
	IS("transport_only") w->no_ip = w->no_udp = true;
	IS("payload_only") w->no_ip = w->no_udp = w->no_transport = true;
	IS("nothing_masked") wrong_all_masks(w, 's');
	IS("masked_with_zeros") wrong_all_masks(w, 'z');
	IS("sent_udp_checksum") w->udp_checksum = 's';
	IS("previous_header") wrong_stale(w, "header", w->of_stream);
	IS("sender_header") wrong_stale(w, "header", w->of_sender);
	IS("next_psn") put(psn, (psn[0] << 16 | psn[1] << 8 | psn[2]) + 1, 3);
	IS("toggled_ackreq") psn[-1] ^= 0x80;
	IS("short_lengths") wrong_lengths(h, h, 4);
	IS("previous_icrc") w->late = w->of_stream;
	IS("sender_icrc") w->late = w->of_sender;
	IS("no_pad") wrong_end(w), w->no_pad = true;
	IS("headers_only") wrong_end(w), w->only_headers = true;
	IS("with_icrc_as_zeros") wrong_end(w), w->with_icrc = true;
	IS("zeroed_pad") wrong_end(w), w->zero_pad = true;
	IS("without_last_4") wrong_end(w), w->less = 4;
	IS("words_swapped") w->swap = 4;
	IS("all_words_swapped") w->swap = 4, w->swap_headers = true;
	IS("words8_swapped") w->swap = 8;
	IS("not_reset") wrong_goes_on(w, w->of_sender);
	IS("not_reset_bare") wrong_goes_on(w, w->of_sender), w->lead = "";
	IS("not_reset_stream") wrong_goes_on(w, w->of_stream);
	IS("ones_behind") w->lead = "", w->ones_behind = true;
	IS("ethernet_fcs") w->lead = "", w->ethernet = w->tags = true, wrong_all_masks(w, 's'), w->udp_checksum = 'z';
	IS("short_byte") w->less = 1;
	IS("extra_byte") w->extra = 1;
	IS("of_rocev1") wrong_version(w, 1);
	IS("of_ipv6") wrong_version(w, 6);
	IS("of_ipv4") wrong_version(w, 4);
#undef IS
	else if (!strncmp(name, "unmasked_", 9))
		wrong_unmasked(w, name + 9);
	else if (!strncmp(name, "masked_", 7))
		wrong_both(w, name + 7, 'o');
	else if (!strncmp(name, "swapped_", 8))
		wrong_both(w, name + 8, 's');
	else if (!strncmp(name, "late_mask_", 10))
		w->mask_late = atoi(name + 10), wrong_all_masks(w, 's'), w->udp_checksum = 'z';
	else if (!strncmp(name, "zeroed_", 7))
		wrong_zeroed(w, name + 7);
	else if (!strncmp(name, "stale_", 6))
		wrong_stale(w, name + 6, w->of_stream);
	else if (!strncmp(name, "sender_", 7))
		wrong_stale(w, name + 7, w->of_sender);
	else if (!strncmp(name, "filled_frame_", 13) || !strncmp(name, "filled_ip_", 10)) {
		wrong_end(w);
		w->fill = atoi(strrchr(name, '_') + 1);
		w->fill_from_ip = name[7] == 'i';
	} else if (!strncmp(name, "cut_", 4)) {
		wrong_end(w);
		w->cut = atoi(strrchr(name, '_') + 1);
		w->cut_from_ip = name[4] == 'i';
	} else
		return false;
	return true;
}

static inline void wrong_mask(uint8_t *byte, uint8_t bits, char how)
{
	if (how == 'o')
		*byte |= bits;
	if (how == 'z')
		*byte &= 255 - bits;
}

/* bytes: from the IP header on */
static inline void wrong_mask_late(const struct wrong *w, uint8_t *bytes, int count)
{
	const struct test_frame *h = &w->h;
	int v4[] = { 1, 8, 10, 11 }, v6[] = { 0, 1, 2, 3, 7 }, udp = h->udp ? h->udp - h->l3 : -1000;
	int rest[] = { udp + 6, udp + 7, h->bth - h->l3 + 4 };

	for (int i = 0; i < (wrong_v6(h) ? 5 : 4) + 3; i++) {
		int of_ip = wrong_v6(h) ? 5 : 4, at = i < of_ip ? (wrong_v6(h) ? v6[i] : v4[i]) : rest[i - of_ip];

		if (at >= 0 && at + w->mask_late < count)
			bytes[at + w->mask_late] |= at ? 0xff : 0x0f;
	}
}

static inline int wrong_gather(struct wrong *w, uint8_t *to)
{
	struct test_frame *h = &w->h;
	const struct test_frame *f = w->f;
	uint8_t *p = to, *ip = h->bytes + h->l3, *body;
	int pad = f->bytes[f->bth + 1] >> 4 & 3, payload = f->icrc - f->payload - pad, rest, less;
	int udp = h->udp ? h->udp : h->bth;

	if (wrong_v6(h)) {
		wrong_mask(ip, 0x0f, w->tos);
		wrong_mask(ip + 1, 0xf0, w->tos);
		wrong_mask(ip + 1, 0x0f, w->flow_label);
		wrong_mask(ip + 2, 255, w->flow_label);
		wrong_mask(ip + 3, 255, w->flow_label);
		wrong_mask(ip + 7, 255, w->ttl);
	} else {
		wrong_mask(ip + 1, 255, w->tos);
		wrong_mask(ip + 8, 255, w->ttl);
		wrong_mask(ip + 10, 255, w->ip_checksum);
		wrong_mask(ip + 11, 255, w->ip_checksum);
	}
	if (h->udp) {
		wrong_mask(h->bytes + h->udp + 6, 255, w->udp_checksum);
		wrong_mask(h->bytes + h->udp + 7, 255, w->udp_checksum);
	}
	wrong_mask(h->bytes + h->bth + 4, 255, w->resv8a);

	if (*w->lead)
		p = memset(p, *w->lead == 'o' ? 255 : 0, 8), p += 8;
	if (w->ethernet) {
		for (int i = 0; i < h->l3; i++)
			if (w->tags || i < 12 || i >= h->l3 - 2)
				*p++ = h->bytes[i];
	}
	for (int i = h->l3; i < h->payload; i++)
		if ((i < udp && !w->no_ip) || (i >= udp && i < h->bth && !w->no_udp) || (i >= h->bth && !w->no_transport))
			*p++ = h->bytes[i];
	body = p;
	rest = w->only_headers ? 0 : payload + (w->no_pad || w->zero_pad ? 0 : pad);
	for (uint8_t *at = to; w->swap_headers && at + 4 <= body; at += 4)
		put(at, (uint32_t)at[3] << 24 | at[2] << 16 | at[1] << 8 | at[0], 4);
	less = w->cut ? (f->icrc - (w->cut_from_ip ? f->l3 : 0)) % w->cut : w->less;
	rest = less < rest ? rest - less : 0;
	memcpy(p, f->bytes + f->payload, rest);
	p += rest;
	for (int at = 0; w->swap && at + w->swap <= rest; at += w->swap)
		for (int i = 0; i < w->swap; i++)
			body[at + i] = f->bytes[f->payload + at + w->swap - 1 - i];
	if (w->zero_pad)
		p = memset(p, 0, pad), p += pad;
	if (w->with_icrc)
		p = memset(p, 0, 4), p += 4;
	if (w->fill && !w->only_headers && !w->no_pad && !w->with_icrc)
		for (int end = f->icrc - (w->fill_from_ip ? f->l3 : 0); end % w->fill; end++)
			*p++ = 0;
	p = memset(p, 0, w->extra), p += w->extra;
	if (w->ones_behind)
		p = memset(p, 255, 8), p += 8;
	if (w->mask_late)
		wrong_mask_late(w, to + 8, p - to - 8);
	return p - to;
}

static inline uint32_t wrong_crc(const struct wrong *w, const uint8_t *p, int count)
{
	uint32_t r = w->seed;

	if (!w->msb_first && w->polynomial == 0xedb88320)
		return ~crc32(~w->seed, p, count);
	for (int i = 0; i < count; i++) {
		for (int bit = 0; bit < 8; bit++) {
			uint32_t in = p[i] >> (w->msb_first ? 7 - bit : bit) & 1;

			r = (r & 1) ^ in ? r >> 1 ^ w->polynomial : r >> 1;
		}
	}
	return r;
}

/* Bit 31 becomes bit 0. */
static inline uint32_t wrong_mirror(uint32_t v)
{
	uint32_t to = 0;

	for (int i = 0; i < 32; i++)
		to |= (v >> i & 1) << (31 - i);
	return to;
}

/* The four bytes on the wire for one mistake, or for two in this order (second: NULL or "" for one). false: unknown name. */
static inline bool wrong_icrc(const struct test_frame *f, const struct test_frame *of_stream,
			      const struct test_frame *of_sender,
			      const char *first, const char *second, uint8_t icrc[4])
{
	static uint8_t bytes[FRAME_ROOM];
	static struct wrong w;
	uint8_t swapped[4];
	uint32_t r;

	w = (struct wrong){ .f = f, .of_stream = of_stream, .of_sender = of_sender, .h = *f, .lead = "ones",
			    .polynomial = 0xedb88320, .seed = ~0u, .order = 'r' };
	wrong_all_masks(&w, 'o');
	if ((first && *first && !wrong_do(&w, first)) || (second && *second && !wrong_do(&w, second)))
		return false;
	r = wrong_crc(&w, bytes, wrong_gather(&w, bytes));
	if (!w.not_complemented)
		r = ~r;
	if (w.zero)
		r = 0;
	if (w.late && !w.zero) {
		uint32_t late = frame_icrc(w.late);

		memcpy(icrc, &late, 4);
		return true;
	}
	if (w.msb_first)
		r = __builtin_bswap32(wrong_mirror(r)); /* most significant byte first */
	for (int i = 0; i < 4; i++)
		icrc[i] = r >> 8 * i;
	memcpy(swapped, icrc, 4);
	for (int i = 0; i < 4; i++) {
		if (w.order == 's')
			icrc[i] = swapped[3 - i];
		if (w.order == 'h')
			icrc[i] = swapped[i ^ 2];
		if (w.order == 'b')
			icrc[i] = wrong_mirror(swapped[i]) >> 24;
	}
	return true;
}

#endif
