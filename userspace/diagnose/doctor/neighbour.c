// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "lib/address.h"
#include "roce/packet/wire.h"
#include "userspace/diagnose/doctor/chart.h"
#include "userspace/observe/model/mistaken.h"

#define NEIGHBOURS 4096 /* most pairs remembered */
#define TOLD_MOST 4096 /* answers to all hosts: behind so many nothing is judged, because each takes a look at all pairs */
#define ETHERTYPE_ARP 0x0806
#define ARP_LEN 28
#define ARP_REQUEST 1
#define IPV6_LEN 40
#define ICMPV6 58
#define SOLICITATION 135
#define ADVERTISEMENT 136
#define ND_LEN 24 /* ICMPv6's header, four bytes, and the target (RFC 4861, 4.3 and 4.4) */

static const __u8 nobody[16];

/* The first bytes of a message, if so many were captured. */
static const __u8 *message(const struct observer_frame *f, __u32 at, __u32 bytes)
{
	return at + bytes <= f->captured ? f->bytes + at : NULL;
}

struct key {
	__u8 asker[16], wanted[16];
};

static struct key key_of(const __u8 asker[16], const __u8 wanted[16])
{
	struct key key;

	memcpy(key.asker, asker, 16);
	memcpy(key.wanted, wanted, 16);
	return key;
}

static void ask(struct neighbours *n, const __u8 asker[16], const __u8 wanted[16], __u64 frame)
{
	const struct key key = key_of(asker, wanted);
	struct neighbour *to;

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
	const struct key key = key_of(asker, who);
	struct neighbour *to = n->asked.count ? index_find(&n->asked, &key) : NULL;

	if (to)
		to->asks = 0;
}

/* `who` tells all hosts its address. */
static void answer_all(struct neighbours *n, const __u8 who[16])
{
	if (n->told++ >= TOLD_MOST)
		return;
	for (size_t i = 0; i < n->asked.count; i++) {
		struct neighbour *to = n->asked.entries[i];

		if (!memcmp(to->wanted, who, 16))
			to->asks = 0;
	}
}

static void take_arp(struct neighbours *n, const __u8 *arp, __u64 frame)
{
	static const __u8 probe[4];
	__u8 from[16], to[16];
	bool request = arp[7] == ARP_REQUEST, all = !memcmp(arp + 14, arp + 24, 4);

	if (memcmp(arp, "\0\1\x08\0\6\4\0", 7) || !memcmp(arp + 14, probe, sizeof(probe)))
		return;
	address_from_ipv4(from, arp + 14);
	address_from_ipv4(to, arp + 24);
	if (all) {
		answer_all(n, from);
		return;
	}
	answer(n, from, to); /* who asks tells its own address as well (RFC 826, packet reception) */
	if (request)
		ask(n, from, to, frame);
}

static void take_discovery(struct neighbours *n, const __u8 *ip, const __u8 *icmp, __u64 frame)
{
	const __u8 *src = ip + 8, *dst = ip + 24, *target = icmp + 8;

	if (icmp[0] == SOLICITATION && memcmp(src, nobody, 16)) /* from nobody: it looks whether its own address is free */
		ask(n, src, target, frame);
	else if (icmp[0] == ADVERTISEMENT && dst[0] == 0xff)
		answer_all(n, target);
	else if (icmp[0] == ADVERTISEMENT)
		answer(n, target, dst);
}

void neighbours_take(struct neighbours *n, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->look->packet;
	const struct observer_frame *f = taken->frame;
	const __u8 *at;

	if (!p->ip_version && mistaken_ethertype(f, p) == ETHERTYPE_ARP) {
		at = message(f, WIRE_ETH_LEN + p->vlan_tags * WIRE_VLAN_LEN, ARP_LEN);
		if (at)
			take_arp(n, at, taken->number);
	} else if (p->ip_version == 6) {
		at = message(f, p->l3_offset, IPV6_LEN + ND_LEN);
		if (at && at[6] == ICMPV6)
			take_discovery(n, at, at + IPV6_LEN, taken->number);
	}
}

/* ---- what follows ---- */

/* The RoCE stream of the one that does not answer: its own requests, or else its responses. NULL: none was seen. */
static struct chart *stream_of(const struct doctor *d, const struct neighbour *n)
{
	const struct path *path = doctor_path(d, n->wanted, n->asker);

	return path ? path->requests ?: path->any : NULL;
}

/* Whether the asker sends RoCE to the one that it asks for, or should: RC wants answers. */
static bool is_wanted(const struct doctor *d, const struct neighbour *n, const struct chart *c)
{
	const struct path *path = doctor_path(d, n->asker, n->wanted);

	return (path && path->any) || ((c->service == SERVICE_RC || c->service == SERVICE_XRC) && c->asked);
}

void neighbours_conclude(struct doctor *d)
{
	for (size_t i = 0; i < d->neighbours.asked.count && d->neighbours.told <= TOLD_MOST; i++) {
		const struct neighbour *n = d->neighbours.asked.entries[i];
		struct chart *c = n->asks ? stream_of(d, n) : NULL;
		struct sign *sign;

		if (!c || !is_wanted(d, n, c)) /* the asker must be an end: a router asks for others */
			continue;
		sign = signs_get(&c->signs, KIND_arp_silent);
		if (!sign)
			return;
		sign->packets = n->asks;
		for (sign->shown = 0; sign->shown < FINDING_EVIDENCE && sign->shown < n->asks; sign->shown++)
			sign->evidence[sign->shown].frame = n->frame[sign->shown];
		SAY(sign->figures, "%s asks for %s.", address_text(n->asker).text, address_text(n->wanted).text);
	}
}

void neighbours_free(struct neighbours *n)
{
	index_free(&n->asked);
}
