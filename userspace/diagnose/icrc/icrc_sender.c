// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "userspace/diagnose/icrc/icrc_sender.h"

void icrc_append(char text[FINDING_TEXT], const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, FINDING_TEXT - length, format, arguments);
	va_end(arguments);
}

static void add_evidence(struct finding *f, const struct icrc_studied *p)
{
	struct evidence e = { .frame = p->number };
	size_t i = f->evidence_count;

	if (i < FINDING_EVIDENCE)
		f->evidence_count++;
	else if (f->evidence[--i].frame <= p->number)
		return;
	for (; i > 0 && f->evidence[i - 1].frame > p->number; i--)
		f->evidence[i] = f->evidence[i - 1];
	SAY(e.expected, "icrc %s", icrc_text(p->right).text);
	SAY(e.found, "icrc %s", icrc_text(p->found).text);
	f->evidence[i] = e;
}

__u32 icrc_count_open(const struct icrc_sender *s)
{
	__u32 count = 0;

	for (__u32 i = 0; i < s->count; i++)
		count += !s->samples[i].done && !s->samples[i].again;
	return count;
}

struct finding *icrc_add_finding(struct icrc_sender *s, bool certain, int weight)
{
	struct finding *f = findings_add(s->to);
	__u64 first = ~0ull;

	if (!f)
		return NULL;
	f->certain = certain;
	f->weight = weight;
	++*s->round;
	for (__u32 i = 0; i < s->count; i++) {
		struct icrc_sample *m = &s->samples[i];

		if (!m->chosen)
			continue;
		m->done = true;
		f->packets++;
		f->streams += m->study->counted != *s->round;
		m->study->counted = *s->round;
		m->study->explained |= certain;
		add_evidence(f, m->packet);
		if (m->packet->number < first)
			f->stream = m->study->stream;
		first = m->packet->number < first ? m->packet->number : first;
	}
	s->reported++;
	s->open = icrc_count_open(s);
	return f;
}

void icrc_append_share(struct finding *f, const struct icrc_sender *s)
{
	icrc_append(f->text, "; %llu of %u bad packets that were looked into", f->packets, s->count);
	if (s->bad > s->count)
		icrc_append(f->text, " (of %llu)", s->bad);
	icrc_append(f->text, s->good ? "; other packets of these streams have a right ICRC" : "");
}

double icrc_chance(const struct icrc_sender *s, double classes, double solutions, __u32 least)
{
	double mean = s->open * solutions / 4294967296.0;

	/* by logarithms: many packets would be infinitely many */
	return s->others * classes * exp(least * log(mean) - lgamma(least + 1.0));
}
