// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The line of an event: every kind and lint has its name and words, numbers are singular or plural, nothing overflows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_includes.h"
#include "userspace/observe/model/event_text.h"

#define check(want, ...) check_line(&(const struct roce_event){ __VA_ARGS__ }, want, __FILE__, __LINE__)

/* What a line says is read from it: from exactly these bytes, and with all keys that belong to the kinds. */
static void check_parsed(const struct roce_event *e, const char *text, size_t length)
{
	char *exact = malloc(length ?: 1);
	struct roce_event back;

	memcpy(exact, text, length);
	assert_int_equal(event_parse(exact, length, &back), length > 0);
	assert_int_equal(back.kinds, e->kinds);
	assert_int_equal(back.skipped, e->skipped);
	assert_int_equal(back.recovered, e->recovered);
	assert_int_equal(back.broken, e->broken);
	assert_int_equal(back.imm_skipped, e->imm_skipped);
	assert_int_equal(back.imm_expected, e->imm_expected);
	assert_int_equal(back.lints, e->lints);
	free(exact);
}

/* Writes into a buffer of exactly the needed size. */
static void check_line(const struct roce_event *e, const char *want, const char *file, int line)
{
	char *text = malloc(EVENT_TEXT);
	size_t length = event_text(e, text);

	if (strcmp(text, want) || length != strlen(want)) {
		print_error("%s\nexpected\n%s\n", text, want);
		_fail(file, line);
	}
	check_parsed(e, text, length);
	free(text);
}

static bool parse(const char *text, struct roce_event *e)
{
	return event_parse(text, strlen(text), e);
}

/* Comments of other programs, and broken ones: nothing is taken from them that they do not say. */
static void test_strange(void **state)
{
	static const char *const none[] = { "", "reason", "a comment", "Reason=psn-gap", " reason=psn-gap" };
	char lengthy[3000] = "reason=";
	struct roce_event e;

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(none); i++) {
		assert_false(parse(none[i], &e));
		assert_int_equal(e.kinds, 0);
		assert_int_equal(e.expected, EVENT_NO_PSN);
	}
	assert_true(parse("reason=before fault=12: its last packets", &e));
	assert_int_equal(e.kinds, 0);
	assert_true(parse("reason=psn-gap,luck skipped=99999999999999999999999 a= =b skipped expected=-1 new=7", &e));
	assert_int_equal(e.kinds, ROCE_EVENT(psn_gap));
	assert_int_equal(e.skipped, 0xffffffff);
	assert_true(parse("reason=icrc-bad: words skipped=3", &e));
	assert_int_equal(e.kinds, ROCE_EVENT(icrc_bad));
	assert_int_equal(e.skipped, 0);
	for (size_t i = strlen(lengthy); i < sizeof(lengthy); i++)
		lengthy[i] = i % 2 ? ',' : '=';
	assert_true(event_parse(lengthy, sizeof(lengthy), &e));
	assert_int_equal(e.kinds, 0);
}

static void test_lines(void **state)
{
	(void)state;
	check("reason=psn-gap expected=0x001234 seen=0x001240 skipped=12: 12 packets are missing before this one",
	      .kinds = ROCE_EVENT(psn_gap), .expected = 0x1234, .seen = 0x1240, .skipped = 12);
	check("reason=psn-gap expected=0xffffff seen=0x000000 skipped=1: 1 packet is missing before this one",
	      .kinds = ROCE_EVENT(psn_gap), .expected = 0xffffff, .seen = 0, .skipped = 1);
	check("reason=psn-recovered expected=0x000009 seen=0x000004 recovered=1: "
	      "its PSN was skipped before: it comes late, or again",
	      .kinds = ROCE_EVENT(psn_recovered), .expected = 9, .seen = 4, .recovered = 1);
	check("reason=psn-recovered expected=0x000009 seen=0x000004 recovered=3: "
	      "its 3 PSNs were skipped before: it comes late, or again",
	      .kinds = ROCE_EVENT(psn_recovered), .expected = 9, .seen = 4, .recovered = 3);
	check("reason=psn-duplicate expected=0x000009 seen=0x000004: its PSN was seen before",
	      .kinds = ROCE_EVENT(psn_duplicate), .expected = 9, .seen = 4);
	check("reason=icrc-bad,lint lint=udp_length: the ICRC is wrong; UDP length is not the IP payload's length",
	      .kinds = ROCE_EVENT(icrc_bad) | ROCE_EVENT(lint), .lints = 1u << LINT_udp_length, .expected = 3, .seen = 3);
	check("reason=message-broken,imm-gap expected=0x000003 seen=0x000003 broken=2 imm-skipped=1 "
	      "imm-expected=7 imm-seen=8: 2 messages are broken: "
	      "a part of each was seen, but not the whole in order; the immediate data leaves out 1 value",
	      .kinds = ROCE_EVENT(message_broken) | ROCE_EVENT(imm_gap), .expected = 3, .seen = 3, .broken = 2,
	      .imm_skipped = 1, .imm_expected = 7, .imm_seen = 8);
	check("reason=message-broken,imm-gap seen=0x000003 broken=1 imm-skipped=7 imm-expected=0 "
	      "imm-seen=14336: a message is broken: "
	      "a part of it was seen, but not the whole in order; the immediate data leaves out 7 values",
	      .kinds = ROCE_EVENT(message_broken) | ROCE_EVENT(imm_gap), .expected = EVENT_NO_PSN, .seen = 3, .broken = 1,
	      .imm_skipped = 7, .imm_seen = 14336);
	check("reason=block-incomplete expected=0x000003 seen=0x000003 imm-seen=5: a packet of the block that ends here is missing",
	      .kinds = ROCE_EVENT(block_incomplete), .expected = 3, .seen = 3, .imm_seen = 5);
	check("reason=malformed: its lengths contradict each other", .kinds = ROCE_EVENT(malformed),
	      .expected = EVENT_NO_PSN);
	check("reason=nak,ecn-ce: a NAK; marked Congestion Experienced on its way",
	      .kinds = ROCE_EVENT(nak) | ROCE_EVENT(ecn_ce), .expected = EVENT_NO_PSN);
	check("", .kinds = 0);
}

