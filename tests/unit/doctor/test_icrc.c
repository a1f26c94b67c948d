// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 4 s, long 600 s
/* Finds why ICRCs are wrong: each mistake, each pair of mistakes, flipped bits, lanes, and meaningless values. */
#include <stdio.h>

#include "roce/datagram/datagram.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/icrc_wrong.h"
#include "tests/unit/long.h"
#include "userspace/diagnose/icrc/icrc_study.h"

#define PACKETS (test_long() ? PACKETS_MOST : 5) /* of each of two QPs: five have each opcode once */
#define PACKETS_MOST 10
#define QPS 2

/* The properties of the sender's packets. */
struct traffic {
	const char *name;
	bool ipv6;
	int tags;
	uint8_t service; /* upper bits of the opcode */
	int mtu, last; /* payload of the packets, and of each message's last one */
	bool plain; /* like most senders: no UDP checksum, no FECN; TOS, IP identification and flow label 0 */
};

static const struct traffic traffics[] = {
	{ "UC, IPv4, 1024", false, 0, 0x20, 1024, 333, false },
	{ "RC, IPv6, VLAN, 256", true, 1, 0x00, 256, 102, false },
	{ "UC, IPv4, VLAN, 4096", false, 1, 0x20, 4096, 4095, false },
	{ "RC, IPv4, plain", false, 0, 0x00, 512, 512, true },
};
#define TRAFFICS (sizeof(traffics) / sizeof(*traffics))

static uint64_t seed = 4711;

static void make_packet(const struct traffic *t, struct test_frame *f, int qp, int k)
{
	/* Only with immediate, First, Middle, Last, Only */
	static const uint8_t opcodes[] = { 0x0b, 0x06, 0x07, 0x09, 0x04 };
	int at = k % 5, payload = at == 1 || at == 2 ? t->mtu : t->last - (at == 4 && !t->plain);
	struct frame_spec s = {
		.tags = t->tags, .ipv6 = t->ipv6, .opcode = opcodes[at] + t->service, .dqpn = 0x11 + 0x1200 * qp,
		.psn = 0x100 + k + 0x345678 * qp, .dma_length = payload * 3, .immediate = 77 + k, .payload = payload,
		.pad = -payload & 3, .tos = t->plain ? 0 : 0x48,
	};
	uint8_t *ip;

	frame_build(f, &s);
	for (int i = f->payload; i < f->payload + payload; i++)
		f->bytes[i] = random_next(&seed) >> 40;
	for (int i = f->payload + payload; !t->plain && i < f->icrc; i++)
		f->bytes[i] = random_next(&seed) >> 40;
	ip = f->bytes + f->l3;
	f->bytes[f->bth + 8] = at > 2 ? 0x80 : 0;
	if (t->ipv6 && t->plain)
		put(ip, 0x60000000, 4);
	if (!t->ipv6)
		put(ip + 4, t->plain ? 0 : 0x7000 + 10 * k + qp, 2);
	if (!t->plain)
		f->bytes[f->bth + 4] = 0x40;
	if (!t->ipv6) {
		put(ip + 10, 0, 2);
		put(ip + 10, frame_checksum(ip, 20, 0), 2);
	}
	if (!t->plain)
		put(f->bytes + f->udp + 6, 0x1357 + k, 2);
	put(f->bytes + f->udp, 0xc000 + qp, 2);
}

/* Both QPs' packets, alternating by two. */
struct test_capture {
	struct test_frame f[QPS * PACKETS_MOST];
	int of_stream[QPS * PACKETS_MOST]; /* the QP's previous packet, -1: none */
	int count;
};

static void make_capture(struct test_capture *c, const struct traffic *t)
{
	int made[QPS] = {}, last[QPS] = { -1, -1 };

	c->count = 0;
	for (int i = 0; i < QPS * PACKETS; i++) {
		int qp = i / 2 % QPS;

		make_packet(t, &c->f[i], qp, made[qp]++);
		c->of_stream[i] = last[qp];
		last[qp] = i;
		c->count++;
	}
}

static const struct test_frame *before(const struct test_capture *c, int i, bool sender)
{
	int b = sender ? i - 1 : c->of_stream[i];

	return b < 0 ? NULL : &c->f[b];
}

static void remember(struct icrc_before *b, const struct test_frame *f)
{
	memset(b, 0, sizeof(*b));
	if (!f)
		return;
	roce_parse(f->bytes, f->length, f->length, NULL, &b->packet);
	memcpy(b->header, f->bytes, sizeof(b->header));
	b->whole = true;
	b->right = frame_icrc(f);
	memcpy(&b->packet.icrc, f->bytes + f->icrc, 4);
}

