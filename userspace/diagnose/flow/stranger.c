// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "roce/packet/wire.h"
#include "userspace/diagnose/flow/stranger.h"
#include "userspace/observe/model/mistaken.h"

#define TRIED 4096 /* frames without a likely port that are looked into; all are counted */
#define ROOM 16384 /* bytes of a frame that are looked into */
#define ETHERTYPE_ARP 0x0806
#define PROTO_TCP 6

/* ---- what came ---- */

static void count_port(struct strangers *t, __u16 port)
{
	size_t free = STRANGER_PORTS;

	for (size_t i = 0; i < STRANGER_PORTS; i++) {
		if (t->port[i].packets && t->port[i].port == port) {
			t->port[i].packets++;
			return;
		}
		if (!t->port[i].packets)
			free = i;
	}
	if (free < STRANGER_PORTS) {
		t->port[free].port = port;
		t->port[free].packets = 1;
		return;
	}
	for (size_t i = 0; i < STRANGER_PORTS; i++)
		t->port[i].packets--;
}

void strangers_count(struct strangers *t, const struct observer_frame *f, const struct roce_packet *p)
{
	const __u8 *ip = f->bytes + p->l3_offset;

	t->frames++;
	if (p->udp_port)
		count_port(t, p->udp_port);
	if (p->l4_offset)
		t->udp++;
	else if (p->ip_version)
		*(ip[p->ip_version == 4 ? 9 : 6] == PROTO_TCP ? &t->tcp : &t->ip) += 1;
	else if (mistaken_ethertype(f, p) == ETHERTYPE_ARP)
		t->arp++;
}

void strangers_say(const struct strangers *t, char text[DOCTOR_INSTEAD])
{
	const struct {
		__u64 frames;
		const char *words;
	} kinds[] = { { t->udp, "UDP" }, { t->tcp, "TCP" }, { t->ip, "other IP" }, { t->arp, "ARP" },
		      { t->frames - t->udp - t->tcp - t->ip - t->arp, "not IP" } };
	size_t most = 0, listed = 0;
	int length;

	text[0] = 0;
	if (!t->frames)
		return;
	for (size_t i = 1; i < STRANGER_PORTS; i++)
		if (t->port[i].packets > t->port[most].packets)
			most = i;
	length = snprintf(text, DOCTOR_INSTEAD, "%llu frame%s: ", t->frames, t->frames == 1 ? "" : "s");
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(kinds); i++) {
		if (!kinds[i].frames)
			continue;
		length += snprintf(text + length, DOCTOR_INSTEAD - length, "%s%llu %s", listed++ ? ", " : "", kinds[i].frames,
				   kinds[i].words);
		if (!i && t->port[most].packets)
			length += snprintf(text + length, DOCTOR_INSTEAD - length, " (most to port %u)", t->port[most].port);
	}
}

/* ---- what it would be ---- */

static const enum finding_kind kind_of[] = {
	[MISTAKEN_NOT] = FINDING_KINDS,
	[MISTAKEN_ETHERTYPE] = KIND_ethertype_swapped,
	[MISTAKEN_PORT_SWAPPED] = KIND_udp_port_swapped,
	[MISTAKEN_PORTS_EXCHANGED] = KIND_udp_ports_exchanged,
	[MISTAKEN_PORT] = KIND_udp_port,
};

static void show(struct evidence *e, enum mistaken mistaken, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->look->packet;
	__u16 type = mistaken_ethertype(taken->frame, p);

	switch (mistaken) {
	case MISTAKEN_ETHERTYPE:
		SAY(e->expected, "Ethertype 0x%04x", __builtin_bswap16(type));
		SAY(e->found, "0x%04x", type);
		break;
	case MISTAKEN_PORTS_EXCHANGED:
		SAY(e->expected, "UDP ports %u > %u", p->udp_port, WIRE_ROCEV2_PORT);
		SAY(e->found, "%u > %u", p->udp_source_port, p->udp_port);
		break;
	default:
		SAY(e->expected, "UDP port %u (0x%04x)", WIRE_ROCEV2_PORT, WIRE_ROCEV2_PORT);
		SAY(e->found, "%u (0x%04x)", p->udp_port, p->udp_port);
		break;
	}
}

static const enum finding_kind astray[] = { KIND_ethertype_swapped, KIND_udp_port_swapped, KIND_udp_ports_exchanged, KIND_udp_port };

bool stranger_is_astray(enum finding_kind kind)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(astray); i++)
		if (astray[i] == kind)
			return true;
	return false;
}

enum finding_kind stranger_take(struct strangers *t, struct signs *signs, const struct doctor_packet *p, bool alone,
				struct roce_packet *would)
{
	bool likely = mistaken_port_is_likely(&p->look->packet), right = false;
	struct observer_frame copy = *p->frame;
	struct observer_look look;
	enum mistaken mistaken;
	struct evidence *e;

	if ((!likely && t->tried >= TRIED) || (!alone && !p->look->packet.udp_port))
		return FINDING_KINDS;
	t->tried += !likely;
	if (!t->copy)
		t->copy = calloc(1, ROOM + OBSERVER_READABLE);
	if (!t->copy)
		return FINDING_KINDS;
	copy.bytes = t->copy;
	if (copy.captured > ROOM)
		copy.captured = ROOM;
	memcpy(t->copy, p->frame->bytes, copy.captured);
	mistaken = mistaken_find(&copy, &p->look->packet, &look, &right);
	if (mistaken == MISTAKEN_NOT || (!alone && !right))
		return FINDING_KINDS;
	*would = look.packet;
	t->right[kind_of[mistaken]] += right;
	e = signs_add(signs, kind_of[mistaken], p->number);
	if (e)
		show(e, mistaken, p);
	return kind_of[mistaken];
}

void strangers_conclude(const struct strangers *t, struct signs *signs)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(astray); i++)
		if (t->right[astray[i]] < FINDING_PACKETS)
			signs_doubt(signs, astray[i]);
}

void strangers_free(struct strangers *t)
{
	free(t->copy);
}
