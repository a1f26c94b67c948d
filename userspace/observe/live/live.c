// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/membarrier.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/shell.h"
#include "roce/icrc/fold.h"
#include "roce/sequence/block.h"
#include "userspace/observe/live/kernel.h"
#include "userspace/observe/live/live.h"
#include "userspace/observe/live/maps.h"

static bool verbose;

static int print_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return verbose && level != LIBBPF_DEBUG ? vfprintf(stderr, format, arguments) : 0;
}

static int print_libxdp(enum libxdp_print_level level, const char *format, va_list arguments)
{
	return verbose && level != LIBXDP_DEBUG ? vfprintf(stderr, format, arguments) : 0;
}

static void set_verbose(bool wanted)
{
	verbose = wanted;
	libbpf_set_print(print_libbpf);
	libxdp_set_print(print_libxdp);
}

/* ---- the kernel's programs ---- */

void live_say_refused(int error, const char *kernel)
{
	char why[KERNEL_WHY];

	complain("%s", kernel_refused(why, error, kernel));
}

/* Selects the one XDP program that the kernel needs, because loading takes most of the startup time. */
static void choose_programs(struct live *l)
{
	const struct live_programs *p = &l->programs;
	const char *name;
	struct bpf_program *program;

	l->frags = kernel_has_frags();
	name = l->frags ? p->frags : p->plain;
	if (l->options->decap)
		name = p->decap;
	else if (!name)
		name = p->frags; /* the kernel reports whether it is too old, or loading is not permitted */
	bpf_object__for_each_program(program, p->object) {
		bool egress = p->egress && !strcmp(bpf_program__name(program), p->egress);

		if (!strcmp(bpf_program__name(program), name))
			l->xdp = program;
		bpf_program__set_autoload(program, program == l->xdp || (egress && l->options->both));
	}
}

static void set_entries(const struct live *l, const char *map, __u32 entries)
{
	bpf_map__set_max_entries(bpf_object__find_map_by_name(l->programs.object, map), entries);
}

/* Bytes of the large maps. */
static __u64 memory_needed(const struct live *l)
{
	const struct bpf_map *map;
	__u64 bytes = 0;

	bpf_object__for_each_map(map, l->programs.object)
		if (bpf_map__type(map) == BPF_MAP_TYPE_ARRAY && bpf_map__autocreate(map))
			bytes += (__u64)bpf_map__value_size(map) * bpf_map__max_entries(map);
	return bytes;
}

/* Memory of the machine. UINT64_MAX: unknown. */
static __u64 memory_available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	__u64 kilobytes = UINT64_MAX >> 10;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
			break;
	if (f)
		fclose(f);
	return kilobytes << 10;
}

/* Checks before loading, because the kernel would end other programs to get more memory. */
static bool has_memory(const struct live *l)
{
	__u64 needed = memory_needed(l), available = memory_available();
	const char *less = l->options->kind->less;

	if (needed <= available)
		return true;
	if (less)
		complain("it takes %.1f GB of memory, and %.1f GB are left: a smaller %s", needed / 1e9, available / 1e9, less);
	else
		complain("room for %u streams takes %.1f GB of memory, and %.1f GB are left: a smaller --max-streams",
			 l->options->settings.max_streams, needed / 1e9, available / 1e9);
	return false;
}

static bool has_dialogues(const struct live *l)
{
	return l->options->settings.dialogues && l->options->both;
}

/* The oldest kernel that takes the programs. */
static const char *oldest(const struct live *l)
{
	if (!l->programs.plain || l->options->decap)
		return "5.18";
	return l->options->both || l->options->once ? "5.17" : LIVE_OLDEST;
}

static bool load_programs(struct live *l)
{
	const struct live_programs *p = &l->programs;
	int error;

	*p->settings = l->options->settings;
	maps_complete_settings(p->settings, l->options->interval);
	fold_make_tables(p->tables);
	set_entries(l, "buckets", p->settings->bucket_mask + 1);
	set_entries(l, "streams", p->settings->max_streams);
	set_entries(l, "extras", p->settings->extras);
	set_entries(l, "totals", TOTALS_ENTRIES_FOR(libbpf_num_possible_cpus()));
	p->settings->dialogues = has_dialogues(l);
	p->settings->once = l->options->once;
	if (has_dialogues(l))
		set_entries(l, "dialogues", p->settings->max_streams);
	/* twice: this kind of map may evict before it is full */
	if (l->expected.count * 2 > PAIRS_MAX)
		set_entries(l, "pairs", l->expected.count * 2);
	if (!l->pin.resumed && !has_memory(l))
		return false;
	if (!pin_resume(&l->pin, p->object, p->settings))
		return false;
	choose_programs(l);
	if (!kernel_is_supported()) {
		live_say_refused(EOPNOTSUPP, oldest(l));
		return false;
	}
	if (l->options->share) { /* loaded when the first interface has its dispatcher */
		l->share = share_new(p->object, l->xdp, l->frags);
		return l->share;
	}
	error = -bpf_object__load(p->object);
	if (error)
		live_say_refused(error, oldest(l));
	return !error && (!p->loaded || p->loaded(p->context, l)) && pin_maps(&l->pin, p->object, p->settings);
}

