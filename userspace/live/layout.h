/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether two builds of the kernel's programs mean the same by the bytes of a map. */
#ifndef USERSPACE_LIVE_LAYOUT_H
#define USERSPACE_LIVE_LAYOUT_H

#include <bpf/libbpf.h>

/*
 * A hash of the types of the map's keys and values, member by member, and of what their arrays are indexed by (counters,
 * lints). Equal in two builds: one can go on with the other's map, as far as types tell; what they do not tell is
 * ABI_MEANING in bpf/abi.h.
 */
__u64 layout_of_map(const struct bpf_object *object, const struct bpf_map *map);

#endif
