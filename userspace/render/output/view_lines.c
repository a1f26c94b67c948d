// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prints a snapshot for people: totals, the table of streams, what this machine knows, and the faults of a capture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/shown.h"
#include "userspace/observe/host/host.h"
#include "userspace/observe/model/advice.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/group.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/observe/offline/fault_list.h"
#include "userspace/render/output/columns.h"
#include "userspace/render/output/view.h"

#define NSEC 1000000000ll
#define COUNTERS_SHOWN 8 /* counters of this machine, at most */
#define INDENT 4
#define GAP 2   /* between the columns of the list of faults */
#define WORDS 60 /* least room, in columns, for the words in their own column; with less they go on the next line */

/* ---- totals ---- */

/* Whether addresses count blocks, not immediate data. */
static bool has_rings(const struct snapshot *now)
{
	for (size_t i = 0; i < now->stream_count; i++)
		if (now->streams[i].stream.by_ring)
			return true;
	return false;
}

/* Behind the label of imm_skipped. */
static const char *left_out_by(const struct snapshot *now)
{
	return has_rings(now) ? " by the addresses" : " by the immediate data";
}

/* Prints `title` and the line's counters, without those that are 0 and seldom shown. Prints nothing if no counter is left. */
static void print_totals(const struct view_page *page, const char *title, const struct snapshot *now, enum counter_line line)
{
	bool any = false;

	for (int i = 0; i < COUNTER_PLACES; i++) {
		const struct counter_shown *shown = &counter_lines[line][i];
		__u64 n = now->totals.value[shown->counter];
		bool red = page->colour && n && faults_highlights(shown->counter);

		if (!shown->label || (!n && !shown->always))
			continue;
		fprintf(page->out, "%s%s%llu %s%s%s", any ? ", " : title, red ? PAGE_RED : "", n, shown->label,
			shown->counter == COUNTER_imm_skipped ? left_out_by(now) : "", red ? PAGE_PLAIN : "");
		any = true;
	}
	if (any)
		fputc('\n', page->out);
}

/* Streams by their DSCP, where there are several, or the network marks. */
static void print_classes(const struct view_page *page, const struct snapshot *now)
{
	struct snapshot_class classes[SNAPSHOT_CLASSES];
	const char *before = "  DSCP      ";

	if (!snapshot_classes(now, classes))
		return;
	for (int i = 0; i < SNAPSHOT_CLASSES; i++) {
		if (!classes[i].streams)
			continue;
		fprintf(page->out, "%s%d: %llu packets, %llu CE", before, i, classes[i].packets, classes[i].ecn_ce);
		before = "; ";
	}
	fputc('\n', page->out);
}

static void print_one_sided(const struct view_page *page, const struct snapshot *now)
{
	size_t n = 0;

	for (size_t i = 0; i < now->stream_count; i++)
		n += snapshot_is_one_sided(now, &now->streams[i]);
	if (n)
		fprintf(page->out, "  no ACKs   of %zu stream%s with lost PSNs are seen: perhaps these were only not seen here\n", n,
			n == 1 ? "" : "s");
}

/* Blocks, and of how many streams it cannot be known which are missing. */
static void print_blocks(const struct view_page *page, const struct snapshot *now)
{
	const __u64 *v = now->totals.value;
	size_t n = 0;

	for (size_t i = 0; i < now->stream_count; i++)
		n += snapshot_is_uncounted(&now->streams[i].stream);
	if (!v[COUNTER_blocks] && !n)
		return;
	fprintf(page->out, "  blocks    %llu complete", v[COUNTER_blocks] - v[COUNTER_blocks_incomplete]);
	print_totals(page, ", ", now, TEXT_BLOCKS);
	if (n)
		fprintf(page->out, "            of %zu stream%s %s: missing ones are not known (--imm)\n", n, n == 1 ? "" : "s",
			has_rings(now) ? "the addresses do not go round a ring" : "the immediate data does not count");
}