/* Handles a frame as the doctor does. Returns whether the ICRC was bad. */
static bool take(struct icrc_study *s, const struct test_frame *f, const struct test_frame *of_stream,
		 const struct test_frame *of_sender,
		 uint64_t number)
{
	uint32_t right = frame_icrc(f), found;
	struct icrc_before stream, sender;
	struct observer_frame frame;
	struct roce_packet p;
	struct roce_key key;
	uint8_t *bytes;

	memcpy(&found, f->bytes + f->icrc, 4);
	if (found == right) {
		icrc_study_good(s, 1);
		return false;
	}
	/* exactly the readable bytes */
	bytes = malloc(f->length > OBSERVER_READABLE ? f->length : OBSERVER_READABLE);
	memcpy(bytes, f->bytes, f->length > OBSERVER_READABLE ? f->length : OBSERVER_READABLE);
	frame = (struct observer_frame){ .bytes = bytes, .captured = f->length, .wire = f->length };
	roce_parse(bytes, f->length, f->length, NULL, &p);
	assert_int_equal(p.kind, ROCE_PACKET);
	assert_int_equal(p.icrc_offset, f->icrc);
	remember(&stream, of_stream);
	remember(&sender, of_sender);
	roce_stream_key(&p, &key);
	icrc_study_take(s, &key, &(struct icrc_case){ .number = number, .frame = &frame, .packet = &p,
						      .of_stream = &stream, .of_sender = &sender });
	free(bytes);
	return true;
}

/* Takes all packets of a capture with that mistake. Returns the number of bad ones. */
static int take_all(struct test_capture *c, struct icrc_study *s[QPS], const char *first, const char *second)
{
	int bad = 0;

	for (int i = 0; i < c->count; i++) {
		struct test_frame *f = &c->f[i];

		assert_true(wrong_icrc(f, before(c, i, false), before(c, i, true), first, second, f->bytes + f->icrc));
		bad += take(s[i / 2 % QPS], f, before(c, i, false), before(c, i, true), i + 1);
	}
	return bad;
}

static void new_studies(struct icrc_study *s[], int count)
{
	for (int i = 0; i < count; i++)
		s[i] = icrc_study_new();
}

static void free_studies(struct icrc_study *s[], int count)
{
	for (int i = 0; i < count; i++)
		icrc_study_free(s[i]);
}

/* Splits kind "icrc-a+b" into the names of roce/icrc/icrc_mistake.def. */
static void split_kind(const char *kind, char names[2][48])
{
	char *plus;

	assert_memory_equal(kind, "icrc-", 5);
	snprintf(names[0], 48, "%s", kind + 5);
	plus = strchr(names[0], '+');
	snprintf(names[1], 48, "%s", plus ? plus + 1 : "");
	if (plus)
		*plus = 0;
	for (int k = 0; k < 2; k++)
		for (char *at = names[k]; *at; at++)
			*at = *at == '-' ? '_' : *at;
}

/* Whether these names give the ICRCs of the capture's bad packets. */
static bool is_same(const struct test_capture *c, char names[2][48])
{
	for (int i = 0; i < c->count; i++) {
		const struct test_frame *f = &c->f[i];
		uint32_t right = frame_icrc(f);
		uint8_t icrc[4];

		if (!memcmp(f->bytes + f->icrc, &right, 4))
			continue;
		if (!wrong_icrc(f, before(c, i, false), before(c, i, true), names[0], names[1], icrc) ||
		    memcmp(icrc, f->bytes + f->icrc, 4))
			return false;
	}
	return true;
}

static const char *name_of(enum mistake m)
{
	return m == NO_MISTAKE ? "" : mistake_words(m)->name;
}

static const char *kind_of(const char *first, const char *second)
{
	static char kind[100];

	snprintf(kind, sizeof(kind), "icrc-%s%s%s", first, *second ? "+" : "", second);
	for (char *at = kind; *at; at++)
		*at = *at == '_' ? '-' : *at;
	return kind;
}

/*
 * The finding must list the mistake that was made as equivalent to the one it names. Exceptions: in a pair one mistake makes no
 * difference, so that the other is named or listed; or there are more equivalents than the finding lists.
 */
