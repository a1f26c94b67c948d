// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <bpf/libbpf.h>

#include "userspace/observe/live/clsact.h"
#include "userspace/observe/live/kernel.h"

/* Marks the filter as ours, to find and replace one that a killed process left. */
#define FILTER_HANDLE 0x726f6365 /* "roce" */
#define FILTER_PRIORITY 47910

int clsact_add(unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_EGRESS);

	return -bpf_tc_hook_create(&hook);
}

int clsact_attach(unsigned int ifindex, int program)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, filter, .handle = FILTER_HANDLE, .priority = FILTER_PRIORITY, .prog_fd = program,
		    .flags = BPF_TC_F_REPLACE);

	return -bpf_tc_attach(&hook, &filter);
}

void clsact_remove(unsigned int ifindex, bool qdisc)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, filter, .handle = FILTER_HANDLE, .priority = FILTER_PRIORITY);

	bpf_tc_detach(&hook, &filter);
	hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
	if (qdisc)
		bpf_tc_hook_destroy(&hook);
}

__u32 clsact_program(unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, filter, .handle = FILTER_HANDLE, .priority = FILTER_PRIORITY);

	return bpf_tc_query(&hook, &filter) ? 0 : filter.prog_id;
}

bool clsact_is_anothers(unsigned int ifindex)
{
	__u32 program = clsact_program(ifindex);

	return program && kernel_program_holder(program);
}
