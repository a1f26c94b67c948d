// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tunnels built by their RFCs around frames: found, cut at every length, with false fields, and random bytes. */
#include "roce/datagram/datagram.h"
#include "roce/stream/frame_class.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"

enum tunnel { GRE, GRE_KEY, GRE_ALL, ERSPAN_1, ERSPAN_2, ERSPAN_3, ERSPAN_3_PLATFORM, MIRROR, VXLAN, GENEVE, TUNNELS };

struct wrapped {
	uint8_t bytes[FRAME_ROOM];
	int length;
	int ip, proto, tunnel, offset; /* offsets of IP, its protocol field, the header after IP, and the inner frame */
};

static uint8_t *put_gre(uint8_t *p, enum tunnel kind)
{
	static const uint16_t flags[] = { [GRE_KEY] = 0x2000, [GRE_ALL] = 0xb000, [ERSPAN_2] = 0x1000, [ERSPAN_3] = 0x1000,
					  [ERSPAN_3_PLATFORM] = 0x1000, [VXLAN] = 0 };

	p = put(p, flags[kind], 2);
	p = put(p, kind < ERSPAN_1 ? 0x6558 : kind < ERSPAN_3 ? 0x88be : kind < MIRROR ? 0x22eb : 0x8949, 2);
	for (int bit = 0x8000; bit >= 0x1000; bit >>= 1)
		if (flags[kind] & bit)
			p = put(p, 0x01020304, 4);
	if (kind == ERSPAN_2)
		p = put(p, 0x10071805deadbeef, 8);
	if (kind == ERSPAN_3 || kind == ERSPAN_3_PLATFORM)
		p = put(put(p, 0x20071805deadbeef, 8), kind == ERSPAN_3 ? 0x00008034 : 0x00008035, 4);
	if (kind == ERSPAN_3_PLATFORM)
		p = put(p, 0x4000000000000000, 8);
	return kind == MIRROR ? p + 22 : p;
}

/* options: bytes of IPv4 options; trailer: bytes of Ethernet padding. */
static struct wrapped wrap(const uint8_t *inner, int length, enum tunnel kind, int tags, bool ipv6, int options, int trailer)
{
	struct wrapped w = { 0 };
	uint8_t headers[64] = { 0 }, *h = headers, *p = w.bytes + 12;
	bool udp = kind == VXLAN || kind == GENEVE;
	int payload;

	if (udp)
		h = put(put(put(h, kind == VXLAN ? 0xc00012b5 : 0xc00017c1, 4), (uint64_t)(length + 16) << 16, 4),
			kind == VXLAN ? 0x0800000000100000 : 0x0240655800100000, 8) + (kind == GENEVE ? 8 : 0);
	else
		h = put_gre(h, kind);
	payload = h - headers + length;
	for (int i = 0; i < tags; i++)
		p = put(put(p, i ? 0x8100 : 0x88a8, 2), 100 + i, 2);
	p = put(p, ipv6 ? 0x86dd : 0x0800, 2);
	w.ip = p - w.bytes;
	w.proto = w.ip + (ipv6 ? 6 : 9);
	if (ipv6) {
		p = put(put(p, 0x60000000, 4), payload, 2);
		p = put(put(p, udp ? 17 : 47, 1), 64, 1) + 32;
	} else {
		p = put(put(put(p, 0x45 + options / 4, 1), 0, 1), 20 + options + payload, 2);
		p = put(put(put(p, 0x4000, 4), 64, 1), udp ? 17 : 47, 1) + 10 + options;
	}
	w.tunnel = p - w.bytes;
	memcpy(p, headers, h - headers);
	w.offset = w.tunnel + (h - headers);
	memcpy(w.bytes + w.offset, inner, length);
	w.length = w.offset + length + trailer;
	return w;
}

/* Calls it with memory that ends with the captured bytes. */
static bool decap(const uint8_t *bytes, int captured, int wire, struct roce_inner *inner)
{
	uint8_t *window = malloc(captured ?: 1);
	bool found;

	memcpy(window, bytes, captured);
	found = roce_decap(window, captured, wire, inner);
	free(window);
	if (found) {
		assert_true(inner->captured >= WIRE_ETH_LEN && inner->captured <= inner->wire);
		assert_true(!inner->ethertype || inner->captured >= WIRE_ETH_LEN + WIRE_IPV4_LEN);
		assert_true((int)(inner->offset + inner->captured) <= captured && (int)(inner->offset + inner->wire) <= wire);
	}
	return found;
}

