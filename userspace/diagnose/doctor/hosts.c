// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the streams between two hosts show together. */
#include <string.h>

#include "lib/address.h"
#include "userspace/diagnose/doctor/record.h"

#define QPS_MANY 8   /* QPs between two hosts that could use several paths */
#define QP_PACKETS 4 /* packets of a QP that does more than to be tried out */
#define V1_TRIED 256 /* directions of RoCEv1 whose opposite one is looked for by its MAC addresses */

/* ---- versions ---- */

/* Whether RC requests of this direction ask for answers, and all its packets are of one version. */
static bool asks_by(const struct path *p, bool v1)
{
	__u64 asked = 0;

	for (const struct stream_record *c = p->streams; c && !asked; c = c->beside)
		if (c->service == SERVICE_RC || c->service == SERVICE_XRC)
			asked += c->asked;
	return asked && p->versions[v1] && !p->versions[!v1] && !p->responses;
}

static bool is_opposite(const struct path *a, const struct path *b)
{
	return !memcmp(a->src_mac, b->dst_mac, sizeof(a->src_mac)) && !memcmp(a->dst_mac, b->src_mac, sizeof(a->dst_mac));
}

/*
 * The direction in which the other end answers by RoCEv2 to RoCEv1. A GID of RoCEv1 may be made of the MAC address, so that its
 * end has another address there. NULL: none.
 */
static const struct path *answers_by_v2(const struct doctor *d, const struct path *v1)
{
	const struct path *back = doctor_path(d, v1->dst, v1->src);

	if (back)
		return asks_by(back, false) ? back : NULL;
	for (size_t i = 0; i < d->paths.count; i++) {
		back = d->paths.entries[i];
		if (is_opposite(v1, back) && asks_by(back, false))
			return back;
	}
	return NULL;
}

static void say_version(const struct path *p, const struct path *v1, const struct path *v2)
{
	for (struct stream_record *c = p->streams; c; c = c->beside) {
		struct symptom *symptom = symptoms_get(&c->symptoms, KIND_versions_differ);

		if (!symptom)
			return;
		symptom->packets = c->packets;
		SAY(symptom->figures, "%s sends RoCEv1, %s sends RoCEv2.", address_text(v1->src).text,
		    address_text(v2->src).text);
	}
}

static void conclude_versions(struct doctor *d)
{
	size_t tried = 0;

	for (size_t i = 0; i < d->paths.count && tried < V1_TRIED; i++) {
		const struct path *v1 = d->paths.entries[i], *v2;

		if (!asks_by(v1, true))
			continue;
		tried++;
		v2 = answers_by_v2(d, v1);
		if (!v2)
			continue;
		say_version(v1, v1, v2);
		say_version(v2, v1, v2);
	}
}

/* ---- one path for all ---- */

/* A fabric with several paths chooses one by the addresses and the UDP source port, of IPv6 also by the flow label. */
static void conclude_entropy(const struct doctor *d, const struct path *p)
{
	struct stream_record *first = NULL;
	struct symptom *symptom;
	__u64 packets = 0, qps = 0;

	for (struct stream_record *c = p->streams; c; c = c->beside) {
		if (doctor_is_phantom(d, c))
			continue;
		first = first ?: c;
		if (c->entropy.varies || c->entropy.port != first->entropy.port || c->entropy.label != first->entropy.label)
			return;
		qps += c->packets >= QP_PACKETS;
		packets += c->packets;
	}
	symptom = qps >= QPS_MANY ? symptoms_get(&first->symptoms, KIND_one_path) : NULL;
	if (!symptom)
		return;
	symptom->habit = true;
	symptom->packets = packets;
	SAY(symptom->figures, "%llu QPs from %s to %s send from port %u.", qps, address_text(p->src).text,
	    address_text(p->dst).text, first->entropy.port);
}

void hosts_conclude(struct doctor *d)
{
	if (!d->selection)
		conclude_versions(d);
	for (size_t i = 0; i < d->paths.count; i++) {
		const struct path *p = d->paths.entries[i];

		if (p->versions[0] && !p->versions[1])
			conclude_entropy(d, p);
	}
}
