// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "bpf/abi.h"
#include "userspace/observe/live/layout.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/snapshot.h"

#define NAME 128

/* ---- printing ---- */

static void print_type(FILE *out, const struct btf *btf, __u32 id, const char *name, __u32 offset);

static const struct btf_type *resolve(const struct btf *btf, __u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	/* they do not change the size */
	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type;
}

static bool is_struct(const struct btf_type *type)
{
	return btf_is_struct(type) || btf_is_union(type);
}

static bool is_named(const struct btf *btf, const struct btf_type *type, const char *name)
{
	return !strcmp(btf__name_by_offset(btf, type->name_off), name);
}

/*
 * Fields that older builds named otherwise: the name now, and one before. All of them stand in the text, so that those builds and
 * this one find the field, whichever of the two goes on.
 */
static const struct {
	const char *now, *before;
} renamed[] = {
	{ "stream.last.psn", "stream.last_psn" }, { "stream.sequence.first_psn", "stream.first_psn" },
	{ "stream.sequence.interleaved_next", "stream.other" }, { "stream.sequence.run", "stream.run" },
	{ "stream.sequence.unknown_psns", "stream.stepped" }, { "stream.sequence.waited", "stream.waited" },
	{ "stream.sequence.has_interleaved", "stream.has_other" }, { "stream.sequence.alternations", "stream.turns" },
	{ "stream.sequence.restart_by", "stream.restart_by" }, { "stream.ud.dst", "stream.dst" },
	{ "stream.ud.dqpn", "stream.dqpn" }, { "stream.ud.sqpn", "stream.sqpn" },
	{ "stream.reads.bytes", "stream.after_read" }, { "stream.reads.end", "stream.read_end" },
	{ "stream.reads.at", "stream.read_at" }, { "stream.reads.own", "stream.read_own" },
	{ "stream.reads.late", "stream.read_late" }, { "stream.reads.mtu_least", "stream.mtu_least" },
	{ "stream.reads.mtu_guess", "stream.mtu_guess" }, { "stream.reads.mtu_guess_from", "stream.doubt_from" },
	{ "stream.reads.mtu_guess_row", "stream.doubt_row" }, { "stream.acks.behind", "stream.acked" },
	{ "stream.acks.msn", "stream.msn" }, { "stream.acks.msn_falls", "stream.msn_falls" },
	{ "stream.acks.msn_met", "stream.msn_met" }, { "stream.acks.msn_less", "stream.msn_less" },
	{ "stream.acks.spilled", "stream.spilled" }, { "stream.acks.asked_period", "stream.looked" },
	{ "stream.acks.answered", "stream.answered" }, { "stream.acks.acknowledged", "stream.acknowledged" },
	{ "stream.acks.unseen_before", "stream.settled" }, { "stream.arrival.before", "stream.before_arrival" },
	{ "stream.arrival.since", "stream.arrival_since" }, { "stream.arrival.next", "stream.arrival_next" },
	{ "stream.arrival.before_next", "stream.before_next" }, { "stream.arrival.depth", "stream.depth" },
	{ "stream.sequence.heaps", "stream.heaps" },
	{ "stream.sequence.interleaved_next", "stream.sequence.other" },
	{ "stream.sequence.has_interleaved", "stream.sequence.has_other" },
	{ "stream.sequence.unknown_psns", "stream.sequence.stepped" },
	{ "stream.sequence.alternations", "stream.sequence.turns" },
	{ "stream.reads.mtu_guess_row", "stream.reads.doubt_row" },
	{ "stream.reads.mtu_guess_from", "stream.reads.doubt_from" },
	{ "stream.acks.asked_period", "stream.acks.looked" }, { "stream.acks.unseen_before", "stream.acks.settled" },
};

/* Members that all pins have by another name: now, there. One name, because layout_shares() wants the same lines. */
static const char *const pinned_as[][2] = { { "probation", "trial" }, { "psn.late", "psn.far" }, { "extra.late", "extra.far" } };

static void pinned_name(char text[NAME], const char *name)
{
	snprintf(text, NAME, "%s", name);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(pinned_as); i++) {
		char *at = strstr(text, pinned_as[i][0]), rest[NAME];

		if (!at)
			continue;
		snprintf(rest, sizeof(rest), "%s%s", pinned_as[i][1], at + strlen(pinned_as[i][0]));
		snprintf(at, NAME - (at - text), "%s", rest);
	}
}

