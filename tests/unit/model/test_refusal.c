// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "tests/unit/cmocka_includes.h"
#include "userspace/observe/model/refusal.h"

#define WRITE_FIRST 0x26 /* UC */
#define WRITE_MIDDLE 0x27
#define WRITE_LAST 0x28
#define WRITE_ONLY 0x2a
#define SEND_FIRST 0x20
#define SEND_LAST 0x22
#define SEND_ONLY 0x24

static const struct receive_settings settings = { .first_qpn = 0x800, .qps = 16 };
static const struct roce_region regions[] = {
	{ .va = 0x10000, .bytes = 0x4000, .rkey = 0x100, .index = 0 },
	{ .va = 0x14000, .bytes = 0x4000, .rkey = 0x101, .index = 1 },
};
static const struct refusal_receiver two = { &settings, regions, 2, 1024 };

static void is(enum roce_refusal reason, struct receive_example e, const struct refusal_receiver *r, const char *want)
{
	char text[REFUSAL_TEXT];

	refusal_text(text, reason, &e, r);
	assert_string_equal(text, want);
}

#define IS(reason, want, ...) is(REFUSAL_##reason, (struct receive_example){ __VA_ARGS__ }, &two, want)

static void test_numbers(void **state)
{
	static const struct receive_settings single = { .first_qpn = 0x12, .qps = 1 }, scattered = { 0 };
	const struct refusal_receiver one = { &single, regions, 1, 0 }, none = { &single, NULL, 0, 0 };
	const struct refusal_receiver any = { &scattered, regions, 2, 0 };

	(void)state;
	IS(qpn, "QPN 18 (0x12) is not one of ours: those are 2048 (0x800) to 2063 (0x80f)", .qpn = 0x12);
	is(REFUSAL_qpn, (struct receive_example){ .qpn = 0x13 }, &one, "QPN 19 (0x13) is not ours: that is 18 (0x12)");
	is(REFUSAL_qpn, (struct receive_example){ .qpn = 0x13 }, &any, "QPN 19 (0x13) is not one of ours");
	IS(rkey, "rkey 0x1234 is none of the 2 regions", .rkey = 0x1234);
	is(REFUSAL_rkey, (struct receive_example){ .rkey = 7 }, &one, "rkey 0x7 is not that of the region (0x100)");
	is(REFUSAL_rkey, (struct receive_example){ .rkey = 7 }, &none, "rkey 0x7 is of no region");
	IS(operation, "RC RDMA READ request (opcode 0xc) is no operation of this receiver, which knows RDMA WRITE and SEND",
	   .opcode = 0x0c);
	IS(operation, "opcode 0x1f (opcode 0x1f) is no operation of this receiver, which knows RDMA WRITE and SEND",
	   .opcode = 0x1f);
	IS(response, "CNP to QP 2048 (0x800), which requests nothing", .opcode = 0x81, .qpn = 0x800);
	IS(service, "RC SEND Only, and QP 2048 (0x800) is of UC", .opcode = 4, .qpn = 0x800, .service = 1);
}

static void test_bounds(void **state)
{
	(void)state;
	IS(bounds, "address beyond region 0 by 4096 bytes: 4096 bytes at 0x14000", .rkey = 0x100, .va = 0x14000, .dma_length = 4096);
	IS(bounds, "address beyond region 1 by 1 bytes: 16384 bytes at 0x14001", .rkey = 0x101, .va = 0x14001, .dma_length = 0x4000);
	IS(bounds, "address 0x13fff is 1 bytes before region 1 (0x14000)", .rkey = 0x101, .va = 0x13fff, .dma_length = 1);
	IS(bounds, "address 0x10000 and 9 bytes lie beyond the region of rkey 0x102", .rkey = 0x102, .va = 0x10000, .dma_length = 9);
}

