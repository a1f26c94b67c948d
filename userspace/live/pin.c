// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "userspace/live/attach.h"
#include "userspace/live/layout.h"
#include "userspace/live/pin.h"

static bool say(const char *name, const char *words)
{
	fprintf(stderr, "rocescope: --pin %s: %s\n", name, words);
	return false;
}

static bool say_error(const char *name, const char *what, int error)
{
	fprintf(stderr, "rocescope: --pin %s: %s: %s\n", name, what, strerror(error));
	return false;
}

static bool say_other_layout(const char *name)
{
	fprintf(stderr, "rocescope: --pin %s: what is pinned there was counted by another build of rocescope, which stores it "
		"otherwise: read it with that one, or begin anew after `rocescope monitor --unpin %s`\n", name, name);
	return false;
}

/* ---- files ---- */

/* bpffs keeps names with dots for itself, and no interface has a colon. */
static void join(char path[PATH_MAX], const char *folder, const char *kind, const char *name)
{
	size_t length = snprintf(path, PATH_MAX, "%s/", folder);

	snprintf(path + length, PATH_MAX - length, "%s%s", kind, name);
	for (char *c = path + length; *c; c++)
		if (*c == '.')
			*c = ':';
}

void pin_link_path(const struct pin *p, const char *kind, const char *interface, char path[PATH_MAX])
{
	char prefix[PIN_WORD];

	snprintf(prefix, sizeof(prefix), "%s-", kind);
	join(path, p->directory, prefix, interface);
}

static void map_path(const struct pin *p, const char *name, char path[PATH_MAX])
{
	join(path, p->directory, "", name);
}

/* Of the data of a program, "monitor_.data", what stands behind the dot: the name of another program is another. */
static const char *map_name(const struct bpf_map *map)
{
	const char *name = bpf_map__name(map), *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* Read-only data is not: each program's settings are its own. */
static bool is_pinned(const struct bpf_map *map)
{
	return !(bpf_map__map_flags(map) & BPF_F_RDONLY_PROG);
}

static bool is_link(const char *file)
{
	return !strncmp(file, "xdp-", 4) || !strncmp(file, "egress-", 7);
}

void pin_release(const char *path)
{
	int link = bpf_obj_get(path);

	if (link >= 0) {
		bpf_link_detach(link); /* by itself the kernel would do it when it has time */
		close(link);
	}
	unlink(path);
}

/* Links first: from then on nothing counts. */
static void remove_files(const struct pin *p, bool links)
{
	DIR *all = opendir(p->directory);
	char path[PATH_MAX];
	struct dirent *e;

	while (all && (e = readdir(all))) {
		if (e->d_name[0] == '.' || is_link(e->d_name) != links)
			continue;
		join(path, p->directory, "", e->d_name);
		if (links)
			pin_release(path);
		else
			unlink(path);
	}
	if (all)
		closedir(all);
}

/* Before Linux 6.6 egress is no link but a filter. */
static void remove_filter(const struct pin_interface *known)
{
	if (known->filter && if_nametoindex(known->name) == known->ifindex)
		attach_remove_filter(known->ifindex, known->qdisc);
}

static void remove_filters(const struct pin *p)
{
	for (int i = 0; p->state && i < INTERFACES_MOST; i++)
		remove_filter(&p->state->interface[i]);
}

static void remove_all(const struct pin *p)
{
	remove_files(p, true);
	remove_filters(p);
	remove_files(p, false);
	rmdir(p->directory);
}

/* ---- the state ---- */

static struct pin_state *map_state(int map)
{
	void *state = mmap(NULL, sizeof(struct pin_state), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);

	return state == MAP_FAILED ? NULL : state;
}

/* 0, ENOENT: there is none, EPROTO: it is another build's, or an errno. */
static int open_state(struct pin *p)
{
	struct bpf_map_info info = { 0 };
	__u32 length = sizeof(info);
	char path[PATH_MAX];
	int map, error = 0;

	map_path(p, "state", path);
	map = bpf_obj_get(path);
	if (map < 0)
		return errno;
	if (bpf_obj_get_info_by_fd(map, &info, &length))
		error = errno;
	else if (info.value_size != sizeof(struct pin_state))
		error = EPROTO;
	else if (!(p->state = map_state(map)))
		error = errno;
	close(map);
	return error ?: p->state->version == PIN_VERSION ? 0 : EPROTO;
}

static bool find_state(struct pin *p)
{
	int error = open_state(p);

	p->resumed = p->keep = error != ENOENT;
	if (!error || error == ENOENT)
		return true;
	return error == EPROTO ? say_other_layout(p->name) : say_error(p->name, "cannot be read", error);
}

/* The map, which is pinned last; -1. */
static int make_state(struct pin *p, const struct monitor_settings *s)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "state", sizeof(__u32), sizeof(struct pin_state), 1, &options);

	p->state = map < 0 ? NULL : map_state(map);
	if (!p->state) {
		say_error(p->name, "no room for its state", errno);
		if (map >= 0)
			close(map);
		return -1;
	}
	*p->state = (struct pin_state){ .version = PIN_VERSION, .hash_seed = s->hash_seed, .max_streams = s->max_streams,
					.bucket_mask = s->bucket_mask };
	return map;
}

