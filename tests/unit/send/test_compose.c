// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The sender's two ways of composing a packet give the same bytes: a template of headers with an ICRC joined from known CRCs,
 * and whole frames that are sealed.
 */
#include "userspace/traffic/send/compose.c"

#include "tests/unit/cmocka_includes.h"

static __u8 memory[CELL_OFFSET(CELLS)];
static uint64_t seed = 3;

/* xorshift64 */
static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Rebuilds the frame as an outlet does: all headers, then the payload, then the tail. */
static void rebuild(const struct slot *s, __u8 *frame)
{
	memcpy(frame, s->headers, SLOT_HEADERS);
	memcpy(frame + s->header_bytes, memory + s->payload, s->payload_bytes);
	memcpy(frame + s->frame_bytes - SLOT_TAIL, s->tail, SLOT_TAIL);
}

static struct send_plan plan_of(int form)
{
	return (struct send_plan){
		.ipv6 = form & 1, .tagged = form & 2, .udp_checksum = form & 4, .pattern = form & 8 ? PATTERN_COUNTER : PATTERN_LFSR,
		.dont_fragment = form & 8, .seed = 1, .vlan = 100, .pcp = 3, .tos = 0x4a, .ttl = 64, .flow_label = 0xabcde, .pkey = 0xffff,
		.src = { 0xfd, [10] = 0xff, [11] = 0xff, [12] = 10, [13] = 9, [15] = 1 },
		.dst = { 0xfd, [10] = 0xff, [11] = 0xff, [12] = 10, [13] = 9, [15] = 2 },
		.src_mac = { 2, [5] = 1 }, .dst_mac = { 2, [5] = 2 },
	};
}

/* Random values for the fields that differ between packets at one place in a message. */
static struct send_packet draw_packet(uint8_t opcode, uint8_t place, uint32_t payload_bytes)
{
	return (struct send_packet){
		.opcode = opcode, .place = place, .payload_bytes = payload_bytes, .pad = -payload_bytes & 3,
		.payload = draw() % (PAYLOAD_PATTERN / 4) * 4, .va = draw(), .rkey = draw(), .immediate = draw(),
		.dqpn = draw() & 0xffffff, .psn = draw() & 0xffffff, .sqpn = draw() & 0xffffff, .msn = draw() & 0xffffff,
		.port = draw(), .syndrome = draw(), .ackreq = draw() & 1, .dma_length = 12345,
	};
}

static void check(struct composer *c, const struct send_plan *plan, const struct send_packet *p)
{
	static __u8 frame[CELL_BYTES];
	static struct send_frame f;
	struct slot s = { .departure = 77 };

	compose_frame(c, p, &f);
	frame_seal(&f, plan, 0, NULL);
	compose_slot(c, p, &s);
	assert_int_equal(s.frame_bytes, f.length);
	assert_int_equal(s.departure, 77);
	rebuild(&s, frame);
	assert_memory_equal(frame, f.bytes, f.length);
	assert_true(frame_icrc_good(&f));
}

static void same_bytes(void **state)
{
	/* SEND, WRITE with and without immediate, of UC and RC, SEND of UD, READ responses, ACK, CNP */
	static const uint8_t opcodes[] = { 0x20, 0x21, 0x22, 0x24, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x00, 0x04, 0x06,
					   0x0a, 0x0b, 0x64, 0x65, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x81 };
	static const uint32_t payloads[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 64, 255, 256, 1021, 1408, 4096, 9000 };

	(void)state;
	for (int form = 0; form < 16; form++)
		for (size_t o = 0; o < sizeof(opcodes); o++)
			for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
				bool bare = opcodes[o] == 0x11 || opcodes[o] == 0x81;
				struct send_plan plan = plan_of(form);
				struct composer *c;

				if (bare && payloads[i])
					continue;
				c = calloc(1, sizeof(*c));
				c->plan = &plan;
				c->pieces.payload = memory;
				c->pieces.sums = plan.udp_checksum;
				if (!o && !i)
					payload_fill(memory, &plan);
				for (int k = 0; k < 4; k++) {
					struct send_packet p = draw_packet(opcodes[o], AT_FIRST | AT_LAST, payloads[i]);

					check(c, &plan, &p);
					check(c, &plan, &p); /* its piece is in the cache now */
				}
				composer_free(c);
			}
}

/* One composer makes packets of all places in turn. */
static void places(void **state)
{
	struct send_plan plan = plan_of(1);
	struct composer *c = composer_new(&plan, memory);

	(void)state;
	for (int k = 0; k < 40; k++) {
		static const uint8_t opcodes[] = { [0] = 0x27, [AT_FIRST] = 0x26, [AT_LAST] = 0x29, [AT_FIRST | AT_LAST] = 0x2b };
		static const uint32_t payloads[] = { [0] = 1024, [AT_FIRST] = 1024, [AT_LAST] = 77, [AT_FIRST | AT_LAST] = 9 };
		struct send_packet p = draw_packet(opcodes[k % 4], k % 4, payloads[k % 4]);

		p.payload = k % 8 < 4 ? p.payload : PAYLOAD_PATTERN - 8; /* across the end of the pattern */
		check(c, &plan, &p);
	}
	composer_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(same_bytes), cmocka_unit_test(places) };

	return cmocka_run_group_tests_name("send_compose", tests, NULL, NULL);
}
