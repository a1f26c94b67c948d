// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "lib/address.h"
#include "userspace/diagnose/doctor/record.h"
#include "userspace/observe/model/arp.h"

#define NEIGHBOURS 4096 /* most pairs remembered */
#define TOLD_MOST 4096 /* answers to all hosts: behind so many nothing is judged, because each takes a look at all pairs */

struct neighbour_key {
	__u8 asker[16], wanted[16];
};

static struct neighbour_key key_of(const __u8 asker[16], const __u8 wanted[16])
{
	struct neighbour_key key;

	memcpy(key.asker, asker, 16);
	memcpy(key.wanted, wanted, 16);
	return key;
}

static void ask(struct neighbours *n, const __u8 asker[16], const __u8 wanted[16], __u64 frame)
{
	const struct neighbour_key key = key_of(asker, wanted);
	struct doctor_neighbour *to;

	n->asked.max = NEIGHBOURS;
	n->asked.key_size = sizeof(key);
	n->asked.entry_size = sizeof(*to);
	to = index_get(&n->asked, &key);
	if (!to)
		return;
	if (to->asks < FINDING_EVIDENCE)
		to->frame[to->asks] = frame;
	to->asks++;
}

static void answer(struct neighbours *n, const __u8 who[16], const __u8 asker[16])
{
	const struct neighbour_key key = key_of(asker, who);
	struct doctor_neighbour *to = n->asked.count ? index_find(&n->asked, &key) : NULL;

	if (to)
		to->asks = 0;
}

/* `who` tells all hosts its address. */
static void answer_all(struct neighbours *n, const __u8 who[16])
{
	if (n->told++ >= TOLD_MOST)
		return;
	for (size_t i = 0; i < n->asked.count; i++) {
		struct doctor_neighbour *to = n->asked.entries[i];

		if (!memcmp(to->wanted, who, 16))
			to->asks = 0;
	}
}

void neighbours_take(struct neighbours *n, const struct doctor_packet *taken)
{
	struct arp_message m;

	if (!arp_find(taken->frame, &taken->parsed->packet, &m) || arp_is_probe(&m))
		return;
	if (m.ipv6 && m.answer && m.to[0] == 0xff)
		answer_all(n, m.target);
	else if (m.ipv6 && m.answer)
		answer(n, m.target, m.to);
	else if (!m.ipv6 && !memcmp(m.from, m.target, 16))
		answer_all(n, m.from);
	else if (!m.ipv6)
		answer(n, m.from, m.target); /* who asks tells its own address as well (RFC 826, packet reception) */
	if (!m.answer && memcmp(m.from, m.target, 16))
		ask(n, m.from, m.target, taken->number);
}

/* ---- what follows ---- */

/* The RoCE stream of the one that does not answer: its own requests, or else its responses. NULL: none was seen. */
static struct stream_record *stream_of(const struct doctor *d, const struct doctor_neighbour *n)
{
	const struct path *path = doctor_path(d, n->wanted, n->asker);

	return path ? path->requests ?: path->any : NULL;
}

/* Whether the asker sends RoCE to the one that it asks for, or should: RC wants answers. */
static bool is_wanted(const struct doctor *d, const struct doctor_neighbour *n, const struct stream_record *c)
{
	const struct path *path = doctor_path(d, n->asker, n->wanted);

	return (path && path->any) || ((c->service == SERVICE_RC || c->service == SERVICE_XRC) && c->asked);
}

void neighbours_conclude(struct doctor *d)
{
	for (size_t i = 0; i < d->neighbours.asked.count && d->neighbours.told <= TOLD_MOST; i++) {
		const struct doctor_neighbour *n = d->neighbours.asked.entries[i];
		struct stream_record *c = n->asks ? stream_of(d, n) : NULL;
		struct symptom *symptom;

		if (!c || !is_wanted(d, n, c)) /* the asker must be an end: a router asks for others */
			continue;
		symptom = symptoms_get(&c->symptoms, KIND_arp_silent);
		if (!symptom)
			return;
		symptom->packets = n->asks;
		for (symptom->shown = 0; symptom->shown < FINDING_EVIDENCE && symptom->shown < n->asks; symptom->shown++)
			symptom->evidence[symptom->shown].frame = n->frame[symptom->shown];
		SAY(symptom->figures, "%s asks for %s.", address_text(n->asker).text, address_text(n->wanted).text);
	}
}

void neighbours_free(struct neighbours *n)
{
	index_free(&n->asked);
}
