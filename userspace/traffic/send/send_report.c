// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <string.h>

#include "lib/json.h"
#include "userspace/traffic/send/fault.h"
#include "userspace/traffic/send/send_report.h"

/* The first packet leaves at time 0: n packets have n - 1 intervals. */
static double per_second(const struct send_report *r, double amount)
{
	return r->packets > 1 && r->seconds > 0 ? amount / r->packets * (r->packets - 1) / r->seconds : 0;
}

static double gbps(const struct send_report *r)
{
	return per_second(r, r->bytes * 8.0) / 1e9;
}

static double mpps(const struct send_report *r)
{
	return per_second(r, r->packets) / 1e6;
}

/* ---- for programs ---- */

static json_t *faults_json(const struct send_options *o)
{
	json_t *all = json_array();

	for (size_t i = 0; i < o->plan.fault_count; i++)
		json_array_append_new(all, json_pack("{s:s, s:s, s:I}", "kind", fault_name(o->plan.faults[i].kind),
						     "fault", o->faults[i], "hits", (json_int_t)o->plan.faults[i].hits));
	return all;
}

static json_t *lateness_json(const struct send_report *r)
{
	if (!r->paced)
		return json_null();
	return json_pack("{s:f, s:f, s:f}", "p50", r->late_p50 / 1e3, "p99", r->late_p99 / 1e3, "max", r->late_max / 1e3);
}

static bool print_json(const struct send_report *r, FILE *to)
{
	const struct send_plan *plan = &r->options->plan;
	json_t *object = json_pack("{s:s, s:b, s:s, s:s?, s:s?, s:I, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:b, s:s?, s:o, s:o, "
				   "s:o}",
		"schema", "rocescope.send/1",
		"complete", r->complete && !r->interrupted,
		"out", r->out,
		"interface", plan->interface,
		"file", plan->file,
		"seed", (json_int_t)plan->seed,
		"packets", (json_int_t)r->packets,
		"bytes", (json_int_t)r->bytes,
		"seconds", r->seconds,
		"gbps", gbps(r),
		"mpps", mpps(r),
		"refused", (json_int_t)r->refused,
		"device_drops", (json_int_t)r->lost,
		"exact", send_report_exact(r),
		"truth", plan->truth,
		"faults", faults_json(r->options),
		"rate_kept", r->paced ? json_boolean(r->kept_rate) : json_null(),
		"lateness_us", lateness_json(r));

	return json_line(to, object, JSON_REPORT) && !fflush(to);
}

/* ---- for people ---- */

static void print_time(uint64_t ns, FILE *to)
{
	if (ns < 1000)
		fprintf(to, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		fprintf(to, "%.3g us", ns / 1e3);
	else if (ns < 1000000000)
		fprintf(to, "%.3g ms", ns / 1e6);
	else
		fprintf(to, "%.3g s", ns / 1e9);
}

static void print_rate(const struct send_report *r, FILE *to)
{
	fprintf(to, "  rate    %.4g Gbit/s, %.4g Mpps over %.4g s", gbps(r), mpps(r), r->seconds);
	if (r->paced)
		fprintf(to, r->kept_rate ? ": kept" : ": not kept");
	fprintf(to, "\n");
}

static void print_pacing(const struct send_report *r, FILE *to)
{
	fprintf(to, "  pacing  half left at most ");
	print_time(r->late_p50, to);
	fprintf(to, " late, 99 %% ");
	print_time(r->late_p99, to);
	fprintf(to, ", all ");
	print_time(r->late_max, to);
	fprintf(to, "\n");
}

static void print_faults(const struct send_options *o, FILE *to)
{
	for (size_t i = 0; i < o->plan.fault_count; i++)
		fprintf(to, "  %-7s %s: %" PRIu64 "\n", i ? "" : "faults", o->faults[i], o->plan.faults[i].hits);
}

static bool print_people(const struct send_report *r, FILE *to)
{
	const struct send_plan *plan = &r->options->plan;

	fprintf(to, "%" PRIu64 " packet%s, %" PRIu64 " bytes ", r->packets, r->packets == 1 ? "" : "s", r->bytes);
	if (plan->file)
		fprintf(to, "into %s", strcmp(plan->file, "-") ? plan->file : "standard output");
	else
		fprintf(to, "out of %s by %s", plan->interface, r->out_words);
	fprintf(to, "\n");
	if (gbps(r))
		print_rate(r, to);
	if (r->paced)
		print_pacing(r, to);
	print_faults(r->options, to);
	if (r->refused || r->lost)
		fprintf(to, "  lost    %" PRIu64 " refused by the way out, %" PRIu64 " dropped by the device\n", r->refused,
			r->lost);
	return !fflush(to) && !ferror(to);
}

bool send_report_print(const struct send_report *r, FILE *to)
{
	return r->options->json ? print_json(r, to) : print_people(r, to);
}
