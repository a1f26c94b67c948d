// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/observe/model/event_text.h"

#define EVENT_NAME 24 /* bytes of a name, with the end */

/* Copied from the .def file's identifiers, which cannot contain a -. */
static char names[ROCE_EVENTS][EVENT_NAME] = {
#define EVENT(name, reason, level, words) [EVENT_##name] = #name,
#include "roce/event/event.def"
#undef EVENT
};

#define EVENT(name, reason, level, words) _Static_assert(sizeof(#name) <= EVENT_NAME, "its end fits as well");
#include "roce/event/event.def"
#undef EVENT

__attribute__((constructor)) static void spell_names(void)
{
	for (int i = 0; i < ROCE_EVENTS; i++)
		for (char *c = names[i]; *c; c++)
			if (*c == '_')
				*c = '-';
}

const char *const event_names[ROCE_EVENTS] = {
#define EVENT(name, reason, level, words) [EVENT_##name] = names[EVENT_##name],
#include "roce/event/event.def"
#undef EVENT
};

const char *const event_reasons[ROCE_EVENTS] = {
#define EVENT(name, reason, level, words) [EVENT_##name] = #reason,
#include "roce/event/event.def"
#undef EVENT
};

const char *const event_words[ROCE_EVENTS] = {
#define EVENT(name, reason, level, words) [EVENT_##name] = words,
#include "roce/event/event.def"
#undef EVENT
};

const char *const lint_names[ROCE_LINTS] = {
#define LINT(name, class, test, words) [LINT_##name] = #name,
#include "roce/stream/lint.def"
#undef LINT
};

const char *const lint_words[ROCE_LINTS] = {
#define LINT(name, class, test, words) [LINT_##name] = words,
#include "roce/stream/lint.def"
#undef LINT
};

/* ---- reasons ---- */

static bool is_word(const char *at, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(at, word, length);
}

bool event_parse_reasons(const char *list, __u32 *kinds, const char **bad)
{
	*kinds = 0;
	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ",");
		__u32 found = 0;

		for (int i = 0; i < ROCE_EVENTS; i++)
			if (is_word(at, length, event_reasons[i]) || is_word(at, length, event_names[i]))
				found |= 1u << i;
		*bad = at;
		if (!found)
			return false;
		*kinds |= found;
		at += length;
		if (!*at)
			return true;
	}
}

/* ---- the line ---- */

