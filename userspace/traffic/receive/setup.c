// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>

#include "lib/address.h"
#include "lib/complain.h"
#include "lib/interfaces.h"
#include "lib/machine.h"
#include "lib/netdev.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/traffic/receive/setup.h"

/*
 * Bytes of an IP packet besides its payload, as ib_core counts them (iboe_get_mtu(), include/rdma/ib_addr.h): GRH or IP, UDP,
 * BTH, the largest extension headers, ICRC.
 */
#define OVERHEAD 96
#define PATH_MTU_LEAST 256
#define PATH_MTU_MOST 4096

#define SHARE_UNIT 64	     /* shares begin at cache lines */
#define REGION_UNIT 4096     /* and regions at pages */
#define ADDRESS_END (1ull << 47) /* of a process: no program could register memory behind it */
#define QPN_END 0xffffff     /* the QPN of multicast */

static __u64 random_below(__u64 end)
{
	__u64 number = 0;

	while (getrandom(&number, sizeof(number), 0) != sizeof(number))
		;
	return number % end;
}

/* ---- the interface ---- */

static __u32 largest_path_mtu(const char *interface)
{
	struct ifreq request = { 0 };
	__u32 mtu = PATH_MTU_MOST;

	if (!interface_ask(interface, SIOCGIFMTU, &request))
		return PATH_MTU_LEAST;
	while (mtu > PATH_MTU_LEAST && mtu + OVERHEAD > (__u32)request.ifr_mtu)
		mtu /= 2;
	return mtu;
}

/* An address of each kind, in the order in which they are preferred where nobody says what the peer has. */
static const __u8 kinds[][16] = {
	{ [10] = 0xff, [11] = 0xff }, /* IPv4 */
	{ 0x20 },		      /* IPv6 */
	{ 0xfe, 0x80 },		      /* of the link */
};

static bool find_address(struct receive_setup *s)
{
	const struct receive_options *o = s->options;
	bool found = false;

	if (o->has_address) {
		memcpy(s->settings.own, o->address, sizeof(o->address));
		if (o->has_peer && address_is_ipv4(o->peer) != address_is_ipv4(o->address))
			return complain("receive: --address %s and a peer %s: both have to be IPv4, or both IPv6",
					address_text(o->address).text, address_text(o->peer).text);
		return true;
	}
	if (o->has_peer)
		found = machine_address(o->interface, o->peer, s->settings.own);
	for (size_t i = 0; !o->has_peer && !found && i < ROCE_ARRAY_SIZE(kinds); i++)
		found = machine_address(o->interface, kinds[i], s->settings.own);
	if (found)
		return true;
	return complain("receive: %s has no address%s%s: give one with --address", o->interface,
			o->has_peer ? " that fits to " : "", o->has_peer ? address_text(o->peer).text : "");
}

/* ---- memory ---- */

static __u64 round_down(__u64 bytes, __u64 unit)
{
	return bytes / unit * unit;
}

static __u64 round_up(__u64 bytes, __u64 unit)
{
	return round_down(bytes + unit - 1, unit);
}

static void make_shares(struct receive_setup *s)
{
	s->qps_per_region = (s->settings.qps + s->regions - 1) / s->regions;
	s->share = round_down(s->region[0].bytes / s->qps_per_region, SHARE_UNIT);
}

static bool make_regions(struct receive_setup *s)
{
	const struct receive_options *o = s->options;
	__u64 each = round_down(s->settings.memory / o->regions, REGION_UNIT), most = ADDRESS_END - s->settings.memory;
	__u64 va = o->has_va ? o->va : round_down(REGION_UNIT + random_below(most - REGION_UNIT), REGION_UNIT);
	__u32 rkey = o->has_rkey ? o->rkey : 1 + random_below(UINT32_MAX - o->regions);

	if (va + s->settings.memory < va)
		return complain("receive: --va %#llx: its regions do not fit into 64 bits", o->va);
	if (rkey + (o->regions - 1) < rkey)
		return complain("receive: --rkey %#x: those of %u regions do not fit into 32 bits", rkey, o->regions);
	s->regions = o->regions;
	s->region = calloc(s->regions, sizeof(*s->region));
	if (!s->region)
		return complain("receive: there is not enough memory");
	for (__u32 i = 0; i < s->regions; i++)
		s->region[i] = (struct roce_region){ .va = va + i * each, .at = i * each, .bytes = each, .rkey = rkey + i,
						     .index = i };
	return true;
}

__u64 receive_setup_memory(const struct receive_options *o)
{
	return round_up(o->memory, RECEIVE_CHUNK);
}

