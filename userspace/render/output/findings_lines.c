// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prints findings for people. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "lib/address.h"
#include "lib/terminal/terminal.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/solver/icrc_recipe.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/render/output/findings_view.h"

#define BOLD "\033[1m"
#define PLAIN "\033[0m"
#define WIDTH 100 /* columns of a file */
#define WIDTH_LEAST 40
#define INDENT 3

struct findings_page {
	FILE *out;
	int width;
	bool bold;
};

static struct findings_page open_page(FILE *out)
{
	struct findings_page page = { .out = out, .width = WIDTH };
	size_t width, height;

	if (!terminal_size(fileno(out), &width, &height))
		return page;
	page.bold = terminal_wants_colour();
	page.width = width < WIDTH_LEAST ? WIDTH_LEAST : width;
	return page;
}

/* Prints `first` and then words, wrapped. The next lines begin below the first word. */
static void paragraph(const struct findings_page *p, const char *first, int indent, bool bold, const char *text)
{
	int column = fprintf(p->out, "%*s%s", indent, "", first), left = column;

	if (bold && p->bold)
		fputs(BOLD, p->out);
	while (*text) {
		int length = strcspn(text, " ");

		if (column > left && column + 1 + length > p->width) {
			fprintf(p->out, "\n%*s", left, "");
			column = left;
		}
		if (column > left)
			column += fprintf(p->out, " ");
		column += fprintf(p->out, "%.*s", length, text);
		text += length + (text[length] == ' ');
	}
	if (bold && p->bold)
		fputs(PLAIN, p->out);
	fputc('\n', p->out);
}

__attribute__((format(printf, 3, 4))) static void line(const struct findings_page *p, const char *first, const char *format,
						       ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	paragraph(p, first, INDENT, false, text);
}

static const char *plural(__u64 n)
{
	return n == 1 ? "" : "s";
}

static void show_stream(const struct findings_page *p, const struct finding *f)
{
	const struct roce_key *k = &f->stream;
	char stream[2 * INET6_ADDRSTRLEN + 64] = "frames of no stream", others[64] = "", frames[64] = "";

	if (k->kind == KEY_DATAGRAM)
		snprintf(stream, sizeof(stream), "%s source QPN %s", address_text(k->src).text, qpn_text(k->qpn).text);
	else if (k->kind == KEY_UDP && k->qpn == FINDING_NO_QPN)
		snprintf(stream, sizeof(stream), "%s > %s UDP port %u", address_text(k->src).text,
			 address_text(k->dst).text, k->port);
	else if (k->kind == KEY_UDP)
		snprintf(stream, sizeof(stream), "%s > %s UDP port %u, flow %u", address_text(k->src).text,
			 address_text(k->dst).text, k->port, k->qpn);
	else if (k->kind && k->qpn == FINDING_NO_QPN)
		snprintf(stream, sizeof(stream), "%s > %s, QPN not read", address_text(k->src).text, address_text(k->dst).text);
	else if (k->kind)
		snprintf(stream, sizeof(stream), "%s > %s QPN %s%s", address_text(k->src).text,
			 address_text(k->dst).text, qpn_text(k->qpn).text, k->side == SIDE_RESPONSE ? " (responses)" : "");
	if (f->hint && !k->kind)
		return;
	if (f->streams > 1)
		snprintf(others, sizeof(others), " and %zu more stream%s", f->streams - 1, plural(f->streams - 1));
	if (f->packets)
		snprintf(frames, sizeof(frames), ": %llu packet%s", f->packets, plural(f->packets));
	line(p, "", "%s%s%s", stream, others, frames);
}

/* The end of the first sentence, without its full stop. */
static const char *first_sentence(const char *text)
{
	while (*text && !((*text == '.' || *text == ';') && (text[1] == ' ' || !text[1])))
		text++;
	return text;
}

