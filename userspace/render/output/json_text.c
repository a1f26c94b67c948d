// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "lib/json.h"
#include "userspace/render/output/json_text.h"

#define LONGEST 512 /* bytes that one call writes, at most */
#define DIGITS 15   /* digits of a real number, as in JSON_LINE */

void json_text_begin(struct json_text *t, FILE *out)
{
	t->out = out;
	t->error = 0;
	t->comma = false;
	t->length = 0;
}

static void flush(struct json_text *t)
{
	if (t->out && !t->error && t->length && fwrite(t->bytes, 1, t->length, t->out) != t->length)
		t->error = errno;
	if (t->out)
		t->length = 0;
}

bool json_text_end(struct json_text *t)
{
	flush(t);
	errno = t->error;
	return !t->error;
}

static void put(struct json_text *t, const char *text, size_t length)
{
	memcpy(t->bytes + t->length, text, length);
	t->length += length;
}

static void put_character(struct json_text *t, char c)
{
	t->bytes[t->length++] = c;
}

static void put_string(struct json_text *t, const char *text)
{
	put_character(t, '"');
	put(t, text, strlen(text));
	put_character(t, '"');
}

/* Makes room for one call, and writes what is before its value. comma_behind: the next call writes a comma. */
static void begin(struct json_text *t, const char *key, bool comma_behind)
{
	if (t->length > JSON_TEXT_BYTES - LONGEST)
		flush(t);
	if (t->comma)
		put_character(t, ',');
	if (key) {
		put_string(t, key);
		put_character(t, ':');
	}
	t->comma = comma_behind;
}

void json_text_open(struct json_text *t, const char *key, char bracket)
{
	begin(t, key, false);
	put_character(t, bracket);
}

void json_text_close(struct json_text *t, char bracket)
{
	t->comma = false;
	begin(t, NULL, true);
	put_character(t, bracket);
}

void json_text_string(struct json_text *t, const char *key, const char *text)
{
	begin(t, key, true);
	if (text)
		put_string(t, text);
	else
		put(t, "null", 4);
}

/* Writes n to any base up to 16, without leading zeros. */
static void put_digits(struct json_text *t, __u64 n, unsigned int base)
{
	char digits[20], *first = digits + sizeof(digits);

	do
		*--first = "0123456789abcdef"[n % base];
	while (n /= base);
	put(t, first, digits + sizeof(digits) - first);
}

void json_text_number(struct json_text *t, const char *key, __u64 n)
{
	begin(t, key, true);
	put_digits(t, n <= INT64_MAX ? n : INT64_MAX, 10);
}

/* As jansson writes it: a real number has a '.' or an exponent, and the exponent has neither a '+' nor leading zeros. */
static void put_real(struct json_text *t, double n)
{
	char text[40], *exponent, *from, *to;
	int length = snprintf(text, sizeof(text), "%.*g", DIGITS, n);

	exponent = strchr(text, 'e');
	if (!exponent && !strchr(text, '.'))
		length += sprintf(text + length, ".0");
	if (exponent) {
		from = to = exponent + 1 + (exponent[1] == '-');
		from += strspn(from, "+0");
		memmove(to, from, strlen(from) + 1);
		length = strlen(text);
	}
	put(t, text, length);
}

void json_text_real(struct json_text *t, const char *key, double n)
{
	begin(t, key, true);
	if (n > 0 && n < 1e15 && n == (__u64)n) {
		put_digits(t, n, 10);
		put(t, ".0", 2);
	} else {
		put_real(t, n);
	}
}

void json_text_bool(struct json_text *t, const char *key, bool value)
{
	begin(t, key, true);
	put(t, value ? "true" : "false", value ? 4 : 5);
}

void json_text_number_or_null(struct json_text *t, const char *key, bool known, __u64 n)
{
	if (known)
		json_text_number(t, key, n);
	else
		json_text_string(t, key, NULL);
}

void json_text_hexadecimal_or_null(struct json_text *t, const char *key, bool known, __u64 n)
{
	if (!known) {
		json_text_string(t, key, NULL);
		return;
	}
	begin(t, key, true);
	put(t, "\"0x", 3);
	put_digits(t, n, 16);
	put_character(t, '"');
}

static void print(struct json_text *t, const char *key, json_t *value, size_t flags)
{
	begin(t, key, true);
	flush(t);
	if (t->error)
		json_decref(value);
	else if (!json_print(t->out, value, JSON_LINE | flags))
		t->error = errno;
}

void json_text_value(struct json_text *t, const char *key, json_t *value)
{
	print(t, key, value, JSON_ENCODE_ANY);
}

void json_text_members(struct json_text *t, json_t *object)
{
	print(t, NULL, object, JSON_EMBED);
}

void json_text_mac(struct json_text *t, const char *key, const __u8 mac[6])
{
	static const char digits[] = "0123456789abcdef";

	begin(t, key, true);
	for (int i = 0; i < 6; i++) {
		put_character(t, i ? ':' : '"');
		put_character(t, digits[mac[i] >> 4]);
		put_character(t, digits[mac[i] & 15]);
	}
	put_character(t, '"');
}