static bool is_tunnel(const struct wrapped *w)
{
	struct roce_inner inner;

	return decap(w->bytes, w->length, w->length, &inner);
}

static struct test_frame an_inner(void)
{
	static const struct frame_spec spec = { .opcode = 0x2a, .dqpn = 17, .psn = 5, .payload = 256, .dma_length = 256 };
	struct test_frame f;

	frame_build(&f, &spec);
	return f;
}

static void check_all(const struct test_frame *f, const struct wrapped *w)
{
	struct roce_inner inner;
	struct roce_packet p;

	assert_true(decap(w->bytes, w->length, w->length, &inner));
	assert_int_equal(inner.offset, w->offset);
	assert_int_equal(inner.wire, f->length);
	assert_int_equal(inner.captured, f->length);
	roce_parse_frame(w->bytes + inner.offset, inner.captured, inner.wire, true, NULL, &p);
	assert_int_equal(p.kind, ROCE_PACKET);
	assert_int_equal(p.number, 5);
	assert_false(p.truncated);
	/* for every length that a capture may keep */
	for (int captured = 0; captured <= w->length; captured++) {
		int left = captured - w->offset;

		assert_int_equal(decap(w->bytes, captured, w->length, &inner), left >= WIRE_ETH_LEN);
		if (left < WIRE_ETH_LEN)
			continue;
		assert_int_equal(inner.wire, f->length);
		assert_int_equal(inner.captured, left < f->length ? left : f->length);
	}
}

static void every_kind(void **state)
{
	struct test_frame f = an_inner();

	(void)state;
	for (enum tunnel kind = 0; kind < TUNNELS; kind++)
		for (int tags = 0; tags <= 3; tags++)
			for (int shape = 0; shape < 4; shape++) {
				static const int options[] = { 0, 4, 40, 0 };
				struct wrapped w = wrap(f.bytes, f.length, kind, tags, shape == 3, options[shape], kind % 2 * 7);

				check_all(&f, &w);
			}
}

/* A frame cut by the mirror is truncated, not malformed. Its length is what the IP length says. */
static void cut_by_the_mirror(void **state)
{
	struct test_frame f = an_inner();

	(void)state;
	for (int keep = 0; keep <= f.length; keep++) {
		struct wrapped w = wrap(f.bytes, keep, ERSPAN_2, 0, false, 0, 0);
		struct roce_inner inner;
		struct roce_packet p;
		uint8_t *window;

		assert_int_equal(decap(w.bytes, w.length, w.length, &inner), keep >= WIRE_ETH_LEN);
		if (keep < WIRE_ETH_LEN)
			continue;
		assert_int_equal(inner.wire, keep);
		window = frame_window(&f, inner.captured, ROCE_WINDOW_BYTES);
		roce_parse_frame(window, inner.captured, inner.wire, true, NULL, &p);
		free(window);
		if (keep < f.bth + 12) {
			assert_int_equal(p.kind, ROCE_OTHER);
			continue;
		}
		assert_int_equal(p.kind, ROCE_PACKET);
		assert_int_equal(p.truncated, keep < f.end);
		assert_int_equal(p.frame_bytes, f.end > keep ? f.end : keep);
		assert_int_equal(p.payload_bytes, 256);
	}
}

