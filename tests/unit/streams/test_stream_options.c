// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "userspace/traffic/streams/stream_options.h"

struct test_options {
	struct stream_options common;
	const char *own;
};

static const struct option_entry own[] = {
	{ "own", "X", "an option of this program", OPTION_TEXT(struct test_options, own) },
	{ 0 },
};
static const struct option_table tables[] = {
	{ NULL, stream_entries, offsetof(struct test_options, common) }, { NULL, own, 0 }, { 0 },
};
static const struct command command = { .arguments = STREAM_ARGUMENTS, .tables = tables };

#define LINE(...) ((char *[]){ "prog", __VA_ARGS__, NULL })

static int parse(struct test_options *o, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	*o = (struct test_options){ 0 };
	return stream_parse(&command, o, &o->common, argc, argv);
}

static void test_whole_lines(void **state)
{
	struct test_options o;

	(void)state;
	assert_int_equal(parse(&o, LINE("recv")), 2);
	assert_true(!o.common.send && o.common.size == 4096 && o.common.flows == 1 && o.common.port == 7471 && !o.common.duration);
	assert_true(o.common.idle == 2 && o.common.wait == 30 && !o.common.latency && !o.common.json && !o.own);
	assert_int_equal(parse(&o, LINE("send", "--size", "64K", "--rate=1Gbit", "--own", "x", "--json")), 8);
	assert_true(o.common.send && o.common.size == 65536 && o.common.rate.per_second == 1e9 && o.common.json);
	assert_true(o.common.duration == 10);
	assert_string_equal(o.own, "x");
	parse(&o, LINE("send", "--messages", "7"));
	assert_true(o.common.messages == 7 && !o.common.duration);
	assert_int_equal(parse(&o, LINE("recv", "--flows", "3", "--", "-l", "0")), 5);
	assert_int_equal(o.common.flows, 3);
}

/* The exit status of stream_parse() in a child process; 99: it returned. */
static int status(char **argv)
{
	struct test_options o;
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
	assert_int_equal(status(LINE("--help", "nonsense")), 2);
	assert_int_equal(status(LINE("send", "--json=x")), 2);
	assert_int_equal(status(LINE("recv", "--ping-pong")), 2);
	assert_int_equal(status(LINE("send", "--ping-pong", "--rate", "1Gbit")), 2);
	assert_int_equal(status(LINE("send", "--ping-pong")), 99);
	assert_int_equal(status(LINE("recv")), 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_lines),
		cmocka_unit_test(test_usage_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
