// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pinned maps: which of them the next agent reuses, and what becomes of the others. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/complain.h"
#include "userspace/observe/live/kernel.h"
#include "userspace/observe/live/layout.h"
#include "userspace/observe/live/maps.h"
#include "userspace/observe/live/pin.h"

#define PENDING "+"
#define LAYOUTS "layouts"

/* Each agent makes these anew, and those of its kind: a CPU's working memory, and state that a program can do without. */
static const char *const remade[] = { "scratches", "captures", "recents", "headers", "focus", "untracked", NULL };

/* What is lost with a map, for the message. */
static const struct {
	const char *map, *words;
} losses[] = {
	{ "totals", "totals" },
	{ "streams", "streams" },
	{ "dialogues", "response times" },
	{ "pairs", "pairs" },
	{ "taken", "faults that nobody had fetched" },
};

static void lose(struct pin *p, const char *map)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(losses); i++)
		if (!strcmp(losses[i].map, map))
			p->lost |= 1u << i;
}

/* ---- names ---- */

/* For the data of a program ("monitor_.data"), the part from the dot on, because another program has another name. */
static const char *map_name(const struct bpf_map *map)
{
	const char *name = bpf_map__name(map), *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* names: the last one is NULL; NULL: none. */
static bool is_among(const struct bpf_map *map, const char *const *names)
{
	for (; names && *names; names++)
		if (!strcmp(map_name(map), *names))
			return true;
	return false;
}

/* Read-only data is not pinned: each program has its own settings. */
static bool is_pinned(const struct pin *p, const struct bpf_map *map)
{
	return !is_among(map, remade) && !is_among(map, p->kind->remade) && bpf_map__autocreate(map) &&
	       !(bpf_map__map_flags(map) & BPF_F_RDONLY_PROG);
}

static bool is_of(const struct pin *p, const struct bpf_object *object, const char *file)
{
	const struct bpf_map *map;

	bpf_object__for_each_map(map, object)
		if (is_pinned(p, map) && !strcmp(map_name(map), file))
			return true;
	return false;
}

static struct bpf_map *map_of(const struct bpf_object *object, const char *name)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
		if (!strcmp(map_name(map), name))
			return map;
	return NULL;
}

static int open_map(const struct pin *p, const char *name)
{
	char path[PATH_MAX];

	pin_path(p, "", name, path);
	return bpf_obj_get(path);
}

static __u32 map_id(int map)
{
	struct bpf_map_info info;

	return maps_info(map, &info) ? info.id : 0;
}

/* ---- the layouts of pinned maps ---- */

/* Prints "=NAME ID", then the map's layout. The id tells maps of one name apart while they are replaced in steps. */
static void print_layout(FILE *out, const char *name, int map, const char *layout)
{
	fprintf(out, "=%s %u\n%s", name, map_id(map), layout);
}

/* Call before any map is reused: afterwards libbpf has the types of the old map's object. */
static bool describe_maps(struct pin *p, const struct bpf_object *object)
{
	const struct bpf_map *map;
	int i = 0;

	bpf_object__for_each_map(map, object) {
		if (i == PIN_OWN)
			return pin_say_error(p->name, "too many maps", E2BIG);
		if (is_pinned(p, map) && !p->own[i])
			p->own[i] = layout_of_map(object, map);
		if (is_pinned(p, map) && !p->own[i])
			return pin_say_error(p->name, "layouts", ENOMEM);
		i++;
	}
	return true;
}

static const char *layout_of(const struct pin *p, const struct bpf_object *object, const struct bpf_map *map)
{
	const struct bpf_map *other;
	int i = 0;

	bpf_object__for_each_map(other, object) {
		if (other == map)
			return p->own[i];
		i++;
	}
	return NULL;
}

static char *copy_section(const char *text)
{
	const char *end = *text == '=' ? text : strstr(text, "\n=");

	return end ? strndup(text, end == text ? 0 : end + 1 - text) : strdup(text);
}

/* The layout of a pinned map, to be freed. Empty: unknown. NULL: no memory. */
static char *old_layout(const struct pin *p, const char *name, int map)
{
	const char *found;
	char begin[2 * PIN_WORD];

	snprintf(begin, sizeof(begin), "=%s %u\n", name, map_id(map));
	found = p->layouts ? strstr(p->layouts, begin) : NULL;
	return found ? copy_section(found + strlen(begin)) : strdup("");
}

