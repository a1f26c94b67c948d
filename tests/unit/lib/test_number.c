// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lib/number.h"

static void test_sizes(void **state)
{
	static const char *const bad[] = { "", "0", "-1", "K", "4Q", "4KB", "4 K", "1.5K", "99999999999999999999", "17179869184G" };
	uint64_t size;

	(void)state;
	assert_true(parse_size("1", &size) && size == 1);
	assert_true(parse_size("4K", &size) && size == 4096);
	assert_true(parse_size("64k", &size) && size == 65536);
	assert_true(parse_size("1M", &size) && size == 1 << 20);
	assert_true(parse_size("4G", &size) && size == 1ull << 32);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(parse_size(bad[i], &size));
}

static void test_rates(void **state)
{
	static const char *const bad[] = {
		"", "1", "1G", "Gbit", "0bit", "-1bit", "1Gbits", "1Tbit", "nanbit", "infbit",
	};
	struct rate rate;

	(void)state;
	assert_true(parse_rate("1Gbit", &rate) && rate.per_second == 1e9 && rate.unit == RATE_BITS);
	assert_true(parse_rate("2.5Mpps", &rate) && rate.per_second == 2.5e6 && rate.unit == RATE_PACKETS);
	assert_true(parse_rate("800kbit", &rate) && rate.per_second == 8e5);
	assert_true(parse_rate("5Kpps", &rate) && rate.per_second == 5e3);
	assert_true(parse_rate("64bit", &rate) && rate.per_second == 64);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(parse_rate(bad[i], &rate));
}

static void test_seconds_and_numbers(void **state)
{
	uint64_t number;
	double seconds;

	(void)state;
	assert_true(parse_seconds("2", &seconds) && seconds == 2);
	assert_true(parse_seconds(".5", &seconds) && seconds == .5);
	assert_false(parse_seconds("0", &seconds));
	assert_false(parse_seconds("2s", &seconds));
	assert_false(parse_seconds("inf", &seconds));
	assert_true(parse_number("65535", 65535, &number) && number == 65535);
	assert_false(parse_number("65536", 65535, &number));
	assert_false(parse_number("+1", 65535, &number));
	assert_false(parse_number("99999999999999999999", UINT64_MAX, &number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_seconds_and_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
