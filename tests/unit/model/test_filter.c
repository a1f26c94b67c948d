// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 1 s, long 4 s
/* Filters: the meaning of each term, invalid filters, and random filters compared with their intended meaning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/long.h"
#include "userspace/observe/model/filter.h"

/* An RC request stream 10.9.0.1 > 10.9.0.2, QPN 17. */
static struct snapshot_stream rc_stream(void)
{
	struct snapshot_stream s = { .key = { .qpn = 17, .kind = KEY_CONNECTED },
				     .stream = { .trusted = true, .service = SERVICE_RC, .ud.dqpn = 17 } };

	assert_true(address_parse("10.9.0.1", s.key.src) && address_parse("10.9.0.2", s.key.dst));
	return s;
}

static bool wants(const char *text, const struct snapshot_stream *s)
{
	char mistake[FILTER_MISTAKE];
	struct filter *f = filter_parse(text, mistake);
	bool wanted;

	if (!f)
		fail_msg("%s: %s", text, mistake);
	assert_string_equal(filter_text(f), text);
	wanted = filter_wants(f, s);
	filter_free(f);
	return wanted;
}

static void check(const struct snapshot_stream *s, bool want, const char *const *texts)
{
	for (; *texts; texts++)
		if (wants(*texts, s) != want)
			fail_msg("%s: %swanted", *texts, want ? "un" : "");
}

#define WANTED(s, ...) check(s, true, (const char *const[]){ __VA_ARGS__, NULL })
#define UNWANTED(s, ...) check(s, false, (const char *const[]){ __VA_ARGS__, NULL })

static void terms(void **state)
{
	struct snapshot_stream s = rc_stream();

	(void)state;
	WANTED(&s, "", "  ", "10.9.0.1", "10.9.0.2", "src 10.9.0.1", "dst 10.9.0.2", "10.9.0.0/24", "src 10.0.0.0/8", "0.0.0.0/0",
	       "10.9.0.3/30", "dst 10.9.0.3/31", "10.9.0.1/32", "17", "qpn 17", "qpn 0x11", "0x11", "rc", "RC", "request",
	       "packets=0", "lost<1", "lost<=0", "lost==0", "lost!=1", "lost>=0", "psn_lost = 0", "icrc_bad < 5", "udp_length=0",
	       "qpn=17", "qpn==0x11", "qpn = 17", "qpn!=18", "src=10.9.0.1", "src==10.9.0.1 dst=10.9.0.2", "dst!=10.9.0.1",
	       "dst = 10.9.0.0/24", "service=rc", "service RC", "service==rc", "service!=uc", "side=request", "side!=response", "!qpn=18",
	       "not qpn != 17", "(qpn!=18)", "qpn!=18 or uc",
	       "!uc", "not uc", "! not rc", "!!rc", "(rc)", "((rc))", "(rc)(17)", "rc and 17", "rc(17)", "uc or rc", "rc or uc");
	UNWANTED(&s, "10.9.0.3", "src 10.9.0.2", "dst 10.9.0.1", "10.9.1.0/24", "src 10.9.0.2/31", "::/96", "::ffff:0:0", "18",
		 "qpn 0x12", "0", "uc", "ud", "xrc", "udp", "response", "faulty", "untrusted", "lost", "icrc", "lint", "udp_length",
		 "qpn=18", "qpn!=17", "qpn!=0x11", "src=10.9.0.2", "dst!=10.9.0.2", "dst!=10.9.0.0/24", "service=uc", "service!=rc",
		 "side=response", "side!=request", "!qpn=17", "qpn!=17 rc",
		 "packets", "lost>0", "lost<0", "lost>=1", "lost!=0", "not rc", "!(rc or uc)", "rc uc", "rc and not 17",
		 "uc or ud or 18", "rc 18 or uc 17");
	/* `and` binds closer than `or` */
	WANTED(&s, "uc 18 or rc 17", "rc or uc 18", "uc or (rc 17)", "lost or rc and 17");
	UNWANTED(&s, "(rc or uc) 18", "(uc or rc)18", "not rc or not 17");
}