static bool is_reported(const struct finding *f, char names[2][48], const char *first, const char *second)
{
	const char *same = strstr(f->text, "the same here as");
	const char *kind = kind_of(first, second) + strlen("icrc-");

	if (same && (strstr(same, kind) || strstr(same, " more")))
		return true;
	for (int k = 0; *second && k < 2; k++) {
		const char *one = k ? second : first;

		if (!*names[1] && !strcmp(names[0], one))
			return true;
		if (same && strstr(same, kind_of(one, "") + strlen("icrc-")))
			return true;
	}
	return false;
}

/* Expects one finding for all bad packets, which explains them. Returns whether it names the mistake that was made. */
static bool check_explanation(const struct traffic *t, const struct explanation *x)
{
	const char *first = name_of(x->first), *second = name_of(x->second);
	static struct test_capture c;
	struct icrc_study *s[QPS];
	struct findings f = {};
	bool named = true;
	char names[2][48];
	int bad;

	make_capture(&c, t);
	new_studies(s, QPS);
	bad = take_all(&c, s, first, second);
	assert_true(icrc_study_conclude(s, QPS, &f));
	if (bad >= FINDING_PACKETS) {
		if (f.count != 1 || !f.list[0].certain || (int)f.list[0].packets != bad)
			for (size_t i = 0; i < f.count; i++)
				print_error("%s: %s+%s: %s (%llu of %d): %s\n", t->name, first, second, f.list[i].kind,
					    f.list[i].packets, bad, f.list[i].text);
		assert_int_equal(f.count, 1);
		assert_true(f.list[0].certain);
		assert_int_equal(f.list[0].packets, bad);
		split_kind(f.list[0].kind, names);
		if (!is_same(&c, names))
			print_error("%s: %s+%s is not %s\n", t->name, first, second, f.list[0].kind);
		assert_true(is_same(&c, names));
		named = !strcmp(f.list[0].kind, kind_of(first, second));
		if (!named && !is_reported(&f.list[0], names, first, second))
			print_error("%s: %s+%s is not said to be the same as %s: %s\n", t->name, first, second, f.list[0].kind,
				    f.list[0].text);
		assert_true(named || is_reported(&f.list[0], names, first, second));
	}
	findings_free(&f);
	free_studies(s, QPS);
	return named && bad >= FINDING_PACKETS;
}

/* Checks every explanation; of the pairs only one in `step`, different ones for each kind of traffic. */
static void check_all(const struct traffic *t, bool pairs, __u32 step)
{
	int named = 0, count = 0;

	for (__u32 i = 0; i < explanations()->count; i++) {
		const struct explanation *x = &explanations()->list[i];

		if ((x->second != NO_MISTAKE) != pairs || (i + (t - traffics)) % step)
			continue;
		count++;
		named += check_explanation(t, x);
	}
	print_message("%s: %d of %d %s are named as they were made\n", t->name, named, count, pairs ? "pairs" : "mistakes");
}

/* Each mistake with each kind of traffic in `make test-long`, otherwise with one of them. */
static void singles(void **state)
{
	(void)state;
	for (size_t t = 0; t < TRAFFICS; t++)
		check_all(&traffics[t], false, test_long() ? 1 : TRAFFICS);
}

/* Each pair with each kind of traffic in `make test-long`, otherwise one in 192 with each. */
static void pairs(void **state)
{
	(void)state;
	for (size_t t = 0; t < TRAFFICS; t++)
		check_all(&traffics[t], true, test_long() ? 1 : 48 * TRAFFICS);
}

/* ---- flipped bits ---- */

/* A UC packet with a payload of random bytes. */
static void make_plain(struct test_frame *f, int payload, uint32_t psn)
{
	struct frame_spec s = { .opcode = 0x2a, .dqpn = 0x11, .psn = psn, .dma_length = payload, .payload = payload };

	frame_build(f, &s);
	for (int i = f->payload; i < f->icrc; i++)
		f->bytes[i] = random_next(&seed) >> 40;
	put(f->bytes + f->icrc, __builtin_bswap32(frame_icrc(f)), 4);
}

/* Sets the ICRC of the frame with these bits flipped. For bits of the ICRC itself, flips them in the right one. */
static void flip(struct test_frame *f, int at, uint16_t bits)
{
	struct test_frame copy = *f;
	uint32_t icrc;

	put(f->bytes + f->icrc, __builtin_bswap32(frame_icrc(f)), 4);
	for (int i = 0; i < 2; i++, bits >>= 8) {
		if (at + i < f->icrc)
			copy.bytes[at + i] ^= bits;
		else
			f->bytes[at + i] ^= bits;
	}
	icrc = frame_icrc(&copy) ^ frame_icrc(f);
	for (int i = 0; i < 4; i++)
		f->bytes[f->icrc + i] ^= icrc >> 8 * i;
}