static void print_head(const struct view_page *page, const struct snapshot *now, const struct snapshot *previous)
{
	struct rates rates = rates_of_totals(now, previous);
	const struct roce_totals *c = &now->totals;

	fprintf(page->out, "%.*f s%s: %.3f Gbit/s, %.1f kpps%s; %llu frames: %llu RoCE", now->seconds < 1 ? 6 : 1, now->seconds,
		now->complete ? "" : " (incomplete)", rates.gbps, rates.packets / 1e3,
		c->value[COUNTER_udp_packets] ? " with watched UDP" : "", c->value[COUNTER_frames],
		c->value[COUNTER_roce_packets]);
	print_totals(page, ", ", now, TEXT_FRAMES);
	print_totals(page, "  pauses    ", now, TEXT_PAUSES);
	print_totals(page, "  ICRC      ", now, TEXT_ICRC);
	print_totals(page, "  PSN       ", now, TEXT_PSN);
	print_totals(page, "  messages  ", now, TEXT_MESSAGES);
	print_blocks(page, now);
	if (c->value[COUNTER_udp_packets])
		print_totals(page, "  UDP       ", now, TEXT_UDP);
	print_totals(page, "  not seen  ", now, TEXT_UNSEEN);
	print_classes(page, now);
	print_one_sided(page, now);
	if (now->events.suppressed)
		fprintf(page->out,
			"  events    %llu faulty packet%s left out: more of a stream than --event-limit lets through in a "
			"second\n",
			now->events.suppressed, now->events.suppressed == 1 ? " was" : "s were");
}

/* ---- groups ---- */

/* Groups with faults go into a text of STREAMS_WORST, at most VIEW_WORST of them; all others, if there are no more. */
static void print_groups(const struct view_page *page, const struct snapshot *now, const struct view *v)
{
	size_t count, shown = 0;
	struct group *groups = group_make(now->group, now, &count);
	bool few = count <= VIEW_WORST || v->streams != STREAMS_WORST;

	fprintf(page->out, "\n%zu group%s by %s\n", count, count == 1 ? "" : "s", now->group->name);
	for (size_t i = 0; i < count; i++) {
		const __u64 *n = groups[i].sum.value;
		__u64 faults = n[COUNTER_psn_lost] + n[COUNTER_icrc_bad] + n[COUNTER_blocks_incomplete] + n[COUNTER_blocks_missing];

		if (!few && (!faults || shown == VIEW_WORST))
			continue;
		shown++;
		fprintf(page->out, "  %s %s: %zu stream%s, %llu packets, %s%llu lost, %llu bad ICRCs; blocks: %llu complete, %llu incomplete, "
			"%llu missing%s\n", now->group->name, group_text(now->group, &groups[i]).text, groups[i].streams,
			groups[i].streams == 1 ? "" : "s", n[COUNTER_roce_packets] + n[COUNTER_rocev1_packets],
			faults && page->colour ? PAGE_RED : "", n[COUNTER_psn_lost], n[COUNTER_icrc_bad],
			n[COUNTER_blocks] - n[COUNTER_blocks_incomplete], n[COUNTER_blocks_incomplete], n[COUNTER_blocks_missing],
			faults && page->colour ? PAGE_PLAIN : "");
	}
	if (shown < count)
		fprintf(page->out, "... and %zu more: --streams all\n", count - shown);
	free(groups);
}

/* ---- this machine ---- */

struct view_calls view_calls(const struct host_calls *c)
{
	struct view_calls v;
	int length = snprintf(v.text, sizeof(v.text), "%llu posted, %llu completions", c->wrs, c->completions);

	if (c->failed)
		length += snprintf(v.text + length, sizeof(v.text) - length, " (%llu failed)", c->failed);
	length += snprintf(v.text + length, sizeof(v.text) - length, ", %llu waiting", c->outstanding);
	if (c->half_ns)
		snprintf(v.text + length, sizeof(v.text) - length, ", half within %.1f us, 99 %% within %.1f us", c->half_ns / 1e3,
			 c->late_ns / 1e3);
	return v;
}