static void faults(void **state)
{
	struct snapshot_stream s = rc_stream();
	__u64 *v = s.stream.counters.value;

	(void)state;
	v[COUNTER_roce_packets] = 1000;
	v[COUNTER_rocev1_packets] = 7;
	WANTED(&s, "packets=1007", "packets>1006", "roce_packets==1000");
	v[COUNTER_psn_gaps] = 3;
	v[COUNTER_psn_skipped] = 10;
	v[COUNTER_psn_recovered] = 10;
	WANTED(&s, "gaps=3", "gap", "faulty", "skipped recovered lost=0");
	UNWANTED(&s, "lost", "icrc or broken");
	v[COUNTER_psn_recovered] = 4; /* as in a stream before the snapshot is finished */
	WANTED(&s, "lost", "psn_lost=6", "lost>5 lost<7", "LOST>0X5");
	s = rc_stream();
	s.stream.lint[LINT_udp_length] = 2;
	WANTED(&s, "lint", "lint=2", "udp_length", "udp_length>=2", "faulty", "not tver");
	s = rc_stream();
	s.stream.class_changes = 3;
	WANTED(&s, "classes", "classes=3", "not faulty");
	UNWANTED(&s, "classes<3");
	s = rc_stream();
	s.stream.trusted = false;
	WANTED(&s, "untrusted", "faulty", "not lost");
}

static void other_streams(void **state)
{
	struct snapshot_stream s = { .key = { .qpn = 40, .kind = KEY_DATAGRAM, .side = SIDE_REQUEST },
				     .stream = { .trusted = true, .service = SERVICE_UD, .ud.dqpn = 50 } };

	(void)state;
	assert_true(address_parse("fd00::1", s.key.src) && address_parse("fd00::2", s.stream.ud.dst));
	s.stream.counters.value[COUNTER_psn_lost] = s.stream.counters.value[COUNTER_psn_skipped] = 4;
	WANTED(&s, "ud", "40", "50", "fd00::1", "dst fd00::2", "fd00::/8", "dst fd00::2/127", "::/0", "lost=4");
	UNWANTED(&s, "17", "dst fd00::1", "::ffff:0:0/96", "faulty"); /* the PSN of UD is not checked */
	s = rc_stream();
	s.key.side = SIDE_RESPONSE;
	UNWANTED(&s, "request", "99");
	s.stream.pair = (struct roce_pair){ .from = PAIR_CM, .peer_qpn = 99 };
	WANTED(&s, "response", "99", "17 99");
	s = (struct snapshot_stream){ .key = { .qpn = 3, .port = 5001, .kind = KEY_UDP }, .stream = { .service = SERVICE_UDP } };
	WANTED(&s, "udp", "3");
	UNWANTED(&s, "rc", "5001");
	assert_true(filter_wants(NULL, &s));
}

/* Only its addresses are known. */
static void no_stream(void **state)
{
	static const struct { const char *text; bool want; } cases[] = {
		{ "", true }, { "10.9.0.1", true }, { "dst 10.9.0.2", true }, { "src 10.9.0.2", false }, { "rc", false },
		{ "17", false }, { "0", false }, { "request", false }, { "lost=0", false }, { "not uc", true }, { "untrusted", false },
	};
	struct snapshot_stream s = rc_stream();
	char mistake[FILTER_MISTAKE];

	(void)state;
	s.key.kind = KEY_NONE;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(cases); i++) {
		struct filter *f = filter_parse(cases[i].text, mistake);

		assert_int_equal(filter_wants_stream(f, &s.key, NULL), cases[i].want);
		filter_free(f);
	}
}

/* What a message offers is a filter: "; for example 10.9.0.1, qpn=258 or lost>0". */
static void check_examples(const char *mistake)
{
	const char *at = strstr(mistake, "; for example ");
	char text[FILTER_MISTAKE], why[FILTER_MISTAKE], *rest;

	if (!at)
		return;
	strcpy(text, at + strlen("; for example "));
	for (char *comma = text; (comma = strchr(comma, ',')); )
		memcpy(comma, " \n", 2);
	for (char *or = text; (or = strstr(or, " or ")); )
		memcpy(or, "\n\n\n\n", 4);
	for (char *one = strtok_r(text, "\n", &rest); one; one = strtok_r(NULL, "\n", &rest)) {
		struct filter *f = filter_parse(one, why);

		assert_non_null(f);
		filter_free(f);
	}
}