/* The finding for that many packets of one stream. */
static struct finding conclude(struct icrc_study *s, size_t findings)
{
	struct findings f = {};
	struct finding first = {};

	assert_true(icrc_study_conclude(&s, 1, &f));
	if (f.count != findings)
		for (size_t i = 0; i < f.count; i++)
			print_error("%s: %s\n", f.list[i].kind, f.list[i].text);
	assert_int_equal(f.count, findings);
	if (f.count)
		first = f.list[0];
	findings_free(&f);
	icrc_study_free(s);
	return first;
}

static void expect_text(const struct finding *f, const char *format, int a, int b)
{
	char want[100];

	snprintf(want, sizeof(want), format, a, b);
	if (!strstr(f->text, want))
		print_error("'%s' is not in: %s: %s\n", want, f->kind, f->text);
	assert_non_null(strstr(f->text, want));
}

static bool is_masked(const struct test_frame *f, int at)
{
	int ip = at - f->l3;

	return ip == 1 || ip == 8 || ip == 10 || ip == 11 || at == f->udp + 6 || at == f->udp + 7 || at == f->bth + 4;
}

/*
 * One packet with one flipped bit: finds its place. A known mistake may give the same ICRC. Returns whether the finding was a
 * flip.
 */
static bool check_flip(struct test_frame *f, int at, int bit)
{
	struct icrc_study *s = icrc_study_new();
	struct finding found;

	flip(f, at, 1 << bit);
	assert_true(take(s, f, NULL, NULL, 7));
	found = conclude(s, 1);
	assert_false(found.certain);
	assert_int_equal(found.evidence[0].frame, 7);
	if (strcmp(found.kind, "icrc-bit-flip"))
		return false;
	expect_text(&found, " bit %d of byte", bit, 0);
	expect_text(&found, "(byte %d of the frame)", at, 0);
	if (at >= f->icrc)
		expect_text(&found, "of byte %d of the ICRC (", at - f->icrc, 0);
	else if (at >= f->payload)
		expect_text(&found, "of byte %d of the payload (", at - f->payload, 0);
	return true;
}

static void every_byte(void **state)
{
	static struct test_frame f;
	int other = 0;

	(void)state;
	make_plain(&f, 4096, 0x123456);
	/* except the IP version, which decides what is masked */
	for (int at = f.l3 + 1; at < f.end; at += test_long() || at < f.payload + 20 || at >= f.icrc - 9 ? 1 : 23)
		if (!is_masked(&f, at))
			other += !check_flip(&f, at, random_next(&seed) >> 61);
	/* AckReq and similar bits */
	assert_in_range(other, 0, 3);
}

/* By default every second bit, in turn the even and the odd ones. */
static void every_bit(void **state)
{
	static struct test_frame f;
	int other = 0, step = test_long() ? 1 : 2;

	(void)state;
	make_plain(&f, 4096, 0x123456);
	for (int at = f.l3 + 1; at < f.payload + 20; at++)
		for (int bit = at % step; !is_masked(&f, at) && bit < 8; bit += step)
			other += !check_flip(&f, at, bit);
	for (int at = f.icrc - 9; at < f.end; at++)
		for (int bit = at % step; bit < 8; bit += step)
			other += !check_flip(&f, at, bit);
	assert_in_range(other, 0, 8);
}

static void fields(void **state)
{
	static const struct {
		int header; /* 0: IP, 1: UDP, 2: BTH */
		int at;
		const char *words;
	} fields[] = {
		{ 0, 4, "byte 0 of the IP identification" }, { 0, 13, "byte 1 of the source address" }, { 1, 1, "byte 1 of the UDP source port" },
		{ 2, 5, "byte 0 of the BTH destination QPN" }, { 2, 11, "byte 2 of the BTH PSN" }, { 2, 12, "byte 0 of the RETH virtual address" },
		{ 2, 21, "byte 1 of the RETH R_Key" }, { 2, 27, "byte 3 of the RETH DMA length" }, { 2, 28, "byte 0 of the payload" },
	};
	static struct test_frame f;

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		struct icrc_study *s = icrc_study_new();
		struct finding found;

		make_plain(&f, 256, 1);
		flip(&f, (fields[i].header == 0 ? f.l3 : fields[i].header == 1 ? f.udp : f.bth) + fields[i].at, 1 << 6);
		take(s, &f, NULL, NULL, 1);
		found = conclude(s, 1);
		expect_text(&found, fields[i].words, 0, 0);
	}
}