static void print_owner(FILE *out, const struct snapshot_stream *s)
{
	bool datagram = s->key.kind == KEY_DATAGRAM, response = s->key.side == SIDE_RESPONSE;
	const struct host_owner *o = s->owner;
	const struct host_qp *qp = o->qp;

	fprintf(out, "  %s > %s QPN %s%s: ", address_text(s->key.src).text,
		address_text(snapshot_destination(s)).text, qpn_text(datagram ? s->stream.ud.dqpn : s->key.qpn).text,
		response ? " resp" : "");
	if (qp) {
		fprintf(out, "%s QP %s", qp->device, qpn_text(qp->qpn).text);
		if (qp->peer_qpn)
			fprintf(out, ", peer QPN %s,", qpn_text(qp->peer_qpn).text);
		fprintf(out, " %s %s", host_type_name(qp->type), host_state_name(qp->state));
		if (qp->program[0])
			fprintf(out, ", %s", qp->program);
		if (qp->pid)
			fprintf(out, "[%u]", qp->pid);
		if (qp->rq_psn != HOST_NO_PSN && !o->outward && !response && qp->state != HOST_QP_GONE)
			fprintf(out, ", expects PSN %u", qp->rq_psn);
		if (o->calls.known)
			fprintf(out, ", %s", view_calls(&o->calls).text);
	}
	fprintf(out, "%s%s\n", qp && o->words[0] ? ": " : "", o->words);
}

static void print_owners(const struct view_page *page, const struct snapshot *now, const struct snapshot *previous,
			 const struct view *v)
{
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < snapshot_shown_count(now); i++) {
		const struct snapshot_stream *s = snapshot_shown(now, i);

		if (!s->owner || (!s->owner->qp && !s->owner->words[0]) || !view_wants(s, previous, v))
			continue;
		if (v->streams == STREAMS_WORST && shown == VIEW_WORST) {
			more++;
			continue;
		}
		if (!shown++)
			fputs("\nQPs of this machine\n", page->out);
		print_owner(page->out, s);
	}
	if (more)
		fprintf(page->out, "  ... and %zu more: --streams all\n", more);
}

static void print_counters(const struct view_page *page, const struct host_report *r)
{
	size_t i = 0;

	for (; i < r->counter_count && i < COUNTERS_SHOWN && r->counters[i].dropped; i++)
		fprintf(page->out, "%s%s %s %llu", i ? ", " : "  dropped   ", shown_text(r->counters[i].where).text,
			r->counters[i].name, r->counters[i].value);
	if (i)
		fputc('\n', page->out);
}

/* Pause frames and discards by priority. */
static void print_priorities(const struct view_page *page, const struct host_report *r)
{
	for (size_t i = 0; i < r->priority_count; i++) {
		const struct host_priority *p = &r->priorities[i];

		fprintf(page->out, "  priority  %s %u: %llu pause frames received, %llu sent, %llu frames discarded, %llu marked\n",
			shown_text(p->where).text, p->priority, p->count[PRIORITY_RX_PAUSE], p->count[PRIORITY_TX_PAUSE], p->count[PRIORITY_DISCARDS],
			p->count[PRIORITY_MARKED]);
	}
}

static void print_hint(const struct view_page *page, const char *hint)
{
	page_words(page, hint, fprintf(page->out, "hint: "), 2, false);
}

static void print_host(const struct view_page *page, const struct snapshot *now, const struct snapshot *previous,
		       const struct view *v)
{
	print_owners(page, now, previous, v);
	print_counters(page, now->host);
	print_priorities(page, now->host);
	for (size_t i = 0; i < now->host->hint_count; i++)
		print_hint(page, now->host->hints[i]);
}

/* Live, the hints of this machine have it. */
static void print_advice(const struct view_page *page, const struct snapshot *now)
{
	struct advice a;

	advice_make(&a, now);
	for (size_t i = 0; i < a.count; i++)
		print_hint(page, a.line[i]);
}

/* ---- faults of a capture: the number of each kind, and a list of the first ones ---- */

struct lines_row {
	const struct snapshot *now;
	const struct listed_fault *fault;
};

/* From the capture's first frame; negative if the frame is older. */
static void put_time(char *to, const struct lines_row *r)
{
	__s64 since = r->fault->time - (snapshot_time(r->now) - llround(r->now->seconds * NSEC));
	long long ns = llabs(since);

	snprintf(to, TEXT_CELL, "%s%lld.%09lld", since < 0 ? "-" : "", ns / NSEC, ns % NSEC);
}

/* Beside those of columns.h. */
enum { FRAME = COLUMNS, AFTER };

