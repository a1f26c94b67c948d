// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Is a frame RoCE, or was it meant to be? */
#include "userspace/bring_up/bring_up.h"

static void look_at(const __u8 *bytes, const struct listen_frame *f, struct observer_look *look)
{
	const struct observer_frame frame = { .bytes = bytes, .captured = f->captured, .wire = f->length };

	observer_look(&frame, NULL, look);
}

static bool is_swapped(const __u8 *ethertype)
{
	return (!ethertype[0] && ethertype[1] == 0x08) || (ethertype[0] == 0xdd && ethertype[1] == 0x86);
}

/* Ports that are taken for 4791 by mistake. */
static const char *port_words(__u32 port)
{
	switch (port) {
	case 0xb712: return " (4791 with its bytes swapped)";
	case 4790: return " (VXLAN-GPE's)";
	case 4793: return "";
	default: return NULL;
	}
}

/* A datagram to another port. Whether it is RoCE: the ICRC is right, for that port or for 4791, or the port is a usual mistake. */
static bool is_other_port(__u8 *bytes, const struct listen_frame *f, struct meant *m)
{
	const struct roce_packet *p = &m->look.packet;
	__u32 port = p->udp_port, at = p->l4_offset + 2, icrc;
	struct observer_look look;
	bool right;

	if (!port || port == WIRE_ROCEV2_PORT || at + 2 > f->captured)
		return false;
	bytes[at] = WIRE_ROCEV2_PORT >> 8;
	bytes[at + 1] = WIRE_ROCEV2_PORT & 0xff;
	look_at(bytes, f, &look);
	right = look.icrc == ICRC_GOOD;
	bytes[at] = port >> 8;
	bytes[at + 1] = port;
	if (look.packet.kind != ROCE_PACKET || look.packet.truncated || !(look.packet.op & OP_KNOWN))
		return false;
	icrc = roce_load(__u32, bytes + look.packet.icrc_offset);
	if (!right && observer_icrc(&look.packet, bytes) != icrc && !port_words(port))
		return false;
	SAY(m->wrong, "UDP to port %u%s", port, port_words(port) ?: "");
	m->look = look;
	return true;
}

/* First fragments of RoCE; the others have no UDP header. */
static bool is_fragment(const __u8 *bytes, const struct listen_frame *f, const struct roce_packet *p)
{
	const __u8 *ip = bytes + p->l3_offset;
	__u32 at = p->l3_offset + (p->ip_version == 4 ? (ip[0] & 15) * 4 : WIRE_IPV6_LEN + 8);
	bool first = p->ip_version == 4 ? !(roce_be16(ip + 6) & 0x1fff) : !(roce_be16(ip + WIRE_IPV6_LEN + 2) & 0xfff8);

	return p->kind == ROCE_FRAGMENT && first && at + 4 <= f->captured && roce_be16(bytes + at + 2) == WIRE_ROCEV2_PORT;
}

bool meant_find(__u8 *bytes, const struct listen_frame *f, struct meant *m)
{
	const struct roce_packet *p = &m->look.packet;
	__u8 *ethertype;

	m->wrong[0] = 0;
	look_at(bytes, f, &m->look);
	ethertype = bytes + 12 + 4 * p->vlan_tags;
	if (is_swapped(ethertype)) {
		__u8 first = ethertype[0];

		SAY(m->wrong, "Ethertype 0x%02x%02x: its bytes are swapped", ethertype[0], ethertype[1]);
		ethertype[0] = ethertype[1];
		ethertype[1] = first;
		look_at(bytes, f, &m->look);
		return p->kind == ROCE_PACKET;
	}
	if (p->rocev1 || p->kind == ROCE_V1) {
		SAY(m->wrong, "RoCEv1 (Ethertype 0x8915): it is not UDP");
		return true;
	}
	if (p->kind == ROCE_MALFORMED)
		SAY(m->wrong, "lengths that contradict each other: a frame of %u bytes, IP payload %u, UDP length %u", f->length,
		    p->ip_payload, p->udp_length);
	else if (p->kind == ROCE_PACKET && p->udp_checksum_wrong)
		SAY(m->wrong, "a wrong UDP checksum");
	return p->kind == ROCE_PACKET || p->kind == ROCE_MALFORMED || is_fragment(bytes, f, p) || is_other_port(bytes, f, m);
}