static void mistakes(void **state)
{
	static const struct { const char *text, *mistake; } cases[] = {
		{ "nonsense", "at character 1: 'nonsense' is no term; for example 10.9.0.1, qpn=258 or lost>0" },
		{ "rc  10.9.0", "at character 5: '10.9.0' is no term; for example 10.9.0.1, qpn=258 or lost>0" },
		{ "frames", "at character 1: 'frames' is no term; for example 10.9.0.1, qpn=258 or lost>0" },
		{ "or rc", "at character 1: 'or' is no term; for example 10.9.0.1, qpn=258 or lost>0" },
		{ "losst", "at character 1: 'losst' is no term; did you mean lost?" },
		{ "rc dqpn=17", "at character 4: 'dqpn' is no term; did you mean qpn?" },
		{ "psn-lost>1", "at character 1: 'psn-lost' is no term; did you mean psn_lost?" },
		{ "servize=uc", "at character 1: 'servize' is no term; did you mean service?" },
		{ "rc or", "at character 6: a term is missing at the end; for example lost>0" },
		{ "rc and", "at character 7: a term is missing at the end; for example lost>0" },
		{ "not", "at character 4: a term is missing at the end; for example lost>0" },
		{ "()", "at character 2: a term is missing here; for example lost>0" },
		{ "= 17", "at character 1: a term is missing here; for example lost>0" },
		{ "(rc", "at character 1: this parenthesis is not closed" },
		{ "rc ( uc or (17)", "at character 4: this parenthesis is not closed" },
		{ "rc)", "at character 3: a parenthesis is closed that was not opened" },
		{ "lost >", "at character 7: the number to compare with is missing; for example lost>0" },
		{ "lost > x", "at character 8: 'x' is no number to compare with; for example lost>0" },
		{ "lint=udp_length", "at character 6: 'udp_length' is no number to compare with; for example lint>0" },
		{ "icrc>-1", "at character 6: '-1' is no number to compare with; for example icrc>0" },
		{ "lost > > 1", "at character 8: the number to compare with is missing; for example lost>0" },
		{ "lost > 99999999999999999999", "at character 8: '99999999999999999999' is no number to compare with; for example lost>0" },
		{ "rc > 1", "at character 4: 'rc' takes no value; for example service=rc" },
		{ "response=1", "at character 9: 'response' takes no value; for example side=response" },
		{ "faulty != 1", "at character 8: 'faulty' takes no value; for example faulty" },
		{ "10.9.0.0/33", "at character 1: '10.9.0.0/33' is no prefix: its length is 0 to 32; for example 10.9.0.0/24" },
		{ "fd00::/129", "at character 1: 'fd00::/129' is no prefix: its length is 0 to 128; for example fd00::/64" },
		{ "10.9.0.0/", "at character 1: '10.9.0.0/' is no prefix: its length is 0 to 32; for example 10.9.0.0/24" },
		{ "src", "at character 4: the IP address is missing; for example src=10.9.0.1" },
		{ "src=rc", "at character 5: 'rc' is no IP address; for example src=10.9.0.1" },
		{ "dst 17", "at character 5: '17' is no IP address; for example dst=10.9.0.2" },
		{ "dst==", "at character 6: the IP address is missing; for example dst=10.9.0.2" },
		{ "qpn 10.9.0.1", "at character 5: '10.9.0.1' is no QPN; for example qpn=258" },
		{ "qpn!=(17)", "at character 6: the QPN is missing; for example qpn=258" },
		{ "qpn = = 17", "at character 7: the QPN is missing; for example qpn=258" },
		{ "qpn>16", "at character 4: behind qpn stands = or !=; for example qpn=258" },
		{ "service=17", "at character 9: '17' is no service; for example service=uc" },
		{ "side=uc", "at character 6: 'uc' is no side; for example side=response" },
		{ "0x100000000", "at character 1: '0x100000000' is no QPN: those have 24 bits, and flows of --udp 32; for example qpn=258" },
	};
	char mistake[FILTER_MISTAKE];

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(cases); i++) {
		assert_null(filter_parse(cases[i].text, mistake));
		assert_string_equal(mistake, cases[i].mistake);
		check_examples(mistake);
	}
}