/* Three packets with the same burst of up to eight bits. */
static void bursts_(void **state)
{
	static struct test_frame f;

	(void)state;
	for (int k = 0; k < (test_long() ? 300 : 50); k++) {
		struct icrc_study *s = icrc_study_new();
		int bit = random_next(&seed) >> 61, at;
		uint16_t bits = (1 | random_next(&seed) >> 57) << bit; /* 7 bits, the first one set */
		struct finding found;

		make_plain(&f, 1024, 0);
		at = f.payload + random_next(&seed) % (f.end - f.payload - 1);
		for (int i = 0; i < 3; i++) {
			make_plain(&f, 1024, k + i);
			flip(&f, at, bits);
			assert_true(take(s, &f, NULL, NULL, i + 1));
		}
		found = conclude(s, 1);
		assert_true(found.certain);
		assert_string_equal(found.kind, "icrc-bit-flip");
		assert_int_equal(found.packets, 3);
		expect_text(&found, at < f.icrc ? "of byte %d of the payload" : "of byte %d of the ICRC",
			    at - (at < f.icrc ? f.payload : f.icrc), 0);
	}
}

/* Flips the same bit at every `width` bytes, from the beginning of the frame or of the payload. */
static void lanes(void **state)
{
	static struct test_frame f;

	(void)state;
	for (int width = 4; width <= 512; width *= 2) {
		for (int of_payload = 0; of_payload < 2; of_payload++) {
			int byte = random_next(&seed) % width, bit = random_next(&seed) >> 61;
			struct icrc_study *s = icrc_study_new();
			struct finding found;

			for (int i = 0; i < 10; i++) {
				int at, from;

				make_plain(&f, 4096, i);
				/* headers of two lengths */
				if (i % 2 && of_payload)
					f.bytes[f.bth] = 0x24, f.payload = f.bth + 12;
				from = of_payload ? f.payload : 0;
				at = from + byte + width * (random_next(&seed) % ((4096 - 64) / width));
				while (at < f.payload)
					at += width;
				flip(&f, at, 1 << bit);
				assert_true(take(s, &f, NULL, NULL, i + 1));
			}
			found = conclude(s, 1);
			assert_true(found.certain);
			assert_string_equal(found.kind, "icrc-lane");
			expect_text(&found, "bit %d of byte ", bit, 0);
			/* the two beginnings give the same ICRC if they are a whole number of words apart */
			if (!of_payload || width > 16) {
				expect_text(&found, "of byte %d of each %d,", byte, width);
				assert_non_null(strstr(found.text, of_payload ? "beginning of the payload" : "beginning of the frame"));
			}
		}
	}
}

/* One flipped bit at a random place in each packet: never a lane, however many packets there are. */
static void flips_anywhere(void **state)
{
	static struct test_frame f;

	(void)state;
	/* by default few, some, and the most */
	for (int streams = 1; streams <= 20; streams += test_long() || streams < 3 ? 1 : streams == 3 ? 5 : 12) {
		struct icrc_study *s[20];
		struct findings found = {};

		new_studies(s, streams);
		for (int i = 0; i < 10 * streams; i++) {
			make_plain(&f, 64 * (streams % 3 + 1), i);
			f.bytes[f.bth + 7] = i % streams;
			flip(&f, f.bth + 9 + random_next(&seed) % (f.end - f.bth - 9), 1 << (random_next(&seed) >> 61));
			take(s[i % streams], &f, NULL, NULL, i + 1);
		}
		assert_true(icrc_study_conclude(s, streams, &found));
		assert_true(found.list[found.count - 1].certain); /* not sorted: mistakes in one packet come first */
		for (size_t i = 0; i < found.count; i++) {
			bool flips = !strcmp(found.list[i].kind, "icrc-bit-flip");

			/* some flips may equal a known mistake */
			if (found.list[i].certain && !flips)
				print_error("%s: %s\n", found.list[i].kind, found.list[i].text);
			assert_true(!found.list[i].certain || flips);
		}
		assert_string_equal(found.list[found.count - 1].kind, "icrc-bit-flip");
		assert_true(found.list[found.count - 1].packets >= 10u * streams - 1 - streams / 4);
		findings_free(&found);
		free_studies(s, streams);
	}
}

