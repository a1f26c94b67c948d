// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lib/bytes.h"
#include "roce/packet/wire.h"
#include "userspace/observe/model/mistaken.h"

#define SWAPPED(n) ((__u16)((n) >> 8 | (n) << 8))

static __u32 ethertype_offset(const struct roce_packet *is)
{
	return WIRE_ETH_LEN - 2 + is->vlan_tags * WIRE_VLAN_LEN;
}

__u16 mistaken_ethertype(const struct observer_frame *f, const struct roce_packet *is)
{
	__u32 at = ethertype_offset(is);

	return at + 2 <= f->captured ? roce_be16(f->bytes + at) : 0;
}

static bool is_roce(const struct observer_frame *f, struct observer_look *would, bool *right)
{
	observer_look(f, NULL, would);
	*right = would->icrc == ICRC_GOOD;
	return would->packet.kind == ROCE_PACKET;
}

static bool is_swapped_ethertype(const struct observer_frame *f, const struct roce_packet *is, struct observer_look *would, bool *right)
{
	__u16 type = mistaken_ethertype(f, is), swapped = SWAPPED(type);
	__u8 *at = (__u8 *)f->bytes + ethertype_offset(is);
	bool found;

	if (swapped != WIRE_ETHERTYPE_IPV4 && swapped != WIRE_ETHERTYPE_IPV6 && swapped != WIRE_ETHERTYPE_ROCEV1)
		return false;
	put16(at, swapped);
	found = is_roce(f, would, right);
	put16(at, type);
	return found;
}

/* Ports that are mistyped or miscounted. VXLAN's is near as well, and its header reads like a BTH. */
static bool is_near(__u16 port)
{
	return port > WIRE_VXLAN_PORT && port <= WIRE_ROCEV2_PORT + 2;
}

bool mistaken_port_is_likely(const struct roce_packet *is)
{
	return is->udp_port && (is->udp_source_port == WIRE_ROCEV2_PORT || is->udp_port == SWAPPED(WIRE_ROCEV2_PORT) ||
				is_near(is->udp_port));
}

static enum mistaken try_port(const struct observer_frame *f, const struct roce_packet *is, struct observer_look *would, bool *right)
{
	__u8 *at = (__u8 *)f->bytes + is->l4_offset + 2;
	bool found;

	put16(at, WIRE_ROCEV2_PORT);
	found = is_roce(f, would, right);
	put16(at, is->udp_port);
	if (!found)
		return MISTAKEN_NOT;
	if (!would->packet.truncated)
		*right |= observer_icrc(&would->packet, f->bytes) == would->packet.icrc;
	if (!*right && (!would->packet.op || would->packet.tver))
		return MISTAKEN_NOT;
	if (is->udp_port == SWAPPED(WIRE_ROCEV2_PORT))
		return MISTAKEN_PORT_SWAPPED;
	if (is->udp_source_port == WIRE_ROCEV2_PORT)
		return MISTAKEN_PORTS_EXCHANGED;
	return *right || is_near(is->udp_port) ? MISTAKEN_PORT : MISTAKEN_NOT;
}

enum mistaken mistaken_find(const struct observer_frame *f, const struct roce_packet *is, struct observer_look *would, bool *right)
{
	if (is->other == OTHER_INSIDE)
		return MISTAKEN_NOT;
	if (!is->ip_version)
		return is_swapped_ethertype(f, is, would, right) ? MISTAKEN_ETHERTYPE : MISTAKEN_NOT;
	return is->udp_port ? try_port(f, is, would, right) : MISTAKEN_NOT;
}
