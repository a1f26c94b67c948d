// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report for people, and as rocescope.bringup/1 (docs/json.md, docs/schema/bringup.schema.json). */
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "lib/json.h"
#include "lib/shown.h"
#include "lib/terminal/terminal.h"
#include "userspace/diagnose/bring_up/bring_up.h"
#include "userspace/observe/model/qpn.h"

#define WIDTH 100 /* columns, where there is no terminal */
#define LEFT 19	  /* of what is found */
#define SHOWN_ROWS 16 /* of the exchange, if all fits */
#define SHOWN_OTHERS 8

struct bring_up_page {
	struct lines *lines;
	const struct bring_up *b;
	const struct bring_up_report *r;
	size_t height; /* lines that fit; 0: as many as there are */
};

static const char *state_name(enum bring_up_state state)
{
	static const char *const names[] = { "not yet", "good", "wrong", "not told" };

	return names[state];
}

static const char *plural(__u64 n)
{
	return n == 1 ? "" : "s";
}

/* Lines that are left. */
static size_t room(const struct bring_up_page *p)
{
	return !p->height ? SIZE_MAX : p->height > p->lines->count ? p->height - p->lines->count : 0;
}

/* ---- the steps ---- */

void bring_up_step_line(struct lines *l, const struct bring_up_report *r, enum bring_up_step step)
{
	static const enum style styles[] = { STYLE_DIM, STYLE_PLAIN, STYLE_HINT, STYLE_DIM };
	const struct bring_up_result *one = &r->step[step];
	bool first = r->wrong == step;
	char label[64];

	SAY(label, "%-8s %-9s ", first ? "WRONG" : state_name(one->state), step_name(step).text);
	l->label = LEFT;
	lines_add(l, first ? STYLE_FAULT : styles[one->state], label, "%s", one->found[0] ? one->found : step_words(step));
}

/* The fix gets what the reason leaves, or half of what is left beside the steps. */
static size_t room_of_fix(size_t left, size_t reason, size_t fix)
{
	size_t most = left - left / 2;

	if (left > reason + most)
		most = left - reason;
	return most < fix ? most : fix;
}

/* What is wrong first, with reason and fix. The reason begins in the line of the step. */
static void add_wrong(struct bring_up_page *p)
{
	struct lines *l = p->lines, fix = { .width = l->width, .label = LEFT };
	size_t from = l->count, steps = steps_end(p->b) - p->r->wrong, left = SIZE_MAX / 2, most;

	if (p->height)
		left = room(p) > steps ? room(p) - steps : 0;
	lines_add(&fix, STYLE_PLAIN, "       fix:", "%s", p->r->step[p->r->wrong].fix);
	bring_up_step_line(l, p->r, p->r->wrong);
	most = room_of_fix(left, l->count - from - 1, fix.count);
	lines_cut(l, from + 1 + left - most);
	if (!p->height)
		lines_add(l, STYLE_PLAIN, "       asks:", "%s", step_asks(p->r->wrong));
	lines_cut(&fix, most);
	for (size_t i = 0; i < fix.count; i++)
		lines_raw(l, STYLE_PLAIN, fix.line[i].text);
	lines_clear(&fix);
}

static void add_steps(struct bring_up_page *p)
{
	for (enum bring_up_step s = steps_begin(p->b); s < steps_end(p->b); s++) {
		size_t before = p->lines->count;

		if (s == p->r->wrong) {
			add_wrong(p);
			continue;
		}
		bring_up_step_line(p->lines, p->r, s);
		if (p->height)
			lines_cut(p->lines, before + 1);
	}
}

/* ---- other pairs ---- */

/* The option that shows it instead of the pair that is shown. */
static void say_option(const struct bring_up *b, const struct bring_up_stream *s, char text[80])
{
	if (memcmp(s->src, b->shown->src, 16))
		snprintf(text, 80, "--peer %s", address_text(s->src).text);
	else if (memcmp(s->dst, b->shown->dst, 16))
		snprintf(text, 80, "--filter 'dst %s'", address_text(s->dst).text);
	else
		snprintf(text, 80, "--filter 'qpn 0x%x'", s->dqpn);
}