static void print_field(FILE *out, const char *name, __u32 offset, __u32 size, __u32 count)
{
	char text[NAME];

	pinned_name(text, name);
	fprintf(out, "%s %u %u %u\n", text, offset, size, count);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(renamed); i++)
		if (!strcmp(name, renamed[i].now))
			fprintf(out, "%s %u %u %u\n", renamed[i].before, offset, size, count);
}

/* Prints an array whose elements have names. */
static void print_named(FILE *out, const char *path, __u32 offset, __u32 size, const char *const *names, __u32 count)
{
	char name[NAME];

	for (__u32 i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s.%s", path, names[i]);
		print_field(out, name, offset + i * size, size, 1);
	}
}

/* Prints a union by its first member. The others are other views of it. */
static void print_members(FILE *out, const struct btf *btf, const struct btf_type *type, const char *path, __u32 offset)
{
	const struct btf_member *member = btf_members(type);
	__u32 count = btf_is_union(type) ? 1 : btf_vlen(type);
	char name[NAME];

	for (__u32 i = 0; i < count; i++) {
		const char *own = btf__name_by_offset(btf, member[i].name_off);

		snprintf(name, sizeof(name), "%s%s%s", path, *path && *own ? "." : "", own);
		print_type(out, btf, member[i].type, name, offset + member[i].offset / 8);
	}
}

static void print_struct(FILE *out, const struct btf *btf, const struct btf_type *type, const char *path, __u32 offset)
{
	if (is_named(btf, type, "roce_counters") || is_named(btf, type, "roce_totals"))
		print_named(out, path, offset, sizeof(__u64), counter_names, type->size / sizeof(__u64));
	else
		print_members(out, btf, type, path, offset);
}

static bool is_lints(const char *path, __u32 count)
{
	const char *dot = strrchr(path, '.');

	return count == ROCE_LINTS && !strcmp(dot ? dot + 1 : path, "lint");
}

static void print_array(FILE *out, const struct btf *btf, const struct btf_type *type, const char *path, __u32 offset)
{
	const struct btf_type *element = resolve(btf, btf_array(type)->type);
	__u32 count = btf_array(type)->nelems;
	__s64 size = btf__resolve_size(btf, btf_array(type)->type);
	char name[NAME];

	if (element && is_struct(element)) {
		snprintf(name, sizeof(name), "%s[]", path);
		print_field(out, name, offset, size, count);
		print_struct(out, btf, element, name, 0);
	} else if (is_lints(path, count)) {
		print_named(out, path, offset, size, lint_names, count);
	} else {
		print_field(out, path, offset, size, count);
	}
}

/* Prints variables, because .data and .bss are maps as well. */
static void print_variables(FILE *out, const struct btf *btf, const struct btf_type *type)
{
	const struct btf_var_secinfo *variable = btf_var_secinfos(type);

	for (__u32 i = 0; i < btf_vlen(type); i++) {
		const struct btf_type *var = btf__type_by_id(btf, variable[i].type);

		print_type(out, btf, var->type, btf__name_by_offset(btf, var->name_off), variable[i].offset);
	}
}

static void print_type(FILE *out, const struct btf *btf, __u32 id, const char *name, __u32 offset)
{
	const struct btf_type *type = resolve(btf, id);

	if (!type)
		return;
	if (is_struct(type))
		print_struct(out, btf, type, name, offset);
	else if (btf_is_array(type))
		print_array(out, btf, type, name, offset);
	else if (btf_is_datasec(type))
		print_variables(out, btf, type);
	else
		print_field(out, name, offset, type->size, 1);
}

/* Prints the meaning of an event's bits. */
static void print_bits(FILE *out, const char *of, const char *const *names, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		fprintf(out, "%s %s is bit %u\n", of, names[i], i);
}

/* A ring buffer has no type. It holds records. */
static void print_records(FILE *out, const struct btf *btf)
{
	print_type(out, btf, btf__find_by_name_kind(btf, "capture_record", BTF_KIND_STRUCT), "record", 0);
	print_bits(out, "kind", event_names, ROCE_EVENTS);
	print_bits(out, "lint", lint_names, ROCE_LINTS);
}

void layout_print(FILE *out, const struct bpf_object *object, const struct bpf_map *map)
{
	const struct btf *btf = bpf_object__btf(object);

	fprintf(out, "meaning %u\nsize %u %u\n", ABI_MEANING, bpf_map__key_size(map), bpf_map__value_size(map));
	if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF)
		print_records(out, btf);
	else
		print_type(out, btf, bpf_map__btf_value_type_id(map), "", 0);
}

