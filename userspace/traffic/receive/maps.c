// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "userspace/observe/live/pin.h"
#include "userspace/traffic/receive/maps.h"

#define SETUP "receive_setup"

/* Where the maps come from. */
struct maps_source {
	const struct bpf_object *object;
	const char *pin; /* if there is no object */
};

/* bpffs reserves names with dots (live/pin.c). 0 or a negative errno. */
static int find_path(const char *name, const char *map, char path[PATH_MAX])
{
	int length = snprintf(path, PATH_MAX, "%s/%s/%s", PIN_ROOT, name, map);

	if (length >= PATH_MAX)
		return -ENAMETOOLONG;
	for (char *c = path; *c; c++)
		if (*c == '.')
			*c = ':';
	return 0;
}

static int open_pinned(const char *name, const char *map)
{
	char path[PATH_MAX];
	int error = find_path(name, map, path);

	return error ?: bpf_obj_get(path);
}

/* A file descriptor that is the caller's; or a negative errno. */
static int open_map(const struct maps_source *s, const char *map)
{
	int fd = s->object ? bpf_object__find_map_fd_by_name(s->object, map) : open_pinned(s->pin, map);

	if (fd < 0 || !s->object)
		return fd;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

static size_t whole_pages(size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

static int check(int fd, enum bpf_map_type type, size_t value, __u32 *count)
{
	struct bpf_map_info info = { 0 };
	__u32 length = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &length))
		return -errno;
	if (info.type != type || info.value_size != value || info.key_size != sizeof(__u32))
		return -EPROTO;
	*count = info.max_entries;
	return 0;
}

/* Maps an array. *count: how many values it has. */
static int map_array(struct receive_maps *m, const struct maps_source *s, const char *map, size_t value, int protection,
		     const void **to, __u32 *count)
{
	int fd = open_map(s, map), error;
	void *memory;

	m->wrong = map;
	if (fd < 0)
		return fd;
	error = check(fd, BPF_MAP_TYPE_ARRAY, value, count);
	if (!error) {
		memory = mmap(NULL, whole_pages(value * *count), protection, MAP_SHARED, fd, 0);
		if (memory == MAP_FAILED)
			error = -errno;
		else
			*to = memory;
	}
	close(fd);
	return error;
}

static int open_regions(struct receive_maps *m, const struct maps_source *s)
{
	__u32 most;

	m->wrong = "regions";
	m->regions = open_map(s, m->wrong);
	return m->regions < 0 ? m->regions : check(m->regions, BPF_MAP_TYPE_HASH, sizeof(struct roce_region), &most);
}

static int map_all(struct receive_maps *m, const struct maps_source *s)
{
	__u32 one, chunks = 0, rings = 0;
	int error;

#define MAP(map, member, count, protection) \
	map_array(m, s, map, sizeof(*m->member), protection, (const void **)&m->member, count)
	error = MAP(SETUP, setup, &one, PROT_READ) ?:
		map_array(m, s, "memory", sizeof(struct receive_chunk), PROT_READ, (const void **)&m->memory, &chunks) ?:
		MAP("qps", qps, &m->qp_count, PROT_READ | PROT_WRITE) ?:
		MAP("rings", rings, &rings, PROT_READ) ?:
		MAP("receive_cpus", cpus, &m->cpu_count, PROT_READ) ?:
		MAP("generations", generations, &m->block_count, PROT_READ) ?:
		open_regions(m, s);
#undef MAP
	m->memory_bytes = (__u64)chunks * RECEIVE_CHUNK;
	if (!error && rings != m->cpu_count) {
		m->wrong = "rings";
		error = -EPROTO;
	}
	return error;
}

static int open_all(struct receive_maps *m, const struct maps_source *s)
{
	int error;

	*m = (struct receive_maps){ .regions = -1 };
	error = map_all(m, s);
	if (error) {
		const char *wrong = m->wrong;

		receive_maps_close(m);
		m->wrong = wrong;
	}
	return error;
}

int receive_maps_of_object(struct receive_maps *m, const struct bpf_object *object)
{
	return open_all(m, &(struct maps_source){ .object = object });
}

int receive_maps_of_pin(struct receive_maps *m, const char *name)
{
	int error = open_all(m, &(struct maps_source){ .pin = name });

	if (error || m->setup->layout == RECEIVE_LAYOUT)
		return error;
	receive_maps_close(m);
	m->wrong = SETUP;
	return -EPROTO;
}

int receive_maps_pinned(const char *name, __u64 *id)
{
	char path[PATH_MAX];
	int error = find_path(name, SETUP, path);
	struct stat info;

	if (error)
		return error;
	if (stat(path, &info))
		return -errno;
	*id = info.st_ino;
	return 0;
}

static void unmap(const void *memory, size_t bytes)
{
	if (memory)
		munmap((void *)memory, whole_pages(bytes));
}

void receive_maps_close(struct receive_maps *m)
{
	unmap(m->setup, sizeof(*m->setup));
	unmap(m->memory, m->memory_bytes);
	unmap(m->qps, m->qp_count * sizeof(*m->qps));
	unmap(m->rings, m->cpu_count * sizeof(*m->rings));
	unmap(m->cpus, m->cpu_count * sizeof(*m->cpus));
	unmap(m->generations, m->block_count * sizeof(*m->generations));
	if (m->regions >= 0)
		close(m->regions);
	*m = (struct receive_maps){ .regions = -1 };
}

int receive_maps_regions(const struct receive_maps *m, struct roce_region *region, __u32 most)
{
	struct roce_region each;
	__u32 rkey, *last = NULL;
	int count = 0;

	while (!bpf_map_get_next_key(m->regions, last, &rkey)) {
		last = &rkey;
		if (bpf_map_lookup_elem(m->regions, &rkey, &each))
			continue; /* it was removed meanwhile */
		if (each.index >= most)
			return -E2BIG;
		region[each.index] = each;
		count++;
	}
	return errno == ENOENT ? count : -errno;
}
