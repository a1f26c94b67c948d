// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>

#include "lib/json.h"
#include "rxe_tests/rdma_stream/ring_mode.h"

json_t *ring_episodes_json(const struct ring_episodes *e)
{
	return json_pack("{s:I, s:f, s:f}", "episodes", (json_int_t)e->count, "seconds", e->total_ns / 1e9,
			 "longest_seconds", e->longest_ns / 1e9);
}

void ring_carried(json_t *object, uint64_t messages, uint64_t size, uint64_t ns)
{
	json_set_count(object, "messages", messages);
	json_set_count(object, "payload_bytes", messages * size);
	json_object_set_new(object, "seconds", json_real(ns / 1e9));
	json_object_set_new(object, "goodput_gbps", json_real(ns ? messages * size * 8.0 / ns : 0));
}

/* A line of an object's numbers and words, and then those of the objects in it. */
static void print_text(const char *name, const json_t *value)
{
	const char *key, *before = ": ";
	json_t *each;
	size_t i;

	json_array_foreach(value, i, each)
		print_text(name, each);
	if (!json_is_object(value))
		return;
	printf("%s", name);
	json_object_foreach((json_t *)value, key, each) {
		if (json_is_number(each))
			printf("%s%s %.6g", before, key, json_number_value(each));
		else if (json_is_string(each))
			printf("%s%s %s", before, key, json_string_value(each));
		else
			continue;
		before = ", ";
	}
	putchar('\n');
	json_object_foreach((json_t *)value, key, each)
		print_text(key, each);
}

void ring_print(const struct rdma_options *o, const struct rdma_end *sender, const struct cpu_meter *cpu, const char *error, json_t *report)
{
	json_t *object = json_pack("{s:s, s:s, s:s, s:I, s:I, s:o}", "schema", "rocescope.ring/1",
		"role", o->common.send ? "send" : "recv", "mode", sender->burst ? "bursts" : "stream",
		"size", (json_int_t)sender->size, "burst", (json_int_t)(sender->burst ? sender->burst : 1), "cpu", report_cpu(cpu));

	json_object_update(object, report);
	if (error)
		json_object_set_new(object, "error", json_string(error));
	json_decref(report);
	if (o->common.json) {
		json_line(stdout, object, JSON_REPORT);
	} else {
		print_text("ring", object);
		json_decref(object);
	}
	fflush(stdout);
}
