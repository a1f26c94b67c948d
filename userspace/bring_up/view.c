// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report for people, and as rocescope.bringup/1 (docs/json.md, docs/schema/bringup.schema.json). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/json.h"
#include "lib/shown.h"
#include "userspace/bring_up/bring_up.h"
#include "userspace/model/address.h"

#define WIDTH 100 /* columns */
#define LEFT 19	  /* of what is found */
#define SHOWN_ROWS 16 /* of the exchange */

static const char *state_name(enum bring_up_state state)
{
	static const char *const names[] = { "not yet", "good", "wrong", "not told" };

	return names[state];
}

/* Prints words, wrapped; the cursor is in column LEFT. */
static void wrap(FILE *out, const char *text)
{
	int column = LEFT;

	while (*text) {
		int length = strcspn(text, " ");

		if (column > LEFT && column + 1 + length > WIDTH) {
			fprintf(out, "\n%*s", LEFT, "");
			column = LEFT;
		}
		if (column > LEFT)
			column += fprintf(out, " ");
		column += fprintf(out, "%.*s", length, text);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* ---- for people ---- */

static void print_step(FILE *out, const struct bring_up_report *r, enum bring_up_step step, bool bold)
{
	const struct bring_up_result *one = &r->step[step];
	bool first = r->wrong == step;

	if (first && bold)
		fputs("\033[1m", out);
	fprintf(out, "%-8s %-9s ", first ? "WRONG" : state_name(one->state), step_name(step).text);
	wrap(out, one->found[0] ? one->found : step_words(step));
	if (first && bold)
		fputs("\033[0m", out);
	if (!first)
		return;
	fprintf(out, "%*s", LEFT - 6, "asks: ");
	fprintf(out, "%*s", 6, "");
	wrap(out, step_asks(step));
	fprintf(out, "%*s", LEFT - 6, "fix:  ");
	fprintf(out, "%*s", 6, "");
	wrap(out, one->fix);
}

/* before: the last packet of the sender. What is wrong with both alike is said once. */
static void print_row(FILE *out, const struct bring_up *b, const struct bring_up_row *row, enum bring_up_step before)
{
	fprintf(out, "%12.6f  %s  ", row_seconds(b, row), row->ours ? "<--" : row->failed < STEPS ? "-X>" : "-->");
	wrap(out, row->words);
	if (row->failed == STEPS || row->failed == before)
		return;
	fprintf(out, "%*s", LEFT, "");
	fprintf(out, "%s: ", step_name(row->failed).text);
	wrap(out, row->note);
}

static void print_exchange(FILE *out, const struct bring_up *b)
{
	__u64 from = b->row_count > SHOWN_ROWS ? b->row_count - SHOWN_ROWS : 0;

	enum bring_up_step before = STEPS;

	if (!b->row_count)
		return;
	fprintf(out, "\nThe exchange%s: --> the sender, <-- this end, -X> the sender, not taken\n",
		from ? ", its end" : "");
	for (__u64 i = from; i < b->row_count; i++) {
		const struct bring_up_row *row = &b->rows[i % BRING_UP_ROWS];

		print_row(out, b, row, before);
		if (!row->ours)
			before = row->failed;
	}
}

static void print_rest(FILE *out, const struct bring_up *b, const struct bring_up_report *r)
{
	__u64 dropped = listen_dropped(&b->listen);
	char instead[DOCTOR_INSTEAD];

	strangers_say(&b->strangers, instead);
	if (!b->stream_count && instead[0])
		fprintf(out, "\nno RoCE came, but %s\n", instead);
	else if (!b->stream_count && r->step[STEP_link].state == STEP_GOOD)
		fputs("\nno frame of any kind came (TCP is not listened to)\n", out);
	if (b->others)
		fprintf(out, "%llu RoCE packet%s passed that are for others, the last for %s\n", b->others, b->others == 1 ? "" : "s",
			address_text(b->other).text);
	if (b->more)
		fprintf(out, "%llu packets of more than %d streams were not followed\n", b->more, BRING_UP_STREAMS);
	if (dropped)
		fprintf(out, "%llu frames came faster than they could be looked at\n", dropped);
	if (b->listen.why[0])
		fprintf(out, "not everything is seen: %s\n", b->listen.why);
}

int bring_up_lines(FILE *out, const struct bring_up *b, const struct bring_up_report *r)
{
	const char *no_colour = getenv("NO_COLOR");
	bool bold = isatty(fileno(out)) && (!no_colour || !*no_colour);

	fprintf(out, "%s, %.1f s: %llu RoCE frame%s of %zu stream%s\n\n", shown_text(b->options->interface).text, (now_ns() - b->begun) / 1e9, b->frames,
		b->frames == 1 ? "" : "s", b->stream_count, b->stream_count == 1 ? "" : "s");
	for (enum bring_up_step s = 0; s < STEPS; s++)
		print_step(out, r, s, bold);
	print_exchange(out, b);
	print_rest(out, b, r);
	return ferror(out) ? -1 : 0;
}

/* ---- for programs ---- */

static json_t *step_object(const struct bring_up_report *r, enum bring_up_step step)
{
	const struct bring_up_result *one = &r->step[step];

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "id", step_name(step).text, "state", state_name(one->state), "words",
			 step_words(step), "found", one->found, "asks", step_asks(step), "fix", one->fix);
}

static json_t *step_or_null(enum bring_up_step step)
{
	return step < STEPS ? json_string(step_name(step).text) : json_null();
}

static json_t *stream_object(const struct bring_up_stream *s)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s}", "src", address_text(s->src).text, "dst",
			 address_text(s->dst).text, "dqpn", s->roce ? json_count(s->dqpn) : json_null(), "packets",
			 json_count(s->packets), "answers", json_count(s->answers), "failed", step_or_null(s->failed), "expected",
			 s->failed < STEPS ? s->expected : "", "found", s->failed < STEPS ? s->found : "");
}

