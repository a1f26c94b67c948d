// SPDX-License-Identifier: GPL-2.0-only
/* Other XDP programs that share an interface with ours in tests/share.test: they count frames, and pass or drop them. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} neighbour_count SEC(".maps");

static __always_inline int count(int action)
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&neighbour_count, &zero);

	if (n)
		__sync_fetch_and_add(n, 1);
	return action;
}

SEC("xdp.frags")
int passes(struct xdp_md *ctx __attribute__((unused)))
{
	return count(XDP_PASS);
}

SEC("xdp.frags")
int drops(struct xdp_md *ctx __attribute__((unused)))
{
	return count(XDP_DROP);
}

/* A dispatcher supports multi-buffer frames only if all its programs do. */
SEC("xdp")
int plain(struct xdp_md *ctx __attribute__((unused)))
{
	return count(XDP_PASS);
}

char LICENSE[] SEC("license") = "GPL";