char *layout_of_map(const struct bpf_object *object, const struct bpf_map *map)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	layout_print(out, object, map);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* ---- comparing ---- */

/* The line that begins with `begin`. NULL: none. */
static const char *find_line(const char *text, const char *begin, size_t length)
{
	for (const char *line = text; *line; line = strchrnul(line, '\n') + 1) {
		if (!strncmp(line, begin, length))
			return line;
		if (!strchr(line, '\n'))
			break;
	}
	return NULL;
}

bool layout_reads(const char *old, const char *now)
{
	for (const char *line = old, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end || !find_line(now, line, end + 1 - line))
			return false;
	}
	return true;
}

struct layout_field {
	__u32 offset, size, count;
};

/* Reads the field of a line. Returns the length of its name with the space behind it. 0: not a field, or part of one. */
static size_t read_field(const char *line, struct layout_field *f)
{
	size_t name = strcspn(line, " \n");
	const char *part = memchr(line, ']', name);

	if (line[name] != ' ' || (part && part[1] == '.') ||
	    sscanf(line + name, " %u %u %u", &f->offset, &f->size, &f->count) != 3)
		return 0;
	return name + 1;
}

static size_t count_lines(const char *text, const char *begin, size_t length)
{
	size_t count = 0;

	for (const char *line = text; *line; line = strchrnul(line, '\n') + 1) {
		count += !strncmp(line, begin, length);
		if (!strchr(line, '\n'))
			break;
	}
	return count;
}

/* Whether the structs of an array ("hole[] ", with the space) have the same members in both layouts. */
static bool same_parts(const char *old, const char *now, const char *name, size_t length)
{
	size_t begin = length - 1; /* "hole[]": the array's own line and those of its members */

	if (!begin || name[begin - 1] != ']') /* a plain value has no name */
		return true;
	for (const char *line = now; *line; line = strchr(line, '\n') + 1)
		if (!strncmp(line, name, begin) && line[begin] == '.' && !find_line(old, line, strcspn(line, "\n") + 1))
			return false;
	return count_lines(old, name, begin) == count_lines(now, name, begin);
}

/*
 * On these little-endian machines a narrower field was the lower part of a wider one. A wider field does not fit into a
 * narrower one.
 */
static __u32 bytes_moved(const struct layout_field *from, const struct layout_field *to)
{
	if (from->size == to->size)
		return from->size * (from->count < to->count ? from->count : to->count);
	return from->size < to->size && from->count == 1 && to->count == 1 ? from->size : 0;
}

static bool means_the_same(const char *old, const char *now)
{
	size_t length = strcspn(now, "\n") + 1;

	return !strncmp(old, now, length);
}

struct layout_move *layout_moves(const char *old, const char *now, __u32 bytes, size_t *count)
{
	struct layout_move *moves = calloc(count_lines(now, "", 0) + 1, sizeof(*moves));

	*count = 0;
	if (!moves || !means_the_same(old, now))
		return moves;
	for (const char *line = now; *line; line = strchr(line, '\n') + 1) {
		struct layout_field from, to;
		size_t name = read_field(line, &to);
		const char *other = name ? find_line(old, line, name) : NULL;

		if (!other || !read_field(other, &from) || !bytes_moved(&from, &to) || !same_parts(old, now, line, name))
			continue;
		if ((__u64)from.offset + bytes_moved(&from, &to) > bytes)
			continue;
		moves[(*count)++] = (struct layout_move){ from.offset, to.offset, bytes_moved(&from, &to) };
	}
	return moves;
}

bool layout_shares(const char *old, const char *now, const char *begin)
{
	size_t length = strlen(begin);

	for (const char *line = now; *line; line = strchr(line, '\n') + 1) {
		struct layout_field from, to;
		size_t name = strncmp(line, begin, length) ? 0 : read_field(line, &to);
		const char *other = name ? find_line(old, line, name) : NULL;

		if (name && (!other || !read_field(other, &from) || from.size != to.size || from.count != to.count ||
			     !same_parts(old, now, line, name)))
			return false;
	}
	return means_the_same(old, now) && count_lines(old, begin, length) == count_lines(now, begin, length);
}

void layout_move(const struct layout_move *moves, size_t count, const void *from, void *to)
{
	for (size_t i = 0; i < count; i++)
		memcpy((char *)to + moves[i].to, (const char *)from + moves[i].from, moves[i].bytes);
}
