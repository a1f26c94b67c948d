// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The options of `rocescope send`. The parser of faults has its own test: here a stub accepts any text. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/slot.h"
#include "lib/clock.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/traffic/send/fault.h"
#include "userspace/traffic/send/lateness.h"
#include "userspace/traffic/send/options.h"

/* The programs exit without freeing their memory: that is no leak. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

const char *fault_parse(struct send_plan *plan, const char *text)
{
	const char *qp = strstr(text, "qp=");

	if (!strcmp(text, "nonsense"))
		return "no such fault";
	plan->faults = realloc(plan->faults, (plan->fault_count + 1) * sizeof(*plan->faults));
	plan->faults[plan->fault_count++] = (struct send_fault){ .qp = qp ? atoi(qp + 3) : -1 };
	return NULL;
}

const char *fault_check(const struct send_plan *plan)
{
	for (size_t i = 0; i < plan->fault_count; i++)
		if (plan->faults[i].qp >= plan->qps)
			return "there is no QP of that index";
	return NULL;
}

void fault_help(void)
{
	printf("faults\n");
}

#define LINE(...) ((char *[]){ "send", __VA_ARGS__, NULL })
#define TO_FILE(...) LINE("-w", "x.pcap", "--messages", "10", __VA_ARGS__)

static void parse(struct send_options *o, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	options_parse_send(o, argc, argv);
}

/* The message for a refused command line. */
static char output[16384];

/* The exit status of a parse in a child process; 99: it returned. */
static int status(char **argv)
{
	struct send_options o;
	int result, pipes[2];
	ssize_t length;
	size_t all = 0;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		dup2(pipes[1], STDOUT_FILENO);
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		parse(&o, argv);
		_exit(99);
	}
	close(pipes[1]);
	while (all < sizeof(output) - 1 && (length = read(pipes[0], output + all, sizeof(output) - 1 - all)) > 0)
		all += length;
	output[all] = 0;
	close(pipes[0]);
	waitpid(pid, &result, 0);
	assert_true(WIFEXITED(result));
	return WEXITSTATUS(result);
}

/* Expects one line with these words, and that exit status. */
static void ended(int wanted, const char *words, char **argv)
{
	int s = status(argv);

	if (s != wanted || !strstr(output, words) || strchr(output, '\n') != output + strlen(output) - 1)
		fail_msg("exit status %d, not %d with '%s': %s", s, wanted, words, output);
}

static void refused(const char *words, char **argv)
{
	ended(2, words, argv);
}