/* Prints the first sentence as the title, without its full stop, and then the other sentences. */
static void show_title(const struct findings_page *p, const char *number, const struct finding *f)
{
	char title[FINDING_TEXT + FINDING_KIND + 8];
	const char *end = first_sentence(f->text), *rest = *end && end[1] ? end + 2 : "";
	char first = f->hint ? *f->text : toupper(*f->text); /* a hint may begin with an interface's name */

	snprintf(title, sizeof(title), "%c%.*s (%s)", first, (int)(end - f->text) - 1, f->text + 1, f->kind);
	paragraph(p, number, 0, true, title);
	if (*rest)
		line(p, "", "%c%s", toupper(*rest), rest + 1);
}

static void show_evidence(const struct findings_page *p, const struct finding *f)
{
	char frame[32], all[32 * FINDING_EVIDENCE] = "";

	for (size_t i = 0; i < f->evidence_count; i++) {
		const struct evidence *e = &f->evidence[i];

		snprintf(frame, sizeof(frame), "frame %llu: ", e->frame);
		if (*e->expected)
			line(p, frame, "expected %s, found %s", e->expected, e->found);
		else if (*e->found)
			line(p, frame, "found %s", e->found);
		else if (e->frame)
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%llu", *all ? ", " : "", e->frame);
	}
	if (*all)
		line(p, "frames ", "%s", all);
}

/* "RC packets are sent again (retransmission): 9 packets of 2 streams, the first in frame 17. Its figures." */
static void show_consequence(const struct findings_page *p, const struct finding *f)
{
	const char *end = first_sentence(f->text);
	char first[48] = "";

	if (f->evidence_count && f->evidence[0].frame)
		snprintf(first, sizeof(first), ", the first in frame %llu", f->evidence[0].frame);
	line(p, "  ", "%.*s (%s): %llu packet%s of %zu stream%s%s%s", (int)(end - f->text), f->text, f->kind, f->packets,
	     plural(f->packets), f->streams, plural(f->streams), first, end);
}

static void show_consequences(const struct findings_page *p, const struct findings *all, const struct finding *f)
{
	bool shown = false;

	for (size_t i = 0; i < all->count; i++) {
		if (!finding_is_below(&all->list[i], f))
			continue;
		if (!shown)
			line(p, "", "It explains:");
		shown = true;
		show_consequence(p, &all->list[i]);
	}
}

static void show_finding(const struct findings_page *p, size_t number, const struct findings *all, const struct finding *f)
{
	char text[32];

	snprintf(text, sizeof(text), "%zu. ", number);
	show_title(p, text, f);
	show_stream(p, f);
	show_evidence(p, f);
	if (f->asks && *f->asks)
		line(p, "asks: ", "%s", f->asks);
	if (*f->fix)
		line(p, "fix:  ", "%s", f->fix);
	show_consequences(p, all, f);
	fputc('\n', p->out);
}

enum section { FINDINGS, CANDIDATES, HABITS, HINTS };

static enum section section_of(const struct finding *f)
{
	return f->hint ? HINTS : f->habit ? HABITS : f->certain ? FINDINGS : CANDIDATES;
}

/* Returns how many there are. */
static size_t show_section(const struct findings_page *p, const struct findings *f, enum section section, const char *title)
{
	size_t number = 0;

	for (size_t i = 0; i < f->count; i++) {
		if (f->list[i].below || section_of(&f->list[i]) != section)
			continue;
		if (!number++ && title)
			fprintf(p->out, "%s\n\n", title);
		show_finding(p, number, f, &f->list[i]);
	}
	return number;
}

