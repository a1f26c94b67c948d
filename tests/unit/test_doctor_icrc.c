// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why ICRCs are wrong: each mistake and each two of them, flipped bits, lanes, and values that mean nothing. */
#include <stdio.h>

#include "doctor/icrc_study.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/icrc_wrong.h"

/* What doctor/finding.c does. */
struct finding *findings_add(struct findings *f)
{
	f->list = realloc(f->list, (f->count + 1) * sizeof(*f->list));
	memset(&f->list[f->count], 0, sizeof(*f->list));
	return &f->list[f->count++];
}

void findings_free(struct findings *f)
{
	free(f->list);
}

#define PACKETS 10 /* of each of two QPs */
#define QPS 2

/* What the sender's packets are like. */
struct traffic {
	const char *name;
	bool ipv6;
	int tags;
	uint8_t service; /* upper bits of the opcode */
	int mtu, last; /* payload of the packets, and of the last one of each message */
	bool plain; /* as most senders: no UDP checksum, no FECN; TOS, IP identification and flow label 0 */
};

static const struct traffic traffics[] = {
	{ "UC, IPv4, 1024", false, 0, 0x20, 1024, 333, false },
	{ "RC, IPv6, VLAN, 256", true, 1, 0x00, 256, 102, false },
	{ "UC, IPv4, VLAN, 4096", false, 1, 0x20, 4096, 4095, false },
	{ "RC, IPv4, plain", false, 0, 0x00, 512, 512, true },
};
#define TRAFFICS (sizeof(traffics) / sizeof(*traffics))

static uint64_t seed = 4711;

static void make_packet(const struct traffic *t, struct frame *f, int qp, int k)
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

/* The packets of both QPs by turns, two of each at a time. */
struct capture {
	struct frame f[QPS * PACKETS];
	int of_stream[QPS * PACKETS]; /* the packet before, -1: there was none */
	int count;
};

static void make_capture(struct capture *c, const struct traffic *t)
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

static const struct frame *before(const struct capture *c, int i, bool sender)
{
	int b = sender ? i - 1 : c->of_stream[i];

	return b < 0 ? NULL : &c->f[b];
}

static void remember(struct icrc_before *b, const struct frame *f)
{
	memset(b, 0, sizeof(*b));
	if (!f)
		return;
	roce_parse(f->bytes, f->length, f->length, NULL, &b->packet);
	memcpy(b->header, f->bytes, sizeof(b->header));
}

/* What the doctor would do with a frame. Returns whether the ICRC was bad. */
static bool take(struct icrc_study *s, const struct frame *f, const struct frame *of_stream, const struct frame *of_sender,
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
		icrc_study_good(s);
		return false;
	}
	/* exactly what may be read */
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

/* All of a capture's packets with that mistake. Returns the number of bad ones. */
static int take_all(struct capture *c, struct icrc_study *s[QPS], const char *first, const char *second)
{
	int bad = 0;

	for (int i = 0; i < c->count; i++) {
		struct frame *f = &c->f[i];

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

/* The names of kind "icrc-a+b", as doctor/icrc_mistake.def has them. */
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

/* Whether these names give what the capture's bad packets carry. */
static bool is_same(const struct capture *c, char names[2][48])
{
	for (int i = 0; i < c->count; i++) {
		const struct frame *f = &c->f[i];
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

/* One finding, of all bad packets, that gives what is there; returns whether it is the one that was made. */
static bool check_explanation(const struct traffic *t, const struct explanation *x)
{
	const char *first = name_of(x->first), *second = name_of(x->second);
	static struct capture c;
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
	}
	findings_free(&f);
	free_studies(s, QPS);
	return named && bad >= FINDING_PACKETS;
}

/* Every one, or of the pairs one in `step`, another one for each kind of traffic. */
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

static void singles(void **state)
{
	(void)state;
	for (size_t t = 0; t < TRAFFICS; t++)
		check_all(&traffics[t], false, 1);
}

/* With ALL_PAIRS in the environment, which takes a minute, each with each kind of traffic. */
static void pairs(void **state)
{
	(void)state;
	for (size_t t = 0; t < TRAFFICS; t++)
		check_all(&traffics[t], true, getenv("ALL_PAIRS") ? 1 : 2 * TRAFFICS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(singles), cmocka_unit_test(pairs),
	};

	return cmocka_run_group_tests_name("doctor_icrc", tests, NULL, NULL);
}