/* One flipped bit of the PSN in one packet is not reported as two mistakes. */
static void flip_before_pair(void **state)
{
	static struct test_frame f, before;
	struct icrc_study *s = icrc_study_new();
	struct finding found;

	(void)state;
	make_plain(&before, 64, 0x0f);
	make_plain(&f, 64, 0x12);
	flip(&f, f.bth + 11, 1 << 1); /* 0x10: the previous ICRC's packet, counted up */
	take(s, &f, &before, &before, 2);
	assert_true(s->packet[0].fitting);
	found = conclude(s, 1);
	assert_string_equal(found.kind, "icrc-bit-flip");
}

/* ---- other findings ---- */

static void constant(void **state)
{
	static struct test_frame f;
	struct icrc_study *s = icrc_study_new();
	struct finding found;

	(void)state;
	for (int i = 0; i < 5; i++) {
		make_plain(&f, 64, i);
		put(f.bytes + f.icrc, 0x12345678, 4);
		take(s, &f, NULL, NULL, i + 1);
	}
	found = conclude(s, 1);
	assert_true(found.certain);
	assert_string_equal(found.kind, "icrc-constant");
	assert_string_equal(found.evidence[4].found, "icrc 12 34 56 78");
	assert_int_equal(found.packets, 5);
}

/* A single packet, or one that is repeated, gives a candidate only. Checks the reported right value. */
static void candidate(void **state)
{
	static struct test_frame f;
	struct icrc_study *s = icrc_study_new();
	struct finding found;
	uint8_t icrc[4];

	(void)state;
	make_plain(&f, 64, 5);
	take(s, &f, NULL, NULL, 1);
	wrong_icrc(&f, NULL, NULL, "swapped", NULL, icrc);
	memcpy(f.bytes + f.icrc, icrc, 4);
	for (int i = 0; i < 5; i++)
		take(s, &f, NULL, NULL, i + 2);
	found = conclude(s, 1);
	assert_false(found.certain);
	assert_string_equal(found.kind, "icrc-swapped");
	assert_int_equal(found.packets, 5);
	assert_int_equal(found.evidence[0].frame, 2);
	assert_non_null(strstr(found.text, "other packets of these streams have a right ICRC"));
}

/* One finding for three streams of one sender. Another sender gives another finding. */
static void several_streams(void **state)
{
	static struct test_frame f;
	struct icrc_study *s[6];
	struct findings found = {};

	(void)state;
	new_studies(s, 6);
	for (int i = 0; i < 6; i++) {
		struct frame_spec spec = { .opcode = 0x24, .dqpn = 0x20 + i, .psn = i, .payload = 32 };

		frame_build(&f, &spec);
		if (i > 2)
			f.bytes[f.l3 + 15] = 99;
		wrong_icrc(&f, NULL, NULL, "crc32c", i > 2 ? "swapped" : NULL, f.bytes + f.icrc);
		take(s[i], &f, NULL, NULL, i + 1);
	}
	assert_true(icrc_study_conclude(s, 6, &found));
	assert_int_equal(found.count, 2);
	for (int i = 0; i < 2; i++) {
		assert_true(found.list[i].certain);
		assert_int_equal(found.list[i].packets, 3);
		assert_int_equal(found.list[i].streams, 3);
	}
	assert_string_equal(found.list[0].kind, "icrc-crc32c");
	assert_string_equal(found.list[1].kind, "icrc-swapped+crc32c");
	findings_free(&found);
	free_studies(s, 6);
}

/* A mistake in most packets, a lane in some, a meaningless value in one. */
static void mixed(void **state)
{
	static struct test_frame f;
	struct icrc_study *s = icrc_study_new();
	struct findings found = {};

	(void)state;
	for (int i = 0; i < 16; i++) {
		make_plain(&f, 2048, i);
		if (i % 4 == 1)
			flip(&f, f.payload + 10 + 64 * (i * 5 % 31), 1 << 5);
		else if (i == 7)
			put(f.bytes + f.icrc, 0x2468ace1, 4);
		else
			wrong_icrc(&f, NULL, NULL, "no_ones", "halves_swapped", f.bytes + f.icrc);
		take(s, &f, NULL, NULL, i + 1);
	}
	assert_true(icrc_study_conclude(&s, 1, &found));
	assert_int_equal(found.count, 2);
	assert_string_equal(found.list[0].kind, "icrc-halves-swapped+no-ones");
	assert_int_equal(found.list[0].packets, 11);
	assert_string_equal(found.list[1].kind, "icrc-lane");
	assert_int_equal(found.list[1].packets, 4);
	findings_free(&found);
	icrc_study_free(s);
}

