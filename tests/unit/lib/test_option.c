// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of options: every kind of value, the errors and their words, --help, files and the dump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/list.h"
#include "lib/number.h"
#include "lib/option_dump.h"

enum colour { RED, GREEN, BLUE };
static const char *const colours[] = { [RED] = "red", [GREEN] = "green", [BLUE] = "blue", NULL };

struct shared {
	bool loud, has_ttl;
	uint8_t ttl;
};

struct test_options {
	uint16_t port;
	uint32_t qpn, part;
	uint64_t bytes, any;
	double interval;
	struct rate rate, bits;
	enum colour colour, shade;
	const char *name;
	uint8_t ip[16], ipv4[4], mac[6];
	struct shared shared;
	const char *custom;
	bool from_file;
};

static void take_custom(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct test_options *o = p->options;

	if (!strcmp(text, "bad"))
		option_wrong(p, e, text, "this is %s", "bad");
	o->custom = text;
	o->from_file = p->path;
	if (strchr(text, '/'))
		o->part = option_whole(p, e, strchr(text, '/') + 1, 1, 0xffffff);
}

static const struct option_entry entries[] = {
	{ "port", "N", "a port", OPTION_NUMBER(struct test_options, port, 1, 65535), .usual = "7" },
	{ "qpn", "N", "a QPN", OPTION_HEX(struct test_options, qpn, 0, 0xffffff) },
	{ "bytes", "SIZE", "a size", OPTION_SIZE(struct test_options, bytes, 0, 1 << 20) },
	{ "any", "N", "any number", OPTION_HEX(struct test_options, any, 0, UINT64_MAX) },
	{ "interval", "SECONDS", "a time", OPTION_SECONDS(struct test_options, interval, 1), .usual = "1.5" },
	{ "rate", "RATE", "a rate", OPTION_RATE(struct test_options, rate) },
	{ "bits", "RATE", "a rate in bits", OPTION_BIT_RATE(struct test_options, bits) },
	{ 0 },
};

static const struct option_entry others[] = {
	{ "colour", NULL, "a colour", OPTION_CHOICE(struct test_options, colour, colours), .usual = "green" },
	{ "shade", "SHADE", "another one", OPTION_CHOICE(struct test_options, shade, colours) },
	{ "name", "FILE", "a text that is so long that its words do not fit into one line of eighty characters",
	  OPTION_TEXT(struct test_options, name), .letter = 'w' },
	{ "ip", "IP", "an address", OPTION_ADDRESS(struct test_options, ip) },
	{ "ipv4", "IPV4", "an address", OPTION_ADDRESS(struct test_options, ipv4) },
	{ "mac", "MAC", "an address", OPTION_MAC(struct test_options, mac) },
	{ "custom", "TEXT", "with a rule of its own", .take = take_custom, .topic = "things" },
	{ "secret", "TEXT", "nobody sees it", OPTION_TEXT(struct test_options, name), .hidden = true },
	{ 0 },
};

static const struct option_entry shared_entries[] = {
	{ "loud", NULL, "a flag", OPTION_FLAG(struct shared, loud), .letter = 'l' },
	{ "ttl", "N", "a number",
	  OPTION_NUMBER(struct shared, ttl, 1, 255), OPTION_GIVEN(struct shared, has_ttl), .usual = "64" },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "Numbers", entries, 0 }, { "Others", others, 0 }, { NULL, shared_entries, offsetof(struct test_options, shared) },
		{ 0 },
};

static void print_things(void)
{
	list_entry("this", "that");
}

static const struct option_topic things = { "things", "what there is", print_things };
static const struct option_topic *const topics[] = { &things, NULL };

static const struct command command = {
	.name = "show",
	.words = "show it",
	.arguments = "FILE... [OPTIONS]",
	.prose = "One paragraph.\n\nAnother.",
	.tables = tables,
	.topics = topics,
	.examples = "  # an example\n  prog show x\n",
};
static const struct command bare = { .arguments = "", .tables = tables };

#define LINE(...) ((char *[]){ "show", __VA_ARGS__, NULL })

static int parse_as(const struct command *c, struct test_options *o, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	*o = (struct test_options){ 0 };
	return command_parse(c, o, argc, argv);
}

