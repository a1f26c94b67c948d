// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Is a frame RoCE, or was it meant to be? */
#include "roce/packet/wire.h"
#include "userspace/diagnose/bring_up/bring_up.h"
#include "userspace/observe/model/mistaken.h"

/* First fragments of RoCE; the others have no UDP header. */
static bool is_fragment(const struct observer_frame *f, const struct roce_packet *p)
{
	const __u8 *ip = f->bytes + p->l3_offset;
	__u32 at = p->l3_offset + (p->ip_version == 4 ? (ip[0] & 15) * 4 : WIRE_IPV6_LEN + 8);
	bool first = p->ip_version == 4 ? !(roce_be16(ip + 6) & 0x1fff) : !(roce_be16(ip + WIRE_IPV6_LEN + 2) & 0xfff8);

	return p->kind == ROCE_FRAGMENT && first && at + 4 <= f->captured && roce_be16(f->bytes + at + 2) == WIRE_ROCEV2_PORT;
}

static void say_mistaken(struct meant *m, enum mistaken mistaken, const struct observer_frame *f, const struct roce_packet *is)
{
	switch (mistaken) {
	case MISTAKEN_ETHERTYPE:
		SAY(m->wrong, "Ethertype 0x%04x: its bytes are swapped", mistaken_ethertype(f, is));
		break;
	case MISTAKEN_PORT_SWAPPED:
		SAY(m->wrong, "UDP to port %u (4791 with its bytes swapped)", is->udp_port);
		break;
	case MISTAKEN_PORTS_EXCHANGED:
		SAY(m->wrong, "UDP to port %u, and 4791 as the source port: they are exchanged", is->udp_port);
		break;
	default:
		SAY(m->wrong, "UDP to port %u", is->udp_port);
		break;
	}
}

static bool is_mistaken(const struct observer_frame *f, struct meant *m)
{
	struct observer_look would;
	enum mistaken mistaken;
	bool right;

	mistaken = mistaken_find(f, &m->look.packet, &would, &right);
	if (mistaken == MISTAKEN_NOT)
		return false;
	say_mistaken(m, mistaken, f, &m->look.packet);
	m->look = would;
	return true;
}

/* What the doctor says of the lengths. */
static void say_lengths(struct meant *m, const struct observer_frame *f)
{
	const struct roce_packet *p = &m->look.packet;
	struct icrc_place at = icrc_place_find(f, p);
	struct evidence e = { 0 };

	m->kind = at.kind;
	icrc_place_say(&at, p, &e);
	if (at.kind == KIND_icrc_not_appended)
		SAY(m->wrong, "%s", e.found);
	else if (at.kind == KIND_pad_missing)
		SAY(m->wrong, "%s: %s", finding_rules[at.kind].words, e.found);
	else
		SAY(m->wrong, "lengths that contradict each other: a frame of %u bytes, IP payload %u, UDP length %u", f->wire,
		    p->ip_payload, p->udp_length);
}

bool meant_find(const struct observer_frame *f, struct meant *m)
{
	const struct roce_packet *p = &m->look.packet;

	m->wrong[0] = 0;
	m->kind = FINDING_KINDS;
	observer_look(f, NULL, &m->look);
	if (p->kind == ROCE_OTHER)
		return is_mistaken(f, m);
	if (p->rocev1 || p->kind == ROCE_V1)
		SAY(m->wrong, "RoCEv1 (Ethertype 0x8915): it is not UDP");
	else if (p->kind == ROCE_MALFORMED || icrc_place_ends_early(f, p))
		say_lengths(m, f);
	else if (p->kind == ROCE_PACKET && p->udp_checksum_wrong)
		SAY(m->wrong, "a wrong UDP checksum");
	return p->kind != ROCE_FRAGMENT || is_fragment(f, p);
}
