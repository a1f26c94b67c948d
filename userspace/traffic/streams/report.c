// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/json.h"
#include "userspace/traffic/streams/report.h"

static const struct { const char *name; double q; } quantiles[] = {
	{ "min", 0 }, { "p50", .5 }, { "p90", .9 }, { "p99", .99 }, { "p999", .999 }, { "max", 1 },
};

static const struct { const char *name; unsigned int percent; } flow_quantiles[] = {
	{ "least", 0 }, { "p10", 10 }, { "q1", 25 }, { "median", 50 }, { "q3", 75 }, { "p90", 90 }, { "most", 100 },
};

void report_drop(struct stream_report *report, const char *place, uint64_t count)
{
	if (!report->drops)
		report->drops = json_object();
	json_set_count(report->drops, place, count);
}

void report_extra(struct stream_report *report, const char *name, uint64_t value)
{
	if (!report->extra)
		report->extra = json_object();
	json_set_count(report->extra, name, value);
}

static json_t *known(uint64_t value)
{
	return json_count_or_null(value != STREAM_UNKNOWN, value);
}

static bool times_known(const struct stream_report *r)
{
	return r->run_ns != STREAM_UNKNOWN && r->payload_bytes != STREAM_UNKNOWN;
}

static double gbps(const struct stream_report *r)
{
	return r->run_ns && times_known(r) ? r->payload_bytes * 8.0 / r->run_ns : 0;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void report_flows(struct stream_report *report, const uint64_t *messages, unsigned int flows)
{
	uint64_t *sorted;
	json_t *list, *gbits;

	if (flows < 2 || !report->run_ns || !times_known(report))
		return;
	sorted = malloc(flows * sizeof(*sorted));
	if (!sorted)
		err(1, "no memory for %u flows", flows);
	memcpy(sorted, messages, flows * sizeof(*sorted));
	qsort(sorted, flows, sizeof(*sorted), compare);
	if (!report->extra)
		report->extra = json_object();
	json_object_set_new(report->extra, "flow_messages", list = json_array());
	json_object_set_new(report->extra, "flow_gbps", gbits = json_object());
	for (unsigned int i = 0; i < flows; i++)
		json_array_append_new(list, json_count(messages[i]));
	for (size_t i = 0; i < sizeof(flow_quantiles) / sizeof(flow_quantiles[0]); i++) {
		unsigned int rank = (flow_quantiles[i].percent * flows + 99) / 100;

		json_object_set_new(gbits, flow_quantiles[i].name,
				    json_real(8.0 * sorted[rank ? rank - 1 : 0] * report->size / report->run_ns));
	}
	free(sorted);
}

json_t *report_windows(const struct windows *w)
{
	if (!w->counted)
		return json_null();
	return json_pack("{s:i, s:I, s:f, s:f}", "ms", WINDOW_MS, "n", (json_int_t)w->counted,
			 "min_gbps", windows_least_gbps(w), "mean_gbps", windows_mean_gbps(w));
}

static double quantile_us(const struct histogram *h, double q)
{
	return (q ? histogram_quantile(h, q) : h->min) / 1e3;
}

static json_t *latency_json(const struct histogram *h)
{
	json_t *object;

	if (!h)
		return json_null();
	object = json_object();
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		json_object_set_new(object, quantiles[i].name, json_real(quantile_us(h, quantiles[i].q)));
	json_object_set_new(object, "mean", json_real(histogram_mean(h) / 1e3));
	return object;
}

/* The buckets that are not empty, each as its upper bound (us) and its count. */
static json_t *histogram_json(const struct histogram *h)
{
	json_t *buckets = json_array();

	for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++)
		if (h->bucket[b])
			json_array_append_new(buckets, json_pack("[f, I]", histogram_top(h, b) / 1e3,
								 (json_int_t)h->bucket[b]));
	return buckets;
}

json_t *report_cpu(const struct cpu_meter *m)
{
	double system = cpu_system_cores(m);

	return json_pack("{s:f, s:o}", "process_cores", cpu_process_cores(m),
			 "system_cores", json_real_or_null(system >= 0, system));
}

