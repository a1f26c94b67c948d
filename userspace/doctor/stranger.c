// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"
#include "roce/decap.h"
#include "userspace/doctor/stranger.h"

#define TRIED 4096 /* frames that are looked into; all are counted */
#define ROOM 16384 /* bytes of a frame that are looked into */
#define NEAR 2 /* from RoCEv2's port: a mistyped one, 4790 or 4793 */
#define ETHERTYPE_ARP 0x0806
#define PROTO_TCP 6
#define SWAPPED(n) ((__u16)((n) >> 8 | (n) << 8))

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

/* Offset of the Ethertype behind VLAN tags. 0: the frame ends before. */
static __u32 ethertype_at(const struct observer_frame *f)
{
	__u32 at = WIRE_ETH_LEN - 2;

	for (int i = 0; i < WIRE_VLAN_TAGS && at + 2 <= f->captured && wire_is_vlan(roce_be16(f->bytes + at)); i++)
		at += WIRE_VLAN_LEN;
	return at + 2 <= f->captured ? at : 0;
}

void stranger_count(struct strangers *t, const struct doctor_packet *doctor)
{
	const struct roce_packet *p = &doctor->look->packet;
	const __u8 *ip = doctor->frame->bytes + p->l3_offset;
	__u32 at = ethertype_at(doctor->frame);

	t->frames++;
	if (p->udp_port)
		count_port(t, p->udp_port);
	if (p->l4_offset)
		t->udp++;
	else if (p->ip_version)
		*(ip[p->ip_version == 4 ? 9 : 6] == PROTO_TCP ? &t->tcp : &t->ip) += 1;
	else if (at && roce_be16(doctor->frame->bytes + at) == ETHERTYPE_ARP)
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

/* Whether the copy is a RoCE packet. cut: its end may be missing. */
static bool is_roce(const struct strangers *t, __u32 bytes, __u32 wire, bool cut, struct roce_packet *would, bool *right)
{
	const struct observer_frame copy = { .bytes = t->copy, .captured = bytes, .wire = wire, .cut = cut };
	struct observer_look look;

	observer_look(&copy, NULL, &look);
	*would = look.packet;
	*right = look.icrc == ICRC_GOOD;
	return look.packet.kind == ROCE_PACKET;
}

static enum finding_kind try_ethertype(struct strangers *t, const struct observer_frame *f, __u32 bytes, __u32 at,
				       struct roce_packet *would, bool *right)
{
	__u16 type = SWAPPED(roce_be16(f->bytes + at));

	if (type != WIRE_ETHERTYPE_IPV4 && type != WIRE_ETHERTYPE_IPV6 && type != WIRE_ETHERTYPE_ROCEV1)
		return FINDING_KINDS;
	put16(t->copy + at, type);
	return is_roce(t, bytes, f->wire, false, would, right) ? KIND_ethertype_swapped : FINDING_KINDS;
}

/* Whether the sender has computed the ICRC over the port that it sends. */
static bool has_icrc(const struct strangers *t, const struct roce_packet *would, __u16 port)
{
	if (would->truncated)
		return false;
	put16(t->copy + would->l4_offset + 2, port);
	return observer_icrc(would, t->copy) == would->icrc;
}

static enum finding_kind try_port(struct strangers *t, const struct observer_frame *f, __u32 bytes, const struct roce_packet *p,
				  struct roce_packet *would, bool *right)
{
	put16(t->copy + p->l4_offset + 2, WIRE_ROCEV2_PORT);
	if (!is_roce(t, bytes, f->wire, false, would, right))
		return FINDING_KINDS;
	*right |= has_icrc(t, would, p->udp_port);
	if (!*right && (!would->op || would->tver))
		return FINDING_KINDS;
	if (p->udp_port == SWAPPED(WIRE_ROCEV2_PORT))
		return KIND_udp_port_swapped;
	if (p->udp_source_port == WIRE_ROCEV2_PORT)
		return KIND_udp_ports_exchanged;
	return *right || abs(p->udp_port - WIRE_ROCEV2_PORT) <= NEAR ? KIND_udp_port : FINDING_KINDS;
}

static enum finding_kind try_tunnel(struct strangers *t, const struct observer_frame *f, __u32 bytes, struct roce_packet *would,
				    bool *right)
{
	struct roce_inner inner;

	if (!roce_decap(t->copy, bytes, f->wire, &inner))
		return FINDING_KINDS;
	memmove(t->copy, t->copy + inner.offset, inner.captured);
	return is_roce(t, inner.captured, inner.wire, true, would, right) ? KIND_hint_tunnel : FINDING_KINDS;
}

static enum finding_kind try_all(struct strangers *t, const struct observer_frame *f, const struct roce_packet *p, __u32 at,
				 struct roce_packet *would, bool *right)
{
	__u32 bytes = f->captured < ROOM ? f->captured : ROOM;
	enum finding_kind kind;

	memcpy(t->copy, f->bytes, bytes);
	if (!p->ip_version)
		return at ? try_ethertype(t, f, bytes, at, would, right) : FINDING_KINDS;
	kind = try_tunnel(t, f, bytes, would, right);
	if (kind != FINDING_KINDS || !p->udp_port)
		return kind;
	memcpy(t->copy, f->bytes, bytes);
	return try_port(t, f, bytes, p, would, right);
}

static void show(struct evidence *e, enum finding_kind kind, const struct doctor_packet *doctor, __u32 at)
{
	const struct roce_packet *p = &doctor->look->packet;
	__u32 type = roce_be16(doctor->frame->bytes + at);

	switch (kind) {
	case KIND_ethertype_swapped:
		SAY(e->expected, "Ethertype 0x%04x", SWAPPED(type));
		SAY(e->found, "0x%04x", type);
		break;
	case KIND_udp_ports_exchanged:
		SAY(e->expected, "UDP ports %u > %u", p->udp_port, WIRE_ROCEV2_PORT);
		SAY(e->found, "%u > %u", p->udp_source_port, p->udp_port);
		break;
	case KIND_hint_tunnel:
		break;
	default:
		SAY(e->expected, "UDP port %u (0x%04x)", WIRE_ROCEV2_PORT, WIRE_ROCEV2_PORT);
		SAY(e->found, "%u (0x%04x)", p->udp_port, p->udp_port);
		break;
	}
}

enum finding_kind stranger_take(struct strangers *t, struct signs *signs, const struct doctor_packet *p, struct roce_packet *would)
{
	__u32 at = ethertype_at(p->frame);
	enum finding_kind kind;
	struct evidence *e;
	bool right = false;

	if (t->tried >= TRIED)
		return FINDING_KINDS;
	t->tried++;
	if (!t->copy)
		t->copy = calloc(1, ROOM + OBSERVER_READABLE);
	if (!t->copy)
		return FINDING_KINDS;
	kind = try_all(t, p->frame, &p->look->packet, at, would, &right);
	if (kind == FINDING_KINDS)
		return kind;
	t->right[kind] += right;
	e = signs_add(signs, kind, p->number);
	if (e)
		show(e, kind, p, at);
	return kind;
}

void strangers_conclude(const struct strangers *t, struct signs *signs)
{
	static const enum finding_kind guesses[] = { KIND_ethertype_swapped, KIND_udp_port_swapped, KIND_udp_ports_exchanged,
						     KIND_udp_port };

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(guesses); i++)
		if (t->right[guesses[i]] < FINDING_PACKETS)
			signs_doubt(signs, guesses[i]);
}

void strangers_free(struct strangers *t)
{
	free(t->copy);
}