static int parse(struct test_options *o, char **argv)
{
	return parse_as(&command, o, argv);
}

/* The output of a child process, and its exit status; 99: the parser returned. */
static char output[16384];

static int status_of(const struct command *c, char **argv, const char *name, const char *value)
{
	struct test_options o;
	struct option_parser p = { .command = c, .options = &o, .path = "plan", .line = 3 };
	int result, pipes[2];
	ssize_t length;
	size_t all = 0;

	assert_int_equal(pipe(pipes), 0);
	if (!fork()) {
		dup2(pipes[1], STDOUT_FILENO);
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		if (argv)
			parse_as(c, &o, argv);
		else
			option_parse(&p, name, value);
		_exit(99);
	}
	close(pipes[1]);
	while (all < sizeof(output) - 1 && (length = read(pipes[0], output + all, sizeof(output) - 1 - all)) > 0)
		all += length;
	output[all] = 0;
	close(pipes[0]);
	wait(&result);
	assert_true(WIFEXITED(result));
	return WEXITSTATUS(result);
}

/* Expects one line that begins with the program's name and ends with these words, and exit status 2. */
static void judge(int status, const char *words)
{
	char line[1000];

	snprintf(line, sizeof(line), "test_option: %s (--help tells more)\n", words);
	assert_string_equal(output, line);
	assert_int_equal(status, 2);
}

static void refused(const char *words, char **argv)
{
	judge(status_of(&command, argv, NULL, NULL), words);
}

static void refused_in_file(const char *words, const char *name, const char *value)
{
	judge(status_of(&command, NULL, name, value), words);
}

static void test_defaults(void **state)
{
	struct test_options o;

	(void)state;
	assert_int_equal(parse(&o, LINE(NULL)), 1);
	assert_true(o.port == 7 && o.interval == 1.5 && o.colour == GREEN && o.shared.ttl == 64 && !o.shared.has_ttl);
	assert_true(!o.name && !o.qpn && !o.shared.loud);
}

static void test_values(void **state)
{
	static const uint8_t four[16] = { [10] = 0xff, [11] = 0xff, 10, 9, 0, 1 };
	struct test_options o;

	(void)state;
	parse(&o, LINE("--port", "65535", "--qpn", "0xabCDEF", "--bytes", "64K", "--any", "18446744073709551615", "--interval=.001",
		       "--colour", "blue", "--shade", "red", "--name", "a", "--ip", "10.9.0.1", "--ipv4", "10.9.0.2", "--mac",
		       "02:0a:ff:00:00:01", "--custom", "x/0x11", "-l", "--ttl", "3"));
	assert_true(o.port == 65535 && o.qpn == 0xabcdef && o.bytes == 65536 && o.any == UINT64_MAX && o.interval == .001);
	assert_true(o.colour == BLUE && o.shade == RED && o.shared.loud && o.shared.ttl == 3 && o.shared.has_ttl && o.part == 17);
	assert_true(!o.from_file);
	assert_string_equal(o.name, "a");
	assert_memory_equal(o.ip, four, 16);
	assert_memory_equal(o.ipv4, "\x0a\x09\0\x02", 4);
	assert_memory_equal(o.mac, "\x02\x0a\xff\0\0\x01", 6);
	parse(&o, LINE("--rate", "2kpps", "--bits", "1.5Gbit"));
	assert_true(o.rate.per_second == 2000 && o.rate.unit == RATE_PACKETS && o.bits.per_second == 1.5e9 && o.bits.unit == RATE_BITS);
	parse(&o, LINE("--ip", "fd00::1", "--bytes", "0", "--qpn", "17"));
	assert_true(o.ip[0] == 0xfd && o.ip[15] == 1 && !o.bytes && o.qpn == 17);
}

static void test_arguments(void **state)
{
	struct test_options o;
	char **line = LINE("one", "--qpn", "1", "two", "-lw", "file", "--", "-x");

	(void)state;
	assert_int_equal(parse(&o, line), 6);
	assert_string_equal(line[6], "one");
	assert_string_equal(line[7], "two");
	assert_string_equal(line[8], "-x");
	assert_true(o.shared.loud);
	assert_string_equal(o.name, "file");
	parse(&o, LINE("--port", "1", "--port", "2", "--colo", "red"));
	assert_true(o.port == 2 && o.colour == RED); /* the last option wins; unambiguous prefixes are accepted */
}

