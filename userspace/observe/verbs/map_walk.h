/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef USERSPACE_OBSERVE_VERBS_MAP_WALK_H
#define USERSPACE_OBSERVE_VERBS_MAP_WALK_H

#include <stddef.h>

/*
 * Passes on each entry of a hash map of BPF, many with one system call: with 65,536 QPs two calls for each would take a second. What is
 * added or removed meanwhile may be among them or not; `take` may remove what it gets. Without memory nothing is passed on.
 */
void map_walk(int map, size_t key_size, size_t value_size, void (*take)(void *context, const void *key, const void *value), void *context);

#endif