static void add_other(struct bring_up_page *p, const struct bring_up_stream *s)
{
	char option[80], of[40] = "", line[BRING_UP_TEXT + 160];

	say_option(p->b, s, option);
	if (s->roce)
		SAY(of, " QPN %s", qpn_text(s->dqpn).text);
	SAY(line, "%s%s%llu packet%s of %s > %s%s: %s shows it", s->failed < STEPS ? step_name(s->failed).text : "",
	    s->failed < STEPS ? " is wrong in " : "", s->packets, plural(s->packets), address_text(s->src).text,
	    address_text(s->dst).text, of, option);
	(p->height ? lines_one : lines_words)(p->lines, s->failed < STEPS ? STYLE_HINT : STYLE_PLAIN, NULL, line);
}

static void add_others(struct bring_up_page *p)
{
	const struct bring_up_stream *others[BRING_UP_STREAMS];
	size_t count = p->b->shown ? bring_up_others(p->b, others) : 0, most = SHOWN_OTHERS, wrong = 0;

	if (!count || !room(p))
		return;
	if (p->height && room(p) / 4 < most)
		most = room(p) / 4 ?: 1;
	if (most < count)
		most--; /* for the line of the rest */
	for (size_t i = 0; i < count; i++)
		if (i < most)
			add_other(p, others[i]);
		else
			wrong += others[i]->failed < STEPS;
	if (most < count)
		lines_add(p->lines, STYLE_PLAIN, NULL, "%zu %spair%s, %zu of them wrong", count - most, most ? "more " : "other ",
			  plural(count - most), wrong);
}

/* ---- the exchange ---- */

/* before: the last packet of the sender. What is wrong with both alike is said once. */
static void add_row(struct bring_up_page *p, const struct bring_up_row *row, enum bring_up_step before)
{
	char label[32];

	SAY(label, "%12.6f  %s  ", row_seconds(p->b, row), row_answers(p->b, row) ? (row->failed < STEPS ? "<X-" : "<--") :
	    row->failed < STEPS ? "-X>" : "-->");
	if (p->height) {
		lines_one(p->lines, STYLE_PLAIN, label, row->words);
		return;
	}
	lines_add(p->lines, STYLE_PLAIN, label, "%s", row->words);
	if (row->failed < STEPS && row->failed != before)
		lines_add(p->lines, STYLE_PLAIN, "", "%s: %s", step_name(row->failed).text, row->note);
}

static void add_exchange(struct bring_up_page *p)
{
	const struct bring_up_row *rows[BRING_UP_ROWS];
	bool more;
	size_t count = bring_up_rows(p->b, rows, p->b->full ? BRING_UP_ROWS : SHOWN_ROWS, &more);
	size_t most = p->height && room(p) - 1 < count ? room(p) - 1 : count;
	enum bring_up_step before = STEPS;

	if (!count || room(p) < 2)
		return;
	lines_add(p->lines, STYLE_TITLE, NULL, "The exchange%s: %s", more || most < count ? ", its end" : "",
		  p->b->asked ? "--> this end, <-- the responder, <X- the responder, wrong" :
		  "--> the sender, <-- this end, -X> the sender, not taken");
	for (size_t i = count - most; i < count; i++) {
		add_row(p, rows[i], before);
		if (!rows[i]->ours)
			before = rows[i]->failed;
	}
}

/* ---- what was not seen ---- */

__attribute__((format(printf, 2, 3))) static void note(struct bring_up_page *p, const char *format, ...)
{
	char words[2 * BRING_UP_TEXT];
	va_list values;

	va_start(values, format);
	vsnprintf(words, sizeof(words), format, values);
	va_end(values);
	if (room(p))
		(p->height ? lines_one : lines_words)(p->lines, STYLE_PLAIN, NULL, words);
}

