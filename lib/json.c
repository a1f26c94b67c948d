// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "lib/json.h"
#include "lib/shown.h"

/* ---- values ---- */

json_t *json_count(uint64_t n)
{
	return json_integer(n <= INT64_MAX ? (json_int_t)n : INT64_MAX);
}

json_t *json_count_or_null(bool known, uint64_t n)
{
	return known ? json_count(n) : json_null();
}

json_t *json_real_or_null(bool known, double n)
{
	return known ? json_real(n) : json_null();
}

json_t *json_text(const char *text)
{
	return json_string(text) ?: json_string(shown_text(text).text);
}

json_t *json_text_or_null(const char *text)
{
	return text && *text ? json_text(text) : json_null();
}

json_t *json_names(uint64_t set, const char *const *names, unsigned int count)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < count; i++)
		if (set >> i & 1)
			json_array_append_new(array, json_string(names[i]));
	return array;
}

void json_set_count(json_t *object, const char *key, uint64_t n)
{
	json_object_set_new(object, key, json_count(n));
}

/* ---- documents ---- */

bool json_print(FILE *out, json_t *value, size_t flags)
{
	bool good;

	errno = ENOMEM;
	good = value && !json_dumpf(value, out, flags);
	json_decref(value);
	return good;
}

bool json_line(FILE *out, json_t *value, size_t flags)
{
	return json_print(out, value, flags) && fputc('\n', out) != EOF;
}

/* ---- members of a document from elsewhere ---- */

bool json_wrong(const struct json_members *m, const char *key, const char *what)
{
	snprintf(m->why, JSON_WHY, "%s\"%s\" is %s", m->of, key, what);
	return false;
}

bool json_take(const struct json_members *m, const char *key, json_int_t least, json_int_t most, json_int_t *number)
{
	const json_t *value = json_object_get(m->object, key);

	*number = json_integer_value(value);
	if (json_is_integer(value) && *number >= least && *number <= most)
		return true;
	snprintf(m->why, JSON_WHY, "%s\"%s\" is no whole number from %lld to %lld", m->of, key, (long long)least, (long long)most);
	return false;
}

bool json_may_take(const struct json_members *m, const char *key, json_int_t least, json_int_t most, json_int_t *number)
{
	return !json_object_get(m->object, key) || json_take(m, key, least, most, number);
}

bool json_take_real(const struct json_members *m, const char *key, double most, double *number)
{
	const json_t *value = json_object_get(m->object, key);

	*number = json_number_value(value);
	if (json_is_number(value) && *number >= 0 && *number <= most)
		return true;
	snprintf(m->why, JSON_WHY, "%s\"%s\" is no number from 0 to %g", m->of, key, most);
	return false;
}

bool json_take_flag(const struct json_members *m, const char *key, bool *flag)
{
	const json_t *value = json_object_get(m->object, key);

	*flag = json_is_true(value);
	return !value || json_is_boolean(value) || json_wrong(m, key, "neither true nor false");
}