/* Frames without a known tunnel are left unchanged. */
static void others(void **state)
{
	struct test_frame f = an_inner();
	struct wrapped w;

	(void)state;
	assert_false(decap(f.bytes, f.length, f.length, &(struct roce_inner){ 0 }));
#define WITHOUT(kind, ipv6, at, value)                                          \
	do {                                                                    \
		w = wrap(f.bytes, f.length, kind, 0, ipv6, 0, 0);               \
		assert_true(is_tunnel(&w));                                     \
		w.bytes[at] = value;                                            \
		assert_false(is_tunnel(&w));                                    \
	} while (0)
	WITHOUT(GRE, false, w.ip, 0x35);	      /* IP's version, ... */
	WITHOUT(GRE, false, w.ip, 0x44);	      /* ... header length */
	WITHOUT(GRE, false, w.ip + 6, 0x20);	      /* ... more fragments */
	WITHOUT(GRE, false, w.ip + 7, 1);	      /* ... offset of a fragment */
	WITHOUT(GRE, false, w.proto, 6);
	WITHOUT(GRE, false, w.tunnel, 0x40);	      /* GRE's routing, ... */
	WITHOUT(GRE, false, w.tunnel + 1, 1);	      /* ... version */
	WITHOUT(GRE, false, w.tunnel + 2, 0x08);      /* ... a payload that is not Ethernet */
	WITHOUT(GRE, true, w.ip, 0x40);
	WITHOUT(GRE, true, w.proto, 60);
	WITHOUT(ERSPAN_2, false, w.tunnel + 8, 0x20); /* ERSPAN's version, ... */
	WITHOUT(ERSPAN_3, false, w.tunnel + 8, 0x10);
	WITHOUT(ERSPAN_3, false, w.tunnel + 18, 0x88); /* ... an IP packet inside */
	WITHOUT(VXLAN, false, w.tunnel + 3, 0xb6);    /* UDP to another port, ... */
	WITHOUT(VXLAN, false, w.tunnel + 8, 0);	      /* ... without an identifier */
	WITHOUT(GENEVE, false, w.tunnel + 8, 0x42);   /* Geneve's version, */
	WITHOUT(GENEVE, false, w.tunnel + 9, 0x80);   /* ... a control packet, */
	WITHOUT(GENEVE, false, w.tunnel + 10, 0x88);  /* ... another payload */
	w = wrap(f.bytes, f.length, GRE, 4, false, 0, 0);
	assert_false(is_tunnel(&w));
	/* IP shorter than the tunnel's headers, or longer than the frame */
	w = wrap(f.bytes, 13, GRE, 0, false, 0, 40);
	assert_false(is_tunnel(&w));
	w = wrap(f.bytes, f.length, GRE, 0, false, 0, 0);
	put(w.bytes + w.ip + 2, 0xffff, 2);
	assert_true(is_tunnel(&w));
}

/* ---- any tunnels in each other ---- */

/* What grows at its front. */
struct nest {
	uint8_t bytes[FRAME_ROOM];
	int at;	 /* of the first byte */
	bool ip; /* it begins with an IP header, not with Ethernet */
	int version;
};

static void before(struct nest *n, uint64_t value, int bytes)
{
	n->at -= bytes;
	put(n->bytes + n->at, value, bytes);
}

static int length_of(const struct nest *n)
{
	return FRAME_ROOM - n->at;
}

static int type_of(const struct nest *n)
{
	return !n->ip ? 0x6558 : n->version == 4 ? 0x0800 : 0x86dd;
}

static void put_labels(struct nest *n)
{
	if (!n->ip && rand() % 2)
		before(n, 0, 4); /* a control word */
	for (int labels = rand() % 8, i = 0; i <= labels; i++)
		before(n, (uint64_t)rand() << 12 | (i ? 0x40 : 0x140), 4);
}

static void put_mirror(struct nest *n)
{
	n->at -= 22;
	for (int i = 0; i < 22; i++)
		n->bytes[n->at + i] = rand();
}

/* Behind IP. Returns the protocol. */
static int put_tunnel(struct nest *n)
{
	int options = rand() % 64 * 4, type = type_of(n), way = rand() % 5;

	if (way == 0) {
		put_labels(n);
		return 137;
	}
	if (way == 1)
		return !n->ip ? 143 : n->version == 4 ? 4 : 41;
	if (way == 2) {
		n->at -= options;
		memset(n->bytes + n->at, 0x55, options);
		before(n, (uint64_t)options / 4 << 56 | (uint64_t)type << 32 | 77 << 8, 8);
		before(n, 0xc00017c1ull << 32 | (uint64_t)(length_of(n) + 8) << 16, 8);
		return 17;
	}
	if (way == 3 && !n->ip) {
		put_mirror(n);
		before(n, 0x8949, 4);
		return 47;
	}
	if (way == 4)
		put_labels(n);
	before(n, 0x20000000 | (way == 4 ? 0x8847 : type), 4);
	n->at -= 4; /* a key between */
	memmove(n->bytes + n->at, n->bytes + n->at + 4, 4);
	return 47;
}

static void put_ip(struct nest *n)
{
	bool ipv6 = rand() % 2;
	int protocol = put_tunnel(n);

	if (ipv6 && rand() % 2) { /* a routing header with a segment */
		n->at -= 16;
		memset(n->bytes + n->at, 0xfd, 16);
		before(n, (uint64_t)protocol << 56 | 2ull << 48 | 4ull << 40, 8);
		protocol = 43;
	}
	n->version = ipv6 ? 6 : 4;
	n->ip = true;
	if (ipv6) {
		int payload = length_of(n);

		n->at -= 32;
		memset(n->bytes + n->at, 0xfd, 32);
		before(n, 6ull << 60 | (uint64_t)payload << 16 | protocol << 8 | 64, 8);
	} else {
		int length = length_of(n) + 20;

		before(n, 0x0a4d00010a4d0002, 8);
		before(n, 64 << 24 | protocol << 16, 8);
		before(n, 0x45000000 | length, 4);
	}
}

