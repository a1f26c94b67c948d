/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Warns of silent faults of the set-up, in words, from what is known of interfaces, devices, neighbours and streams. */
#ifndef USERSPACE_OBSERVE_HOST_HINTS_H
#define USERSPACE_OBSERVE_HOST_HINTS_H

#include <stdbool.h>

#include "userspace/observe/host/book.h"
#include "userspace/observe/host/marks.h"
#include "userspace/observe/host/owners.h"

/* An interface that is watched. */
struct hint_interface {
	const char *name;
	unsigned int index;
	bool vlan_stripped; /* the NIC strips VLAN tags (rx-vlan-offload) */
	bool lro;
};

struct hint_facts {
	const struct snapshot *snapshot; /* with owners */
	const struct places *places;
	const struct known_qps *qps;
	const struct book *book;
	const struct marks *marks; /* NULL: not followed */
	const struct rdma_host_device *devices;
	size_t device_count;
	const struct hint_interface *interfaces;
	size_t interface_count;
};

struct hints {
	char **lines;
	size_t count, room;
	size_t of_streams; /* the first lines, so many, say what the streams show; the others what this machine does, ... */
	bool of_loss;	   /* ... of which the last one compares lost PSNs with counters */
};

/* Replaces all hints. Without memory, lines are missing. */
void hints_make(struct hints *h, const struct hint_facts *f);
void hints_free(struct hints *h);

#endif
