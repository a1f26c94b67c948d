// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "bpf/abi.h"
#include "lib/complain.h"
#include "roce/icrc/fold.h"
#include "userspace/observe/live/monitor_programs.h"
#include "userspace/observe/live/kernel.h"
#include "bpf/monitor.skel.h" /* needs struct fold_tables */
#include "bpf/monitor_old.skel.h" /* needs struct fold_tables */

/* One struct stands for the constants of both objects. */
#define SAME_PLACE(name) _Static_assert(offsetof(struct monitor_bpf__rodata, name) == \
					offsetof(struct monitor_old_bpf__rodata, name), #name)
SAME_PLACE(settings);
SAME_PLACE(fold_tables);

bool monitor_programs_open_object(bool loops, struct live_programs *to)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "monitor_bpf");
	size_t bytes;
	const void *elf = loops ? monitor_bpf__elf_bytes(&bytes) : monitor_old_bpf__elf_bytes(&bytes);
	struct bpf_object *object = bpf_object__open_mem(elf, bytes, &options);
	struct monitor_bpf__rodata *constants;

	if (!object)
		return false;
	constants = (void *)bpf_map__initial_value(bpf_object__find_map_by_name(object, ".rodata"), &bytes);
	*to = (struct live_programs){
		.object = object,
		.settings = (struct monitor_settings *)&constants->settings,
		.tables = (struct fold_tables *)&constants->fold_tables,
		.frags = "watch_frags", .plain = loops ? "watch_plain" : "watch_old", .decap = "watch_decap",
		.egress = "watch_egress",
	};
	return true;
}

/* Without bpf_loop() the program follows no format whose numbers depend on the datagrams before (roce/datagram/udp_number.h). */
static bool can_follow(const struct roce_ports *ports)
{
	for (int i = 0; i < ROCE_UDP_PORTS; i++)
		if (ports->format[i].kind > UDP_NUMBER)
			return complain("--udp: the format of port %u needs Linux 5.17", ports->port[i]);
	return true;
}

bool monitor_programs_open(const struct live_options *o, struct live_programs *to)
{
	/* only that object looks into tunnels, at what leaves and for copies; a kernel that is too old refuses it */
	bool loops = kernel_has_loop() || o->decap || o->both || o->once;

	if (!loops && !can_follow(&o->settings.ports))
		return false;
	if (monitor_programs_open_object(loops, to))
		return true;
	live_say_refused(errno, LIVE_OLDEST);
	return false;
}