/* Entry for a map, made where there is none. */
static struct pin_map *known_map(struct pin_state *state, const char *name)
{
	for (int i = 0; i < PIN_MAPS; i++) {
		struct pin_map *m = &state->map[i];

		if (!m->name[0])
			snprintf(m->name, sizeof(m->name), "%s", name);
		if (!strcmp(m->name, name))
			return m;
	}
	return NULL;
}

struct pin_interface *pin_interface(struct pin *p, const char *name)
{
	struct pin_interface *unused = NULL;

	for (int i = 0; p->state && i < INTERFACES_MOST; i++) {
		struct pin_interface *known = &p->state->interface[i];

		if (!strcmp(known->name, name))
			return known;
		if (!unused && !known->name[0])
			unused = known;
	}
	if (unused)
		snprintf(unused->name, sizeof(unused->name), "%s", name);
	return unused;
}

/* ---- the directory ---- */

static bool is_bpffs(const char *path)
{
	struct statfs info;

	return !statfs(path, &info) && info.f_type == BPF_FS_MAGIC;
}

static bool make_directory(const struct pin *p)
{
	bool made = !mkdir(PIN_ROOT, 0755) || errno == EEXIST;

	if (made && is_bpffs(PIN_ROOT) && (!mkdir(p->directory, 0700) || errno == EEXIST))
		return true;
	if (errno == EACCES)
		return say(p->name, "no permission in " PIN_ROOT ": as root, or it has to be a directory of this user's "
				    "(docs/service.md)");
	if (made ? !is_bpffs(PIN_ROOT) : !is_bpffs("/sys/fs/bpf"))
		return say(p->name, "no bpffs at /sys/fs/bpf: `mount -t bpf bpf /sys/fs/bpf`");
	return say_error(p->name, "cannot make its directory in " PIN_ROOT, errno);
}

/* 0, or an errno; EWOULDBLOCK: an agent is at work on it. */
static int lock_directory(struct pin *p)
{
	int error = 0;

	p->lock = open(p->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->lock < 0)
		return errno;
	if (flock(p->lock, LOCK_EX | LOCK_NB)) {
		error = errno;
		close(p->lock);
		p->lock = -1;
	}
	return error;
}

static void name_it(struct pin *p, const char *name)
{
	*p = (struct pin){ .name = name, .lock = -1 };
	if (name)
		join(p->directory, PIN_ROOT, "", name);
}

bool pin_open(struct pin *p, const char *name)
{
	int error;

	name_it(p, name);
	if (!name)
		return true;
	if (!make_directory(p))
		return false;
	error = lock_directory(p);
	if (error == EWOULDBLOCK)
		return say(name, "another rocescope monitor is at work on it: end that one first, or take another name");
	if (error)
		return say_error(name, "its directory cannot be opened", error);
	if (!find_state(p))
		return false;
	if (!p->resumed) { /* what there may be is a beginning that failed */
		remove_files(p, true);
		remove_files(p, false);
	}
	return true;
}

/* ---- maps ---- */

static bool reuse(struct pin *p, const struct bpf_object *object, struct bpf_map *map)
{
	const struct pin_map *known = known_map(p->state, map_name(map));
	struct bpf_map_info info = { 0 };
	__u32 length = sizeof(info);
	char path[PATH_MAX];
	int fd, error;

	map_path(p, map_name(map), path);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return errno == ENOENT || say_error(p->name, "a map cannot be opened", errno);
	if (!known || known->layout != layout_of_map(object, map)) {
		close(fd);
		return say_other_layout(p->name);
	}
	error = bpf_obj_get_info_by_fd(fd, &info, &length) ? errno : 0;
	/* of other size by this run's options: made anew, and what was in it forgotten; never so with what is counted */
	if (!error && info.max_entries == bpf_map__max_entries(map))
		error = -bpf_map__reuse_fd(map, fd);
	close(fd);
	return !error || say_error(p->name, "a map cannot be used again", error);
}

bool pin_resume(struct pin *p, struct bpf_object *object, struct monitor_settings *s)
{
	struct bpf_map *map;

	if (!p->resumed)
		return true;
	if (s->max_streams != p->state->max_streams) {
		fprintf(stderr, "rocescope: --pin %s: begun with --max-streams %u: the same again, or begin anew after "
			"`rocescope monitor --unpin %s`\n", p->name, p->state->max_streams, p->name);
		return false;
	}
	s->hash_seed = p->state->hash_seed;
	s->bucket_mask = p->state->bucket_mask;
	bpf_object__for_each_map(map, object)
		if (is_pinned(map) && !reuse(p, object, map))
			return false;
	return true;
}

