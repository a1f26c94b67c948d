// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>

#include "lib/bytes.h"
#include "roce/packet/wire.h"
#include "userspace/observe/model/near_roce.h"
#include "userspace/observe/model/other_frames.h"

void changed_frame_make(struct changed_frame *c, const struct observer_frame *f, __u32 at, __u16 value)
{
	const __u32 room = sizeof(c->bytes) - OBSERVER_READABLE;

	c->frame = *f;
	c->frame.bytes = c->bytes;
	c->frame.captured = f->captured < room ? f->captured : room;
	memcpy(c->bytes, f->bytes, c->frame.captured);
	put16(c->bytes + at, value);
}

/* Whether it is RoCE with another value of two bytes. */
static bool would_be(const struct observer_frame *f, __u32 at, __u16 value, struct observer_parsed *would, bool *right)
{
	struct changed_frame c;

	changed_frame_make(&c, f, at, value);
	observer_parse(&c.frame, NULL, would);
	*right = would->icrc == ICRC_GOOD;
	return would->packet.kind == ROCE_PACKET;
}

static bool is_swapped_ethertype(const struct observer_frame *f, const struct roce_packet *is, struct observer_parsed *would,
				 bool *right)
{
	__u16 swapped = SWAPPED(other_frame_ethertype(f, is));

	return (swapped == WIRE_ETHERTYPE_IPV4 || swapped == WIRE_ETHERTYPE_IPV6 || swapped == WIRE_ETHERTYPE_ROCEV1) &&
	       would_be(f, other_frame_ethertype_offset(is), swapped, would, right);
}

/* Ports that are mistyped or miscounted. VXLAN's is near as well, and its header reads like a BTH. */
static bool is_near(__u16 port)
{
	return port > WIRE_VXLAN_PORT && port <= WIRE_ROCEV2_PORT + 2;
}

bool near_roce_port(const struct roce_packet *is)
{
	return is->udp_port && (is->udp_source_port == WIRE_ROCEV2_PORT || is->udp_port == SWAPPED(WIRE_ROCEV2_PORT) ||
				is_near(is->udp_port));
}

static enum near_roce try_port(const struct observer_frame *f, const struct roce_packet *is, struct observer_parsed *would,
			       bool *right)
{
	if (!would_be(f, is->l4_offset + 2, WIRE_ROCEV2_PORT, would, right))
		return NOT_ROCE;
	if (!would->packet.truncated)
		*right |= observer_icrc(&would->packet, f->bytes) == would->packet.icrc;
	if (!*right && (!would->packet.op || would->packet.tver))
		return NOT_ROCE;
	if (is->udp_port == SWAPPED(WIRE_ROCEV2_PORT))
		return NEAR_udp_port_swapped;
	if (is->udp_source_port == WIRE_ROCEV2_PORT)
		return NEAR_udp_ports_exchanged;
	return *right || is_near(is->udp_port) ? NEAR_udp_port : NOT_ROCE;
}

static enum near_roce try_fields(const struct observer_frame *f, const struct roce_packet *is, struct observer_parsed *would,
				 bool *right)
{
	if (is->frame_class == FRAME_INSIDE)
		return NOT_ROCE;
	if (!is->ip_version)
		return is_swapped_ethertype(f, is, would, right) ? NEAR_ethertype_swapped : NOT_ROCE;
	return is->udp_port ? try_port(f, is, would, right) : NOT_ROCE;
}

/* First fragments of RoCE; the others have no UDP header. */
static bool is_fragment(const struct observer_frame *f, const struct roce_packet *p)
{
	const __u8 *ip = f->bytes + p->l3_offset;
	__u32 at = p->l3_offset + (p->ip_version == 4 ? (ip[0] & 15) * 4 : WIRE_IPV6_LEN + 8);
	bool first = p->ip_version == 4 ? !(roce_be16(ip + 6) & 0x1fff) : !(roce_be16(ip + WIRE_IPV6_LEN + 2) & 0xfff8);

	return first && at + 4 <= f->captured && roce_be16(f->bytes + at + 2) == WIRE_ROCEV2_PORT;
}

bool near_roce_ends_early(const struct observer_frame *f, const struct roce_packet *p)
{
	/* the engine takes RoCEv1 as far as it goes: it has no second length */
	if (p->rocev1)
		return p->kind == ROCE_PACKET && p->truncated && !f->cut && !f->no_icrc && f->captured == f->wire;
	return p->truncated && p->ends_at;
}

enum near_roce near_roce_find(const struct observer_frame *f, const struct observer_parsed *is, struct observer_parsed *would,
			      bool *right)
{
	const struct roce_packet *p = &is->packet;
	enum near_roce near;

	if (p->kind == ROCE_OTHER) {
		near = try_fields(f, p, would, right);
		if (near != NOT_ROCE)
			return near;
	}
	*would = *is;
	*right = is->icrc == ICRC_GOOD;
	if (p->kind == ROCE_OTHER)
		return NOT_ROCE;
	if (p->kind == ROCE_FRAGMENT)
		return is_fragment(f, p) ? NEAR_fragment : NOT_ROCE;
	if (p->rocev1 || p->kind == ROCE_V1)
		return NEAR_rocev1;
	if (p->kind == ROCE_MALFORMED || near_roce_ends_early(f, p))
		return NEAR_lengths;
	return p->udp_checksum_wrong ? NEAR_udp_checksum : IS_ROCE;
}

struct near_roce_words near_roce_say(enum near_roce near, const struct observer_frame *f, const struct roce_packet *is)
{
	const struct roce_packet *p = is;
	__u16 type = other_frame_ethertype(f, p);
	struct near_roce_words w = { 0 };

	switch (near) {
#define SAID(...) snprintf(w.said, sizeof(w.said), __VA_ARGS__)
#define EXPECTED(...) snprintf(w.expected, sizeof(w.expected), __VA_ARGS__)
#define FOUND(...) snprintf(w.found, sizeof(w.found), __VA_ARGS__)
#define NEAR_ROCE(name, said)	   \
	case NEAR_##name:	   \
		said;		   \
		break;
#define NEAR_ROCE_FIELD(name, said, expected, found) NEAR_ROCE(name, (said, expected, found))
#include "userspace/observe/model/near_roce.def"
	default:
		break;
	}
	return w;
}
