// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chooses the outlet. */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "lib/complain.h"
#include "lib/netdev.h"
#include "userspace/traffic/send/outlet.h"

/* The fastest first. AF_XDP without zero-copy is no faster than AF_PACKET, so it is used only if --out asks for it. */
static const struct outlet_kind *const ways[] = { &outlet_live, &outlet_xdp, &outlet_packet };

/* Frames redirected to a device that does not accept them are dropped without any counter. */
static bool takes_redirected(struct outlet *o)
{
	unsigned int ifindex = if_nametoindex(o->plan->interface);
	uint64_t features;

	if (!netdev_features(ifindex, &features)) {
		snprintf(o->reason, sizeof(o->reason),
			 "this kernel does not tell whether the driver takes redirected frames (Linux 6.3)");
		return o->plan->out == OUT_LIVE;
	}
	if (features & NETDEV_NDO_XMIT)
		return true;
	return outlet_refuse(o, "the driver takes no redirected frames%s",
			     netdev_is_veth(ifindex) ? " (the veth's peer has neither an XDP program nor GRO)" : "");
}

static bool try(struct outlet *o, const struct outlet_kind *kind)
{
	o->reason[0] = '\0';
	o->own = NULL;
	o->memory = NULL;
	o->kind = kind;
	return (kind != &outlet_live || takes_redirected(o)) && kind->open(o);
}

/* Skips a leading `name: `, which the line already has. */
static const char *behind(const char *text, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(text, name, length) && !strncmp(text + length, ": ", 2) ? text + length + 2 : text;
}

static const char *reason(const struct outlet *o)
{
	return behind(behind(o->reason, o->plan->file ?: o->plan->interface), o->kind ? o->kind->words : "");
}

static bool first_of_all(struct outlet *o)
{
	char reasons[1024] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (try(o, ways[i])) {
			complain("send: %s: sending by %s%s", o->plan->interface, ways[i]->words, reasons);
			return true;
		}
		used += snprintf(reasons + used, sizeof(reasons) - used, "%s not by %s: %s", used ? ";" : " -", ways[i]->words,
				 reason(o));
	}
	return complain("send: %s: there is no way out%s", o->plan->interface, reasons);
}

bool outlet_open(struct outlet *o)
{
	static const struct outlet_kind *const chosen[] = {
		[OUT_LIVE] = &outlet_live, [OUT_XDP] = &outlet_xdp, [OUT_PACKET] = &outlet_packet, [OUT_FILE] = &outlet_file,
	};
	const struct send_plan *plan = o->plan;
	const struct outlet_kind *kind = chosen[plan->file ? OUT_FILE : plan->out];

	o->reason[0] = '\0';
	if (plan->file || netdev_ready(plan->interface, o->frame_most, plan->tagged, o->reason, sizeof(o->reason))) {
		if (!plan->file && plan->out == OUT_AUTO)
			return first_of_all(o);
		if (try(o, kind))
			return true;
	}
	return complain("send: %s: %s", plan->file ?: plan->interface, reason(o));
}
