// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Losses by what a switch chooses queues and paths by, and which of these were paused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/diagnose/doctor/record.h"

#define CHANCE 1e-5 /* a difference that is less likely by chance is one */

struct stream_losses {
	const struct stream_record *record;
	__u64 lost, gaps;
	double expected; /* gaps, if all lost alike but for what tables say */
};

const char *const losses_by_names[LOSSES_BY] = { "dscp", "vlan", "port" };

static __u32 value_of(const struct stream_record *c, enum losses_by by)
{
	switch (by) {
	case LOSSES_BY_DSCP:
		return c->dscp;
	case LOSSES_BY_VLAN:
		return c->vlan;
	default:
		return c->port;
	}
}

static int by_value(const void *a, const void *b)
{
	const struct losses_row *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* The greatest part lost first. */
static int by_rate(const void *a, const void *b)
{
	const struct losses_row *x = a, *y = b;
	double p = (double)x->lost * y->packets, q = (double)y->lost * x->packets;

	return p > q ? -1 : p < q ? 1 : by_value(a, b);
}

/* Adds those with the same value up, which follow each other. Returns how many there are. */
static size_t merge(struct losses_row *rows, size_t count)
{
	size_t merged = 0;

	for (size_t i = 0; i < count; i++) {
		struct losses_row *to = merged ? &rows[merged - 1] : NULL;

		if (!to || to->value != rows[i].value) {
			rows[merged++] = rows[i];
			continue;
		}
		to->streams += rows[i].streams;
		to->packets += rows[i].packets;
		to->lost += rows[i].lost;
		to->gaps += rows[i].gaps;
		to->expected += rows[i].expected;
	}
	return merged;
}

/*
 * A bound of the probability that so many of all gaps, or more, are in these packets by chance (Chernoff, 1952). Gaps are counted
 * and not packets, because packets are lost in a row.
 */
static double chance(const struct losses_row *r, __u64 gaps)
{
	double part = (double)r->gaps / gaps, usual = r->expected / gaps;
	double distance = part * log(part / usual);

	if (part <= usual)
		return 1;
	if (part < 1)
		distance += (1 - part) * log((1 - part) / (1 - usual));
	return exp(-distance * gaps);
}

/* The same of the value that is least likely; any of them might have been the one. */
static double least_chance(const struct losses_row *rows, size_t count, __u64 gaps)
{
	double least = 1;

	for (size_t i = 0; i < count; i++)
		if (rows[i].gaps)
			least = fmin(least, chance(&rows[i], gaps));
	return least * count;
}

/* Sums of the streams by value. Returns how many values there are. */
static size_t sum_up(const struct stream_losses *streams, size_t count, enum losses_by by, struct losses_row *rows)
{
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct losses_row){
			.value = value_of(streams[i].record, by), .streams = 1, .packets = streams[i].record->packets,
			.lost = streams[i].lost, .gaps = streams[i].gaps, .expected = streams[i].expected,
		};
	qsort(rows, count, sizeof(*rows), by_value);
	return merge(rows, count);
}

/* Streams of which all packets were taken, and whose PSNs were followed. Returns how many there are. */
static size_t collect(const struct doctor *d, struct stream_losses *streams, __u64 *gaps)
{
	__u64 packets = 0;
	size_t count = 0;

	for (size_t i = 0; i < d->records.count; i++) {
		const struct stream_record *c = d->records.entries[i];
		const struct symptom *loss = symptoms_find(&c->symptoms, KIND_loss);

		if (c->key.kind != KEY_CONNECTED || !c->psn.met || !record_is_complete(c) || doctor_is_phantom(d, c))
			continue;
		streams[count++] = (struct stream_losses){ c, loss ? loss->packets : 0, loss ? c->loss.gaps : 0, 0 };
		packets += c->packets;
		*gaps += loss ? c->loss.gaps : 0;
	}
	for (size_t i = 0; i < count; i++)
		streams[i].expected = (double)*gaps * streams[i].record->packets / packets;
	return count;
}

/* Makes the table of a property. From now on its values lose as they do: what they explain is no difference of others. */
static void tell(struct doctor_losses *t, struct stream_losses *streams, size_t count, enum losses_by by, struct losses_row *rows)
{
	t->values = sum_up(streams, count, by, rows);
	for (size_t i = 0; i < count; i++) {
		const struct losses_row key = { .value = value_of(streams[i].record, by) };
		const struct losses_row *r = bsearch(&key, rows, t->values, sizeof(*rows), by_value);

		streams[i].expected *= r->expected > 0 ? r->gaps / r->expected : 0;
	}
	qsort(rows, t->values, sizeof(*rows), by_rate);
	for (size_t i = 0; i < t->values && i < LOSSES_ROWS; i++)
		t->row[t->rows++] = rows[i];
}

/* The property by which losses differ most, of those without a table. LOSSES_BY: by none more than chance. */
static enum losses_by find(const struct doctor_losses *tables, const struct stream_losses *streams, size_t count, __u64 gaps,
			   struct losses_row *rows)
{
	enum losses_by found = LOSSES_BY;
	double least = CHANCE;

	for (enum losses_by by = 0; by < LOSSES_BY; by++) {
		size_t values = tables[by].values ? 0 : sum_up(streams, count, by, rows);
		double likely = values > 1 ? least_chance(rows, values, gaps) : 1;

		if (likely >= least)
			continue;
		least = likely;
		found = by;
	}
	return found;
}

void doctor_losses(const struct doctor *d, struct doctor_losses tables[LOSSES_BY])
{
	struct losses_row *rows = calloc(d->records.count + 1, sizeof(*rows));
	struct stream_losses *streams = calloc(d->records.count + 1, sizeof(*streams));
	enum losses_by by;
	__u64 gaps = 0;
	size_t count = rows && streams && !d->selection ? collect(d, streams, &gaps) : 0;

	memset(tables, 0, LOSSES_BY * sizeof(*tables));
	while (gaps && (by = find(tables, streams, count, gaps, rows)) < LOSSES_BY)
		tell(&tables[by], streams, count, by, rows);
	free(rows);
	free(streams);
}

void doctor_pauses(const struct doctor *d, const struct roce_totals *totals, struct doctor_pauses *p)
{
	bool paused = false, lost = false;

	*p = (struct doctor_pauses){ .all = totals->value[COUNTER_pause_frames] };
	memcpy(p->host, d->host, sizeof(p->host));
	for (unsigned int i = 0; i < DOCTOR_PRIORITIES; i++) {
		p->frames[i] = totals->value[COUNTER_pfc_priority0 + i];
		paused |= doctor_is_paused(p, i);
	}
	for (size_t i = 0; i < d->records.count && !d->selection; i++) {
		const struct stream_record *c = d->records.entries[i];
		const struct symptom *loss = symptoms_find(&c->symptoms, KIND_loss);
		struct losses_row *row = &p->dscp[c->dscp];

		if (c->key.kind != KEY_CONNECTED || !c->psn.met || doctor_is_phantom(d, c))
			continue;
		row->value = c->dscp;
		row->streams++;
		row->packets += c->passed > c->packets ? c->passed : c->packets;
		row->lost += loss ? loss->packets : 0;
		row->gaps += loss ? c->loss.gaps : 0;
		lost |= row->lost;
	}
	p->known = paused && lost;
}
