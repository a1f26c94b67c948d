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

#include "lib/cause.h"
#include "lib/complain.h"
#include "lib/shell.h"
#include "userspace/observe/live/clsact.h"
#include "userspace/observe/live/maps.h"
#include "userspace/observe/live/pin.h"

static bool say(const char *name, const char *words)
{
	return complain("--pin %s: %s", name, words);
}

bool pin_say_error(const char *name, const char *what, int error)
{
	return complain("--pin %s: %s: %s", name, what, cause(error).text);
}

/* ---- files ---- */

/* bpffs reserves names with dots. No interface name contains a colon. */
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

void pin_path(const struct pin *p, const char *prefix, const char *name, char path[PATH_MAX])
{
	join(path, p->directory, prefix, name);
}

bool pin_is_link(const char *file)
{
	return !strncmp(file, "xdp-", 4) || !strncmp(file, "egress-", 7);
}

void pin_release(const char *path)
{
	int link = bpf_obj_get(path);

	if (link >= 0) {
		bpf_link_detach(link); /* the kernel would do it later on its own */
		close(link);
	}
	unlink(path);
}

/* Removes links first: nothing counts afterwards. */
static void remove_files(const struct pin *p, bool links)
{
	DIR *all = opendir(p->directory);
	char path[PATH_MAX];
	struct dirent *e;

	while (all && (e = readdir(all))) {
		if (e->d_name[0] == '.' || pin_is_link(e->d_name) != links)
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

/* Before Linux 6.6 egress uses a filter instead of a link. */
static void remove_filter(const struct pin_interface *known)
{
	if (known->filter && if_nametoindex(known->name) == known->ifindex)
		clsact_remove(known->ifindex, known->qdisc);
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

/* The name of the state's map in 0.1.0, which does not say the command. */
#define OLD_STATE "state"

/* The command of 0.1.0 that began it: of the kind whose maps are there. */
static const char *old_command(const struct pin *p)
{
	const struct program_kind *const *k = program_kinds;
	char path[PATH_MAX];

	for (; *k && (*k)->needed; k++) {
		pin_path(p, "", (*k)->needed[0], path);
		if (!access(path, F_OK))
			break;
	}
	return *k ? (*k)->command : "";
}

/* Which command began it, by the name of its state's map. */
static void find_command(struct pin *p, const char *name)
{
	snprintf(p->by, sizeof(p->by), "%s", strcmp(name, OLD_STATE) ? name : old_command(p));
}

static struct pin_state *map_state(int map)
{
	void *state = mmap(NULL, sizeof(struct pin_state), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);

	return state == MAP_FAILED ? NULL : state;
}

/* -1: there is no room. */
static int create_state(const char *command)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, command, sizeof(__u32), sizeof(struct pin_state), 1, &options);
}

static bool differs_in_room(__u32 bytes)
{
	__u32 head = offsetof(struct pin_state, interface);

	return bytes != sizeof(struct pin_state) && bytes > head && !((bytes - head) % sizeof(struct pin_interface));
}

/*
 * A build with room for more or fewer interfaces made the state: it moves into a map with room for ours. 0 or an errno. *map: the new
 * one. An interface for which there is no room is one that was not watched before.
 */
static int move_state(const struct pin *p, int *map, __u32 bytes, const char *path)
{
	char *state = calloc(1, bytes + sizeof(struct pin_state)), next[PATH_MAX];
	int moved = create_state(p->by), error = 0;
	__u32 zero = 0;

	pin_path(p, "+", "state", next);
	unlink(next);
	if (!state || moved < 0 || bpf_map_lookup_elem(*map, &zero, state) ||
	    bpf_map_update_elem(moved, &zero, state, BPF_ANY) || bpf_obj_pin(moved, next) || rename(next, path))
		error = errno;
	free(state);
	if (moved >= 0)
		close(error ? moved : *map);
	if (!error)
		*map = moved;
	return error;
}

/* The state's map, and which command began it. -1 with errno: there is none. */
static int open_map(struct pin *p, __u32 *bytes, char path[PATH_MAX])
{
	struct bpf_map_info info;
	int map, error;

	pin_path(p, "", "state", path);
	map = bpf_obj_get(path);
	if (map < 0)
		return -1;
	if (maps_info(map, &info)) {
		find_command(p, info.name);
		*bytes = info.value_size;
		return map;
	}
	error = errno;
	close(map);
	errno = error;
	return -1;
}

/* 0; ENOENT: no state; EPROTO: another build's; or an errno. */
static int open_state(struct pin *p)
{
	char path[PATH_MAX];
	__u32 bytes;
	int map = open_map(p, &bytes, path), error = 0;

	if (map < 0)
		return errno;
	if (differs_in_room(bytes))
		error = move_state(p, &map, bytes, path);
	else if (bytes != sizeof(struct pin_state))
		error = EPROTO;
	if (!error && !(p->state = map_state(map)))
		error = errno;
	close(map);
	return error ?: p->state->version == PIN_VERSION ? 0 : EPROTO;
}

static void forget_state(struct pin *p)
{
	if (p->state)
		munmap(p->state, sizeof(*p->state));
	p->state = NULL;
}

static bool is_anothers(const struct pin *p)
{
	return *p->by && strcmp(p->by, p->kind->command);
}

/* It stays. */
static bool leave_to_another(struct pin *p)
{
	p->keep = true;
	return complain("--pin %s: `rocescope %s` began it, and `rocescope %s IFACE --pin %s` goes on with it: take another "
			"name", p->name, p->by, p->by, shell_word(p->name).text);
}

/* A state that cannot be read is replaced, because a service that does not start would count nothing. */
static bool find_state(struct pin *p)
{
	int error = open_state(p);

	if (is_anothers(p))
		return leave_to_another(p);
	p->resumed = p->keep = error != ENOENT && error != EPROTO;
	if (error == EPROTO) {
		say(p->name, "begun by a build that this one knows nothing of: all it has counted is lost");
		forget_state(p);
	}
	return !error || !p->resumed || pin_say_error(p->name, "cannot be read", error);
}

/* The state's map, which is pinned last; -1 on failure. */
static int make_state(struct pin *p, const struct monitor_settings *s)
{
	int map = create_state(p->kind->command);

	p->state = map < 0 ? NULL : map_state(map);
	if (!p->state) {
		pin_say_error(p->name, "no room for its state", errno);
		if (map >= 0)
			close(map);
		return -1;
	}
	*p->state = (struct pin_state){ .version = PIN_VERSION, .hash_seed = s->hash_seed, .max_streams = s->max_streams,
					.bucket_mask = s->bucket_mask };
	return map;
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
	return pin_say_error(p->name, "cannot make its directory in " PIN_ROOT, errno);
}

/* 0 or an errno. EWOULDBLOCK: another agent uses the directory. */
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

static void name_it(struct pin *p, const struct program_kind *kind, const char *name)
{
	*p = (struct pin){ .name = name, .kind = kind, .lock = -1, .carry = CARRY_NONE };
	if (name)
		join(p->directory, PIN_ROOT, "", name);
}

bool pin_open(struct pin *p, const struct program_kind *kind, const char *name)
{
	int error;

	name_it(p, kind, name);
	if (!name)
		return true;
	if (!make_directory(p))
		return false;
	error = lock_directory(p);
	if (error == EWOULDBLOCK)
		return say(name, "another rocescope is at work on it: end that one first, or take another name");
	if (error)
		return pin_say_error(name, "its directory cannot be opened", error);
	if (!find_state(p))
		return false;
	if (p->resumed) {
		pin_drop_pending(p);
	} else { /* leftovers of a failed start */
		remove_files(p, true);
		remove_files(p, false);
	}
	return true;
}

/* ---- maps ---- */

bool pin_resume(struct pin *p, struct bpf_object *object, struct monitor_settings *s)
{
	if (!p->resumed)
		return true;
	p->resized = s->max_streams != p->state->max_streams;
	s->hash_seed = p->state->hash_seed;
	p->max_streams = s->max_streams;
	return pin_resume_maps(p, object, s);
}

bool pin_maps(struct pin *p, const struct bpf_object *object, const struct monitor_settings *s)
{
	char path[PATH_MAX];
	int state = -1;
	bool good;

	if (!p->name)
		return true;
	if (!p->resumed) {
		state = make_state(p, s);
		if (state < 0)
			return false;
	}
	p->state->agent = getpid();
	good = pin_new_maps(p, object);
	if (p->resumed)
		return good;
	pin_path(p, "", "state", path);
	if (good && bpf_obj_pin(state, path))
		good = pin_say_error(p->name, "cannot be pinned", errno);
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

/* As is_among(), for the name in a link's file. */
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

/* Frees entries, because the state has room for a limited number of names. */
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
		if (!pin_is_link(e->d_name) || is_link_among(e->d_name, names, count))
			continue;
		join(path, p->directory, "", e->d_name);
		pin_release(path);
	}
	if (all)
		closedir(all);
	forget_others(p, names, count);
}