static void put_ethernet(struct nest *n, int type)
{
	before(n, type, 2);
	for (int tags = rand() % 3; tags > 0; tags--)
		before(n, 0x88a80000 | (rand() % 4096), 4);
	before(n, 0x020000000000 | (rand() & 0xffffff), 6);
	before(n, 0x020000000000 | (rand() & 0xffffff), 6);
	n->ip = false;
}

/* A tunnel, up to an Ethernet header, or without one. */
static void put_layer(struct nest *n)
{
	int way = rand() % 4;

	if (way == 0) {
		put_labels(n);
		put_ethernet(n, 0x8847);
	} else if (way == 1 && !n->ip) {
		put_mirror(n);
		put_ethernet(n, 0x8949);
	} else {
		put_ip(n);
		if (rand() % 3)
			put_ethernet(n, n->version == 4 ? 0x0800 : 0x86dd);
	}
}

/* RoCE in up to three tunnels of any kind is found, with what belongs to it, and known to be inside. */
static void any_depth(void **state)
{
	struct test_frame f = an_inner();
	int tried = 0;

	(void)state;
	srand(13);
	while (tried < 100000) {
		struct nest n = { .at = FRAME_ROOM - f.length, .version = 4 };
		int depth = 1 + rand() % 3, skipped;
		struct roce_inner inner;
		struct roce_packet p;

		memcpy(n.bytes + n.at, f.bytes, f.length);
		if (rand() % 2) {
			n.at += WIRE_ETH_LEN;
			n.ip = true;
		}
		skipped = length_of(&n);
		for (int i = 0; i < depth && length_of(&n) < FRAME_ROOM - 400; i++)
			put_layer(&n);
		if (n.ip)
			put_ethernet(&n, n.version == 4 ? 0x0800 : 0x86dd);
		skipped = length_of(&n) - skipped;
		if (skipped > DECAP_WINDOW - WIRE_ETH_LEN - WIRE_IPV4_LEN)
			continue;
		tried++;
		assert_true(decap(n.bytes + n.at, length_of(&n), length_of(&n), &inner));
		assert_int_equal(inner.offset, skipped - (inner.ethertype ? WIRE_ETH_LEN : 0));
		assert_int_equal(inner.wire, f.length);
		roce_parse(n.bytes + n.at, length_of(&n), length_of(&n), NULL, &p);
		assert_int_equal(p.kind, ROCE_OTHER);
		assert_int_equal(p.frame_class, FRAME_TUNNEL);
		roce_classify_frame(n.bytes + n.at, length_of(&n), &p);
		assert_int_equal(p.frame_class, FRAME_INSIDE);
		roce_inner_ethernet(n.bytes + n.at + inner.offset, inner.ethertype);
		roce_parse_frame(n.bytes + n.at + inner.offset, inner.captured, inner.wire, true, NULL, &p);
		assert_int_equal(p.kind, ROCE_PACKET);
		assert_int_equal(p.number, 5);
		assert_false(p.truncated);
	}
}

/* The same frame with changed bytes, and random bytes; decap() checks the result. */
static void random_bytes(void **state)
{
	struct test_frame f = an_inner();
	struct wrapped w;
	int found = 0;

	(void)state;
	srand(8);
	for (int i = 0; i < 300000; i++) {
		struct roce_inner inner;
		int wire, captured;

		if (i % 1000 == 0)
			w = wrap(f.bytes, f.length, rand() % TUNNELS, rand() % 3, rand() % 2, rand() % 11 * 4, rand() % 9);
		w.bytes[12 + rand() % 110] = rand();
		if (i % 7 == 0)
			w = wrap(f.bytes, rand() % f.length, rand() % TUNNELS, rand() % 3, rand() % 2, rand() % 11 * 4, rand() % 9);
		wire = w.length + (rand() % 3 ? 0 : rand() % 2000);
		captured = rand() % 3 ? w.length : rand() % (w.length + 1);
		found += decap(w.bytes, captured, wire, &inner);
	}
	assert_in_range(found, 20000, 290000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind),
		cmocka_unit_test(cut_by_the_mirror),
		cmocka_unit_test(others),
		cmocka_unit_test(any_depth),
		cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
