// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* JSON as text is byte for byte jansson's output for the same values. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_includes.h"
#include "lib/json.h"
#include "userspace/render/output/json_text.h"

#define MANY 3000

static __u64 state = 88172645463325252ull;

/* xorshift64 */
static __u64 random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Compares the text with the value, and frees the value. */
static void same(struct json_text *t, json_t *value)
{
	char *text = json_dumps(value, JSON_LINE | JSON_ENCODE_ANY);

	assert_non_null(text);
	t->bytes[t->length] = 0;
	assert_string_equal(t->bytes, text);
	json_decref(value);
	free(text);
}

static void real_numbers(void **unused)
{
	static const double some[] = { 0, 0.5, 1, 10, 1e14, 1e15, 1e16, 123456789012345, 1234567890123456, 1e-4, 1e-5, 1.5e-7, 1e100,
				       1e-300, 0.1, 1.0 / 3, -1, -0.25, -1e20, 3.14159265358979312 };
	struct json_text t;

	(void)unused;
	for (size_t i = 0; i < MANY; i++) {
		double n;
		__u64 bits = random_bits();

		if (i < sizeof(some) / sizeof(some[0]))
			n = some[i];
		else if (i % 2)
			n = (bits >> 20) / 1e6;
		else
			memcpy(&n, &bits, sizeof(n));
		if (n != n || n - n != 0)
			continue; /* JSON has no such number */
		json_text_begin(&t, NULL);
		json_text_real(&t, NULL, n);
		same(&t, json_real(n));
	}
}

static void whole_numbers(void **unused)
{
	struct json_text t;

	(void)unused;
	for (int i = 0; i < MANY; i++) {
		__u64 n = i ? random_bits() >> i % 64 : 0;

		json_text_begin(&t, NULL);
		json_text_number(&t, NULL, n);
		same(&t, json_integer(n <= INT64_MAX ? (json_int_t)n : INT64_MAX));
		json_text_begin(&t, NULL);
		json_text_hexadecimal_or_null(&t, NULL, true, n);
		same(&t, json_sprintf("0x%llx", n));
	}
}

static void objects(void **unused)
{
	static const __u8 mac[6] = { 0x02, 0xff, 0, 0x9a, 0x10, 1 };
	struct json_text t;

	(void)unused;
	json_text_begin(&t, NULL);
	json_text_open(&t, NULL, '{');
	json_text_open(&t, "a", '[');
	json_text_number(&t, NULL, 1);
	json_text_open(&t, NULL, '{');
	json_text_close(&t, '}');
	json_text_string(&t, NULL, "x");
	json_text_close(&t, ']');
	json_text_bool(&t, "b", true);
	json_text_bool(&t, "c", false);
	json_text_number_or_null(&t, "d", false, 7);
	json_text_number_or_null(&t, "e", true, 7);
	json_text_mac(&t, "f", mac);
	json_text_string(&t, "g", NULL);
	json_text_close(&t, '}');
	same(&t, json_pack("{s:[i, {}, s], s:b, s:b, s:n, s:i, s:s, s:n}", "a", 1, "x", "b", 1, "c", 0, "d", "e", 7, "f",
			   "02:ff:00:9a:10:01", "g"));
}

/* More than fits into its buffer, with jansson's values in between. */
static void long_ones(void **unused)
{
	json_t *all = json_array(), *odd = json_pack("{s:s}", "name", "\"\\\n\xc3\xa9");
	struct json_text t;
	char *text, *want;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)unused;
	json_text_begin(&t, out);
	json_text_open(&t, NULL, '[');
	for (int i = 0; i < MANY; i++) {
		json_text_number(&t, NULL, i);
		json_array_append_new(all, json_integer(i));
		if (i % 100)
			continue;
		json_text_value(&t, NULL, json_incref(odd));
		json_array_append(all, odd);
	}
	json_text_close(&t, ']');
	assert_true(json_text_end(&t));
	fclose(out);
	want = json_dumps(all, JSON_LINE);
	assert_string_equal(text, want);
	assert_true(length > JSON_TEXT_BYTES / 2);
	free(text);
	free(want);
	json_decref(all);
	json_decref(odd);
}

static void full_disk(void **unused)
{
	FILE *out = fopen("/dev/full", "w");
	struct json_text t;

	(void)unused;
	json_text_begin(&t, out);
	json_text_open(&t, NULL, '[');
	for (int i = 0; i < 100 * MANY; i++)
		json_text_number(&t, NULL, i);
	errno = 0;
	assert_false(json_text_end(&t));
	assert_int_equal(errno, ENOSPC);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_numbers), cmocka_unit_test(whole_numbers), cmocka_unit_test(objects),
		cmocka_unit_test(long_ones), cmocka_unit_test(full_disk),
	};

	return cmocka_run_group_tests_name("json_text", tests, NULL, NULL);
}