__u64 receive_setup_memory_for(const struct receive_setup *s, __u64 share)
{
	__u64 region = round_up(s->qps_per_region * round_up(share, SHARE_UNIT), REGION_UNIT);

	return round_up(s->regions * region, RECEIVE_CHUNK);
}

__u32 receive_setup_slots(const struct receive_setup *s, __u32 receive_bytes)
{
	__u64 slots = receive_bytes ? s->share / receive_bytes : 0;

	return slots < UINT32_MAX ? slots : UINT32_MAX;
}

static bool check_shares(const struct receive_setup *s)
{
	const struct receive_options *o = s->options;

	if (!s->share)
		return complain("receive: --memory %llu: too little for %u QPs: %lluM", s->settings.memory, s->settings.qps,
				receive_setup_memory_for(s, SHARE_UNIT) >> 20);
	if (o->receive_bytes && !receive_setup_slots(s, o->receive_bytes))
		return complain("receive: --receive-size %u: a QP has %llu bytes: --memory %lluM", o->receive_bytes, s->share,
				receive_setup_memory_for(s, o->receive_bytes) >> 20);
	return true;
}

const struct roce_region *receive_setup_region(const struct receive_setup *s, __u32 qp)
{
	return &s->region[qp / s->qps_per_region];
}

__u64 receive_setup_at(const struct receive_setup *s, __u32 qp)
{
	return receive_setup_region(s, qp)->at + qp % s->qps_per_region * s->share;
}

/* ---- all of it ---- */

static bool make_qpns(struct receive_setup *s)
{
	const struct receive_options *o = s->options;

	s->settings.qps = o->qps;
	s->settings.first_qpn = o->has_qpn ? o->first_qpn : 2 + random_below(QPN_END - 2 - o->qps);
	if (s->settings.first_qpn + o->qps > QPN_END)
		return complain("receive: --qpn %s: %u QPNs from there on do not fit into 24 bits",
				qpn_text(o->first_qpn).text, o->qps);
	return true;
}

/* What is not of the memory: each command that goes on with it may say it anew. */
static void make_rest(struct receive_setup *s)
{
	const struct receive_options *o = s->options;

	s->service = o->service ?: o->control ? 0 : RDMA_UC;
	s->path_mtu = o->path_mtu ?: largest_path_mtu(o->interface);
	/* without a control connection it is the one that we expect, as rdma_stream tells it */
	s->psn = o->has_psn ? o->psn : o->control ? random_below(1 << 24) : o->peer_psn;
}

bool receive_setup_make(struct receive_setup *s, const struct receive_options *o)
{
	*s = (struct receive_setup){ .options = o };
	s->settings.layout = RECEIVE_LAYOUT;
	s->settings.memory = receive_setup_memory(o);
	s->settings.block = o->block;
	s->settings.each = o->each;
	s->settings.notify = o->notify;
	s->settings.receives = o->receives;
	if (!if_nametoindex(o->interface))
		return complain("receive: %s: no such interface here (`ip link` lists them)", o->interface);
	if (!find_address(s) || !make_qpns(s) || !make_regions(s))
		return false;
	s->settings.redirect = netdev_is_veth(if_nametoindex(o->interface));
	make_shares(s);
	make_rest(s);
	return check_shares(s);
}

void receive_setup_resume(struct receive_setup *s, const struct receive_options *o, const struct receive_settings *settings,
			  struct roce_region *region, __u32 regions)
{
	*s = (struct receive_setup){ .options = o, .settings = *settings, .region = region, .regions = regions, .resumed = true };
	make_shares(s);
	make_rest(s);
}

void receive_setup_free(struct receive_setup *s)
{
	free(s->region);
	s->region = NULL;
}

bool receive_setup_end(const struct receive_setup *s, struct rdma_end *end)
{
	__u64 size = s->options->receive_bytes ?: s->share;

	*end = (struct rdma_end){
		.service = s->service ?: RDMA_UC,
		.size = size < RESPONDER_DMA_MAX ? size : RESPONDER_DMA_MAX,
		.path_mtu = s->path_mtu,
		.flows = s->settings.qps,
		.qp = calloc(s->settings.qps, sizeof(*end->qp)),
	};
	memcpy(end->gid, s->settings.own, sizeof(end->gid));
	for (__u32 i = 0; end->qp && i < end->flows; i++) {
		const struct roce_region *r = receive_setup_region(s, i);

		end->qp[i] = (struct rdma_qp_address){ .qpn = s->settings.first_qpn + i, .psn = s->psn, .rkey = r->rkey,
						       .address = r->va + (receive_setup_at(s, i) - r->at) };
	}
	return end->qp;
}
