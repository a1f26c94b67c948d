// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report for people, and as rocescope.path/1 (docs/json.md, docs/schema/path.schema.json). */
#include <string.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "lib/json.h"
#include "lib/list.h"
#include "lib/shown.h"
#include "userspace/diagnose/path/path.h"

#define NAME 32

static const struct {
	const char *name, *why;
	enum path_severity severity;
} checks[] = {
#define WILL_LOSE PATH_WILL_LOSE
#define MAY_LOSE PATH_MAY_LOSE
#define TOLD PATH_TOLD
#define PATH_CHECK(name, severity, why) { #name, why, severity },
#include "userspace/diagnose/path/check.def"
#undef PATH_CHECK
};

struct name {
	char text[NAME];
};

static struct name spelled(enum path_check check)
{
	struct name n;

	snprintf(n.text, sizeof(n.text), "%s", checks[check].name);
	while (strchr(n.text, '_'))
		*strchr(n.text, '_') = '-';
	return n;
}

enum path_severity path_check_severity(enum path_check check)
{
	return checks[check].severity;
}

static const char *severity_words(enum path_severity severity)
{
	static const char *const words[] = { "will lose", "may lose", "told" };

	return words[severity];
}

void path_list_checks(void)
{
	for (size_t i = 0; i < PATH_CHECKS; i++)
		list_entry(spelled(i).text, checks[i].why);
}

/* ---- for people ---- */

#define INDENT 24

static void print_result(FILE *out, const char *word, const struct path_result *to)
{
	fprintf(out, "%-9s  %-12s %s\n", word, spelled(to->check).text, to->found);
}

/* The reason is a comment of the command, so that the line can be pasted. */
static void print_mend(FILE *out, const struct path_result *to)
{
	fprintf(out, "%*s%s%s# %s\n", INDENT, "", to->command, to->command[0] ? "  " : "", checks[to->check].why);
	if (to->change.made)
		fprintf(out, "%*schanged: it was %s, and will be again\n", INDENT, "", to->change.before);
	else if (to->change.error[0])
		fprintf(out, "%*snot changed: %s\n", INDENT, "", to->change.error);
}

static void print_head(FILE *out, const struct path_facts *f)
{
	fprintf(out, "%s", shown_text(f->name).text);
	if (f->driver[0])
		fprintf(out, ", %s", f->driver);
	if (f->gbps)
		fprintf(out, ", %g Gbit/s", f->gbps);
	fprintf(out, ", MTU %u", f->mtu);
	if (f->probe.answered)
		fprintf(out, "; %s answers in %.3g ms", f->peer_address, (double)f->probe.rtt_ns / NSEC_PER_MSEC);
	else if (f->has_peer)
		fprintf(out, "; %s: %s", f->peer_address, f->probe.why);
	fputc('\n', out);
}

int path_lines(FILE *out, const struct path_facts *f, const struct path_report *r, bool all)
{
	size_t of[3] = { 0 };

	print_head(out, f);
	for (size_t i = 0; i < r->count; i++) {
		const struct path_result *to = &r->results[i];

		of[to->state]++;
		if (to->state == PATH_FINDING) {
			print_result(out, severity_words(to->severity), to);
			print_mend(out, to);
		} else if (all) {
			print_result(out, to->state == PATH_GOOD ? "good" : "not known", to);
		}
	}
	fprintf(out, "%zu finding%s, %zu good, %zu not known%s\n", of[PATH_FINDING], of[PATH_FINDING] == 1 ? "" : "s",
		of[PATH_GOOD], of[PATH_NOT_KNOWN], all ? "" : " (-v lists them)");
	return ferror(out) ? -1 : 0;
}

/* ---- for programs ---- */

static json_t *change_object(const struct path_change *c)
{
	if (!c->made && !c->error[0])
		return json_null();
	return json_pack("{s:s, s:s, s:s, s:b, s:o}", "what", c->what, "before", c->before, "after", c->after, "made", c->made,
			 "error", json_text_or_null(c->error));
}

static json_t *result_object(const struct path_result *to)
{
	json_t *o = json_pack("{s:s, s:s}", "id", spelled(to->check).text, "found", to->found);

	if (to->state != PATH_FINDING)
		return o;
	json_object_set_new(o, "severity", json_string(severity_words(to->severity)));
	json_object_set_new(o, "why", json_string(checks[to->check].why));
	json_object_set_new(o, "command", json_text_or_null(to->command));
	json_object_set_new(o, "fix", json_boolean(to->change.kind != CHANGE_NOTHING));
	json_object_set_new(o, "change", change_object(&to->change));
	return o;
}

static json_t *source_or_null(const struct path_facts *f)
{
	return json_text_or_null(f->has_peer && f->has_address ? address_text(f->address).text : NULL);
}

int path_json(FILE *out, const struct path_facts *f, const struct path_report *r)
{
	json_t *of[] = { json_array(), json_array(), json_array() }, *o;
	unsigned int roce = path_roce_mtu(f->mtu);

	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(of[r->results[i].state], result_object(&r->results[i]));
	o = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "rocescope.path/1",
		      "interface", json_text(f->name), "driver", json_text_or_null(f->driver), "peer",
		      json_text_or_null(f->peer_address), "source", source_or_null(f), "gbps", json_real_or_null(f->gbps, f->gbps),
		      "mtu", f->mtu, "roce_path_mtu", json_count_or_null(roce, roce), "largest_packet",
		      json_count_or_null(f->probe.known, f->probe.passes), "smallest_lost",
		      json_count_or_null(f->probe.known && f->probe.fails, f->probe.fails), "rtt_us",
		      json_real_or_null(f->probe.answered, (double)f->probe.rtt_ns / NSEC_PER_USEC), "findings",
		      of[PATH_FINDING], "good", of[PATH_GOOD], "not_known", of[PATH_NOT_KNOWN]);
	return json_line(out, o, JSON_COMPACT) ? 0 : -1;
}
