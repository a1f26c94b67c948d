// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The bench's packets: after rewriting, the ICRC is zlib's. */
#include <stdlib.h>
#include <string.h>

#include "bench/frame.h"
#include "tests/unit/cmocka_includes.h"

static __u32 field(const struct bench_frame *f)
{
	__u32 icrc;

	memcpy(&icrc, f->bytes + f->length - 4, 4);
	return icrc;
}

static void try_payload(enum frame_kind kind, __u32 payload)
{
	static struct rewrite_tables tables;
	static struct bench_frame f;

	frame_make(&f, kind, payload);
	assert_int_equal(f.length, 14 + 20 + 8 + 12 + (payload == 3456 ? 0 : 16) + payload + 4);
	assert_int_equal(field(&f), frame_icrc(&f));
	frame_tables(&f, &tables);
	for (int i = 0; i < 200; i++) {
		__u32 qpn = random() & 0xffffff, psn = random() & 0xffffff;

		frame_rewrite(&f, &tables, qpn, psn);
		assert_int_equal(f.bytes[47] << 16 | f.bytes[48] << 8 | f.bytes[49], qpn);
		assert_int_equal(f.bytes[51] << 16 | f.bytes[52] << 8 | f.bytes[53], psn);
		assert_int_equal(f.bytes[46] | f.bytes[50], 0); /* resv8a and AckReq do not change */
		assert_int_equal(field(&f), frame_icrc(&f));
	}
}

static void rewritten_icrc_is_right(void **state)
{
	static const __u32 payloads[] = { 0, 64, 256, 1024, 2048, 3456, 4096 };

	(void)state;
	for (size_t i = 0; i < sizeof(payloads) / sizeof(*payloads); i++)
		for (enum frame_kind kind = FRAME_UC; kind <= FRAME_PLAIN_UDP; kind++)
			try_payload(kind, payloads[i]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rewritten_icrc_is_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