int live_map(const struct live *l, const char *name)
{
	return bpf_object__find_map_fd_by_name(l->programs.object, name);
}

/* Opens the kernel's messages about interfaces. Without them, changes are noticed at the next interval. */
static int open_links(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool find_all(struct live *l)
{
	for (; l->interface_count < l->options->interface_count; l->interface_count++) {
		struct attachment *a = &l->interface[l->interface_count];

		if (attach_find(a, l->options->interface[l->interface_count]))
			continue;
		if (!l->options->wait) {
			attach_say_missing(a);
			return false;
		}
		complain("%s: not there yet: waiting for it", a->name);
	}
	if (l->options->wait)
		l->links = open_links();
	return true;
}

static struct attach_programs loaded_programs(const struct live *l)
{
	const char *name = l->programs.egress;
	struct bpf_program *egress = name ? bpf_object__find_program_by_name(l->programs.object, name) : NULL;

	return (struct attach_programs){
		.xdp = l->xdp,
		.frags = l->frags,
		.egress = l->options->both ? egress : NULL,
		.share = l->share,
	};
}

/* ---- state of interfaces, kept for the next agent ---- */

static void recall(struct live *l, struct attachment *a)
{
	const struct pin_interface *known = pin_interface(&l->pin, a->name);

	a->pin = &l->pin;
	if (!known)
		return;
	a->missed = known->missed;
	if (known->ifindex != a->ifindex)
		return;
	a->missed_raw = known->missed_raw;
	a->missed_known = true;
	a->filter = known->filter;
	a->qdisc = known->qdisc;
}

static void remember(struct live *l)
{
	for (size_t i = 0; l->pin.state && i < l->interface_count; i++) {
		const struct attachment *a = &l->interface[i];
		struct pin_interface *known = pin_interface(&l->pin, a->name);

		if (!known)
			continue;
		known->ifindex = a->missed_known ? a->ifindex : 0;
		known->missed = a->missed;
		known->missed_raw = a->missed_raw;
		known->filter = a->filter;
		known->qdisc = a->qdisc;
	}
}

static bool attach_all(struct live *l)
{
	struct attach_programs programs = loaded_programs(l);

	for (size_t i = 0; i < l->interface_count; i++) {
		struct attachment *a = &l->interface[i];

		if (l->pin.name)
			recall(l, a);
		if (!a->gone && !attach(a, &programs, l->options->mode))
			return false;
		if (a->gone && l->pin.changed) /* in another namespace an old program may still count, into unread maps */
			attach_end(a, false);
		l->left += !a->gone;
	}
	pin_release_others(&l->pin, l->options->interface, l->interface_count);
	remember(l);
	return true;
}

static void detach_all(struct live *l)
{
	for (size_t i = 0; i < l->interface_count; i++)
		attach_end(&l->interface[i], l->pin.keep);
}

/* Adds the connections of --expect. */
static bool add_expected(const struct live *l)
{
	int pairs = live_map(l, "pairs"), flags = l->pin.resumed ? BPF_NOEXIST : BPF_ANY;

	for (size_t i = 0; i < l->expected.count; i++) {
		const struct expected_pair *e = &l->expected.entries[i];

		/* the first PSN of a known pair has passed already, and the pair may have been corrected since */
		if (!bpf_map_update_elem(pairs, &e->key, &e->pair, flags) || errno == EEXIST)
			continue;
		return complain("the kernel does not take what --expect says: %s", cause(errno).text);
	}
	return true;
}

/* With --share, maps exist only after the first interface has appeared. */
static bool is_loaded(const struct live *l)
{
	if (!l->left)
		complain("--share needs one of the interfaces to be there when it begins");
	return l->left;
}

static const char *mode_of(const struct live *l, size_t interface)
{
	const struct attachment *a = &l->interface[interface];

	return a->gone && l->options->wait ? "away" : a->mode;
}

/*
 * --ready: opened before the programs are attached, and closed at the end. The reader of a named pipe gets the line, or end of
 * file if the start fails. Opened for reading as well: so a pipe without a reader can be opened at once, and keeps the line.
 */
static bool open_ready(struct live *l)
{
	const char *path = l->options->ready;

	if (!path)
		return true;
	l->ready = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	if (l->ready < 0)
		complain("--ready %s: %s", path, cause(errno).text);
	return l->ready >= 0;
}

static bool write_ready(const struct live *l, const char *interfaces)
{
	if (l->ready < 0 || dprintf(l->ready, "watching %s\n", interfaces) > 0)
		return true;
	return complain("--ready %s: %s", l->options->ready, cause(errno).text);
}

/* One line in one write, because another program waits for it. */
static bool say_ready(const struct live *l)
{
	char line[INTERFACES_MOST * 64];
	size_t length = 0;

	for (size_t i = 0; i < l->interface_count; i++)
		length += snprintf(line + length, sizeof(line) - length, "%s%s (%s, %s)", i ? ", " : "",
				   l->interface[i].name, mode_of(l, i), l->options->both ? "in+out" : "in");
	if (!l->pin.resumed)
		complain("watching %s", line);
	else
		complain("watching %s, where %s was left %.0f s after its start", line, l->pin.name,
			 (l->start - l->since) / 1e9);
	return write_ready(l, line);
}

void live_prepare(struct live *l, const struct live_options *o)
{
	*l = (struct live){ .options = o, .ready = -1, .links = -1, .pin = { .lock = -1, .carry = CARRY_NONE } };
	set_verbose(o->verbose);
	live_catch_signals(l);
}

int live_begin(struct live *l, const struct live_programs *p)
{
	int status = l->options->expect ? expect_read(l->options->expect, &l->expected) : EXIT_RAN;

	if (status)
		return status;
	l->programs = *p;
	if (!open_ready(l) || !find_all(l) || !pin_open(&l->pin, l->options->kind, l->options->pin) || !load_programs(l))
		return EXIT_COULD_NOT;
	if (l->share ? !attach_all(l) || !is_loaded(l) || !add_expected(l) : !add_expected(l) || !attach_all(l))
		return EXIT_COULD_NOT;
	if (!pin_commit(&l->pin, l->programs.object))
		return EXIT_COULD_NOT;
	l->start = now_ns();
	l->since = pin_since(&l->pin, l->start);
	return say_ready(l) ? EXIT_RAN : EXIT_COULD_NOT;
}

/* CAP_BPF and CAP_PERFMON are those of Linux 5.8. libxdp's dispatcher needs programs by their ids. */
void live_restrict(const struct live *l, unsigned int later)
{
	__u64 keep = 1ull << CAP_BPF | 1ull << CAP_PERFMON | 1ull << CAP_NET_ADMIN;

	if (l->share)
		keep |= 1ull << CAP_SYS_ADMIN;
	if (later & LIVE_PROBES) /* CAP_SYS_ADMIN: /proc/PID/map_files (before CAP_CHECKPOINT_RESTORE) */
		keep |= 1ull << CAP_SYS_PTRACE | 1ull << CAP_SYS_ADMIN | 1ull << CAP_DAC_OVERRIDE;
	if (later & LIVE_OWNERS)
		keep |= 1ull << CAP_SYS_PTRACE;
	if (later & LIVE_SNIFFS)
		keep |= 1ull << CAP_NET_RAW;
	if (later & LIVE_FILES || l->pin.name) /* --pin: its directory may be the service's user's (pin_open()) */
		keep |= 1ull << CAP_DAC_OVERRIDE;
	kernel_keep_capabilities(keep, !(later & LIVE_STARTS));
}

int live_clear(const struct live_options *o)
{
	struct attachment a;
	bool good = true;

	set_verbose(o->verbose);
	for (size_t i = 0; i < o->interface_count; i++) {
		if (attach_find(&a, o->interface[i])) {
			good &= attach_clear(&a);
			continue;
		}
		attach_say_missing(&a);
		good = false;
	}
	return good ? EXIT_RAN : EXIT_COULD_NOT;
}

/* ---- the run ---- */

int live_links(const struct live *l)
{
	return l->links;
}

/* Discards the messages; the interfaces are looked up instead. */
static void drain_links(const struct live *l)
{
	char message[1 << 15];

	while (l->links >= 0 && (recv(l->links, message, sizeof(message), 0) > 0 || errno == ENOBUFS))
		;
}

bool live_poll(struct live *l)
{
	drain_links(l);
	l->left = attach_poll(l->interface, l->interface_count);
	if (l->options->wait && l->left < l->interface_count) {
		struct attach_programs programs = loaded_programs(l);

		l->left += attach_returned(l->interface, l->interface_count, &programs, l->options->mode);
	}
	remember(l);
	if (l->left || l->options->wait)
		return true;
	return complain("no interface is left to watch");
}

/* Lists all interfaces, because one that is not named the next time is released. */
static void say_pinned(const struct live *l)
{
	struct shell_word name = shell_word(l->pin.name);
	const char *command = l->pin.kind->command;

	fprintf(stderr, "rocescope: %s goes on in the kernel: `rocescope %s", command, command);
	for (size_t i = 0; i < l->interface_count; i++)
		fprintf(stderr, " %s", shell_name(l->interface[i].name).text);
	fprintf(stderr, " --pin %s` goes on from here, `rocescope %s --unpin %s` ends it\n", name.text, command, name.text);
}

void live_detach(struct live *l)
{
	l->left = attach_poll(l->interface, l->interface_count);
	remember(l);
	if (l->pin.name)
		say_pinned(l);
	detach_all(l);
	/* A detached program may still be running and counting. membarrier() waits for an RCU grace period. */
	syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

void live_end(struct live *l)
{
	detach_all(l);
	share_free(l->share);
	l->share = NULL;
	pin_close(&l->pin);
	if (l->links >= 0)
		close(l->links);
	if (l->ready >= 0)
		close(l->ready);
	expect_free(&l->expected);
}

/* ---- snapshots ---- */

static bool fill_interfaces(const struct live *l, struct snapshot *s)
{
	s->interfaces = calloc(l->interface_count, sizeof(*s->interfaces));
	if (!s->interfaces)
		return false;
	for (size_t i = 0; i < l->interface_count; i++) {
		struct snapshot_interface *to = &s->interfaces[s->interface_count++];
		const struct attachment *from = &l->interface[i];

		memcpy(to->name, from->name, sizeof(from->name));
		to->mode = mode_of(l, i);
		to->direction = l->options->both ? "both" : "in";
		to->gone = from->gone;
		to->ring_missed = from->missed;
	}
	return true;
}

#define EVICTED(totals) ((totals).value[COUNTER_streams_evicted])
#define READ_TRIES 3

/*
 * Reads totals and streams consistently: an evicted stream's counts move from one to the other and must not be missed. If
 * streams are evicted all the time, some may be missing until the next snapshot: then *whole is false.
 */
static bool read_counters(const struct live *l, struct snapshot *s, bool *whole)
{
	int totals = live_map(l, "totals"), table = live_map(l, "table_states"), streams = live_map(l, "streams");
	int dialogues = has_dialogues(l) ? live_map(l, "dialogues") : -1;
	struct roce_totals after;

	*whole = false;
	for (int i = 0; i < READ_TRIES && !*whole; i++) {
		__u64 begin = now_ns(), end;

		s->totals = after = (struct roce_totals){ 0 };
		s->stream_count = 0;
		if (maps_read_totals(totals, &s->totals) || maps_read_streams(table, streams, dialogues, s))
			return false;
		end = now_ns();
		s->reading = (end - begin) / 1e9;
		s->seconds = (begin + (end - begin) / 2 - l->since) / 1e9;
		if (maps_read_totals(totals, &after))
			return false;
		*whole = EVICTED(s->totals) == EVICTED(after);
	}
	return !s->totals.value[COUNTER_untracked_packets] || !maps_read_untracked(live_map(l, "untracked"), &s->untracked);
}

/* An earlier monitor with the same pin looked for rings, this one does not: nothing counts blocks until immediate data comes. */
static void forget_rings(struct snapshot *s)
{
	for (size_t i = 0; i < s->stream_count; i++)
		if (s->streams[i].stream.by_ring)
			block_change(&s->streams[i].stream);
}

bool live_snapshot(struct live *l, struct snapshot *s)
{
	bool whole;

	*s = (struct snapshot){ .complete = l->left == l->interface_count, .ports = &l->options->settings.ports,
				.max_streams = l->options->settings.max_streams };
	clock_gettime(CLOCK_REALTIME, &s->time);
	s->realtime_offset = realtime_offset_ns();
	if (!fill_interfaces(l, s) || !read_counters(l, s, &whole))
		return complain("cannot read the counters: %s", cause(errno).text);
	if (!l->options->settings.blocks.by_ring)
		forget_rings(s);
	snapshot_finish(s);
	if (!whole)
		snapshot_keep_totals(s, &l->totals);
	l->totals = s->totals;
	return true;
}