/* Every kind and lint of the .def files, each alone. */
static void test_all_kinds(void **state)
{
	char text[EVENT_TEXT], name[64];

	(void)state;
	for (int i = 0; i < ROCE_EVENTS; i++) {
		struct roce_event e = { .kinds = 1u << i, .expected = EVENT_NO_PSN, .skipped = 2, .recovered = 1,
					.broken = 1, .imm_skipped = 2 };

		assert_true(event_text(&e, text) < EVENT_TEXT);
		snprintf(name, sizeof(name), "reason=%s", event_names[i]);
		assert_memory_equal(text, name, strlen(name));
		assert_null(strchr(event_names[i], '_'));
		if (i != EVENT_imm_gap) /* its number is within the words */
			assert_non_null(strstr(text, event_words[i]));
	}
	for (int i = 0; i < ROCE_LINTS; i++) {
		struct roce_event e = { .kinds = ROCE_EVENT(lint), .lints = 1u << i };

		assert_true(event_text(&e, text) < EVENT_TEXT);
		snprintf(name, sizeof(name), "reason=lint lint=%s: ", lint_names[i]);
		assert_memory_equal(text, name, strlen(name));
		assert_string_equal(text + strlen(name), lint_words[i]);
	}
}

/* The keys of everything at once still fit, for any numbers. */
static void test_longest(void **state)
{
	struct roce_event e = { ~0u >> (32 - ROCE_EVENTS), ~0u >> (32 - ROCE_LINTS), PSN_MASK, PSN_MASK, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u };
	char *text = malloc(EVENT_TEXT);
	size_t length = event_text(&e, text);

	(void)state;
	assert_int_equal(length, strlen(text));
	assert_int_equal(strlen(text), EVENT_TEXT - 1);
	assert_non_null(strstr(text, ",mac_group: 4294967295 packets are missing"));
	free(text);
}

static void test_reasons(void **state)
{
	static const char bad_word[] = "psn,sleet", bad_end[] = "psn,";
	const char *bad;
	__u32 kinds;

	(void)state;
	assert_true(event_parse_reasons("psn", &kinds, &bad));
	assert_int_equal(kinds, ROCE_EVENT(psn_gap) | ROCE_EVENT(psn_recovered) | ROCE_EVENT(psn_duplicate) |
				ROCE_EVENT(psn_resync) | ROCE_EVENT(psn_stray) | ROCE_EVENT(psn_late_unknown));
	assert_true(event_parse_reasons("psn-gap,nak,rnr-nak", &kinds, &bad));
	assert_int_equal(kinds, ROCE_EVENT(psn_gap) | ROCE_EVENT(nak) | ROCE_EVENT(rnr_nak));
	assert_true(event_parse_reasons("lint", &kinds, &bad));
	assert_int_equal(kinds, ROCE_EVENT(lint) | ROCE_EVENT(unknown_opcode));
	assert_false(event_parse_reasons(bad_word, &kinds, &bad));
	assert_ptr_equal(bad, bad_word + 4);
	assert_false(event_parse_reasons(bad_end, &kinds, &bad));
	assert_ptr_equal(bad, bad_end + 4);
	assert_false(event_parse_reasons("", &kinds, &bad));
	assert_false(event_parse_reasons("psn_gap", &kinds, &bad));
	assert_false(event_parse_reasons("ps", &kinds, &bad));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_strange),
		cmocka_unit_test(test_all_kinds),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
