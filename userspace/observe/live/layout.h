/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout of a map's values, as text, so that another build can find the fields that it has in common with this one:
 *
 *     meaning 1                            ABI_MEANING of bpf/abi.h
 *     size 4 1280                          bytes of a key and of a value
 *     stream.last_seen 48 8 1              a field: offset, size, number of elements
 *     stream.last.psn 360 8 1              one that was renamed, ...
 *     stream.last_psn 360 8 1              ... and the name that it had before
 *     stream.counters.icrc_bad 896 8 1     counters and lints by their names
 *     stream.psn.hole[] 192 16 20          structs in an array, and ...
 *     stream.psn.hole[].from 0 8 1         ... their members, by offsets in the struct
 */
#ifndef USERSPACE_OBSERVE_LIVE_LAYOUT_H
#define USERSPACE_OBSERVE_LIVE_LAYOUT_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints the layout of the map's values, by the BTF types of its object. */
void layout_print(FILE *out, const struct bpf_object *object, const struct bpf_map *map);

/* The layout as a string, to be freed. NULL: no memory. */
char *layout_of_map(const struct bpf_object *object, const struct bpf_map *map);

/*
 * Whether values of layout `old` can be used as values of layout `now`: every old field is in its place. New fields lie where
 * nothing was (a kind of event).
 */
bool layout_reads(const char *old, const char *now);

/* Bytes that values of both layouts have in common. */
struct layout_move {
	__u32 from, to;
	__u32 bytes;
};

/* Whether both have the same fields whose names begin with `begin`, wherever they lie. */
bool layout_shares(const char *old, const char *now, const char *begin);

/*
 * The moves from `old` to `now`, field by field, by name. Structs in an array only if they are alike. bytes: of an old value; a
 * field that would lie behind it is left out, whoever wrote that. Free the result. *count: 0 if the two have nothing in common,
 * or different meanings. NULL: no memory.
 */
struct layout_move *layout_moves(const char *old, const char *now, __u32 bytes, size_t *count);

/* Moves one value. */
void layout_move(const struct layout_move *moves, size_t count, const void *from, void *to);

#endif
