// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The packets that the program of `rocescope receive` shows. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/clock.h"
#include "userspace/observe/live/sniff.h"

#define SHOWN_FOR (3 * NSEC_PER_SEC) /* the receiver shows packets so long after the last look */
#define MAPS 64 /* most maps of a program */

struct maps {
	int setup, regions, showing, shown; /* file descriptors; -1: the program has no such map */
};

static void close_maps(const struct maps *m)
{
	const int each[] = { m->setup, m->regions, m->showing, m->shown };

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(each); i++)
		if (each[i] >= 0)
			close(each[i]);
}

/* Takes the descriptor if it is one of the maps. */
static bool take_map(struct maps *m, int fd)
{
	struct bpf_map_info info = { 0 };
	__u32 length = sizeof(info);
	const struct {
		const char *name;
		size_t value;
		int *to;
	} wanted[] = {
		{ "receive_setup", sizeof(struct receive_settings), &m->setup },
		{ "regions", sizeof(struct roce_region), &m->regions },
		{ "receive_showing", sizeof(struct receive_showing), &m->showing },
		{ "receive_shown", 0, &m->shown },
	};

	if (bpf_obj_get_info_by_fd(fd, &info, &length))
		return false;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(wanted); i++)
		if (!strcmp(info.name, wanted[i].name) && info.value_size == wanted[i].value && *wanted[i].to < 0) {
			*wanted[i].to = fd;
			return true;
		}
	return false;
}

/* The maps of a loaded program. 0 or a negative errno. */
static int find_maps(__u32 program, struct maps *m)
{
	__u32 ids[MAPS], length = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = { .nr_map_ids = MAPS, .map_ids = (__u64)(unsigned long)ids };
	int fd = bpf_prog_get_fd_by_id(program);

	*m = (struct maps){ -1, -1, -1, -1 };
	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &length))
		info.nr_map_ids = 0;
	close(fd);
	for (__u32 i = 0; i < info.nr_map_ids && i < MAPS; i++) {
		int map = bpf_map_get_fd_by_id(ids[i]);

		if (map >= 0 && !take_map(m, map))
			close(map);
	}
	return 0;
}

static void take_regions(struct sniffer_receiver *r, int map)
{
	__u32 rkey, *last = NULL;

	r->region = calloc(RECEIVE_REGIONS, sizeof(*r->region));
	while (r->region && r->regions < RECEIVE_REGIONS && !bpf_map_get_next_key(map, last, &rkey)) {
		last = &rkey;
		r->regions += !bpf_map_lookup_elem(map, &rkey, &r->region[r->regions]);
	}
}

static int on_shown(void *context, void *data, size_t size)
{
	struct sniffer *s = context;
	struct sniffed *f = &s->frames[s->read];
	struct receive_shown *shown = &f->of_receiver;

	if (size < sizeof(*shown) || ((struct receive_shown *)data)->layout != RECEIVE_LAYOUT)
		return 0;
	memcpy(shown, data, sizeof(*shown));
	f->frame = (struct observer_frame){ .bytes = shown->byte, .wire = shown->length,
					    .captured = shown->captured < RECEIVE_SHOWN_BYTES ? shown->captured : RECEIVE_SHOWN_BYTES };
	f->time = shown->time + s->realtime_offset;
	f->shown = shown;
	return ++s->read < SNIFFED_MOST ? 0 : -ECANCELED;
}

void sniffer_receiver_close(struct sniffer *s)
{
	struct sniffer_receiver *r = &s->receiver;

	if (r->showing) {
		r->showing->until = 0;
		s->missed += r->showing->lost;
		munmap(r->showing, sysconf(_SC_PAGESIZE));
	}
	ring_buffer__free(r->ring);
	free(r->region);
	*r = (struct sniffer_receiver){ 0 };
}

/* A program of `rocescope receive`. */
static void open_receiver(struct sniffer *s, __u32 program, const struct maps *m)
{
	struct sniffer_receiver *r = &s->receiver;
	__u32 zero = 0;
	void *showing;

	if (bpf_map_lookup_elem(m->setup, &zero, &r->setup) || r->setup.layout != RECEIVE_LAYOUT || m->showing < 0 || m->shown < 0) {
		snprintf(s->why, sizeof(s->why), "another build of rocescope receives here, and does not show its packets");
		return;
	}
	showing = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, m->showing, 0);
	if (showing == MAP_FAILED)
		return;
	if (((struct receive_showing *)showing)->until > now_ns()) {
		snprintf(s->why, sizeof(s->why), "another `rocescope doctor` is shown the packets of the receiver");
		munmap(showing, sysconf(_SC_PAGESIZE));
		return;
	}
	r->program = program;
	r->showing = showing;
	r->showing->lost = 0;
	r->ring = ring_buffer__new(m->shown, on_shown, s, NULL);
	take_regions(r, m->regions);
}

void sniffer_receiver_check(struct sniffer *s)
{
	__u32 program = 0;
	struct maps m;
	int error;

	bpf_xdp_query_id(if_nametoindex(s->interfaces[0]), 0, &program);
	if (s->receiver.program != program)
		sniffer_receiver_close(s);
	if (program && !s->receiver.program) {
		error = find_maps(program, &m);
		if (error)
			snprintf(s->why, sizeof(s->why), "the XDP program on it cannot be looked at: %s", strerror(-error));
		else if (m.setup >= 0)
			open_receiver(s, program, &m);
		else
			snprintf(s->why, sizeof(s->why), "an XDP program (id %u) may take packets, which are then not seen", program);
		close_maps(&m);
	}
	if (s->receiver.showing)
		*(volatile __u64 *)&s->receiver.showing->until = now_ns() + SHOWN_FOR;
}

void sniffer_receiver_read(struct sniffer *s)
{
	ring_buffer__consume(s->receiver.ring);
}