static void test_refused(void **state)
{
	(void)state;
	refused("show: --nonsense: no such option", LINE("--nonsense"));
	refused("show: --prt: no such option; did you mean --port?", LINE("--prt"));
	refused("show: --colur=red: no such option; did you mean --colour?", LINE("--colur=red"));
	refused("show: -x: no such option", LINE("-x"));
	refused("show: -x: no such option", LINE("-lx"));
	refused("show: --port: needs a value", LINE("--port"));
	refused("show: -w: needs a value", LINE("-w"));
	refused("show: --loud=yes: takes no value", LINE("--loud=yes"));
	refused("show: --port 0: not a number from 1 to 65535", LINE("--port", "0"));
	refused("show: --port 65536: not a number from 1 to 65535", LINE("--port=65536"));
	refused("show: --port 0x1: not a number from 1 to 65535", LINE("--port", "0x1"));
	refused("show: --qpn -1: not a number from 0 to 0xffffff", LINE("--qpn", "-1"));
	refused("show: --qpn 0x1000000: not a number from 0 to 0xffffff", LINE("--qpn", "0x1000000"));
	refused("show: --any 18446744073709551616: not a number from 0 to 0xffffffffffffffff", LINE("--any", "18446744073709551616"));
	refused("show: --bytes 2M: not a size from 0 to 1048576 bytes (K, M and G behind it are allowed)", LINE("--bytes", "2M"));
	refused("show: --bytes : not a size from 0 to 1048576 bytes (K, M and G behind it are allowed)", LINE("--bytes", ""));
	refused("show: --interval 0.0001: not a number of seconds of at least 0.001", LINE("--interval", "0.0001"));
	refused("show: --interval soon: not a number of seconds of at least 0.001", LINE("--interval", "soon"));
	refused("show: --rate 5: not a rate like 100Mbit, 1.5Gbit or 2Mpps", LINE("--rate", "5"));
	refused("show: --rate 0.0001bit: not a rate like 100Mbit, 1.5Gbit or 2Mpps", LINE("--rate", "0.0001bit"));
	refused("show: --bits 2Mpps: not a rate like 100Mbit or 1.5Gbit", LINE("--bits", "2Mpps"));
	refused("show: --colour pink: no such choice; choices are red, green, blue", LINE("--colour", "pink"));
	refused("show: --shade bl: no such choice; choices are red, green, blue", LINE("--shade", "bl"));
	refused("show: --ip 10.9.0: no IP address", LINE("--ip", "10.9.0"));
	refused("show: --ip ::ffff:10.0.0.1: that is an IPv4 address: write it as a.b.c.d", LINE("--ip", "::ffff:10.0.0.1"));
	refused("show: --ipv4 fd00::1: not an IPv4 address", LINE("--ipv4", "fd00::1"));
	refused("show: --mac 02:00:00: no MAC address like 02:00:00:00:00:01", LINE("--mac", "02:00:00"));
	refused("show: --custom bad: this is bad", LINE("--custom", "bad"));
	refused("show: --custom 0x0: not a number from 0x1 to 0xffffff", LINE("--custom", "x/0x0"));
	judge(status_of(&bare, LINE("--port", "x"), NULL, NULL), "--port x: not a number from 1 to 65535");
}

static void test_files(void **state)
{
	struct test_options o = { 0 };
	struct option_parser p = { .command = &command, .options = &o, .path = "plan", .line = 3 };

	(void)state;
	option_parse(&p, "qpn", "0x11");
	option_parse(&p, "loud", NULL);
	option_parse(&p, "ttl", "9");
	option_parse(&p, "custom", "y");
	assert_true(o.qpn == 17 && o.shared.loud && o.shared.ttl == 9 && o.shared.has_ttl && o.from_file);
	refused_in_file("show: plan:3: qp: no such option (they are those of the command line, without dashes)", "qp", "1");
	refused_in_file("show: plan:3: loud: takes no value", "loud", "yes");
	refused_in_file("show: plan:3: colour: needs a value behind it", "colour", NULL);
	refused_in_file("show: plan:3: colour pink: no such choice; choices are red, green, blue", "colour", "pink");
	refused_in_file("show: plan:3: port 0: not a number from 1 to 65535", "port", "0");
	refused_in_file("show: plan:3: custom bad: this is bad", "custom", "bad");
}

