// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "userspace/diagnose/finding/sign.h"

const struct finding_rule finding_rules[FINDING_KINDS] = {
#define FINDING(name, class, weight, words, asks, fix)                                                                 \
	[KIND_##name] = { #name, CLASS_##class, weight, words, asks, fix },
#include "userspace/diagnose/finding/finding.def"
#undef FINDING
};

void finding_name(enum finding_kind kind, char name[FINDING_KIND])
{
	const char *from = finding_rules[kind].name;
	size_t i = 0;

	for (; from[i] && i < FINDING_KIND - 1; i++)
		name[i] = from[i] == '_' ? '-' : from[i];
	name[i] = 0;
}

struct sign *signs_find(const struct signs *s, enum finding_kind kind)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].kind == kind)
			return &s->list[i];
	return NULL;
}

struct sign *signs_get(struct signs *s, enum finding_kind kind)
{
	struct sign *sign = signs_find(s, kind);

	if (sign)
		return sign;
	sign = realloc(s->list, (s->count + 1) * sizeof(*sign));
	if (!sign) {
		s->failed = true;
		return NULL;
	}
	s->list = sign;
	sign = &s->list[s->count++];
	*sign = (struct sign){ .kind = kind };
	return sign;
}

struct evidence *signs_add(struct signs *s, enum finding_kind kind, __u64 frame)
{
	struct sign *sign = signs_get(s, kind);

	if (!sign)
		return NULL;
	sign->packets++;
	if (sign->shown == FINDING_EVIDENCE)
		return NULL;
	sign->evidence[sign->shown].frame = frame;
	return &sign->evidence[sign->shown++];
}

struct sign *signs_show(struct signs *s, enum finding_kind kind, const struct sign_seen seen[FINDING_EVIDENCE], __u64 count,
			const char *expected, const char *found)
{
	struct sign *sign = signs_get(s, kind);

	for (size_t i = 0; sign && i < count && i < FINDING_EVIDENCE && sign->shown < FINDING_EVIDENCE; i++) {
		struct evidence *e = &sign->evidence[sign->shown++];

		e->frame = seen[i].frame;
		SAY(e->expected, expected, seen[i].psn);
		SAY(e->found, found, seen[i].found);
	}
	if (sign)
		sign->packets += count;
	return sign;
}

void signs_merge(struct signs *s, const struct signs *from)
{
	for (size_t i = 0; i < from->count; i++) {
		struct sign *to = signs_get(s, from->list[i].kind);

		if (!to)
			return;
		to->packets += from->list[i].packets;
		for (size_t k = 0; k < from->list[i].shown && to->shown < FINDING_EVIDENCE; k++)
			to->evidence[to->shown++] = from->list[i].evidence[k];
	}
	s->failed |= from->failed;
}

void signs_take_back(struct signs *s, enum finding_kind kind)
{
	struct sign *sign = signs_find(s, kind);

	if (!sign)
		return;
	if (sign->shown == sign->packets)
		sign->shown--;
	if (!--sign->packets)
		signs_drop(s, kind);
}

void signs_doubt(struct signs *s, enum finding_kind kind)
{
	struct sign *sign = signs_find(s, kind);

	if (sign)
		sign->doubted = true;
}

void signs_drop(struct signs *s, enum finding_kind kind)
{
	struct sign *sign = signs_find(s, kind);

	if (sign)
		*sign = s->list[--s->count];
}

void signs_free(struct signs *s)
{
	free(s->list);
	*s = (struct signs){ 0 };
}