static void long_ones(void **state)
{
	struct snapshot_stream s = rc_stream();
	char mistake[FILTER_MISTAKE], text[40000] = "";

	(void)state;
	for (int i = 0; i < FILTER_NESTING; i++)
		strcat(text, "uc or rc (");
	strcat(text, "rc");
	for (int i = 0; i < FILTER_NESTING; i++)
		strcat(text, ")");
	WANTED(&s, text);
	memmove(text + 1, text, strlen(text) + 1);
	text[0] = '(';
	assert_null(filter_parse(text, mistake));
	assert_non_null(strstr(mistake, "too many parentheses"));
	text[0] = 0;
	for (int i = 0; i < 5000; i++)
		memcpy(text + 4 * i, "not ", 5);
	strcat(text, "rc");
	WANTED(&s, text);
	memset(text, 'x', 200);
	text[200] = 0;
	assert_null(filter_parse(text, mistake));
	assert_string_equal(mistake, "at character 1: too long a word");
}

/* ---- random ones ---- */

struct test_made {
	char text[4096];
	size_t length;
};

static void write_text(struct test_made *m, const char *text)
{
	m->length += snprintf(m->text + m->length, sizeof(m->text) - m->length, "%s%s", rand() % 3 ? "" : "  ", text);
	assert_true(m->length < sizeof(m->text));
}

/* Writes a term that is true or false for rc_stream(), and returns which. */
static bool make_term(struct test_made *m, int depth);

static bool make_and(struct test_made *m, int depth)
{
	bool all = true;

	for (int n = 1 + rand() % 3; n; n--) {
		all &= make_term(m, depth);
		write_text(m, n > 1 && rand() % 2 ? " and " : " ");
	}
	return all;
}

static bool make_or(struct test_made *m, int depth)
{
	bool any = make_and(m, depth);

	for (int n = rand() % 3; n; n--) {
		write_text(m, " or ");
		any |= make_and(m, depth);
	}
	return any;
}

static bool make_term(struct test_made *m, int depth)
{
	static const char *const is[] = { "rc", "17", "10.9.0.1", "dst 10.9.0.2", "lost<1", "request", "packets == 0", "qpn!=18",
					 "service=rc", "src==10.9.0.1" };
	static const char *const no[] = { "uc", "qpn 18", "qpn=18", "side!=request", "dst != 10.9.0.2", "10.9.0.3", "src 10.9.0.2", "lost", "faulty", "icrc>0", "lint" };
	bool not = rand() % 4 == 0, yes = rand() % 2;

	if (not)
		write_text(m, rand() % 2 ? "not " : "!");
	if (depth && rand() % 3 == 0) {
		write_text(m, "(");
		yes = make_or(m, depth - 1);
		write_text(m, ")");
	} else {
		write_text(m, yes ? is[rand() % ROCE_ARRAY_SIZE(is)] : no[rand() % ROCE_ARRAY_SIZE(no)]);
	}
	return yes != not;
}

static void random_filters(void **state)
{
	struct snapshot_stream s = rc_stream();
	static struct test_made m;
	int wanted = 0, count = test_long() ? 20000 : 4000;

	(void)state;
	srand(6);
	for (int i = 0; i < count; i++) {
		bool want;

		m.length = 0;
		want = make_or(&m, 3);
		wanted += want;
		check(&s, want, (const char *const[]){ m.text, NULL });
	}
	assert_in_range(wanted, count / 10, count - count / 10);
}

/* Any text: no crash, and every error is reported. Half of the texts consist of parts of filters. */
static void random_text(void **state)
{
	static const char *const pieces[] = { "(", ")", "!", "not ", " or ", " and ", "rc", "lost", "<", ">=", "!=", "17", "0x",
					      "10.9.0.1", "/", "::", "src ", "qpn ", "dst", "qpn", "service=", "side", "\t", "99999999999999999999", "\xff" };
	struct snapshot_stream s = rc_stream();
	char text[200], mistake[FILTER_MISTAKE];

	(void)state;
	srand(7);
	for (int i = 0; i < (test_long() ? 200000 : 40000); i++) {
		size_t length = 0;
		struct filter *f;

		text[0] = 0;
		for (int n = rand() % 12; n; n--)
			length += sprintf(text + length, "%s", pieces[rand() % ROCE_ARRAY_SIZE(pieces)]);
		if (i % 2 && length)
			text[rand() % length] = rand() % 256;
		mistake[0] = 0;
		f = filter_parse(text, mistake);
		if (f)
			filter_wants(f, &s);
		else
			assert_memory_equal(mistake, "at character ", 13);
		filter_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terms),
		cmocka_unit_test(faults),
		cmocka_unit_test(other_streams),
		cmocka_unit_test(no_stream),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(long_ones),
		cmocka_unit_test(random_filters),
		cmocka_unit_test(random_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