static json_t *row_object(const struct bring_up *b, const struct bring_up_row *row)
{
	return json_pack("{s:f, s:s, s:s, s:o, s:s}", "time", row_seconds(b, row), "from",
			 row->ours ? "receiver" : "sender", "words", row->words, "failed", step_or_null(row->failed), "note", row->note);
}

int bring_up_json(FILE *out, const struct bring_up *b, const struct bring_up_report *r)
{
	json_t *each = json_array(), *streams = json_array(), *exchange = json_array(), *o;
	__u64 from = b->row_count > BRING_UP_ROWS ? b->row_count - BRING_UP_ROWS : 0;
	char instead[DOCTOR_INSTEAD];
	int failed;

	for (enum bring_up_step s = 0; s < STEPS; s++)
		json_array_append_new(each, step_object(r, s));
	for (size_t i = 0; i < b->stream_count; i++)
		json_array_append_new(streams, stream_object(&b->streams[i]));
	for (__u64 i = from; i < b->row_count; i++)
		json_array_append_new(exchange, row_object(b, &b->rows[i % BRING_UP_ROWS]));
	o = json_pack("{s:s, s:o, s:f, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "schema", "rocescope.bringup/1", "interface",
		      json_text(b->options->interface), "seconds", (now_ns() - b->begun) / 1e9, "frames", json_count(b->frames), "dropped",
		      json_count(listen_dropped(&b->listen)), "others", json_count(b->others), "not_followed", json_count(b->more),
		      "not_seen", b->listen.why, "wrong", step_or_null(r->wrong), "steps", each, "streams", streams);
	json_object_set_new(o, "exchange", exchange);
	strangers_say(&b->strangers, instead);
	json_object_set_new(o, "instead", json_string(b->stream_count ? "" : instead));
	errno = ENOMEM;
	failed = !o || json_dumpf(o, out, JSON_COMPACT) || fputc('\n', out) == EOF;
	json_decref(o);
	return failed ? -1 : 0;
}