static void add_rest(struct bring_up_page *p)
{
	const struct bring_up *b = p->b;
	__u64 dropped = sniffer_missed(&b->sniffer);
	bool none = !b->stream_count && !(b->asked && b->frames); /* no packet has come that is judged */
	char instead[OTHER_FRAMES_TEXT];

	other_frames_say(&b->other_frames, instead);
	if (!b->asked && answering_found(b))
		note(p, "%s", answering_words(b).text);
	if (b->left_out)
		note(p, "%llu RoCE packet%s %s left out by %s%s%s", b->left_out, plural(b->left_out), b->left_out == 1 ? "is" : "are",
		     b->options->peer ? "--peer" : "", b->options->peer && b->options->filter ? " and " : "",
		     b->options->filter ? "--filter" : "");
	else if (none && instead[0])
		note(p, "no RoCE came, but %s", instead);
	else if (none && b->frames && !b->others && !answering_found(b))
		note(p, "none of these RoCE packets is a request to this machine; what it sends itself is not judged");
	else if (none && !b->frames && p->r->step[b->asked ? STEP_neighbour : STEP_link].state == STEP_GOOD)
		note(p, "no frame of any kind came (TCP is not listened to)");
	if (none && !b->asked && !b->frames && answering_is_awaited(b))
		note(p, "if %s, which --receiver describes, is a responder that nobody asks: --responder does",
		     address_text(b->end.endpoint->end.gid).text);
	if (b->others)
		note(p, "%llu RoCE packet%s passed that %s for others, the last for %s", b->others, plural(b->others),
		     b->others == 1 ? "is" : "are", address_text(b->other).text);
	if (b->more)
		note(p, "%llu packets of more than %d pairs were not followed", b->more, BRING_UP_STREAMS);
	if (dropped)
		note(p, "%llu frames came faster than they could be looked at", dropped);
	if (b->sniffer.why[0])
		note(p, "not everything is seen: %s", b->sniffer.why);
}

/* ---- all of it ---- */

static void add_blank(struct bring_up_page *p, size_t before)
{
	if (!p->height && p->lines->count > before)
		lines_raw(p->lines, STYLE_PLAIN, "");
}

void bring_up_page(struct lines *l, const struct bring_up *b, const struct bring_up_report *r, size_t height)
{
	struct bring_up_page p = { .lines = l, .b = b, .r = r, .height = height };
	char title[BRING_UP_TEXT];
	size_t before;

	if (b->asked)
		SAY(title, "%.64s, %.1f s: %llu packet%s to %s QPN %s, %llu answer%s", shown_text(b->options->interface).text,
		    (now_ns() - b->begun) / 1e9, b->asked->requests, plural(b->asked->requests), address_text(b->asked->dst).text,
		    qpn_text(b->asked->dqpn).text, b->asked->answers, plural(b->asked->answers));
	else
		SAY(title, "%.64s, %.1f s: %llu RoCE frame%s of %zu pair%s", shown_text(b->options->interface).text,
		    (now_ns() - b->begun) / 1e9, b->frames, plural(b->frames), b->stream_count, plural(b->stream_count));
	lines_one(l, STYLE_TITLE, NULL, title);
	add_blank(&p, 0);
	add_steps(&p);
	add_blank(&p, 0);
	before = l->count;
	add_others(&p);
	add_rest(&p);
	add_blank(&p, before);
	add_exchange(&p);
}

int bring_up_lines(FILE *out, const struct bring_up *b, const struct bring_up_report *r)
{
	struct lines l = { .width = WIDTH };
	size_t height = 0;
	bool terminal = terminal_size(fileno(out), &l.width, &height);

	/* one line is for the prompt of the shell */
	bring_up_page(&l, b, r, terminal && !b->full && height > 1 ? height - 1 : 0);
	lines_print(out, &l, terminal && terminal_wants_colour());
	lines_clear(&l);
	return ferror(out) ? -1 : 0;
}

/* ---- for programs ---- */

static json_t *step_object(const struct bring_up_report *r, enum bring_up_step step)
{
	const struct bring_up_result *one = &r->step[step];

	return json_pack("{s:s, s:s, s:s, s:o, s:s, s:o}", "id", step_name(step).text, "state", state_name(one->state), "words",
			 step_words(step), "found", json_text(one->found), "asks", step_asks(step), "fix", json_text(one->fix));
}