static bool is_same(int map, const char *path)
{
	struct bpf_map_info a = { 0 }, b = { 0 };
	__u32 length = sizeof(a);
	int pinned = bpf_obj_get(path);
	bool same = pinned >= 0 && !bpf_obj_get_info_by_fd(map, &a, &length) &&
		    !bpf_obj_get_info_by_fd(pinned, &b, &length) && a.id == b.id;

	if (pinned >= 0)
		close(pinned);
	return same;
}

static bool pin_map(struct pin *p, const struct bpf_object *object, const struct bpf_map *map)
{
	struct pin_map *known = known_map(p->state, map_name(map));
	char path[PATH_MAX];

	map_path(p, map_name(map), path);
	if (is_same(bpf_map__fd(map), path))
		return true;
	unlink(path);
	if (!known)
		return say(p->name, "too many maps");
	known->layout = layout_of_map(object, map);
	return !bpf_obj_pin(bpf_map__fd(map), path) || say_error(p->name, "a map cannot be pinned", errno);
}

static bool is_of(const struct bpf_object *object, const char *file)
{
	const struct bpf_map *map;

	bpf_object__for_each_map(map, object)
		if (is_pinned(map) && !strcmp(map_name(map), file))
			return true;
	return false;
}

/* What another kind of program had (that of --events) would be out of date when it is there again. */
static void remove_unused_maps(const struct pin *p, const struct bpf_object *object)
{
	for (int i = 0; i < PIN_MAPS && p->state->map[i].name[0]; i++) {
		char path[PATH_MAX];

		map_path(p, p->state->map[i].name, path);
		if (!is_of(object, p->state->map[i].name))
			unlink(path);
	}
}

bool pin_maps(struct pin *p, const struct bpf_object *object, const struct monitor_settings *s)
{
	const struct bpf_map *map;
	char path[PATH_MAX];
	int state = -1;
	bool good = true;

	if (!p->name)
		return true;
	if (!p->resumed) {
		state = make_state(p, s);
		if (state < 0)
			return false;
	}
	bpf_object__for_each_map(map, object)
		good = good && (!is_pinned(map) || pin_map(p, object, map));
	p->state->agent = getpid();
	if (p->resumed) {
		remove_unused_maps(p, object);
		return good;
	}
	map_path(p, "state", path);
	if (good && bpf_obj_pin(state, path))
		good = say_error(p->name, "cannot be pinned", errno);
	close(state);
	return good;
}

__u64 pin_since(struct pin *p, __u64 now)
{
	p->keep = true;
	if (p->state && !p->state->start)
		p->state->start = now;
	return p->state ? p->state->start : now;
}

/* ---- links ---- */

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* The same of the name that a link has. */
static bool is_link_among(const char *file, const char *const *names, size_t count)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < count; i++) {
		join(path, "", "", names[i]);
		if (!strcmp(strchr(file, '-') + 1, path + 1))
			return true;
	}
	return false;
}

/* There is room for so many names only. */
static void forget_others(const struct pin *p, const char *const *names, size_t count)
{
	for (int i = 0; p->state && i < INTERFACES_MOST; i++) {
		struct pin_interface *known = &p->state->interface[i];

		if (!known->name[0] || is_among(known->name, names, count))
			continue;
		remove_filter(known);
		*known = (struct pin_interface){ 0 };
	}
}

void pin_release_others(const struct pin *p, const char *const *names, size_t count)
{
	DIR *all = p->name ? opendir(p->directory) : NULL;
	char path[PATH_MAX];
	struct dirent *e;

	while (all && (e = readdir(all))) {
		if (!is_link(e->d_name) || is_link_among(e->d_name, names, count))
			continue;
		join(path, p->directory, "", e->d_name);
		pin_release(path);
	}
	if (all)
		closedir(all);
	forget_others(p, names, count);
}

bool pin_find(const char *interface, char name[NAME_MAX + 1])
{
	char pattern[PATH_MAX];
	glob_t found;
	bool any;

	join(pattern, PIN_ROOT "/*", "xdp-", interface);
	any = !glob(pattern, GLOB_NOSORT, NULL, &found);
	if (any)
		sscanf(found.gl_pathv[0], PIN_ROOT "/%255[^/]", name);
	globfree(&found);
	return any;
}

/* ---- the end ---- */

void pin_close(struct pin *p)
{
	if (p->name && p->lock >= 0 && !p->keep)
		remove_all(p);
	if (p->state)
		munmap(p->state, sizeof(*p->state));
	if (p->lock >= 0)
		close(p->lock);
	name_it(p, NULL);
}

bool pin_remove(const char *name)
{
	struct pin p;
	int error;

	name_it(&p, name);
	error = lock_directory(&p);
	if (!error)
		open_state(&p);
	else
		fprintf(stderr, "rocescope: --unpin %s: %s\n", name,
			error == ENOENT ? "nothing of that name is pinned (`ls " PIN_ROOT "` lists what there is)" :
			error == EWOULDBLOCK ? "a rocescope monitor is at work on it: end that one first" : strerror(error));
	pin_close(&p);
	return !error;
}