static void test_psn(void **state)
{
	(void)state;
	IS(ahead, "PSN 0x105 is 5 ahead of the expected 0x100: packets between them are missing", .psn = 0x105, .expected = 0x100);
	IS(ahead, "PSN 0x1 is 2 ahead of the expected 0xffffff: packets between them are missing", .psn = 1, .expected = 0xffffff);
	IS(ahead, "PSN 0x700000 is 7340032 ahead of the expected 0: the sender has not taken the new first PSN", .psn = 0x700000);
	IS(duplicate, "PSN 0xff is 1 behind the expected 0x100: it was taken before, and sent again", .psn = 0xff, .expected = 0x100);
	IS(duplicate, "PSN 0x900000 is 7340288 behind the expected 0x100: the sender has not taken the new first PSN",
	   .psn = 0x900000, .expected = 0x100);
	IS(gap, "PSN 0x5 where 0x3 was expected: 2 are missing", .psn = 5, .expected = 3);
	IS(gap, "PSN 0x2 where 0x3 was expected: late, or sent again", .psn = 2, .expected = 3);
	IS(gap, "PSN 0x200000 is far from the expected 0x3", .psn = 0x200000, .expected = 3);
	IS(gap, "UC RDMA WRITE Last with PSN 0x3 outside of a message: its First was not taken", .psn = 3, .expected = 3,
	   .opcode = WRITE_LAST);
}

static void test_length(void **state)
{
	(void)state;
	IS(length, "a DMA length of 2147483649 bytes: the most is 2147483648", .opcode = WRITE_FIRST, .payload_bytes = 1024,
	   .dma_length = RESPONDER_DMA_MAX + 1);
	IS(length, "UC RDMA WRITE Only with 2048 bytes, and the path MTU is 1024", .opcode = WRITE_ONLY, .payload_bytes = 2048,
	   .dma_length = 2048);
	IS(length, "UC RDMA WRITE Middle with 1000 bytes: it has to have those of the path MTU, 1024", .opcode = WRITE_MIDDLE,
	   .payload_bytes = 1000, .length = 4096, .placed = 1024);
	IS(length, "UC RDMA WRITE First with 1024 bytes after 0, and the DMA length is 1000: no Last can follow", .opcode = WRITE_FIRST,
	   .payload_bytes = 1024, .dma_length = 1000);
	IS(length, "UC RDMA WRITE First with a DMA length of 1024: that is this packet's, and the message's belongs there",
	   .opcode = WRITE_FIRST, .payload_bytes = 1024, .dma_length = 1024);
	IS(length, "UC RDMA WRITE Last ends after 2048 bytes, and the DMA length is 4096", .opcode = WRITE_LAST,
	   .payload_bytes = 1024, .placed = 1024, .length = 4096);
	IS(length, "UC RDMA WRITE Only with 61 bytes and a PadCnt of 0: the pad is missing", .opcode = WRITE_ONLY, .payload_bytes = 61,
	   .dma_length = 61);
	IS(length, "UC RDMA WRITE Only with 61 bytes and a PadCnt of 3: the pad is missing", .opcode = WRITE_ONLY, .payload_bytes = 58,
	   .dma_length = 61, .pad = 3);
	IS(length, "UC RDMA WRITE Only with 60 bytes and a PadCnt of 1: it has to be 0", .opcode = WRITE_ONLY, .payload_bytes = 60,
	   .dma_length = 60, .pad = 1);
	IS(length, "UC RDMA WRITE Last with 8 bytes: not those that the DMA length leaves", .opcode = WRITE_LAST, .payload_bytes = 8);
	IS(length, "UC SEND Only with 64 bytes, and its receive has no buffer: --receive-size", .opcode = SEND_ONLY,
	   .payload_bytes = 64);
	IS(length, "UC SEND Last: 512 bytes after 1024 do not fit into a receive of 1400", .opcode = SEND_LAST, .payload_bytes = 512,
	   .placed = 1024, .length = 1400);
}

/* Every reason has a sentence of one line, whatever the packet. */
static void test_all(void **state)
{
	static const struct refusal_receiver bare = { &settings, NULL, 0, 0 };
	struct receive_example e;

	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		memset(&e, byte, sizeof(e));
		for (int reason = 0; reason < ROCE_REFUSALS; reason++) {
			char text[REFUSAL_TEXT] = "";

			refusal_text(text, reason, &e, byte & 1 ? &two : &bare);
			assert_true(strlen(text) > 4 && strlen(text) < REFUSAL_TEXT - 1);
			assert_null(strchr(text, '\n'));
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_bounds), cmocka_unit_test(test_psn),
		cmocka_unit_test(test_length), cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