/* If two mistakes give the same ICRC on every packet, the finding names the other as well. */
static void same(void **state)
{
	static struct test_frame f;
	struct icrc_study *s = icrc_study_new();
	struct finding found;

	(void)state;
	for (int i = 0; i < 3; i++) {
		make_plain(&f, 64, i); /* the UDP checksum is 0 */
		wrong_icrc(&f, NULL, NULL, "sent_udp_checksum", NULL, f.bytes + f.icrc);
		take(s, &f, NULL, NULL, i + 1);
	}
	found = conclude(s, 1);
	assert_string_equal(found.kind, "icrc-unmasked-udp-checksum");
	assert_non_null(strstr(found.text, "the same here as sent-udp-checksum"));
}

/* An ICRC that no mistake of the list gives. Reflected; mirrored: it goes out with its bits in the other order. */
static void other_icrc(struct test_frame *f, uint32_t polynomial, uint32_t seed, const char *lead, bool mirrored)
{
	static uint8_t bytes[FRAME_ROOM];
	static struct wrong w;
	uint32_t icrc;

	w = (struct wrong){ .f = f, .h = *f, .lead = lead, .polynomial = polynomial, .seed = seed };
	wrong_all_masks(&w, 'o');
	icrc = ~wrong_crc(&w, bytes, wrong_gather(&w, bytes));
	icrc = mirrored ? wrong_mirror(icrc) : icrc;
	memcpy(f->bytes + f->icrc, &icrc, 4);
}

/* Other parameters of the CRC are solved for, and told in words. */
static void parameters(void **state)
{
	static const struct {
		uint32_t polynomial, seed;
		const char *lead;
		bool mirrored;
		const char *words;
	} cases[] = {
		{ 0xedb88320, ~0u, "ones", true, "the CRC has other parameters: REFOUT is off" },
		{ 0x82f63b78, 0xdebb20e3, "", false, "polynomial 0x1edc6f41 (CRC-32C) instead of 0x04c11db7; start 0xc704dd7b" },
		{ 0xedb88320, 0x12345678, "ones", false, "the CRC has other parameters: start 0x1e6a2c48 instead of 0xffffffff" },
		{ 0xedb88302, ~0u, "ones", true, "polynomial 0x40c11db7 instead of 0x04c11db7; REFOUT is off" },
	};
	static struct test_frame f;

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct icrc_study *s = icrc_study_new();
		struct finding found;

		for (int i = 0; i < 16; i++) {
			make_plain(&f, i % 2 ? 256 : 1024, i);
			other_icrc(&f, cases[c].polynomial, cases[c].seed, cases[c].lead, cases[c].mirrored);
			assert_true(take(s, &f, NULL, NULL, i + 1));
		}
		found = conclude(s, 1);
		assert_true(found.certain);
		assert_string_equal(found.kind, "icrc-parameters");
		assert_int_equal(found.packets, 16);
		assert_int_equal(found.solution_count, 1);
		if (!strstr(found.text, cases[c].words))
			print_error("'%s' is not in '%s'\n", cases[c].words, found.text);
		assert_non_null(strstr(found.text, cases[c].words));
	}
}

/* Packets without an ICRC, of a sender that sends others with one. */
static void absent_in_some(void **state)
{
	static struct test_frame f;
	struct icrc_study *s = icrc_study_new();
	struct finding found;

	(void)state;
	for (int i = 0; i < 8; i++) {
		make_plain(&f, 256, i);
		if (i % 2) {
			f.icrc -= 4;
			f.length -= 4;
			put(f.bytes + f.l3 + 2, f.length - f.l3, 2);
			put(f.bytes + f.udp + 4, f.length - f.udp, 2);
		}
		take(s, &f, NULL, NULL, i + 1);
	}
	found = conclude(s, 1);
	assert_true(found.certain);
	assert_string_equal(found.kind, "icrc-absent");
	assert_int_equal(found.packets, 4);
}

static void unexplained(void **state)
{
	static struct test_frame f;
	struct icrc_study *s = icrc_study_new();
	struct finding found;
	uint32_t first = 0;
	char text[32];

	(void)state;
	for (int i = 0; i < 30; i++) {
		make_plain(&f, 64, i);
		if (!i)
			first = frame_icrc(&f);
		put(f.bytes + f.icrc, random_next(&seed) >> 32, 4);
		take(s, &f, NULL, NULL, i + 1);
	}
	found = conclude(s, 1);
	assert_false(found.certain);
	assert_string_equal(found.kind, "icrc-unexplained");
	assert_int_equal(found.packets, 30);
	snprintf(text, sizeof(text), "0x%08x the pad", ~first);
	assert_non_null(strstr(found.fix, text)); /* the value before the last complement */
}

