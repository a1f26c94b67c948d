// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is known of this end: addresses, the interface, and QPs. */
#include <string.h>
#include <sys/stat.h>

#include "lib/clock.h"
#include "userspace/diagnose/bring_up/bring_up.h"

void end_open(struct bring_up_end *e, const struct bring_up_options *o, unsigned int ifindex, const struct sniffer_receiver *receiver)
{
	*e = (struct bring_up_end){ .endpoint = o->endpoint, .expected = o->expected, .receiver = receiver,
				   .ifindex = ifindex };
	e->rdma = rdma_open();
	e->hidden = host_is_in_container();
	end_read(e);
	e->refused = e->link ? e->link->refused : 0;
}

void end_read(struct bring_up_end *e)
{
	const struct host_qp *list;
	size_t count;

	if (e->rdma) {
		e->device_count = rdma_devices(e->rdma, &e->devices);
		count = rdma_qps(e->rdma, &list);
		known_qps_update(&e->qps, list, count, e->devices, e->device_count, now_ns());
	}
	places_read(&e->places, e->devices, e->device_count);
	e->link = places_link(&e->places, e->ifindex);
}

void end_close(struct bring_up_end *e)
{
	rdma_close(e->rdma);
	known_qps_free(&e->qps);
	places_free(&e->places);
}

bool end_has(const struct bring_up_end *e, const __u8 address[16])
{
	__u64 devices;

	return (e->receiver->program && !memcmp(e->receiver->setup.own, address, 16)) ||
	       (e->endpoint && !memcmp(e->endpoint->end.gid, address, 16)) || places_has(&e->places, address, &devices);
}

const struct known_qp *end_qp(const struct bring_up_end *e, const __u8 address[16], __u32 qpn, __u64 *devices)
{
	return places_has(&e->places, address, devices) && *devices ? known_qps_find(&e->qps, qpn, *devices) : NULL;
}

const struct rdma_host_device *end_offload(const struct bring_up_end *e)
{
	for (size_t i = 0; e->link && i < e->device_count && i < 64; i++)
		if (e->link->devices >> i & 1 && !e->devices[i].software)
			return &e->devices[i];
	return NULL;
}

const struct expected_pair *end_expected(const struct bring_up_end *e, const __u8 *src, const __u8 dst[16], __u32 qpn)
{
	for (size_t i = 0; i < e->expected->count; i++) {
		const struct expected_pair *p = &e->expected->entries[i];

		if (p->key.number == qpn && !memcmp(p->key.dst, dst, 16) && (!src || !memcmp(p->key.src, src, 16)))
			return p;
	}
	return NULL;
}
