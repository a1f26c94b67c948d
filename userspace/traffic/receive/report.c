// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "lib/address.h"
#include "lib/cause.h"
#include "lib/complain.h"
#include "lib/json.h"
#include "userspace/observe/model/refusal.h"
#include "userspace/traffic/receive/report.h"
#include "userspace/traffic/receive/transmit.h"

const char *const receive_answer_names[RECEIVE_ANSWERS] = {
	[RECEIVE_ACK] = "ack", [RECEIVE_NAK_SEQUENCE] = "nak_sequence", [RECEIVE_NAK_INVALID] = "nak_invalid_request",
	[RECEIVE_NAK_ACCESS] = "nak_remote_access", [RECEIVE_RNR] = "rnr_nak", [RECEIVE_CNP] = "cnp",
};

/* ---- reading ---- */

static void add_cpu(struct receive_totals *to, const struct receive_cpu *cpu)
{
	to->packets += cpu->packets;
	to->bytes += cpu->bytes;
	to->passed += cpu->passed;
	to->unsent += cpu->unsent;
	for (int i = 0; i < RECEIVE_ANSWERS; i++)
		to->answers[i] += cpu->answers[i];
	for (int i = 0; i < ROCE_REFUSALS; i++) {
		to->refused[i] += cpu->refused[i];
		if (cpu->example[i].time > to->example[i].time)
			to->example[i] = cpu->example[i];
	}
}

static void add_qps(struct receive_totals *to, const struct receive_report *r)
{
	struct receive_past past = { 0 };

	if (r->server)
		receive_server_lock(r->server, &past);
	for (__u32 i = 0; i < r->maps->qp_count; i++) {
		to->messages += r->maps->qps[i].messages;
		to->incomplete += r->maps->qps[i].incomplete;
	}
	if (r->server)
		receive_server_unlock(r->server);
	to->messages += past.messages;
	to->incomplete += past.incomplete;
}

void receive_totals_read(const struct receive_report *r, struct receive_totals *to)
{
	__u64 errors = transmit_errors(r->setup->options->interface);

	*to = (struct receive_totals){
		.transmit_errors = errors > r->transmit_errors ? errors - r->transmit_errors : 0,
		.records_lost = receive_server_lost(r->server),
	};
	for (__u32 i = 0; i < r->maps->cpu_count; i++)
		add_cpu(to, &r->maps->cpus[i]);
	add_qps(to, r);
}

static struct refusal_receiver receiver_of(const struct receive_report *r)
{
	return (struct refusal_receiver){ &r->setup->settings, r->setup->region, r->setup->regions, r->setup->path_mtu };
}

/* ---- JSON ---- */

static json_t *run_json(const struct receive_run *u)
{
	json_t *run = json_pack("{s:s, s:s, s:s, s:i, s:o, s:i}", "peer", address_text(u->peer).text,
				"transport", rdma_service_name(u->service), "operation", rdma_operation_name(u->operation),
				"flows", (int)u->flows, "size", json_count(u->size), "path_mtu", (int)u->path_mtu);

	json_object_set_new(run, "sent", u->told ? json_pack("{s:o, s:o}", "messages", json_count(u->sent), "completed",
							     json_count(u->completed)) : json_null());
	json_object_update_new(run, json_pack("{s:o, s:o, s:o, s:o, s:o, s:f}", "messages", json_count(u->messages),
					      "incomplete", json_count(u->incomplete), "packets", json_count(u->packets),
					      "payload_bytes", json_count(u->bytes), "refused", json_count(u->refused), "seconds",
					      u->seconds));
	json_object_set_new(run, "error", json_text_or_null(u->why));
	return run;
}

static json_t *runs_json(const struct receive_report *r)
{
	__u64 count = r->server ? receive_server_runs(r->server) : 0;
	json_t *runs = json_array();
	struct receive_run run;

	for (__u64 k = count > RECEIVE_RUNS ? count - RECEIVE_RUNS : 0; k < count; k++)
		if (receive_server_run(r->server, k, &run))
			json_array_append_new(runs, run_json(&run));
	return runs;
}

