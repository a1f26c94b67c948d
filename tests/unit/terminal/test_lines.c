// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Text in lines of a given width. */
#include <stdlib.h>
#include <string.h>

#include "lib/terminal/lines.h"
#include "tests/unit/cmocka_includes.h"

static void assert_lines(struct lines *l, const char *const *want)
{
	size_t count = 0;

	for (; want[count]; count++) {
		assert_true(count < l->count);
		assert_string_equal(l->line[count].text, want[count]);
	}
	assert_int_equal(l->count, count);
	lines_clear(l);
}
#define assert_lines(l, ...) assert_lines(l, (const char *const[]){ __VA_ARGS__, NULL })

static void broken(void **state)
{
	struct lines l = { .width = 20, .label = 6 };

	(void)state;
	lines_add(&l, STYLE_PLAIN, "one:", "%s of %d", "the words of a line", 3);
	assert_lines(&l, "one:  the words of a", "      line of 3");
	lines_add(&l, STYLE_PLAIN, NULL, "0123456789012345678901234 a word that is too long is cut");
	assert_lines(&l, "01234567890123456789", "01234 a word that is", "too long is cut");
	lines_add(&l, STYLE_PLAIN, "a label that is cut", "a\033[31m\xc3\xa4");
	assert_lines(&l, "a labea?[31m??");
	l.label = 0;
	lines_add(&l, STYLE_PLAIN, "", "x");
	assert_lines(&l, "             x");
}

static void cut(void **state)
{
	struct lines l = { .width = 20, .label = 6 };

	(void)state;
	lines_one(&l, STYLE_PLAIN, "one:", "the words of a line of 3");
	lines_one(&l, STYLE_PLAIN, "two:", "short");
	assert_lines(&l, "one:  the words o...", "two:  short");
	for (int i = 0; i < 9; i++)
		lines_words(&l, STYLE_PLAIN, NULL, "short");
	lines_cut(&l, 9);
	assert_int_equal(l.count, 9);
	assert_string_equal(l.line[8].text, "short");
	lines_cut(&l, 2);
	assert_lines(&l, "short", "short...");
	lines_words(&l, STYLE_PLAIN, NULL, "short");
	lines_cut(&l, 0);
	assert_int_equal(l.count, 0);
	l.width = 2;
	lines_one(&l, STYLE_PLAIN, NULL, "one two three four five");
	assert_int_equal(l.count, 1);
	lines_clear(&l);
}

static void printed(void **state)
{
	struct lines l = { .width = 20 };
	size_t length;
	char *text;
	FILE *out;

	(void)state;
	lines_words(&l, STYLE_FAULT, NULL, "bad");
	lines_words(&l, STYLE_PLAIN, NULL, "good");
	for (int bold = 0; bold < 2; bold++) {
		out = open_memstream(&text, &length);
		lines_print(out, &l, bold);
		fclose(out);
		assert_string_equal(text, bold ? "\033[1mbad\033[0m\ngood\n" : "bad\ngood\n");
		free(text);
	}
	lines_clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(broken), cmocka_unit_test(cut), cmocka_unit_test(printed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
