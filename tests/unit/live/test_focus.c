// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The counters of the stream in focus: buckets, sizes of messages, the walk through memory; and the map's side. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/capture_abi.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/observe/live/focus.h"

enum { WRITE_FIRST = 0x26, WRITE_MIDDLE, WRITE_LAST, SEND_FIRST = 0x20, SEND_MIDDLE, SEND_LAST, SEND_ONLY = 0x24,
       WRITE_ONLY = 0x2a, READ_REQUEST = 0x0c, RESPONSE_FIRST = 0x0d, RESPONSE_LAST = 0x0f, ACK = 0x11, FETCH_ADD = 0x14 };

static struct roce_packet packet(__u8 opcode, __u32 psn, __u32 payload)
{
	return (struct roce_packet){ .kind = ROCE_PACKET, .opcode = opcode, .op = roce_opcodes[opcode], .number = psn,
				     .payload_bytes = payload };
}

static struct roce_packet with_reth(__u8 opcode, __u32 psn, __u64 va, __u32 rkey, __u32 length)
{
	struct roce_packet p = packet(opcode, psn, 0);

	p.va = va;
	p.rkey = rkey;
	p.dma_length = length;
	return p;
}

static void see(struct roce_focus *f, struct roce_packet p)
{
	roce_focus_on(f, &p, 0, 1);
}

static void buckets(void **state)
{
	(void)state;
	assert_int_equal(focus_log2(0), 0);
	for (__u32 bit = 0; bit < 64; bit++) {
		assert_int_equal(focus_log2(1ull << bit), bit);
		assert_int_equal(focus_log2((1ull << bit) - 1 + (1ull << bit)), bit);
	}
	for (__u32 i = 1; i < FOCUS_GAPS; i++) {
		assert_true(focus_gap_begin(i) > focus_gap_begin(i - 1));
		assert_int_equal(focus_gap_bucket(focus_gap_begin(i)), i);
		assert_int_equal(focus_gap_bucket(focus_gap_begin(i) - 1), i - 1);
	}
	assert_int_equal(focus_gap_bucket(0), 0);
	assert_int_equal(focus_gap_begin(2), 32);
	assert_int_equal(focus_gap_bucket(~0ull), FOCUS_GAPS - 1);
	for (__u32 i = 1; i < FOCUS_SIZES; i++) {
		assert_int_equal(focus_size_bucket(focus_size_begin(i)), i);
		assert_int_equal(focus_size_bucket(focus_size_begin(i) - 1), i - 1);
	}
	assert_int_equal(focus_size_bucket(~0u), FOCUS_SIZES - 1);
}

static void gaps(void **state)
{
	const __u64 times[] = { 1000, 1100, 1100, 1099, 2099, 1000002099 };
	struct roce_packet p = packet(ACK, 0, 0);
	struct roce_focus f = { 0 };
	(void)state;

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(times); i++)
		roce_focus_on(&f, &p, 0, times[i]);
	roce_focus_on(&f, &p, ROCE_EVENT(icrc_bad), 3000000000);
	assert_int_equal(f.packets, 6);
	assert_int_equal(f.gaps, 5);
	assert_int_equal(f.begin, 1000);
	assert_int_equal(f.last, 1000002099);
	assert_int_equal(f.gap_least, 0);
	assert_int_equal(f.gap_most, 1000000000);
	assert_int_equal(f.gap_sum, 100 + 999 + 1000000000);
	assert_int_equal(f.gap[0], 2); /* the same moment, and an earlier one by another CPU's clock */
	assert_int_equal(f.gap[focus_gap_bucket(100)], 1);
	assert_int_equal(focus_gap_quantile(&f, 0.4), focus_gap_begin(1));
	assert_int_equal(focus_gap_quantile(&f, 0.5), focus_gap_begin(focus_gap_bucket(100) + 1));
	assert_int_equal(focus_gap_quantile(&f, 1), 1000000000);
	assert_int_equal(focus_gap_quantile(&(struct roce_focus){ 0 }, 0.5), 0);
}

