// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Plan files, and presets, which are built-in plan files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cause.h"
#include "userspace/traffic/send/option.h"

#define BLANKS " \t\r\n"
#define LINE_BYTES (1 << 20) /* room for a hundred thousand weights */
#define LINES_MOST (2 * QPS_MOST)

/* Changes the line. # begins a comment at the line's beginning or after a blank. */
static void parse_line(struct option_parser *p, char *line)
{
	char *name = line + strspn(line, BLANKS), *value, *end;

	for (char *c = name; *c; c++)
		if (*c == '#' && (c == line || strchr(BLANKS, c[-1]))) {
			*c = 0;
			break;
		}
	for (end = name + strlen(name); end > name && strchr(BLANKS, end[-1]);)
		*--end = 0;
	if (!*name)
		return;
	value = name + strcspn(name, BLANKS);
	if (*value) {
		*value++ = 0;
		value += strspn(value, BLANKS);
	}
	option_parse(p, name, value < end ? value : NULL);
}

static void read_plan(struct option_parser *p, FILE *f)
{
	static char line[LINE_BYTES]; /* static is safe: a plan file cannot name another one */

	while (fgets(line, LINE_BYTES, f)) {
		if (++p->line > LINES_MOST)
			usage_error("send: %s: more than %d lines", p->path, LINES_MOST);
		if (!strchr(line, '\n') && !feof(f))
			usage_error("send: %s:%u: this line is too long, or no text", p->path, p->line);
		parse_line(p, line);
	}
}

void take_plan(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct option_parser inside = { .command = p->command, .options = p->options, .path = text };
	FILE *f;

	if (p->path)
		option_wrong(p, e, text, "a plan file cannot name another one");
	f = fopen(text, "r");
	if (f)
		read_plan(&inside, f);
	if (!f || ferror(f)) { /* exit status 1, as for every file that cannot be read, not that of a usage error */
		fprintf(stderr, "rocescope: send: --plan %s: %s\n", text, cause(errno).text);
		exit(1);
	}
	fclose(f);
}

void take_preset(struct option_parser *p, const struct option_entry *e, const char *text)
{
	const struct preset *preset = presets;
	char *lines, *rest, *line, name[40];
	struct option_parser inside = { .command = p->command, .options = p->options, .path = name };

	if (!strcmp(text, "list")) {
		presets_list();
		exit(0);
	}
	while (preset->name && strcmp(preset->name, text))
		preset++;
	if (!preset->name)
		option_wrong(p, e, text, "no such preset ('--preset list' lists them)");
	snprintf(name, sizeof(name), "preset %s", text);
	lines = rest = option_memory(strdup(preset->text));
	while ((line = strsep(&rest, "\n"))) {
		inside.line++;
		parse_line(&inside, line);
	}
	free(lines);
}