struct text_line {
	char *text;
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text_line *l, const char *format, ...)
{
	size_t room = EVENT_TEXT - l->length;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(l->text + l->length, room, format, arguments);
	va_end(arguments);
	if (length > 0)
		l->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* Appends the names of a set, separated by commas. */
static void add_names(struct text_line *l, const char *key, __u32 set, const char *const *name, int count)
{
	const char *before = key;

	for (int i = 0; i < count; i++) {
		if (!(set >> i & 1))
			continue;
		add(l, "%s%s", before, name[i]);
		before = ",";
	}
}

/* Whether a PSN means anything: the packet was compared with its place in the sequence. */
static bool has_place(__u32 kinds)
{
	return kinds & ROCE_EVENTS_OF_SEQUENCE & ~ROCE_EVENT(psn_stray);
}

static void add_keys(struct text_line *l, const struct roce_event *e)
{
	add_names(l, "reason=", e->kinds, event_names, ROCE_EVENTS);
	if (has_place(e->kinds)) {
		if (e->expected != EVENT_NO_PSN)
			add(l, " expected=0x%06x", e->expected & PSN_MASK);
		add(l, " seen=0x%06x", e->seen & PSN_MASK);
	}
	if (e->kinds & ROCE_EVENT(psn_gap))
		add(l, " skipped=%u", e->skipped);
	if (e->kinds & ROCE_EVENT(psn_recovered))
		add(l, " recovered=%u", e->recovered);
	if (e->kinds & ROCE_EVENT(message_broken))
		add(l, " broken=%u", e->broken);
	if (e->kinds & ROCE_EVENT(imm_gap))
		add(l, " imm-skipped=%u imm-expected=%u", e->imm_skipped, e->imm_expected);
	if (e->kinds & (ROCE_EVENT(imm_gap) | ROCE_EVENT(block_incomplete)))
		add(l, " imm-seen=%u", e->imm_seen);
	if (e->kinds & ROCE_EVENT(lint))
		add_names(l, " lint=", e->lints, lint_names, ROCE_LINTS);
}

static void add_lint_words(struct text_line *l, __u32 lints)
{
	const char *before = "";

	for (int i = 0; i < ROCE_LINTS; i++) {
		if (!(lints >> i & 1))
			continue;
		add(l, "%s%s", before, lint_words[i]);
		before = "; ";
	}
}

/* Appends event.def's words, with the number if there is one. */
static void add_words(struct text_line *l, int kind, const struct roce_event *e)
{
	if (kind == EVENT_psn_gap && e->skipped == 1)
		add(l, "1 packet is missing before this one");
	else if (kind == EVENT_psn_gap)
		add(l, "%u %s", e->skipped, event_words[kind]);
	else if (kind == EVENT_psn_recovered && e->recovered > 1)
		add(l, "its %u PSNs were skipped before: it comes late, or again", e->recovered);
	else if (kind == EVENT_message_broken && e->broken > 1)
		add(l, "%u messages are broken: a part of each was seen, but not the whole in order", e->broken);
	else if (kind == EVENT_imm_gap && e->ring)
		add(l, "the ring's addresses leave out %u slot%s", e->imm_skipped, e->imm_skipped == 1 ? "" : "s");
	else if (kind == EVENT_imm_gap)
		add(l, "the immediate data leaves out %u value%s", e->imm_skipped, e->imm_skipped == 1 ? "" : "s");
	else if (kind == EVENT_lint && e->lints)
		add_lint_words(l, e->lints);
	else
		add(l, "%s", event_words[kind]);
}

size_t event_text(const struct roce_event *e, char text[EVENT_TEXT])
{
	struct text_line l = { .text = text };
	const char *before = ": ";

	text[0] = 0;
	add_keys(&l, e);
	for (int i = 0; i < ROCE_EVENTS; i++) {
		if (!(e->kinds >> i & 1))
			continue;
		add(&l, "%s", before);
		add_words(&l, i, e);
		before = "; ";
	}
	return l.length;
}

/* ---- and back ---- */

/* The members of the keys that have a number. */
static const struct text_key {
	const char *name;
	size_t at;
} keys[] = {
	{ "expected", offsetof(struct roce_event, expected) },
	{ "seen", offsetof(struct roce_event, seen) },
	{ "skipped", offsetof(struct roce_event, skipped) },
	{ "recovered", offsetof(struct roce_event, recovered) },
	{ "broken", offsetof(struct roce_event, broken) },
	{ "imm-skipped", offsetof(struct roce_event, imm_skipped) },
	{ "imm-expected", offsetof(struct roce_event, imm_expected) },
	{ "imm-seen", offsetof(struct roce_event, imm_seen) },
};

/* The set of names between commas. */
static __u32 parse_names(const char *list, const char *const *name, int count)
{
	__u32 set = 0;

	for (;; list++) {
		size_t length = strcspn(list, ",");

		for (int i = 0; i < count; i++)
			set |= (__u32)is_word(list, length, name[i]) << i;
		list += length;
		if (!*list)
			return set;
	}
}

static void parse_key(const char *name, const char *value, struct roce_event *e)
{
	unsigned long long n = strtoull(value, NULL, 0);

	if (!strcmp(name, "reason"))
		e->kinds = parse_names(value, event_names, ROCE_EVENTS);
	else if (!strcmp(name, "lint"))
		e->lints = parse_names(value, lint_names, ROCE_LINTS);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(keys); i++)
		if (!strcmp(name, keys[i].name))
			*(__u32 *)((char *)e + keys[i].at) = n < UINT32_MAX ? n : UINT32_MAX;
}

bool event_parse(const char *text, size_t length, struct roce_event *e)
{
	char line[EVENT_TEXT], *rest = line, *word;

	*e = (struct roce_event){ .expected = EVENT_NO_PSN };
	if (length >= sizeof(line))
		length = sizeof(line) - 1;
	memcpy(line, text, length);
	line[length] = 0;
	if (strncmp(line, "reason=", strlen("reason=")))
		return false;
	line[strcspn(line, ":")] = 0;
	while ((word = strsep(&rest, " "))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = 0;
		parse_key(word, value, e);
	}
	return true;
}
