// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/options.h"

static void test_sizes(void **state)
{
	static const char *const bad[] = { "", "0", "-1", "K", "4Q", "4KB", "4 K", "1.5K", "99999999999", "4096M" };
	uint64_t size;

	(void)state;
	assert_true(parse_size("1", &size) && size == 1);
	assert_true(parse_size("4K", &size) && size == 4096);
	assert_true(parse_size("64k", &size) && size == 65536);
	assert_true(parse_size("1M", &size) && size == 1 << 20);
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

enum { OPT_OWN = OPTION_OWN };

static int taken;

static void take(int value, const char *text)
{
	taken = value == OPT_OWN && !strcmp(text, "x");
}

static const struct option own[] = { { "own", required_argument, NULL, OPT_OWN }, {} };
static const struct stream_program program = { .usage = "", .own = own, .take = take, .port = 7471 };

#define LINE(...) ((char *[]){ "prog", __VA_ARGS__, NULL })

static int parse(struct stream_options *o, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	optind = 0;
	return options_parse(o, &program, argc, argv);
}

static void test_whole_lines(void **state)
{
	struct stream_options o;

	(void)state;
	assert_int_equal(parse(&o, LINE("recv")), 2);
	assert_true(!o.send && o.size == 4096 && o.flows == 1 && o.port == 7471 && !o.duration);
	assert_int_equal(parse(&o, LINE("send", "--size", "64K", "--rate=1Gbit", "--own", "x", "--json")), 8);
	assert_true(o.send && o.size == 65536 && o.rate.per_second == 1e9 && o.json && taken && o.duration == 10);
	parse(&o, LINE("send", "--messages", "7"));
	assert_true(o.messages == 7 && !o.duration);
	assert_int_equal(parse(&o, LINE("recv", "--flows", "3", "--", "-l", "0")), 5);
	assert_int_equal(o.flows, 3);
}

/* The exit status of options_parse() in a process of its own; 99: it returned. */
static int status(char **argv)
{
	struct stream_options o;
	int result;
	pid_t pid = fork();

	if (!pid) {
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		parse(&o, argv);
		_exit(99);
	}
	waitpid(pid, &result, 0);
	return WEXITSTATUS(result);
}

static void test_usage_errors(void **state)
{
	(void)state;
	assert_int_equal(status(LINE("receive")), 2);
	assert_int_equal(status(LINE("send", "--size", "no")), 2);
	assert_int_equal(status(LINE("send", "--rate", "1G")), 2);
	assert_int_equal(status(LINE("send", "--flows", "0")), 2);
	assert_int_equal(status(LINE("send", "--port", "65536")), 2);
	assert_int_equal(status(LINE("send", "--nonsense")), 2);
	assert_int_equal(status(LINE("send", "--size")), 2);
	assert_int_equal(status(LINE("send", "more")), 2);
	assert_int_equal(status(LINE("--help")), 0);
	assert_int_equal(status(LINE("recv", "--version")), 0);
	assert_int_equal(status(LINE("recv")), 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_seconds_and_numbers),
		cmocka_unit_test(test_whole_lines),
		cmocka_unit_test(test_usage_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