/* A packet that is explained by chance, or in another way, does not hide that the others have no explanation. */
static void most_unexplained(void **state)
{
	static struct test_frame f;
	struct icrc_study *s = icrc_study_new();
	struct findings found = {};

	(void)state;
	for (int i = 0; i < 10; i++) {
		make_plain(&f, 64, i);
		put(f.bytes + f.icrc, i ? random_next(&seed) >> 32 : 0, 4);
		take(s, &f, NULL, NULL, i + 1);
	}
	assert_true(icrc_study_conclude(&s, 1, &found));
	findings_sort(&found);
	assert_int_equal(found.count, 2);
	assert_false(found.list[0].certain);
	assert_string_equal(found.list[0].kind, "icrc-unexplained");
	assert_non_null(strstr(found.list[0].text, "in most packets"));
	assert_string_equal(found.list[1].kind, "icrc-zero");
	findings_free(&found);
	icrc_study_free(s);
}

/* Random headers with flipped bits: nothing beyond them is read, and right ICRCs are accepted. */
static void any_headers(void **state)
{
	static struct test_frame f, before, sender;
	int taken = 0, count = test_long() ? 6000 : 150;

	(void)state;
	for (int k = 0; k < count; k++) {
		uint64_t r = random_next(&seed);
		struct frame_spec spec = {
			.tags = r % 3, .ipv6 = r >> 2 & 1, .grh = (r >> 3 & 7) == 0, .ip_options = (r >> 6 & 7) * 4, .extensions = r >> 9 & 1,
			.opcode = r >> 16, .dqpn = r >> 24, .psn = r >> 32, .payload = (r >> 40) % 300, .pad = r >> 50 & 3, .tos = r >> 54,
		};
		struct icrc_study *s = icrc_study_new();
		struct roce_packet p;
		uint32_t right;

		if (spec.grh || spec.ipv6)
			spec.ip_options = 0;
		if (spec.grh || !spec.ipv6)
			spec.extensions = 0;
		sender = before;
		before = f;
		frame_build(&f, &spec);
		right = frame_icrc(&f);
		f.bytes[f.icrc] ^= 0xff;
		if (k % 2)
			f.bytes[f.l3 + random_next(&seed) % (f.payload - f.l3)] ^= 1 << (r >> 60 & 7);
		roce_parse(f.bytes, f.length, f.length, NULL, &p);
		if (p.kind == ROCE_PACKET && !p.truncated && (int)p.icrc_offset == f.icrc) {
			taken++;
			take(s, &f, k ? &before : NULL, k > 1 ? &sender : NULL, 1);
			assert_int_equal(s->count, 1);
			if (k % 2 == 0)
				assert_int_equal(s->packet[0].right, right);
		}
		icrc_study_free(s);
	}
	assert_true(taken > count / 2);
}

/* All names fit into their buffer, and all differ. */
static void names(void **state)
{
	const struct explanations *e = explanations();

	(void)state;
	for (__u32 i = 0; i < e->count; i++)
		assert_true(strlen(kind_of(name_of(e->list[i].first), name_of(e->list[i].second))) <
			    sizeof(((struct finding *)0)->kind));
	for (int m = 0; m < MISTAKES; m++) {
		assert_true(strlen(mistake_words(m)->words) < FINDING_TEXT / 3);
		assert_true(strlen(mistake_words(m)->fix) < FINDING_TEXT / 2 - 4);
	}
	assert_true(e->count < EXPLANATIONS_MOST && e->body_count < BODIES_MOST && e->end_count < ENDS_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names), cmocka_unit_test(singles), cmocka_unit_test(pairs), cmocka_unit_test(every_byte),
		cmocka_unit_test(every_bit), cmocka_unit_test(fields), cmocka_unit_test(bursts_), cmocka_unit_test(lanes),
		cmocka_unit_test(flips_anywhere), cmocka_unit_test(flip_before_pair), cmocka_unit_test(constant), cmocka_unit_test(candidate),
		cmocka_unit_test(several_streams), cmocka_unit_test(mixed), cmocka_unit_test(same),
		cmocka_unit_test(parameters), cmocka_unit_test(absent_in_some), cmocka_unit_test(unexplained),
		cmocka_unit_test(most_unexplained), cmocka_unit_test(any_headers),
	};

	return cmocka_run_group_tests_name("doctor_icrc", tests, NULL, NULL);
}
