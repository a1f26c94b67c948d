/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef BPF_MAP_H
#define BPF_MAP_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* flags: BPF_F_..., or 0. */
#define MAP(name, kind, key_type, value_type, entries, flags) \
	struct { \
		__uint(type, BPF_MAP_TYPE_##kind); \
		__uint(map_flags, flags); \
		__uint(max_entries, entries); \
		__type(key, key_type); \
		__type(value, value_type); \
	} name SEC(".maps")

#endif