static void show_checked(const struct findings_page *p, const struct findings_report *r, bool nothing)
{
	__u64 passed = r->totals.value[COUNTER_roce_packets] + r->totals.value[COUNTER_rocev1_packets];
	__u64 unread = r->totals.value[COUNTER_malformed] + r->totals.value[COUNTER_ip_fragments];
	const struct doctor_checked *c = &r->checked;
	char text[800], of[64] = "", starts[96] = "", answers[96] = "", received[160] = "";

	if (c->datagrams) {
		snprintf(text, sizeof(text),
			 "%s %llu datagram%s of %llu flow%s of --udp. Checked: format and number of the first ones; of all "
			 "what is missing, late, twice or begins anew.",
			 nothing ? "Nothing wrong was found in" : "That is what was found in", c->datagrams,
			 plural(c->datagrams), c->flows, plural(c->flows));
		paragraph(p, "", 0, false, text);
	}
	if (!c->packets && !unread && c->datagrams)
		return;
	if (!c->packets && unread) {
		snprintf(text, sizeof(text),
			 "No RoCE packet could be read: %llu frame%s malformed or fragments. Nothing else was "
			 "checked.",
			 unread, unread == 1 ? " is" : "s are");
		paragraph(p, "", 0, false, text);
		return;
	}
	if (!c->packets) {
		snprintf(text, sizeof(text), "There was no RoCE packet: nothing was checked. What came: %s.",
			 *c->instead ? c->instead : "nothing");
		paragraph(p, "", 0, false, text);
		return;
	}
	if (c->starts && c->starts >= c->sequences)
		snprintf(starts, sizeof(starts), ", the first ones as well");
	else if (c->starts)
		snprintf(starts, sizeof(starts), " (the first one of %llu; for the others' see --expect FILE)", c->starts);
	else if (c->sequences)
		snprintf(starts, sizeof(starts), " (not the first ones: see --expect FILE)");
	if (c->compared && c->compared < c->answers)
		snprintf(answers, sizeof(answers), "; what receivers answered (%llu of %llu answers)", c->compared, c->answers);
	else if (c->compared)
		snprintf(answers, sizeof(answers), "; what receivers answered (%llu answer%s)", c->compared, plural(c->compared));
	if (c->receiver)
		snprintf(received, sizeof(received), " %llu packet%s to the receiver %s %s judged as it would.", c->received,
			 plural(c->received), address_text(c->receiver->end.gid).text, c->received == 1 ? "was" : "were");
	if (passed > c->packets)
		snprintf(of, sizeof(of), " (of %llu that passed)", passed);
	snprintf(text, sizeof(text),
		 "%s %llu packet%s%s of %llu stream%s. Checked: %llu ICRC%s; the PSNs of %llu stream%s%s; order, sizes and "
		 "DMA lengths of %llu message%s; headers, lengths and checksums of every packet%s.%s",
		 nothing ? "Nothing wrong was found in" : "That is what was found in", c->packets, plural(c->packets), of,
		 c->streams, plural(c->streams), c->icrcs, plural(c->icrcs), c->sequences, plural(c->sequences), starts,
		 c->messages, plural(c->messages), answers, received);
	paragraph(p, "", 0, false, text);
}

static void show_losses(const struct findings_page *p, const struct doctor_losses *t, enum losses_by by)
{
	static const char *const titles[] = { "DSCP", "VLAN", "UDP source port" };
	const int width = strlen(titles[by]);

	if (!t->values)
		return;
	fprintf(p->out, "Losses differ by %s, by more than chance:\n\n%*s%*s  streams     packets        lost        gaps\n",
		titles[by], INDENT, "", width, titles[by]);
	for (size_t i = 0; i < t->rows; i++) {
		const struct losses_row *r = &t->row[i];
		char value[16] = "none";

		if (by != LOSSES_BY_VLAN || r->value != LOSSES_NO_VLAN)
			snprintf(value, sizeof(value), "%u", r->value);
		fprintf(p->out, "%*s%*s %8llu %11llu %11llu %11llu\n", INDENT, "", width, value, r->streams, r->packets, r->lost, r->gaps);
	}
	if (t->values > t->rows)
		fprintf(p->out, "%*s... and %zu more\n", INDENT, "", t->values - t->rows);
	fputc('\n', p->out);
}

