// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>

#include "rxe_tests/rdma_ring/rdma_ring.h"

#define DIGITS	6	/* significant digits of real numbers */

json_t *ring_episodes_json(const struct ring_episodes *e)
{
	return json_pack("{s:I, s:f, s:f}", "episodes", (json_int_t)e->count, "seconds", e->total_ns / 1e9,
			 "longest_seconds", e->longest_ns / 1e9);
}

static long long whole(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static double real(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

static const char *text(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void print_episodes(const json_t *object, const char *name, const char *words)
{
	const json_t *e = json_object_get(object, name);

	if (whole(e, "episodes"))
		printf("  %s: %lld times, %.3g s, the longest %.3g s\n", words, whole(e, "episodes"), real(e, "seconds"),
		       real(e, "longest_seconds"));
}

static void print_human(const json_t *o)
{
	size_t i;
	json_t *each;

	printf("%s: %.4g Gbit/s in %.4g s, %lld messages of %lld bytes\n", text(o, "role"), real(o, "goodput_gbps"),
	       real(o, "seconds"), whole(o, "messages"), whole(o, "size"));
	print_episodes(o, "pressure", "back-pressure");
	json_array_foreach(json_object_get(o, "receivers"), i, each) {
		printf("  to %s: %.4g Gbit/s, %lld messages\n", text(each, "host"), real(each, "goodput_gbps"),
		       whole(each, "messages"));
		print_episodes(each, "paused", "  back-pressure");
		print_episodes(each, "full", "  the ring was full without it");
	}
	json_array_foreach(json_object_get(o, "workers"), i, each)
		printf("  worker %zu: %lld messages, %lld wrong, %lld shares straddled the end of the ring\n", i,
		       whole(each, "messages"), whole(each, "wrong"), whole(each, "straddled"));
	if (json_is_integer(json_object_get(o, "messages_lost")))
		printf("  lost: %lld messages\n", whole(o, "messages_lost"));
}

void ring_print(const struct ring_options *o, json_t *report)
{
	if (o->json)
		json_dumpf(report, stdout, JSON_REAL_PRECISION(DIGITS));
	else
		print_human(report);
	if (o->json)
		putchar('\n');
	fflush(stdout);
	json_decref(report);
}
