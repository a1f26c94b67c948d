// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/shell.h"
#include "lib/shown.h"

static const char *const words[] = {
	"", "roce0", "a$(id);b", "it's", "a b", "-x", "~", "a`id`", "!x", "*?[a]", "a\\b", "\"", "#", "a=b", "\033[2Jroce0", "a\nb", "\177",
	"\xc2\x9b" "31m", "\x9b" "31m", "\xff\xfe", "\xe0\x80\x9b", "\xc3\xa9t\xc3\xa9", "\xf0\x9f\x98\x80", "\xed\xa0\x80", "\xe2\x82", "'\033'",
};

/* bash gives the word back. */
static void test_words(void **state)
{
	char got[8192];

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct shell_word w = shell_word(words[i]);
		FILE *out;
		size_t length;

		for (size_t k = 0, bytes; w.text[k]; k += bytes) {
			bytes = shown_bytes(w.text + k, strlen(w.text + k));
			assert_true(bytes);
		}
		setenv("WORD", w.text, 1);
		out = popen("exec bash -c \"printf %s $WORD\"", "r");
		assert_non_null(out);
		length = fread(got, 1, sizeof(got) - 1, out);
		got[length] = 0;
		assert_int_equal(pclose(out), 0);
		assert_string_equal(got, words[i]);
	}
}

/* An interface's name fits, whatever bytes it has. */
static void test_names(void **state)
{
	char name[IF_NAMESIZE] = { 0 };

	(void)state;
	for (int c = 1; c < 256; c++) {
		memset(name, c, sizeof(name) - 1);
		assert_string_equal(shell_name(name).text, shell_word(name).text);
	}
	assert_string_equal(shell_name("roce0.100").text, "roce0.100");
	assert_string_equal(shell_name("a$(id);b").text, "'a$(id);b'");
}

static void test_long(void **state)
{
	static char word[3 * PATH_MAX];

	(void)state;
	memset(word, '\033', sizeof(word) - 1);
	assert_true(strlen(shell_word(word).text) < sizeof(struct shell_word));
}

/* What a shell runs is whole, however long it is, and by any sh. */
static void test_write(void **state)
{
	static char word[3 * PATH_MAX], got[4 * PATH_MAX], *command;
	size_t size, length;
	FILE *out;

	(void)state;
	for (size_t i = 0; i < sizeof(word) - 1; i++)
		word[i] = i % 255 + 1;
	out = open_memstream(&command, &size);
	fputs("printf %s ", out);
	shell_write(out, word);
	fclose(out);
	out = popen(command, "r");
	assert_non_null(out);
	length = fread(got, 1, sizeof(got) - 1, out);
	assert_int_equal(pclose(out), 0);
	assert_int_equal(length, sizeof(word) - 1);
	assert_string_equal(got, word);
	free(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_words), cmocka_unit_test(test_names), cmocka_unit_test(test_long),
					     cmocka_unit_test(test_write) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