/* One sentence of the priorities that were paused, and one of the DSCPs that lose. */
static void show_pauses(const struct findings_page *p, const struct doctor_pauses *of)
{
	char text[4096];
	size_t length = 0;

#define ADD(...) (length += snprintf(text + length, sizeof(text) - length, __VA_ARGS__)) /* a DSCP takes 70 bytes at most */
	if (!of->known)
		return;
	if (of->all)
		ADD("All priorities were paused (%llu PAUSE frame%s came here). ", of->all, plural(of->all));
	for (unsigned int i = 0; i < DOCTOR_PRIORITIES; i++) {
		const __u64 *host = of->host[i];
		bool counted = host[PRIORITY_RX_PAUSE] || host[PRIORITY_TX_PAUSE];

		if (!of->frames[i] && !counted)
			continue;
		ADD("Priority %u was paused: %llu PFC frame%s came here", i, of->frames[i], plural(of->frames[i]));
		if (counted)
			ADD("; this machine's NIC received %llu, sent %llu, and discarded %llu frames of the priority",
			    host[PRIORITY_RX_PAUSE], host[PRIORITY_TX_PAUSE], host[PRIORITY_DISCARDS]);
		ADD(". ");
	}
	ADD("By the usual mapping, which is an assumption (priority = DSCP / 8; switch and NIC decide):");
	for (unsigned int i = 0, said = 0; i < DOCTOR_DSCPS && length < sizeof(text) - 128; i++) {
		const struct losses_row *r = &of->dscp[i];

		if (r->lost)
			ADD("%s DSCP %u, which lost %llu of %llu packets, is priority %u and was %spaused", said++ ? ";" : "", i, r->lost,
			    r->packets + r->lost, DOCTOR_PRIORITY(i), doctor_is_paused(of, DOCTOR_PRIORITY(i)) ? "" : "not ");
	}
	ADD(".");
#undef ADD
	paragraph(p, "", 0, false, text);
	fputc('\n', p->out);
}

int findings_lines(FILE *out, const struct findings_report *r)
{
	struct findings_page p = open_page(out);
	size_t found = show_section(&p, r->findings, FINDINGS, NULL);

	found += show_section(&p, r->findings, CANDIDATES,
			      "Candidates: too few packets, no explanation, or another cause fits as well:");
	show_section(&p, r->findings, HABITS, "Habits of the sender, which are no fault:");
	show_section(&p, r->findings, HINTS, "What could not be judged:");
	for (enum losses_by by = 0; by < LOSSES_BY; by++)
		show_losses(&p, &r->losses[by], by);
	show_pauses(&p, &r->pauses);
	show_checked(&p, r, !found);
	return ferror(out) ? -1 : 0;
}

static void list(const struct findings_page *p, const char *begin, const char *name, const char *words)
{
	char first[2 * FINDING_KIND];

	snprintf(first, sizeof(first), "%s%-*s ", begin, 28 - (int)strlen(begin), name);
	for (char *c = first; *c; c++)
		*c = *c == '_' ? '-' : *c;
	paragraph(p, first, 2, false, words);
}

void findings_list_kinds(FILE *out)
{
	struct findings_page p = open_page(out);

	fputs("Mistakes in ICRCs. Two of them at once are found as well (icrc-swapped+no-ones):\n", out);
	for (enum mistake m = 0; m < MISTAKES; m++)
		list(&p, "icrc-", mistake_words(m)->name, mistake_words(m)->words);
	list(&p, "icrc-", "constant", "the ICRC field always has the same value");
	list(&p, "icrc-", "bit-flip", "the same bit of the packet is always flipped after the ICRC was computed");
	list(&p, "icrc-", "lane", "the same bit of each bus word is always flipped after the ICRC was computed");
	list(&p, "icrc-", "parameters", "a CRC with another polynomial, start, bit or byte order, final xor, masks or beginning");
	list(&p, "icrc-", "unexplained", "none of these, nor any two of them");
	fputs("\nAll other findings, the most important first. hint-: could not be judged:\n", out);
	for (enum finding_kind k = 0; k < FINDING_KINDS; k++) {
		char name[FINDING_KIND];

		finding_name(k, name);
		list(&p, "", name, finding_rules[k].words);
	}
}
