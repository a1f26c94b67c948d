// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <rte_ethdev.h>
#include <stdlib.h>
#include <string.h>

#include "dpdk_udp/dpdk_stream.h"

/* Words in the drivers' names for what they lost. */
static const char *const loss_words[] = {
	"drop", "discard", "miss", "err", "out_of_buffer", "no_buf", "nombuf", "overflow", "overrun",
};

static bool says_a_loss(const char *name)
{
	for (size_t i = 0; i < sizeof(loss_words) / sizeof(loss_words[0]); i++)
		if (strstr(name, loss_words[i]))
			return true;
	return false;
}

struct dpdk_xstats dpdk_xstats_read(uint16_t port)
{
	struct dpdk_xstats s = {};
	int count = rte_eth_xstats_get(port, NULL, 0);

	if (count <= 0)
		return s;
	s.value = calloc(count, sizeof(*s.value));
	if (!s.value)
		err(1, "no memory for %d counters", count);
	s.count = rte_eth_xstats_get(port, s.value, count) == count ? count : 0;
	return s;
}

static void add_grown(json_t *object, uint16_t port, const struct dpdk_xstats *before, const struct dpdk_xstats *now)
{
	struct rte_eth_xstat_name *names = calloc(now->count, sizeof(*names));

	if (!names || rte_eth_xstats_get_names(port, names, now->count) != now->count) {
		free(names);
		return;
	}
	for (int i = 0; i < now->count; i++) {
		uint64_t grown = now->value[i].value - (i < before->count ? before->value[i].value : 0);

		if (grown && says_a_loss(names[i].name))
			json_object_set_new(object, names[i].name, json_integer(grown));
	}
	free(names);
}

void dpdk_xstats_report(uint16_t port, struct dpdk_xstats *before, struct stream_report *report)
{
	struct dpdk_xstats now = dpdk_xstats_read(port);
	json_t *object = json_object();

	add_grown(object, port, before, &now);
	json_object_set_new(report->extra, "xstats", object);
	free(before->value);
	free(now.value);
}