static char *read_layouts(const struct pin *p)
{
	int map = open_map(p, LAYOUTS);
	struct bpf_map_info info;
	__u32 zero = 0;
	char *text = NULL;

	if (map >= 0 && maps_info(map, &info))
		text = calloc(1, info.value_size + 1);
	if (text && bpf_map_lookup_elem(map, &zero, text)) {
		free(text);
		text = NULL;
	}
	if (map >= 0)
		close(map);
	return text;
}

/* The layouts of the object's maps, and of those they replace: until all are renamed, either may be found. */
static char *all_layouts(const struct pin *p, const struct bpf_object *object)
{
	const struct bpf_map *map;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	bpf_object__for_each_map(map, object)
		if (is_pinned(p, map))
			print_layout(out, map_name(map), bpf_map__fd(map), layout_of(p, object, map));
	if (p->carry.totals.old >= 0)
		print_layout(out, "totals", p->carry.totals.old, p->carry.totals.old_layout);
	if (p->carry.streams.old >= 0)
		print_layout(out, "streams", p->carry.streams.old, p->carry.streams.old_layout);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static bool pin_layouts(const struct pin *p, const struct bpf_object *object)
{
	char *text = all_layouts(p, object), path[PATH_MAX], pending[PATH_MAX];
	int map = text ? bpf_map_create(BPF_MAP_TYPE_ARRAY, LAYOUTS, sizeof(__u32), strlen(text) + 1, 1, NULL) : -1;
	__u32 zero = 0;
	bool good;

	pin_path(p, "", LAYOUTS, path);
	pin_path(p, PENDING, LAYOUTS, pending);
	unlink(pending);
	good = map >= 0 && !bpf_map_update_elem(map, &zero, text, BPF_ANY) && !bpf_obj_pin(map, pending) &&
	       !rename(pending, path);
	if (!good)
		pin_say_error(p->name, "the layouts of its maps cannot be pinned", errno);
	if (map >= 0)
		close(map);
	free(text);
	return good;
}

/* ---- reusing maps ---- */

static bool fits(const struct pin *p, const struct bpf_object *object, const struct bpf_map *map)
{
	int old = open_map(p, map_name(map));
	char *before = old < 0 ? NULL : old_layout(p, map_name(map), old);
	bool good = before && *before && layout_reads(before, layout_of(p, object, map));

	if (old >= 0)
		close(old);
	free(before);
	return good;
}

static bool fits_by_name(const struct pin *p, const struct bpf_object *object, const char *name)
{
	const struct bpf_map *map = map_of(object, name);

	return map && fits(p, object, map);
}

/* Makes the object reuse the pinned map. false: failed, which is reported. */
static bool reuse(const struct pin *p, struct bpf_map *map)
{
	int fd = open_map(p, map_name(map)), error;
	struct bpf_map_info info;

	if (fd < 0)
		return pin_say_error(p->name, "a map cannot be opened", errno);
	error = maps_info(fd, &info) ? 0 : errno;
	/* another size, by this run's options: made again, and its contents dropped; never for counters */
	if (!error && info.max_entries == bpf_map__max_entries(map))
		error = -bpf_map__reuse_fd(map, fd);
	close(fd);
	return !error || pin_say_error(p->name, "a map cannot be used again", error);
}

/* Sets the old map aside, so that its contents are carried over. carry_free() closes the descriptors. */
static bool set_aside(const struct pin *p, const struct bpf_object *object, const struct bpf_map *map, struct carry_map *m)
{
	m->old = open_map(p, map_name(map));
	if (m->old < 0)
		return true;
	m->old_layout = old_layout(p, map_name(map), m->old);
	m->layout = strdup(layout_of(p, object, map));
	return m->old_layout && m->layout;
}

/* Makes the map again. */
static bool replace(struct pin *p, const struct bpf_object *object, const struct bpf_map *map)
{
	struct bpf_map_info info = { 0 };
	const char *name = map_name(map);
	int old = open_map(p, name);

	if (old >= 0) {
		maps_info(old, &info);
		close(old);
	}
	if (!strcmp(name, "totals"))
		return set_aside(p, object, map, &p->carry.totals);
	if (old < 0)
		return true;
	p->changed = true;
	if (!strcmp(name, "streams"))
		return set_aside(p, object, map, &p->carry.streams);
	if (strcmp(name, "dialogues") || info.max_entries > 1) /* there were some */
		lose(p, name);
	return true;
}

/* Maps that begin anew together: what their entries say of each other would be of other streams. */
static const char *const of_streams[] = { "streams", "dialogues", "extras", NULL };
/* Maps that depend on the places of streams. */
static const char *const of_places[] = { "streams", "buckets", "table_states", "dialogues", "extras", NULL };

/* A table that is used again has as many buckets as it had, and another one as many as this build makes. */
static void fit_buckets(const struct pin *p, const struct bpf_object *object, struct monitor_settings *s)
{
	s->bucket_mask = p->state->bucket_mask;
	bpf_map__set_max_entries(map_of(object, "buckets"), s->bucket_mask + 1);
}

bool pin_resume_maps(struct pin *p, struct bpf_object *object, struct monitor_settings *s)
{
	bool good = true, streams, table;
	struct bpf_map *map, *extras;

	if (!describe_maps(p, object))
		return false;
	p->layouts = read_layouts(p);
	/* a stream has handles of extras: where those begin anew, so must it */
	extras = map_of(object, "extras");
	streams = fits_by_name(p, object, "streams") && (!extras || !is_pinned(p, extras) || fits(p, object, extras));
	table = !p->resized && fits_by_name(p, object, "buckets") && fits_by_name(p, object, "table_states") &&
		(streams || kernel_has_loop());
	if (table)
		fit_buckets(p, object, s);
	p->bucket_mask = s->bucket_mask;
	p->carry.in_place = table;
	p->carry.table = open_map(p, "table_states");
	bpf_object__for_each_map(map, object) {
		bool keeps = is_pinned(p, map) && fits(p, object, map);

		if (!table && is_among(map, of_places))
			keeps = false;
		if (!streams && is_among(map, of_streams))
			keeps = false; /* their sequences restart */
		if (!keeps && is_among(map, p->kind->needed))
			return pin_say_error(p->name, "begun by a build that this one cannot go on with", EPROTO);
		if (is_pinned(p, map))
			good = good && (keeps ? reuse(p, map) : replace(p, object, map));
	}
	return good;
}

/* ---- pinning ---- */

static bool is_same(int map, const char *path)
{
	int pinned = bpf_obj_get(path);
	bool same = pinned >= 0 && map_id(map) == map_id(pinned);

	if (pinned >= 0)
		close(pinned);
	return same;
}

/* If an earlier map must stay until no program uses it, pins the new one beside it. */
static bool pin_map(const struct pin *p, const struct bpf_map *map)
{
	char path[PATH_MAX];

	pin_path(p, "", map_name(map), path);
	if (is_same(bpf_map__fd(map), path))
		return true;
	if (p->resumed)
		pin_path(p, PENDING, map_name(map), path);
	return !bpf_obj_pin(bpf_map__fd(map), path) || pin_say_error(p->name, "a map cannot be pinned", errno);
}

/* Failures do not stop the agent: what cannot be carried over is lost, and reported. */
static void begin_to_carry(struct pin *p, const struct bpf_object *object)
{
	struct carry *c = &p->carry;

	if (!p->resumed)
		return;
	c->totals.now = bpf_map__fd(map_of(object, "totals"));
	c->streams.now = bpf_map__fd(map_of(object, "streams"));
	if (carry_begin(c))
		return;
	pin_say_error(p->name, "what another build has counted cannot be read", errno);
	c->totals.move_count = c->streams.move_count = 0;
}

bool pin_new_maps(struct pin *p, const struct bpf_object *object)
{
	const struct bpf_map *map;
	bool good = describe_maps(p, object);

	bpf_object__for_each_map(map, object)
		good = good && (!is_pinned(p, map) || pin_map(p, map));
	if (good)
		begin_to_carry(p, object);
	return good && (p->resumed || pin_layouts(p, object));
}

/* ---- the replacement ---- */

void pin_drop_pending(const struct pin *p)
{
	DIR *all = opendir(p->directory);
	char path[PATH_MAX];
	bool any = false;
	struct dirent *e;

	while (all && (e = readdir(all))) {
		if (strncmp(e->d_name, PENDING, strlen(PENDING)))
			continue;
		pin_path(p, "", e->d_name, path);
		unlink(path);
		any = true;
	}
	if (all)
		closedir(all);
	if (any)
		complain("--pin %s: a change of what is pinned was interrupted: what was counted since is lost", p->name);
}

static bool rename_pending(const struct pin *p, const struct bpf_object *object)
{
	char from[PATH_MAX], to[PATH_MAX];
	const struct bpf_map *map;

	bpf_object__for_each_map(map, object) {
		if (!is_pinned(p, map))
			continue;
		pin_path(p, PENDING, map_name(map), from);
		pin_path(p, "", map_name(map), to);
		if (rename(from, to) && errno != ENOENT)
			return pin_say_error(p->name, "a map cannot be renamed", errno);
	}
	return true;
}

/* Removes maps of another kind of program (that of --events): they would be out of date when it returns. */
static void remove_unused(const struct pin *p, const struct bpf_object *object)
{
	DIR *all = opendir(p->directory);
	char path[PATH_MAX];
	struct dirent *e;

	while (all && (e = readdir(all))) {
		if (e->d_name[0] == '.' || pin_is_link(e->d_name) || !strcmp(e->d_name, "state") ||
		    !strcmp(e->d_name, LAYOUTS) || is_of(p, object, e->d_name))
			continue;
		pin_path(p, "", e->d_name, path);
		unlink(path);
	}
	if (all)
		closedir(all);
}

/* Prints ", " before all words but the first. */
static void say_word(FILE *out, bool *any, const char *words)
{
	fprintf(out, "%s%s", *any ? ", " : "", words);
	*any = true;
}

static void say_kept(FILE *out, const struct pin *p)
{
	const struct carry *c = &p->carry;
	bool any = false;
	char words[96];

	snprintf(words, sizeof(words), c->begun ? "%u stream%s (the PSN sequence of %u begins anew)" : "%u stream%s", c->kept,
		 c->kept == 1 ? "" : "s", c->begun);
	if (c->totals.old < 0 || c->totals.move_count)
		say_word(out, &any, "totals");
	if (c->streams.old < 0)
		say_word(out, &any, "streams");
	else if (c->in_place && c->streams.move_count)
		say_word(out, &any, words);
	if (!any)
		say_word(out, &any, "nothing");
}

static void say_lost(FILE *out, const struct pin *p)
{
	const struct carry *c = &p->carry;
	bool any = false;
	char words[64];

	snprintf(words, sizeof(words), "%u stream%s (counted in the totals)", c->begun, c->begun == 1 ? "" : "s");
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(losses); i++) {
		if (!(p->lost >> i & 1))
			continue;
		fputs(any ? "" : "; lost: ", out);
		say_word(out, &any, !strcmp(losses[i].map, "streams") && c->begun ? words : losses[i].words);
	}
}