static char *text_file(const char *text)
{
	static char path[] = "/tmp/test_send_options.XXXXXX";
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

static void test_defaults(void **state)
{
	static const __u8 src[16] = { [10] = 0xff, [11] = 0xff, 10, 9, 0, 1 }, dst[16] = { [10] = 0xff, [11] = 0xff, 10, 9, 0, 2 };
	struct send_options o;

	(void)state;
	parse(&o, LINE("-w", "x.pcap", "--messages", "10"));
	assert_true(o.plan.op == SEND_UC_WRITE_IMM && o.plan.message == 4096 && o.plan.mtu == 1024 && o.plan.qps == 1);
	assert_true(o.plan.port == 49152 && o.plan.first_qpn == 0x100 && !o.plan.first_psn && o.plan.ttl == 64);
	assert_true(o.plan.dont_fragment && o.plan.pkey == 0xffff && o.plan.burst == 1 && o.plan.region_bytes == 4096);
	assert_true(!o.plan.ipv6 && !o.plan.tagged && o.plan.out == OUT_FILE && !o.plan.qp && !o.plan.duration);
	assert_memory_equal(o.plan.src, src, 16);
	assert_memory_equal(o.plan.dst, dst, 16);
	assert_memory_equal(o.plan.src_mac, "\x02\0\0\0\0\x01", 6);
	assert_memory_equal(o.plan.dst_mac, "\x02\0\0\0\0\x02", 6);
	options_free(&o);
	parse(&o, LINE("lo", "--dst", "127.0.0.2", "--src", "127.0.0.1", "--dst-mac", "02:00:00:00:00:09", "--src-mac",
		       "0a:ff:00:00:00:09"));
	assert_true(o.plan.duration == 10 && o.plan.out == OUT_AUTO && o.plan.src[15] == 1 && o.plan.dst[15] == 2);
	assert_string_equal(o.plan.interface, "lo");
	assert_memory_equal(o.plan.src_mac, "\x0a\xff\0\0\0\x09", 6);
	options_free(&o);
}

static void test_every_option(void **state)
{
	struct send_options o;

	(void)state;
	parse(&o, TO_FILE("--op", "rc-send", "--message", "64K", "--mtu", "1408", "--duration", "2.5", "--rate", "2Mpps",
			  "--seed", "7", "--vlan", "100", "--pcp", "5", "--dscp", "26", "--ecn", "1", "--ttl", "3", "--df",
			  "off", "--ports", "random", "--port", "0xc001", "--udp-checksum", "--first-qpn", "0xfffff0",
			  "--qps", "16", "--first-psn", "0xFFFFFE", "--pkey", "0x8001", "--rkey", "0xdeadbeef", "--va",
			  "0xffff000000000000", "--regions", "3", "--region-bytes", "1M", "--immediate", "0x80000000",
			  "--other-psn", "9", "--payload", "lfsr", "--truth", "t.json", "-j"));
	assert_true(o.plan.op == SEND_RC_SEND && o.plan.message == 65536 && o.plan.mtu == 1408 && o.plan.duration == 2.5);
	assert_true(o.plan.rate.per_second == 2e6 && o.plan.rate.unit == RATE_PACKETS && o.plan.seed == 7);
	assert_true(o.plan.tagged && o.plan.vlan == 100 && o.plan.pcp == 5 && o.plan.tos == (26 << 2 | 1));
	assert_true(o.plan.ttl == 3 && !o.plan.dont_fragment && o.plan.ports == PORTS_RANDOM && o.plan.port == 0xc001);
	assert_true(o.plan.udp_checksum && o.plan.first_qpn == 0xfffff0 && o.plan.qps == 16 && o.plan.first_psn == 0xfffffe);
	assert_true(o.plan.pkey == 0x8001 && o.plan.rkey == 0xdeadbeef && o.plan.va == 0xffff000000000000);
	assert_true(o.plan.regions == 3 && o.plan.region_bytes == 1 << 20 && o.plan.immediate == 0x80000000);
	assert_true(o.plan.other_psn == 9 && o.plan.pattern == PATTERN_LFSR && o.json);
	assert_string_equal(o.plan.truth, "t.json");
	options_free(&o);
	parse(&o, TO_FILE("--payload", "file=/etc/hostname", "--pcp", "1", "--ecn", "3", "--dscp", "63"));
	assert_true(o.plan.pattern == PATTERN_FILE && o.plan.tagged && !o.plan.vlan && o.plan.tos == 0xff);
	assert_string_equal(o.plan.pattern_file, "/etc/hostname");
	options_free(&o);
}

static void test_addresses(void **state)
{
	struct send_options o;
	__u8 address[16];

	(void)state;
	parse(&o, TO_FILE("--dst", "fd00::7", "--flow-label", "0xabcde"));
	inet_pton(AF_INET6, "fd00:9::1", address);
	assert_true(o.plan.ipv6 && o.plan.flow_label == 0xabcde);
	assert_memory_equal(o.plan.src, address, 16);
	options_free(&o);
	refused("both have to be", TO_FILE("--dst", "fd00::7", "--src", "10.0.0.1"));
	refused("no IP address", TO_FILE("--dst", "10.0.0"));
	refused("write it as", TO_FILE("--dst", "::ffff:10.0.0.1"));
	refused("IPv4 has none", TO_FILE("--flow-label", "1"));
	refused("IPv6 has no such bit", TO_FILE("--dst", "fd00::7", "--df", "off"));
	refused("no MAC address", TO_FILE("--dst-mac", "2:0:0:0:0"));
	refused("no MAC address", TO_FILE("--dst-mac", "02:00:00:00:00:01:02"));
	refused("no MAC address", TO_FILE("--dst-mac", " 2:00:00:00:00:01"));
	refused("cannot be a source's", TO_FILE("--src-mac", "01:00:00:00:00:01"));
	refused("--dst-mac", LINE("lo", "--dst", "127.0.0.9"));
	refused("who receives", LINE("lo"));
}

static void test_qps(void **state)
{
	struct send_options o, again;

	(void)state;
	parse(&o, TO_FILE("--qp", "qpn=17,psn=5,rkey=0x10,va=0x1000", "--qp", "psn=0xffffff", "--rkey", "3", "--va", "0x100"));
	assert_int_equal(o.plan.qps, 2);
	assert_true(o.plan.qp[0].qpn == 17 && o.plan.qp[0].psn == 5 && o.plan.qp[0].rkey == 16 && o.plan.qp[0].va == 0x1000);
	assert_true(o.plan.qp[1].qpn == 0x101 && o.plan.qp[1].psn == 0xffffff && o.plan.qp[1].rkey == 3);
	assert_int_equal(o.plan.qp[1].va, 0x1100);
	options_free(&o);
	parse(&o, TO_FILE("--qps", "100", "--first-psn", "random", "--seed", "0"));
	parse(&again, TO_FILE("--qps", "100", "--first-psn", "random", "--seed", "0"));
	for (uint32_t k = 0; k < 100; k++)
		assert_true(o.plan.qp[k].psn == again.plan.qp[k].psn && o.plan.qp[k].qpn == again.plan.qp[k].qpn);
	assert_true(o.plan.qp[0].psn != o.plan.qp[1].psn && o.plan.qp[99].psn <= 0xffffff && o.plan.qp[99].qpn == 0x163);
	options_free(&o);
	options_free(&again);
	refused("0 to 0xffffff", TO_FILE("--qp", "qpn=0x1000000"));
	refused("no such key", TO_FILE("--qp", "qpm=1"));
	refused("comes twice", TO_FILE("--qp", "qpn=0x101", "--qp", "psn=1"));
	refused("but there is 1 --qp", TO_FILE("--qp", "qpn=1", "--qps", "2"));
	refused("QPNs end", TO_FILE("--first-qpn", "0xffffff", "--qps", "2"));
	refused("1 to 1000000", TO_FILE("--qps", "1000001"));
}

static void test_order(void **state)
{
	static const uint32_t weights[] = { 3, 1, 3, 1, 3 }, turns[] = { 0, 2, 1, 1 };
	struct send_options o;
	char words[100];
	const char *path;

	(void)state;
	parse(&o, TO_FILE("--qps", "5", "--interleave", "weights=3,1"));
	assert_true(o.plan.order == ORDER_WEIGHTS && o.plan.turns == 5);
	assert_memory_equal(o.plan.turn, weights, sizeof(weights));
	options_free(&o);
	path = text_file("0 2 # round\n\n1,1");
	snprintf(words, sizeof(words), "sequence=%s", path);
	parse(&o, TO_FILE("--qps", "3", "--interleave", words));
	assert_true(o.plan.order == ORDER_SEQUENCE && o.plan.turns == 4);
	assert_memory_equal(o.plan.turn, turns, sizeof(turns));
	options_free(&o);
	refused("no QP 2: there are 2", TO_FILE("--qps", "2", "--interleave", words));
	refused("QP 3 never", TO_FILE("--qps", "4", "--interleave", words));
	unlink(path);
	ended(1, "No such file", TO_FILE("--interleave", words));
	path = text_file("0\n0 x\n");
	snprintf(words, sizeof(words), "sequence=%s", path);
	refused(":2: wants QP indexes", TO_FILE("--interleave", words));
	unlink(path);
	refused("3 of them for 2 QPs", TO_FILE("--qps", "2", "--interleave", "weights=1,1,1"));
	refused("weights are", TO_FILE("--interleave", "weights=1,,1"));
	refused("weights are", TO_FILE("--interleave", "weights=0"));
	refused("weights are", TO_FILE("--interleave", "weights="));
	refused("no such choice; choices are message", TO_FILE("--interleave", "random"));
	refused("", TO_FILE("--interleave", "sequence=/dev/zero"));
}

static void test_departures(void **state)
{
	struct send_options o;

	(void)state;
	parse(&o, TO_FILE("--burst", "32/100us"));
	assert_true(o.plan.burst == 32 && o.plan.rate.unit == RATE_PACKETS);
	assert_true(o.plan.rate.per_second > 319999.9 && o.plan.rate.per_second < 320000.1);
	options_free(&o);
	parse(&o, TO_FILE("--rate", "1Gbit", "--burst", "4"));
	assert_true(o.plan.burst == 4 && o.plan.rate.per_second == 1e9 && o.plan.rate.unit == RATE_BITS);
	options_free(&o);
	refused("how often", TO_FILE("--burst", "4"));
	refused("not a time", TO_FILE("--burst", "4/100"));
	refused("not a time", TO_FILE("--burst", "4/0us"));
	refused("not a number of packets", TO_FILE("--burst", "0"));
	refused("not a rate", TO_FILE("--rate", "10G"));
	refused("how much", LINE("-w", "x.pcap"));
	refused("how much", LINE("-w", "x.pcap", "--duration", "1"));
	assert_int_equal(status(LINE("-w", "x.pcap", "--duration", "1", "--rate", "1Gbit")), 99);
}

static void test_messages(void **state)
{
	struct send_options o;

	(void)state;
	parse(&o, TO_FILE("--message", "0"));
	assert_true(!o.plan.message && o.plan.region_bytes == 1);
	options_free(&o);
	parse(&o, TO_FILE("--preset", "lofar", "--op", "cnp"));
	assert_true(o.plan.op == SEND_CNP && !o.plan.message);
	options_free(&o);
	refused("one packet", TO_FILE("--op", "ud-send", "--message", "1025"));
	refused("carry none", TO_FILE("--op", "ack", "--message", "8"));
	refused("1 to 9984", TO_FILE("--mtu", "0"));
	refused("1 to 9984", TO_FILE("--mtu", "9985"));
	refused("not a size", TO_FILE("--message", "4G"));
	refused("not a size", TO_FILE("--message", "3000M"));
	refused("64 bits", TO_FILE("--va", "0xffffffffffffffff", "--message", "2"));
	refused("64 bits", TO_FILE("--regions", "4294967295", "--region-bytes", "4095M", "--qps", "1000"));
	refused("0 to 3", TO_FILE("--ecn", "4"));
	refused("1 to 255", TO_FILE("--ttl", "0"));
	refused("0 to 4094", TO_FILE("--vlan", "4095"));
	refused("no such choice; choices are uc-write-imm", TO_FILE("--op", "uc-read"));
}

static void test_plan_files(void **state)
{
	struct send_options o;
	char *path;

	(void)state;
	path = text_file("# a plan\n  qps 7   # QPs\r\n\nudp-checksum\nfault drop:p=1e-3\npreset twepp\nfault b\nwrite a#b");
	parse(&o, LINE("--plan", path, "--messages", "1", "--mtu", "512", "--fault", "c"));
	assert_true(o.plan.qps == 1 && o.plan.udp_checksum && o.plan.mtu == 512 && o.plan.message == 8192);
	assert_int_equal(o.plan.fault_count, 3);
	assert_string_equal(o.faults[0], "drop:p=1e-3");
	assert_string_equal(o.faults[2], "c");
	assert_string_equal(o.plan.file, "a#b");
	options_free(&o);
	unlink(path);
	path = text_file("qps 1\nmtu 0\n");
	refused(":2: mtu 0: not a size", TO_FILE("--plan", path));
	unlink(path);
	path = text_file("\n\n--qps 1");
	refused(":3: --qps: no such option", TO_FILE("--plan", path));
	unlink(path);
	path = text_file("mtu");
	refused(":1: mtu: needs a value", TO_FILE("--plan", path));
	unlink(path);
	path = text_file("udp-checksum on");
	refused(":1: udp-checksum: takes no value", TO_FILE("--plan", path));
	unlink(path);
	path = text_file("plan x");
	refused("cannot name another", TO_FILE("--plan", path));
	ended(1, "No such file", TO_FILE("--plan", "/nonexistent"));
	refused("too long", TO_FILE("--plan", "/dev/zero"));
	ended(1, "", TO_FILE("--plan", "/tmp"));
	unlink(path);
}

static void test_presets(void **state)
{
	struct send_options o;

	(void)state;
	for (const struct preset *p = presets; p->name; p++) {
		parse(&o, TO_FILE("--preset", (char *)p->name));
		options_free(&o);
	}
	parse(&o, TO_FILE("--preset", "lofar"));
	assert_true(o.plan.qps == 2000 && o.plan.message == 16384 && o.plan.mtu == 4096 && o.plan.order == ORDER_PACKET);
	options_free(&o);
	refused("no such preset", TO_FILE("--preset", "lofra"));
	assert_int_equal(status(LINE("--preset", "list")), 0);
	assert_non_null(strstr(output, "coyote-2022"));
}

static void test_usage(void **state)
{
	(void)state;
	refused("where to", LINE("--messages", "1"));
	refused("One of them", TO_FILE("lo"));
	refused("--out is for", TO_FILE("--out", "live"));
	refused("two files", TO_FILE("--truth", "x.pcap"));
	refused("one interface", LINE("lo", "lo"));
	refused("no such option", TO_FILE("--nonsense"));
	refused("needs a value", TO_FILE("--mtu"));
	refused("no such fault", TO_FILE("--fault", "nonsense"));
	refused("no QP of that index", TO_FILE("--qps", "3", "--fault", "drop:qp=3"));
	assert_int_equal(status(TO_FILE("--qps", "3", "--fault", "drop:qp=2")), 99);
	assert_int_equal(status(LINE("nonexistent0", "--dst", "10.9.0.2")), 1);
	assert_int_equal(status(LINE("--help")), 0);
	assert_int_equal(status(LINE("--help", "faults")), 0);
	assert_string_equal(output, "faults\n");
}

/* Each lateness lies in its bucket, whose end is at most a quarter larger. */
static void test_lateness(void **state)
{
	static struct send_memory m;

	(void)state;
	for (uint64_t ns = 0; ns < 1ull << 40; ns += ns / 7 + 1) {
		uint64_t end = lateness_of_bucket(late_bucket(ns));

		assert_true(end >= ns && end <= ns + ns / 4);
	}
	assert_int_equal(lateness_quantile(&m, .5), 0);
	for (uint64_t ns = 1; ns <= 1000; ns++)
		m.late[late_bucket(ns)]++;
	m.late_max = 1000;
	assert_true(lateness_quantile(&m, .5) >= 500 && lateness_quantile(&m, .5) <= 625);
	assert_int_equal(lateness_quantile(&m, 1), 1000);
	m.last = NSEC_PER_SEC;
	assert_true(lateness_kept_rate(&m, 0));
	m.late[late_bucket(NSEC_PER_SEC / 100)] = 1001;
	m.late_max = NSEC_PER_SEC / 100;
	assert_false(lateness_kept_rate(&m, 0));
	assert_true(lateness_kept_rate(&m, NSEC_PER_SEC / 40)); /* but they leave before the next burst is due */
	assert_false(lateness_kept_rate(&m, NSEC_PER_SEC / 60));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_every_option),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_qps),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_departures),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_plan_files),
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_lateness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