static json_t *refused_json(const struct receive_report *r, const struct receive_totals *t)
{
	const struct refusal_receiver receiver = receiver_of(r);
	json_t *refused = json_object();
	char text[REFUSAL_TEXT];

	for (int i = REFUSAL_NONE + 1; i < ROCE_REFUSALS; i++) {
		if (!t->refused[i])
			continue;
		refusal_text(text, i, &t->example[i], &receiver);
		json_object_set_new(refused, refusal_names[i],
				    json_pack("{s:o, s:s}", "packets", json_count(t->refused[i]), "last", text));
	}
	return refused;
}

static json_t *answers_json(const struct receive_totals *t)
{
	json_t *object = json_object();

	for (int i = 0; i < RECEIVE_ANSWERS; i++)
		json_set_count(object, receive_answer_names[i], t->answers[i]);
	return object;
}

json_t *receive_report_json(const struct receive_report *r)
{
	const struct receive_settings *s = &r->setup->settings;
	struct receive_totals t;
	json_t *o;

	receive_totals_read(r, &t);
	o = json_pack("{s:s, s:o, s:o, s:o, s:i}", "address", address_text(s->own).text, "qpn", json_count(s->first_qpn),
		      "qps", json_count(s->qps), "memory", json_count(s->memory), "regions", (int)r->setup->regions);
	json_object_update_new(o, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "packets", json_count(t.packets),
					    "payload_bytes", json_count(t.bytes), "messages", json_count(t.messages), "incomplete",
					    json_count(t.incomplete), "passed", json_count(t.passed), "unsent", json_count(t.unsent),
					    "transmit_errors", json_count(t.transmit_errors), "records_lost",
					    json_count(t.records_lost)));
	json_object_set_new(o, "refused", refused_json(r, &t));
	json_object_set_new(o, "answers", answers_json(&t));
	json_object_set_new(o, "runs", runs_json(r));
	return o;
}

/* ---- lines ---- */

/* Counters from..end that have grown. begin: goes before the first. */
static void say_each(FILE *out, const char *begin, const char *const names[], const __u64 now[], const __u64 before[], int from,
		     int end)
{
	for (int i = from; i < end; i++) {
		if (now[i] == before[i])
			continue;
		fprintf(out, "%s%s %llu", begin, names[i], now[i] - before[i]);
		begin = ", ";
	}
}

static void say_answers(FILE *out, const struct receive_totals *now, const struct receive_totals *before)
{
	say_each(out, "  answers: ", receive_answer_names, now->answers, before->answers, 0, RECEIVE_ANSWERS);
}

static void say_new(FILE *out, const char *words, __u64 now, __u64 before)
{
	if (now != before)
		fprintf(out, "  %s %llu", words, now - before);
}

static void say_run(FILE *out, const struct receive_run *u)
{
	fprintf(out, "run from %s: %s %s, %u QPs, messages of %llu bytes: ", address_text(u->peer).text,
		rdma_service_name(u->service), rdma_operation_name(u->operation), u->flows, (unsigned long long)u->size);
	if (u->told)
		fprintf(out, "%llu sent, ", u->sent);
	fprintf(out, "%llu received, %llu incomplete, %llu packets, %llu bytes in %.3f s", u->messages, u->incomplete,
		u->packets, u->bytes, u->seconds);
	if (u->refused)
		fprintf(out, ", %llu packets refused", u->refused);
	fprintf(out, "%s%s\n", u->why[0] ? ": " : "", u->why);
}

static void say_runs(struct receive_report *r, FILE *out)
{
	__u64 count = r->server ? receive_server_runs(r->server) : 0;
	struct receive_run run;

	for (; r->runs < count; r->runs++)
		if (receive_server_run(r->server, r->runs, &run))
			say_run(out, &run);
}