static const char help[] =
	"usage: test_option show FILE... [OPTIONS]\n"
	"\n"
	"One paragraph.\n"
	"\n"
	"Another.\n"
	"\n"
	"Numbers:\n"
	"  --port N                   a port (default: 7)\n"
	"  --qpn N                    a QPN\n"
	"  --bytes SIZE               a size\n"
	"  --any N                    any number\n"
	"  --interval SECONDS         a time (default: 1.5)\n"
	"  --rate RATE                a rate\n"
	"  --bits RATE                a rate in bits\n"
	"\n"
	"Others:\n"
	"  --colour red|green|blue    a colour (default: green)\n"
	"  --shade SHADE              another one: red, green, blue\n"
	"  -w, --name FILE            a text that is so long that its words do not fit\n"
	"                             into one line of eighty characters\n"
	"  --ip IP                    an address\n"
	"  --ipv4 IPV4                an address\n"
	"  --mac MAC                  an address\n"
	"  --custom TEXT              with a rule of its own\n"
	"  -l, --loud                 a flag\n"
	"  --ttl N                    a number (default: 64)\n"
	"\n"
	"  -h, --help [TOPIC]         this text, or a list: things\n"
	"  --version                  the version of the program\n"
	"\n"
	"Examples:\n"
	"  # an example\n"
	"  prog show x\n";

static void test_help(void **state)
{
	(void)state;
	assert_int_equal(status_of(&command, LINE("--help"), NULL, NULL), 0);
	assert_string_equal(output, help);
	assert_int_equal(status_of(&command, LINE("-h", "--port", "0"), NULL, NULL), 0);
	assert_string_equal(output, help);
	assert_int_equal(status_of(&command, LINE("--help", "things"), NULL, NULL), 0);
	assert_string_equal(output, "  this                       that\n");
	assert_int_equal(status_of(&command, LINE("--help=things"), NULL, NULL), 0);
	assert_string_equal(output, "  this                       that\n");
	refused("show: --help bogus: no such topic; topics are things", LINE("--help", "bogus"));
	judge(status_of(&bare, LINE("--help", "bogus"), NULL, NULL), "--help bogus: no such topic");
	assert_int_equal(status_of(&command, LINE("--version"), NULL, NULL), 0);
	assert_non_null(strstr(output, "test_option "));
}

/* The dump contains the whole table. */
static void test_dump(void **state)
{
	json_t *dump = command_dump(&command), *sections = json_object_get(dump, "sections"), *want, *options;

	(void)state;
	assert_int_equal(json_array_size(sections), 2);
	options = json_object_get(json_array_get(sections, 0), "options");
	want = json_pack("{s:s, s:n, s:s, s:n, s:s, s:n, s:s, s:b, s:s, s:s}", "name", "port", "letter", "argument", "N", "choices",
			 "default", "7", "topic", "words", "a port (default: 7)", "hidden", false, "least", "1", "most", "65535");
	assert_int_equal(json_array_size(options), 7);
	assert_true(json_equal(json_array_get(options, 0), want));
	json_decref(want);
	options = json_object_get(json_array_get(sections, 1), "options");
	assert_int_equal(json_array_size(options), 10);
	assert_string_equal(json_string_value(json_object_get(json_array_get(options, 0), "argument")), "red|green|blue");
	assert_string_equal(json_string_value(json_object_get(json_array_get(options, 2), "letter")), "w");
	assert_string_equal(json_string_value(json_object_get(json_array_get(options, 6), "topic")), "things");
	assert_true(json_is_true(json_object_get(json_array_get(options, 7), "hidden")));
	assert_true(json_is_null(json_object_get(json_array_get(options, 8), "argument")));
	want = json_pack("[[s, s]]", "an example", "prog show x");
	assert_true(json_equal(json_object_get(dump, "examples"), want));
	json_decref(want);
	want = json_pack("[s, s]", "One paragraph.", "Another.");
	assert_true(json_equal(json_object_get(dump, "prose"), want));
	json_decref(want);
	json_decref(dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_dump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