static json_t *step_or_null(enum bring_up_step step)
{
	return json_text_or_null(step < STEPS ? step_name(step).text : NULL);
}

static json_t *stream_object(const struct bring_up_stream *s)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s}", "src", address_text(s->src).text, "dst",
			 address_text(s->dst).text, "dqpn", json_count_or_null(s->roce, s->dqpn), "packets",
			 json_count(s->packets), "answers", json_count(s->answers), "failed", step_or_null(s->failed), "expected",
			 s->failed < STEPS ? s->expected : "", "found", s->failed < STEPS ? s->found : "");
}

/* The pair that the steps are judged by. */
static json_t *pair_object(const __u8 src[16], const __u8 dst[16], __u32 dqpn, __u32 peer_qpn)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "src", address_text(src).text, "dst", address_text(dst).text, "dqpn",
			 json_count_or_null(dqpn != NO_QPN, dqpn), "peer_qpn", json_count_or_null(peer_qpn != NO_QPN, peer_qpn));
}

/* The responder instead of a sender. */
static void add_asked(json_t *o, const struct bring_up_asked *a)
{
	json_object_set_new(o, "pair", pair_object(a->src, a->dst, a->dqpn, a->sqpn));
	json_set_count(o, "requests", a->requests);
	json_set_count(o, "answers", a->answers);
}

/* The responder that was found. */
static json_t *answering_object(const struct bring_up *b)
{
	const struct bring_up_answering *a = &b->answering;

	return answering_found(b) ? json_pack("{s:s, s:o, s:b}", "address", address_text(a->address).text, "answers", json_count(a->answers),
					      "asked", !!b->asked) : json_null();
}

static json_t *row_object(const struct bring_up *b, const struct bring_up_row *row)
{
	return json_pack("{s:f, s:s, s:s, s:o, s:s}", "time", row_seconds(b, row), "from",
			 row_answers(b, row) ? "receiver" : "sender", "words", row->words, "failed", step_or_null(row->failed), "note", row->note);
}

int bring_up_json(FILE *out, const struct bring_up *b, const struct bring_up_report *r)
{
	json_t *each = json_array(), *streams = json_array(), *exchange = json_array(), *o;
	const struct bring_up_row *rows[BRING_UP_ROWS];
	bool more;
	size_t count = bring_up_rows(b, rows, BRING_UP_ROWS, &more);
	char instead[OTHER_FRAMES_TEXT];

	for (enum bring_up_step s = steps_begin(b); s < steps_end(b); s++)
		json_array_append_new(each, step_object(r, s));
	for (size_t i = 0; i < b->stream_count; i++)
		json_array_append_new(streams, stream_object(&b->streams[i]));
	for (size_t i = 0; i < count; i++)
		json_array_append_new(exchange, row_object(b, rows[i]));
	o = json_pack("{s:s, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "rocescope.bringup/1", "interface",
		      json_text(b->options->interface), "seconds", (now_ns() - b->begun) / 1e9, "frames", json_count(b->frames), "dropped",
		      json_count(sniffer_missed(&b->sniffer)), "others", json_count(b->others), "not_followed", json_count(b->more),
		      "not_seen", json_text(b->sniffer.why), "wrong", step_or_null(r->wrong), "steps", each, "streams", streams);
	json_object_set_new(o, "exchange", exchange);
	json_object_set_new(o, "responder", answering_object(b));
	if (b->shown)
		json_object_set_new(o, "pair", pair_object(b->shown->src, b->shown->dst, b->shown->roce ? b->shown->dqpn : NO_QPN,
							   b->shown->service == SERVICE_RC ? b->shown->answer_qpn : NO_QPN));
	if (b->asked)
		add_asked(o, b->asked);
	if (b->options->peer || b->options->filter)
		json_set_count(o, "left_out", b->left_out);
	other_frames_say(&b->other_frames, instead);
	json_object_set_new(o, "instead", json_string(b->stream_count || (b->asked && b->frames) ? "" : instead));
	return json_line(out, o, JSON_COMPACT) ? 0 : -1;
}
