// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <net/ethernet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "roce/packet/wire.h"
#include "userspace/observe/model/other_frames.h"

__u32 other_frame_ethertype_offset(const struct roce_packet *p)
{
	return WIRE_ETH_LEN - 2 + p->vlan_tags * WIRE_VLAN_LEN;
}

__u16 other_frame_ethertype(const struct observer_frame *f, const struct roce_packet *p)
{
	__u32 at = other_frame_ethertype_offset(p);

	return at + 2 <= f->captured ? roce_be16(f->bytes + at) : 0;
}

static void count_port(struct other_frames *o, __u16 port)
{
	size_t free = OTHER_PORTS;

	for (size_t i = 0; i < OTHER_PORTS; i++) {
		if (o->port[i].packets && o->port[i].port == port) {
			o->port[i].packets++;
			return;
		}
		if (!o->port[i].packets)
			free = i;
	}
	if (free < OTHER_PORTS) {
		o->port[free].port = port;
		o->port[free].packets = 1;
		return;
	}
	for (size_t i = 0; i < OTHER_PORTS; i++)
		o->port[i].packets--;
}

void other_frames_count(struct other_frames *o, const struct observer_frame *f, const struct roce_packet *p)
{
	const __u8 *ip = f->bytes + p->l3_offset;

	o->frames++;
	if (p->udp_port)
		count_port(o, p->udp_port);
	if (p->l4_offset)
		o->udp++;
	else if (p->ip_version)
		*(ip[p->ip_version == 4 ? 9 : 6] == IPPROTO_TCP ? &o->tcp : &o->ip) += 1;
	else if (other_frame_ethertype(f, p) == ETHERTYPE_ARP)
		o->arp++;
}

void other_frames_say(const struct other_frames *o, char text[OTHER_FRAMES_TEXT])
{
	const struct {
		__u64 frames;
		const char *words;
	} kinds[] = { { o->udp, "UDP" }, { o->tcp, "TCP" }, { o->ip, "other IP" }, { o->arp, "ARP" },
		      { o->frames - o->udp - o->tcp - o->ip - o->arp, "not IP" } };
	size_t most = 0, listed = 0;
	int length;

	text[0] = 0;
	if (!o->frames)
		return;
	for (size_t i = 1; i < OTHER_PORTS; i++)
		if (o->port[i].packets > o->port[most].packets)
			most = i;
	length = snprintf(text, OTHER_FRAMES_TEXT, "%llu frame%s: ", o->frames, o->frames == 1 ? "" : "s");
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(kinds); i++) {
		if (!kinds[i].frames)
			continue;
		length += snprintf(text + length, OTHER_FRAMES_TEXT - length, "%s%llu %s", listed++ ? ", " : "", kinds[i].frames,
				   kinds[i].words);
		if (!i && o->port[most].packets)
			length += snprintf(text + length, OTHER_FRAMES_TEXT - length, " (most to port %u)", o->port[most].port);
	}
}