static void print_json(struct stream_report *r)
{
	json_t *object = json_pack("{s:s, s:s, s:s, s:I, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"schema", "rocescope.stream/1",
		"transport", r->transport,
		"role", r->send ? "send" : "recv",
		"size", (json_int_t)r->size,
		"flows", (int)r->flows,
		"messages", known(r->messages),
		"messages_lost", known(r->messages_lost),
		"packets", known(r->packets),
		"packets_lost", known(r->packets_lost),
		"payload_bytes", known(r->payload_bytes),
		"seconds", json_real_or_null(times_known(r), r->run_ns / 1e9),
		"goodput_gbps", json_real_or_null(times_known(r), gbps(r)),
		"windows", report_windows(&r->windows),
		"cpu", report_cpu(&r->cpu),
		"latency_us", latency_json(r->latency),
		"drops", r->drops ? json_incref(r->drops) : json_object());

	if (r->latency)
		json_object_set_new(object, "latency_histogram", histogram_json(r->latency));
	if (r->ping_pong)
		json_object_set_new(object, "ping_pong", json_true());
	if (r->payload)
		json_object_set(object, "payload", r->payload);
	if (r->end_seen)
		json_object_set_new(object, "end_seen", json_boolean(r->end_seen == STREAM_YES));
	if (r->error)
		json_object_set_new(object, "error", json_string(r->error));
	if (r->extra)
		json_object_update(object, r->extra);
	json_line(stdout, object, JSON_REPORT);
}

static void print_loss(const char *what, uint64_t got, uint64_t lost)
{
	if (got == STREAM_UNKNOWN) {
		printf("  %-9s not known\n", what);
		return;
	}
	printf("  %-9s %" PRIu64, what, got);
	if (lost != STREAM_UNKNOWN)
		printf(", lost %" PRIu64, lost);
	if (lost != STREAM_UNKNOWN && got + lost)
		printf(" (%.3g %%)", 100.0 * lost / (got + lost));
	putchar('\n');
}

static void print_counts(const char *title, json_t *object)
{
	const char *name, *separator = "";
	json_t *value;

	if (!json_object_size(object))
		return;
	printf("  %-9s ", title);
	json_object_foreach(object, name, value) {
		if (!json_is_integer(value))
			continue;
		printf("%s%s %" JSON_INTEGER_FORMAT, separator, name, json_integer_value(value));
		separator = ", ";
	}
	putchar('\n');
}

static void print_human(const struct stream_report *r)
{
	printf("%s %s: ", r->transport, r->send ? "sent" : "received");
	if (times_known(r))
		printf("%.4g Gbit/s in %.4g s, ", gbps(r), r->run_ns / 1e9);
	printf("messages of %" PRIu64 " bytes, %u flow%s\n", r->size, r->flows, r->flows == 1 ? "" : "s");
	print_loss("messages", r->messages, r->messages_lost);
	if (r->packets != STREAM_UNKNOWN)
		print_loss("packets", r->packets, r->packets_lost);
	if (r->windows.counted)
		printf("  %-9s of %d ms: %.4g Gbit/s, the least %.4g, of %" PRIu64 " without start and end\n",
		       "windows", WINDOW_MS, windows_mean_gbps(&r->windows),
		       windows_least_gbps(&r->windows), r->windows.counted);
	printf("  %-9s %.3g cores in this process, %.3g in the whole machine\n", "CPU", cpu_process_cores(&r->cpu),
	       cpu_system_cores(&r->cpu));
	if (r->latency) {
		printf("  latency   us%s: mean %.4g", r->ping_pong ? ", half of the round trip" : "",
		       histogram_mean(r->latency) / 1e3);
		for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
			printf(" %s %.4g", quantiles[i].name, quantile_us(r->latency, quantiles[i].q));
		putchar('\n');
	}
	print_counts("payload", r->payload);
	print_counts("drops", r->drops);
	print_counts("also", r->extra);
	if (r->end_seen == STREAM_NO)
		printf("  The sender's end never came: what was lost at the end is not known.\n");
}

void report_print(struct stream_report *report, bool json)
{
	if (json)
		print_json(report);
	else
		print_human(report);
	fflush(stdout);
	json_decref(report->payload);
	json_decref(report->drops);
	json_decref(report->extra);
	report->payload = report->drops = report->extra = NULL;
}

void report_progress(uint64_t now, uint64_t packets, uint64_t bytes)
{
	static uint64_t last_ns, last_bytes;
	static int terminal = -1;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal || now - last_ns < NSEC_PER_SEC)
		return;
	if (last_ns)
		fprintf(stderr, "%" PRIu64 " packets, %.3g Gbit/s\n", packets,
			(bytes - last_bytes) * 8.0 / (now - last_ns));
	last_ns = now;
	last_bytes = bytes;
}
