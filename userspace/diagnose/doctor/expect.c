// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Connections of --expect that no packet matches, and what came instead. */
#include <string.h>

#include "lib/address.h"
#include "userspace/diagnose/doctor/record.h"
#include "userspace/observe/model/qpn.h"

#define INSTEAD 4 /* streams listed */

static bool came(const struct doctor *d, const __u8 src[16], const __u8 dst[16], __u32 qpn)
{
	struct roce_key key = { .kind = KEY_CONNECTED, .qpn = qpn, .side = SIDE_REQUEST };

	memcpy(key.src, src, 16);
	memcpy(key.dst, dst, 16);
	if (index_find(&d->records, &key))
		return true;
	key.side = SIDE_RESPONSE;
	return index_find(&d->records, &key);
}

/* Whether packets of the connection came, in either direction. */
static bool is_matched(const struct doctor *d, const struct expected_pair *e)
{
	return came(d, e->key.src, e->key.dst, e->key.number) || came(d, e->key.dst, e->key.src, e->pair.peer_qpn);
}

/* Each connection is in the list twice, once for each direction. */
static bool is_first(const struct expected_pair *e)
{
	int order = memcmp(e->key.src, e->key.dst, 16);

	return order < 0 || (!order && e->key.number <= e->pair.peer_qpn);
}

static bool joins(const struct roce_key *k, const struct expected_pair *e)
{
	return (!memcmp(k->src, e->key.src, 16) && !memcmp(k->dst, e->key.dst, 16)) ||
	       (!memcmp(k->src, e->key.dst, 16) && !memcmp(k->dst, e->key.src, 16));
}

static void list(const struct doctor *d, const struct expected_pair *e, bool joined, char *text, size_t room, size_t *listed)
{
	for (size_t i = 0; i < d->records.count; i++) {
		const struct roce_key *k = d->records.entries[i];
		size_t length = strlen(text);

		if (k->kind != KEY_CONNECTED || joins(k, e) != joined || doctor_is_phantom(d, d->records.entries[i]))
			continue;
		if ((*listed)++ < INSTEAD)
			snprintf(text + length, room - length, "%s%s > %s QPN %s", length ? ", " : "", address_text(k->src).text,
				 address_text(k->dst).text, qpn_text(k->qpn).text);
	}
}

/* Those between the same addresses come first: there the QPN is wrong. */
static void say_instead(const struct doctor *d, const struct expected_pair *e, bool only, struct symptom *symptom)
{
	char streams[INSTEAD * 112] = "", more[32] = "";
	size_t listed = 0;

	list(d, e, true, streams, sizeof(streams), &listed);
	list(d, e, false, streams, sizeof(streams), &listed);
	if (listed > INSTEAD)
		SAY(more, ", and %zu more", listed - INSTEAD);
	SAY(symptom->figures, "%s%s qpn %s <-> %s qpn %s, in line %u. %s%s%s.", only ? "It is " : "The first one is ",
	    address_text(e->key.src).text, qpn_text(e->pair.peer_qpn).text, address_text(e->key.dst).text, qpn_text(e->key.number).text, e->line,
	    listed ? "Instead came " : "No other stream came", streams, more);
}

void expect_conclude(const struct doctor *d, struct symptoms *hints)
{
	const struct expected_pair *first = NULL;
	struct symptom *symptom;
	__u64 missing = 0;

	/* of what was left out nobody knows whether it matches */
	for (size_t i = 0; d->expected && !d->left_out && i < d->expected->count; i++) {
		const struct expected_pair *e = &d->expected->entries[i];

		if (!is_first(e) || is_matched(d, e))
			continue;
		missing++;
		if (!first || e->line < first->line)
			first = e;
	}
	symptom = first ? symptoms_get(hints, KIND_hint_expect) : NULL;
	if (symptom)
		say_instead(d, first, missing == 1, symptom);
}
