// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/observe/verbs/resources.h"

void verbs_resources_read(struct verbs_resources *r)
{
	r->device_count = r->mr_count = 0;
	if (!r->rdma)
		r->rdma = rdma_open();
	if (!r->rdma)
		return;
	r->device_count = rdma_devices(r->rdma, &r->devices);
	r->mr_count = rdma_mrs(r->rdma, &r->mrs);
}

void verbs_resources_close(struct verbs_resources *r)
{
	rdma_close(r->rdma);
	*r = (struct verbs_resources){ 0 };
}

const char *verbs_resources_driver(const struct verbs_resources *r, const char *device)
{
	for (size_t i = 0; i < r->device_count; i++)
		if (!strcmp(r->devices[i].name, device) && strcmp(r->devices[i].driver, "?"))
			return r->devices[i].driver;
	return NULL;
}
