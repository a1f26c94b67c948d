// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "lib/grow.h"
#include "userspace/diagnose/finding/finding.h"

struct finding *findings_add(struct findings *f)
{
	if (!grow(f->list, f->count, f->room, 16))
		return NULL;
	f->list[f->count] = (struct finding){ .number = ++f->added };
	return &f->list[f->count++];
}

static int compare(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (!x->below != !y->below)
		return x->below ? 1 : -1;
	if (x->hint != y->hint)
		return x->hint - y->hint;
	if (x->habit != y->habit)
		return x->habit - y->habit;
	if (x->certain != y->certain)
		return y->certain - x->certain;
	if (x->weight != y->weight)
		return y->weight - x->weight;
	if (x->packets != y->packets)
		return x->packets < y->packets ? 1 : -1;
	return strcmp(x->kind, y->kind) ?: memcmp(&x->stream, &y->stream, sizeof(x->stream)) ?: strcmp(x->text, y->text);
}

void findings_sort(struct findings *f)
{
	if (f->count)
		qsort(f->list, f->count, sizeof(*f->list), compare);
}

bool finding_is_below(const struct finding *what, const struct finding *cause)
{
	return what->below == cause->number;
}

void findings_free(struct findings *f)
{
	free(f->list);
	*f = (struct findings){ 0 };
}