static void sizes(void **state)
{
	struct roce_focus f = { 0 };
	(void)state;

	see(&f, packet(SEND_MIDDLE, 1, 256)); /* its First was not seen */
	see(&f, packet(SEND_LAST, 2, 10));
	assert_int_equal(f.unsized, 1);
	see(&f, packet(SEND_FIRST, 3, 256));
	see(&f, packet(SEND_MIDDLE, 4, 256));
	see(&f, packet(SEND_LAST, 5, 1));
	see(&f, packet(SEND_ONLY, 0xffffff, 0));
	assert_int_equal(f.messages, 2);
	assert_int_equal(f.size_sum, 513);
	see(&f, packet(SEND_FIRST, 0xffffff, 256));
	see(&f, packet(SEND_LAST, 0, 256)); /* PSNs wrap */
	assert_int_equal(f.messages, 3);
	see(&f, packet(SEND_FIRST, 10, 256));
	see(&f, packet(SEND_LAST, 12, 256)); /* one is missing */
	assert_int_equal(f.unsized, 2);
	see(&f, with_reth(WRITE_FIRST, 20, 0, 0, 100000));
	see(&f, packet(WRITE_MIDDLE, 21, 4096));
	see(&f, packet(WRITE_LAST, 23, 4096)); /* here too, but the message's length is known */
	see(&f, with_reth(READ_REQUEST, 24, 0, 0, 7));
	assert_int_equal(f.messages, 5);
	assert_int_equal(f.unsized, 2);
	see(&f, packet(RESPONSE_FIRST, 1, 1024));
	see(&f, packet(RESPONSE_LAST, 2, 24));
	assert_int_equal(f.messages, 6);
	see(&f, packet(ACK, 3, 0));
	see(&f, packet(FETCH_ADD, 4, 0));
	roce_focus_on(&f, &(struct roce_packet){ .kind = ROCE_UDP, .payload_bytes = 5 }, 0, 1);
	assert_int_equal(f.messages, 6);
	assert_int_equal(f.unsized, 2);
	assert_int_equal(f.size_least, 0);
	assert_int_equal(f.size_most, 100000);
	assert_int_equal(f.size_sum, 513 + 512 + 100000 + 7 + 1048);
	assert_int_equal(f.size[0], 1);
	assert_int_equal(f.size[focus_size_bucket(512)], 2);
}

static void addresses(void **state)
{
	const __u64 begin = 0x7f0000000000;
	struct roce_packet again = with_reth(WRITE_ONLY, 3, begin, 2, 4096);
	struct roce_focus f = { 0 };
	(void)state;

	see(&f, with_reth(WRITE_ONLY, 0, begin, 1, 4096));
	assert_int_equal(f.low, begin);
	assert_int_equal(f.high, begin + 4096);
	see(&f, with_reth(WRITE_FIRST, 1, begin + 4096, 1, 8192));
	see(&f, packet(WRITE_LAST, 2, 4096));
	roce_focus_on(&f, &again, ROCE_EVENT(psn_duplicate), 1);
	roce_focus_on(&f, &again, ROCE_EVENT(psn_recovered), 1);
	assert_int_equal(f.reths, 2);
	see(&f, with_reth(WRITE_ONLY, 3, begin + 4096, 1, 4096));
	see(&f, with_reth(WRITE_ONLY, 4, begin + 65536, 2, 4096));
	see(&f, with_reth(WRITE_ONLY, 5, begin - 4096, 2, 4096));
	assert_int_equal(f.low, begin - 4096);
	assert_int_equal(f.high, begin + 65536 + 4096);
	assert_int_equal(f.step[FOCUS_ON], 1);
	assert_int_equal(f.step[FOCUS_SAME], 1);
	assert_int_equal(f.step[FOCUS_AHEAD], 1);
	assert_int_equal(f.step[FOCUS_BACK], 1);
	assert_int_equal(f.rkey, 2);
	assert_int_equal(f.rkeys, 2);
}

/* A file replaces the map. */
static void is_set(void **state)
{
	int fd = memfd_create("focus", MFD_CLOEXEC);
	struct roce_key key = { .qpn = 17, .kind = KEY_CONNECTED };
	struct focus_value *map;
	struct roce_focus seen;
	struct focus *f;
	(void)state;

	assert_null(focus_open(-1));
	assert_int_equal(ftruncate(fd, 4096), 0);
	map = mmap(NULL, sizeof(*map), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	f = focus_open(fd);
	assert_non_null(f);
	assert_null(focus_key(f));
	assert_false(focus_read(f, &seen));
	map->seen.packets = 5; /* of an earlier stream */
	focus_set(f, &key);
	assert_true(map->on);
	assert_memory_equal(&map->key, &key, sizeof(key));
	assert_true(focus_read(f, &seen));
	assert_int_equal(seen.packets, 0);
	map->seen.packets = 7;
	assert_true(focus_read(f, &seen));
	assert_int_equal(seen.packets, 7);
	assert_memory_equal(focus_key(f), &key, sizeof(key));
	focus_set(f, &key);
	assert_int_equal(map->seen.packets, 0);
	focus_set(f, NULL);
	assert_false(map->on);
	assert_false(focus_read(f, &seen));
	assert_int_equal(seen.packets, 0);
	focus_set(f, &key);
	focus_close(f);
	assert_false(map->on);
	focus_close(NULL);
	munmap(map, sizeof(*map));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets), cmocka_unit_test(gaps), cmocka_unit_test(sizes), cmocka_unit_test(addresses),
		cmocka_unit_test(is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