void receive_report_line(struct receive_report *r, FILE *out, double seconds)
{
	double past = seconds - r->seconds;
	struct receive_totals now;

	receive_totals_read(r, &now);
	fprintf(out, "%8.1f s %8.3f Gbit/s %10llu packets %9llu messages", seconds,
		past > 0 ? (now.bytes - r->before.bytes) * 8 / 1e9 / past : 0.0, now.packets - r->before.packets,
		now.messages - r->before.messages);
	say_new(out, "incomplete", now.incomplete, r->before.incomplete);
	say_each(out, "  refused: ", refusal_names, now.refused, r->before.refused, REFUSAL_NONE + 1, ROCE_REFUSALS);
	say_answers(out, &now, &r->before);
	say_new(out, "transmit errors", now.transmit_errors, r->before.transmit_errors);
	fputc('\n', out);
	say_runs(r, out);
	r->before = now;
	r->seconds = seconds;
}

void receive_report_summary(struct receive_report *r, FILE *out, double seconds)
{
	const struct refusal_receiver receiver = receiver_of(r);
	const struct receive_totals none = { 0 };
	struct receive_totals now;
	char text[REFUSAL_TEXT];

	say_runs(r, out);
	receive_totals_read(r, &now);
	fprintf(out, "%.3g s: %llu packets, %llu bytes of payload in memory, %llu messages, %llu incomplete\n", seconds,
		now.packets, now.bytes, now.messages, now.incomplete);
	for (int i = REFUSAL_NONE + 1; i < ROCE_REFUSALS; i++) {
		if (!now.refused[i])
			continue;
		refusal_text(text, i, &now.example[i], &receiver);
		fprintf(out, "  refused %9llu %-10s %s\n", now.refused[i], refusal_names[i], text);
	}
	say_answers(out, &now, &none);
	if (memcmp(now.answers, none.answers, sizeof(now.answers)))
		fputc('\n', out);
	if (now.passed)
		fprintf(out, "  %llu packets passed on to whoever else owns the port\n", now.passed);
	if (now.unsent || now.transmit_errors)
		fprintf(out, "  %llu answers could not be made, %llu transmit errors of %s\n", now.unsent, now.transmit_errors,
			r->setup->options->interface);
	if (now.records_lost)
		fprintf(out, "  %llu completions LOST: the reader was too slow\n", now.records_lost);
	r->before = now;
}

/* ---- files ---- */

static bool say_error(const char *option, const char *path)
{
	return complain("receive: %s %s: %s", option, path, cause(errno).text);
}

static json_t *tell_json(const struct receive_setup *s, const struct rdma_end *end)
{
	json_t *what = rdma_end_json(end), *regions = json_array();

	for (__u32 i = 0; i < s->regions; i++)
		json_array_append_new(regions, json_pack("{s:I, s:I, s:I}", "rkey", (json_int_t)s->region[i].rkey, "address",
							 (json_int_t)s->region[i].va, "bytes",
							 (json_int_t)s->region[i].bytes));
	json_set_count(what, "slots", s->share / end->size);
	if (s->options->has_peer)
		json_object_set_new(what, "peer", rdma_gid_json(s->options->peer));
	json_set_count(what, "pkey", s->options->pkey);
	json_set_count(what, "receive_bytes", s->options->receive_bytes);
	json_object_set_new(what, "regions", regions);
	return what;
}

bool receive_tell(const struct receive_setup *s, const struct receive_maps *m)
{
	const char *path = s->options->tell;
	struct rdma_end end;
	FILE *file;
	bool good;

	if (!path)
		return true;
	if (!receive_setup_end(s, &end))
		return false;
	for (__u32 i = 0; i < end.flows && !s->options->control; i++)
		end.qp[i].psn = m->qps[i].responder.expected;
	file = strcmp(path, "-") ? fopen(path, "we") : stdout;
	good = file && json_line(file, tell_json(s, &end), JSON_COMPACT) && !fflush(file);
	rdma_end_free(&end);
	if (file && file != stdout && fclose(file))
		good = false;
	return good || say_error("--tell", path);
}

bool receive_dump(const struct receive_options *o, const struct receive_maps *m)
{
	FILE *file = o->dump ? fopen(o->dump, "we") : NULL;
	bool good;

	if (!o->dump)
		return true;
	good = file && fwrite(m->memory, m->memory_bytes, 1, file) == 1;
	if (file && fclose(file))
		good = false;
	return good || say_error("--dump", o->dump);
}