void pin_rename(const struct pin *p, const char *from, const char *to)
{
	static const char *const kinds[] = { "xdp", "egress" };
	char old[PATH_MAX], now[PATH_MAX];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		pin_link_path(p, kinds[i], from, old);
		pin_link_path(p, kinds[i], to, now);
		renameat2(AT_FDCWD, old, AT_FDCWD, now, RENAME_NOREPLACE);
	}
	for (int i = 0; p->state && i < INTERFACES_MOST; i++)
		if (!strcmp(p->state->interface[i].name, from))
			snprintf(p->state->interface[i].name, IF_NAMESIZE, "%s", to);
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
	forget_state(p);
	carry_free(&p->carry);
	free(p->layouts);
	for (int i = 0; i < PIN_OWN; i++)
		free(p->own[i]);
	if (p->lock >= 0)
		close(p->lock);
	name_it(p, NULL, NULL);
}

bool pin_begun_by(const char *name, char command[PIN_COMMAND])
{
	char path[PATH_MAX];
	struct pin p;
	__u32 bytes;
	int map;

	name_it(&p, NULL, name);
	map = open_map(&p, &bytes, path);
	if (map >= 0)
		close(map);
	strcpy(command, p.by);
	return *command;
}

bool pin_is_of(const char *name, const struct program_kind *kind)
{
	char by[PIN_COMMAND];

	return pin_begun_by(name, by) && !strcmp(by, kind->command);
}

/* false: it is another command's, which is reported. */
static bool may_remove(const char *command, const char *name)
{
	char by[PIN_COMMAND];

	if (!pin_begun_by(name, by) || !strcmp(by, command))
		return true;
	return complain("%s --unpin %s: `rocescope %s` began it: `rocescope %s --unpin %s` ends it", command, name, by, by,
			shell_word(name).text);
}

bool pin_remove(const struct program_kind *kind, const char *name)
{
	struct pin p;
	int error;

	if (!may_remove(kind->command, name))
		return false;
	name_it(&p, kind, name);
	error = lock_directory(&p);
	if (!error)
		open_state(&p);
	else
		complain("%s --unpin %s: %s", kind->command, name,
			 error == ENOENT ? "nothing of that name is pinned (`ls " PIN_ROOT "` lists what there is)" :
			 error == EWOULDBLOCK ? "a rocescope is at work on it: end that one first" : cause(error).text);
	pin_close(&p);
	return !error;
}