static bool fill(char to[TEXT_CELL], const void *row, int id, int width)
{
	const struct lines_row *r = row;
	const struct listed_fault *f = r->fault;
	struct stream_row stream = { .key = f->key, .service = f->service, .trusted = true, .version = "" };
	bool ip = memcmp(f->dst, stream.dst, sizeof(f->dst));

	memcpy(stream.dst, f->dst, sizeof(stream.dst));
	if (id == FRAME)
		snprintf(to, TEXT_CELL, "%llu", f->number);
	else if (id == AFTER)
		put_time(to, r);
	else if (id == COLUMN_STREAM ? ip : f->key.kind != KEY_NONE)
		column_text(id, to, &stream, width);
	else
		strcpy(to, id == COLUMN_STREAM ? "? > ?" : "");
	return false;
}

static const struct text_column columns[] = {
	{ "frame", 0, FRAME, 0 },
	{ "after s", 0, AFTER, 0 },
	{ "stream", TEXT_LEFT | TEXT_PATH, COLUMN_STREAM, 0 },
	{ "QPN", 0, COLUMN_QPN, 0 },
	{ "hex", TEXT_SPARE | TEXT_SELDOM, COLUMN_HEX, 0 },
	{ "service", TEXT_LEFT, COLUMN_SERVICE, 0 },
};

/* words: the column of the words; 0: they have the next line. */
static void print_fault(const struct text_table *t, const struct lines_row *r, int words)
{
	char text[EVENT_TEXT];
	int at;

	event_text(&r->fault->event, text);
	text[strcspn(text, ":")] = 0; /* print_kinds() has printed the words */
	at = text_table_row(t, r);
	if (words)
		at += fprintf(t->page->out, "%*s", words - at, "");
	else
		at = fprintf(t->page->out, "\n%*s", INDENT, "") - 1;
	page_words(t->page, text + strlen("reason="), at, at, true);
}

static void print_kinds(const struct view_page *page, const struct fault_list *l)
{
	int digits = snprintf(NULL, 0, "%llu", l->packets), name = 0;

	for (int i = 0; i < ROCE_EVENTS; i++)
		if (l->kind[i] && (int)strlen(event_names[i]) > name)
			name = strlen(event_names[i]);
	fprintf(page->out, "\n%llu packet%s with faults:\n", l->packets, l->packets == 1 ? "" : "s");
	for (int i = 0; i < ROCE_EVENTS; i++) {
		int at;

		if (!l->kind[i])
			continue;
		at = fprintf(page->out, "  %*llu %-*s  ", digits, l->kind[i], name, event_names[i]);
		page_words(page, event_words[i], at, at, false);
	}
}

static void print_list(const struct view_page *page, const struct snapshot *now, const struct fault_list *l)
{
	struct lines_row r = { .now = now };
	struct text_table t = { .page = page, .columns = columns, .count = ROCE_ARRAY_SIZE(columns), .fill = fill, .gap = GAP };
	int words, at;

	text_table_begin(&t);
	for (r.fault = l->faults; r.fault < l->faults + l->count; r.fault++)
		text_table_measure(&t, &r);
	words = text_table_fit(&t, page->width - WORDS - GAP) + GAP;
	if (words > page->width - WORDS) {
		text_table_fit(&t, page->width);
		words = 0;
	}
	at = text_table_titles(&t);
	if (words)
		fprintf(page->out, "%*sfault", words - at, "");
	fputc('\n', page->out);
	for (r.fault = l->faults; r.fault < l->faults + l->count; r.fault++)
		print_fault(&t, &r, words);
}

static void print_faults(const struct view_page *page, const struct snapshot *now)
{
	const struct fault_list *l = now->faults;

	if (!l->packets) {
		fputs("\nno packet with a fault\n", page->out);
		return;
	}
	print_kinds(page, l);
	if (!l->count)
		return;
	fputc('\n', page->out);
	print_list(page, now, l);
	if (l->packets > l->count)
		fprintf(page->out, "... and %llu more: --faults N lists the first N\n", l->packets - l->count);
}

int view_lines(FILE *out, const struct snapshot *now, const struct snapshot *previous, const struct view *v)
{
	struct view_page page;

	page_open(&page, out);
	print_head(&page, now, previous);
	view_table(&page, now, previous, v);
	if (now->group && v->streams != STREAMS_NONE)
		print_groups(&page, now, v);
	if (now->host)
		print_host(&page, now, previous, v);
	else if (!v->live)
		print_advice(&page, now);
	if (now->faults)
		print_faults(&page, now);
	page_close(&page);
	return ferror(out) ? -1 : 0;
}
