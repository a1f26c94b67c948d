/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds RoCE frames for the unit tests by the specification, without the engine. */
#ifndef TESTS_FRAME_H
#define TESTS_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/unit/ibta.h"

#define FRAME_ROOM 16384

struct frame_spec {
	int tags;	   /* VLAN tags, 0..4; the engine cannot read more than three */
	bool ipv6;
	bool grh;	   /* RoCEv1: a GRH instead of IP and UDP */
	int ip_options;	   /* bytes of IPv4 options, a multiple of 4 up to 40 */
	int extensions;	   /* IPv6 extension headers before UDP, of 8, 16, 24... bytes */
	bool atomic_fragment; /* IPv6: a fragment header of an unfragmented packet */
	uint16_t fragment; /* IPv4: flags and offset field, replaces DF; IPv6: of a fragment header */
	uint8_t opcode;
	uint32_t dqpn, psn, sqpn;
	uint32_t dma_length, immediate;
	uint8_t syndrome;
	int payload, pad;
	int trailer;	   /* bytes behind the IP datagram, like Ethernet's padding */
	bool bad_icrc;
	uint8_t tos;
	uint16_t port;	   /* 0: 4791 */
};

struct test_frame {
	uint8_t bytes[FRAME_ROOM];
	int length;
	int l3, udp, bth, payload, icrc, end; /* offsets; end: of the IP datagram; udp: 0 if there is none */
};

static inline uint8_t *put(uint8_t *p, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		*p++ = value >> 8 * i;
	return p;
}

/* Fills a window for roce_parse(): the captured bytes, then garbage. */
static inline void frame_fill(uint8_t *window, const struct test_frame *f, int captured, int window_bytes)
{
	memset(window, 0xa5, window_bytes);
	memcpy(window, f->bytes, captured < window_bytes ? captured : window_bytes);
}

/* A new window. The caller frees it. */
static inline uint8_t *frame_window(const struct test_frame *f, int captured, int window_bytes)
{
	uint8_t *window = malloc(window_bytes);

	frame_fill(window, f, captured, window_bytes);
	return window;
}

static inline uint8_t *frame_extension_headers(uint8_t *p, const struct frame_spec *s)
{
	const struct ibta_opcode *o = ibta_find(s->opcode);

	for (const char *w = o ? o->what : ""; *w; w++) {
		switch (*w) {
		case 'Y': case 'X': case 'V': case 'H':
			p = put(p, 0x01020304, 4);
			break;
		case 'D':
			p = put(put(p, 0x11111111, 4), s->sqpn, 4);
			break;
		case 'R':
			p = put(put(put(p, 0xfedcba9876543210, 8), 0x12345678, 4), s->dma_length, 4);
			break;
		case 'T':
			p = put(put(put(put(p, 1, 8), 2, 4), 3, 8), 4, 8);
			break;
		case 'A':
			p = put(put(p, s->syndrome, 1), 0x000007, 3);
			break;
		case 't':
			p = put(p, 5, 8);
			break;
		case 'I':
			p = put(p, s->immediate, 4);
			break;
		}
	}
	return p;
}

/* RFC 1071, over `bytes` bytes, added to `sum`. */
static inline uint16_t frame_checksum(const uint8_t *p, int bytes, uint32_t sum)
{
	for (int i = 0; i < bytes; i++)
		sum += i % 2 ? p[i] : p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* The ICRC by zlib over a masked copy. */
static inline uint32_t frame_icrc(const struct test_frame *f)
{
	static const uint8_t ones[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	uint8_t copy[FRAME_ROOM], *ip = copy + f->l3;
	uLong crc = crc32(0, ones, 8);

	memcpy(copy, f->bytes, f->end);
	if (ip[0] >> 4 == 4) {
		ip[1] = ip[8] = ip[10] = ip[11] = 255;
	} else {
		ip[0] = 0x6f;
		ip[1] = ip[2] = ip[3] = ip[7] = 255;
	}
	if (f->udp)
		copy[f->udp + 6] = copy[f->udp + 7] = 255;
	copy[f->bth + 4] = 255;
	return crc32(crc, ip, f->icrc - f->l3);
}

static inline void frame_build(struct test_frame *f, const struct frame_spec *s)
{
	static const uint16_t tag_types[] = { 0x8100, 0x88a8, 0x9100, 0x9200 }; /* from the inner one on */
	uint8_t *p = f->bytes, *ip, *udp, *next;
	int i;

	p = put(put(p, 0x020000000002, 6), 0x020000000001, 6);
	for (i = 0; i < s->tags; i++)
		p = put(put(p, tag_types[s->tags - 1 - i], 2), 0x6000 + 100 + i, 2);
	p = put(p, s->grh ? 0x8915 : s->ipv6 ? 0x86dd : 0x0800, 2);
	ip = p;
	if (s->ipv6 || s->grh) {
		p = put(put(p, 0x60000000u | (uint32_t)s->tos << 20 | 0x12345, 4), 0, 2);
		next = p;
		p = put(put(p, s->grh ? 0x1b : 17, 1), 63, 1);
		p = put(put(p, 0xfd00000000000000, 8), 1, 8);
		p = put(put(p, 0xfd00000000000000, 8), 2, 8);
		for (i = 0; i < s->extensions; i++) {
			*next = i ? 60 : 0;
			next = p;
			p = put(put(p, 17, 1), i, 1);
			p = put(p, 0x01040000, 6);
			memset(p, 0, 8 * i);
			p += 8 * i;
		}
		if (s->atomic_fragment || s->fragment) {
			*next = 44;
			p = put(put(put(p, 17, 1), 0, 1), s->fragment, 2);
			p = put(p, 0xdeadbeef, 4);
		}
	} else {
		p = put(put(p, 0x45 + s->ip_options / 4, 1), s->tos, 1);
		p = put(put(put(p, 0, 2), 0x1234, 2), s->fragment ? s->fragment : 0x4000, 2);
		p = put(put(put(p, 63, 1), 17, 1), 0, 2);
		p = put(put(p, 0x0a090001, 4), 0x0a090002, 4);
		memset(p, 1, s->ip_options);
		p += s->ip_options;
	}
	udp = s->grh ? NULL : p;
	if (udp) {
		p = put(put(p, 49152 + 7, 2), s->port ? s->port : 4791, 2);
		p = put(p, 0, 4);
	}
	f->bth = p - f->bytes;
	p = put(put(put(p, s->opcode, 1), s->pad << 4, 1), 0xffff, 2);
	p = put(put(p, s->dqpn & 0xffffff, 4), s->psn & 0xffffff, 4);
	p = frame_extension_headers(p, s);
	f->payload = p - f->bytes;
	for (i = 0; i < s->payload; i++)
		*p++ = i * 7 + 3;
	p = put(p, 0, s->pad);
	f->l3 = ip - f->bytes;
	f->udp = udp ? udp - f->bytes : 0;
	f->icrc = p - f->bytes;
	f->end = f->icrc + 4;
	if (udp)
		put(udp + 4, f->end - f->udp, 2);
	put(ip + (s->ipv6 || s->grh ? 4 : 2), f->end - f->l3 - (s->ipv6 || s->grh ? 40 : 0), 2);
	if (!s->ipv6 && !s->grh)
		put(ip + 10, frame_checksum(ip, udp - ip, 0), 2);
	put(p, __builtin_bswap32(frame_icrc(f) ^ (s->bad_icrc ? 1 : 0)), 4);
	f->length = f->end + s->trailer;
	memset(f->bytes + f->end, 0, s->trailer);
}

/* xorshift64*: the same numbers on every machine. */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

#endif
