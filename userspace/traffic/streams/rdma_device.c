// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <string.h>

#include "lib/option.h"
#include "userspace/traffic/streams/rdma_device.h"

struct ibv_context *rdma_device_open(const char *name)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);
	struct ibv_context *context = NULL;

	if (!list || !count)
		errx(1, "no RDMA device: 'rdma link add rxe0 type rxe netdev NAME' makes one of a network interface");
	for (int i = 0; i < count && !context; i++)
		if (!name || !strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	if (!context && name)
		errx(1, "no RDMA device: --device %s is not there ('rdma link' lists them)", name);
	if (!context)
		err(1, "RDMA device %s does not open", ibv_get_device_name(list[0]));
	ibv_free_device_list(list);
	return context;
}

void rdma_port_query(struct ibv_context *context, unsigned int path_mtu, uint64_t message, struct ibv_port_attr *port,
		     struct rdma_end *self)
{
	unsigned int active;

	if (ibv_query_port(context, RDMA_PORT, port))
		err(1, "port %d of %s", RDMA_PORT, ibv_get_device_name(context->device));
	if (port->state != IBV_PORT_ACTIVE)
		errx(1, "%s is not active: is its interface up?", ibv_get_device_name(context->device));
	active = 128u << port->active_mtu;
	if (path_mtu > active)
		errx(1, "--path-mtu %u: the port has %u (a larger MTU of its interface makes it larger)", path_mtu, active);
	if (message > port->max_msg_sz)
		usage_error("--size %llu: the port takes messages up to %u bytes", (unsigned long long)message, port->max_msg_sz);
	self->path_mtu = path_mtu ? path_mtu : active;
	self->lid = port->lid;
}

enum ibv_mtu rdma_mtu(unsigned int bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && 128u << mtu < bytes)
		mtu++;
	return mtu;
}
