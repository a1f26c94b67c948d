// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "userspace/diagnose/finding/symptom.h"

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

struct symptom *symptoms_find(const struct symptoms *s, enum finding_kind kind)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].kind == kind)
			return &s->list[i];
	return NULL;
}

struct symptom *symptoms_get(struct symptoms *s, enum finding_kind kind)
{
	struct symptom *symptom = symptoms_find(s, kind);

	if (symptom)
		return symptom;
	symptom = realloc(s->list, (s->count + 1) * sizeof(*symptom));
	if (!symptom) {
		s->failed = true;
		return NULL;
	}
	s->list = symptom;
	symptom = &s->list[s->count++];
	*symptom = (struct symptom){ .kind = kind };
	return symptom;
}

struct evidence *symptoms_add(struct symptoms *s, enum finding_kind kind, __u64 frame)
{
	struct symptom *symptom = symptoms_get(s, kind);

	if (!symptom)
		return NULL;
	symptom->packets++;
	if (symptom->shown == FINDING_EVIDENCE)
		return NULL;
	symptom->evidence[symptom->shown].frame = frame;
	return &symptom->evidence[symptom->shown++];
}

struct symptom *symptoms_show(struct symptoms *s, enum finding_kind kind, const struct symptom_seen seen[FINDING_EVIDENCE],
			      __u64 count, const char *expected, const char *found)
{
	struct symptom *symptom = symptoms_get(s, kind);

	for (size_t i = 0; symptom && i < count && i < FINDING_EVIDENCE && symptom->shown < FINDING_EVIDENCE; i++) {
		struct evidence *e = &symptom->evidence[symptom->shown++];

		e->frame = seen[i].frame;
		SAY(e->expected, expected, seen[i].psn);
		SAY(e->found, found, seen[i].found);
	}
	if (symptom)
		symptom->packets += count;
	return symptom;
}

void symptoms_merge(struct symptoms *s, const struct symptoms *from)
{
	for (size_t i = 0; i < from->count; i++) {
		struct symptom *to = symptoms_get(s, from->list[i].kind);

		if (!to)
			return;
		to->packets += from->list[i].packets;
		for (size_t k = 0; k < from->list[i].shown && to->shown < FINDING_EVIDENCE; k++)
			to->evidence[to->shown++] = from->list[i].evidence[k];
	}
	s->failed |= from->failed;
}

void symptoms_take_back(struct symptoms *s, enum finding_kind kind)
{
	struct symptom *symptom = symptoms_find(s, kind);

	if (!symptom)
		return;
	if (symptom->shown == symptom->packets)
		symptom->shown--;
	if (!--symptom->packets)
		symptoms_drop(s, kind);
}

void symptoms_doubt(struct symptoms *s, enum finding_kind kind)
{
	struct symptom *symptom = symptoms_find(s, kind);

	if (symptom)
		symptom->doubted = true;
}

void symptoms_drop(struct symptoms *s, enum finding_kind kind)
{
	struct symptom *symptom = symptoms_find(s, kind);

	if (symptom)
		*symptom = s->list[--s->count];
}

void symptoms_free(struct symptoms *s)
{
	free(s->list);
	*s = (struct symptoms){ 0 };
}
