// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "lib/nearest.h"

static void check(const char *word, const char *want)
{
	static const char *const known[] = { "monitor", "analyze", "capture", "doctor", "send", "receive", "path", "psn_lost", "rc" };
	struct nearest n = nearest_to(word, strlen(word));
	struct nearest_text text;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		nearest_try(&n, known[i]);
	if (want)
		assert_string_equal(n.found, want);
	else
		assert_null(n.found);
	text = nearest_text(&n, "--");
	assert_int_equal(!text.text[0], !want);
}

static void test_nearest(void **state)
{
	(void)state;
	check("monitr", "monitor");
	check("monitur", "monitor");
	check("monitro", "monitor"); /* swapped */
	check("analyse", "analyze");
	check("Analyze", "analyze");
	check("psn-lost", "psn_lost");
	check("psnlost", "psn_lost");
	check("cap", "capture"); /* a beginning */
	check("receeve", "receive");
	check("sedn", "send");
	check("snd", "send");
	check("sn", NULL);
	check("", NULL);
	check("sxxd", NULL);
	check("nonsense", NULL);
	check("monitor-everything-that-passes-this-machine-today", NULL);
}

static void test_part(void **state)
{
	struct nearest n = nearest_to("filer=faulty", 5);

	(void)state;
	nearest_try(&n, "filter");
	assert_string_equal(nearest_text(&n, "--").text, "; did you mean --filter?");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_nearest), cmocka_unit_test(test_part) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