/* One line, in one write. */
static void say_changed(const struct pin *p)
{
	char *line = NULL;
	size_t length;
	FILE *out = open_memstream(&line, &length);

	if (!out)
		return;
	if (p->resized)
		fprintf(out, "rocescope: --pin %s: begun with --max-streams %u; kept: ", p->name, p->state->max_streams);
	else
		fprintf(out, "rocescope: --pin %s: begun by another build, which stores it otherwise; kept: ", p->name);
	say_kept(out, p);
	say_lost(out, p);
	if (!fclose(out))
		fprintf(stderr, "%s\n", line);
	free(line);
}

static void end_to_carry(struct pin *p)
{
	struct carry *c = &p->carry;

	if (!carry_end(c)) {
		pin_say_error(p->name, "what another build has counted cannot be carried over", errno);
		c->totals.move_count = c->streams.move_count = 0;
	}
	if (c->totals.old >= 0 && !c->totals.move_count)
		lose(p, "totals");
	if (c->streams.old >= 0 && (!c->streams.move_count || !c->in_place))
		lose(p, "streams");
}

bool pin_commit(struct pin *p, const struct bpf_object *object)
{
	bool carries = p->carry.totals.old >= 0 || p->carry.streams.old >= 0, good;

	if (!p->name || !p->resumed)
		return true;
	if (carries)
		end_to_carry(p);
	good = pin_layouts(p, object) && rename_pending(p, object);
	if (!good)
		return false;
	remove_unused(p, object);
	if (carries || p->lost)
		say_changed(p);
	p->state->version = PIN_VERSION;
	p->state->max_streams = p->max_streams;
	p->state->bucket_mask = p->bucket_mask;
	p->resized = false;
	carry_free(&p->carry);
	p->changed = false;
	return true;
}
