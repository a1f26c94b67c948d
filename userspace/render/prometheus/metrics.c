// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/clock.h"
#include "userspace/observe/host/host.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/group.h"
#include "userspace/observe/model/limit.h"
#include "userspace/render/prometheus/dialogues.h"
#include "userspace/render/prometheus/memory.h"
#include "userspace/render/prometheus/metrics.h"
#include "userspace/render/prometheus/streams.h"
#include "userspace/render/prometheus/text.h"
#include "version.h"

const struct metrics_counter metrics_counters[ROCE_COUNTERS] = {
#define KIND_COUNT "_total", "counter"
#define KIND_GAUGE "", "gauge"
#define KIND_LEAST KIND_GAUGE
#define KIND_MOST KIND_GAUGE
#define ENTRY(counter, name, suffix, type, words) [COUNTER_##counter] = { name suffix, type, words },
#define EXPAND(...) ENTRY(__VA_ARGS__)
#define COUNTER(name, unit, kind, scope, of, severity, words, advice) EXPAND(name, #name, KIND_##kind, words)
#include "roce/stream/counters.def"
#undef COUNTER
#undef EXPAND
#undef ENTRY
#undef KIND_MOST
#undef KIND_LEAST
#undef KIND_GAUGE
#undef KIND_COUNT
};

static void write_totals(FILE *out, const struct snapshot *s, struct metrics_memory *memory)
{
	for (int at = 0; at < ROCE_COUNTERS; at++) {
		enum roce_counter i = counter_order[at];
		bool rises = memory && !strcmp(metrics_counters[i].type, "counter");

		text_family(out, metrics_counters[i].name, metrics_counters[i].type, metrics_counters[i].words);
		text_count(out, metrics_counters[i].name, "",
			   rises ? memory_most(&memory->totals[i], s->totals.value[i]) : s->totals.value[i]);
	}
}

static void write_lints(FILE *out, const struct snapshot *s, struct metrics_memory *memory)
{
	text_family(out, "lint_packets_total", "counter", "packets that show a mistake in headers, by its name");
	for (int lint = 0; lint < ROCE_LINTS; lint++) {
		struct text_labels l = { "" };
		__u64 sum = 0;

		for (size_t i = 0; i < s->stream_count; i++)
			sum += s->streams[i].stream.lint[lint];
		text_label(&l, "lint", lint_names[lint]);
		text_count(out, "lint_packets_total", l.text, memory ? memory_add(&memory->lints[lint], sum) : sum);
	}
}

static void write_limits(FILE *out, const struct metrics_options *o)
{
	__u64 count[LIMITS] = { 0 };

	for (size_t i = 0; i < o->known->stream_count; i++)
		if (o->known->streams[i].dialogue)
			count[o->limits[i]]++;
	text_family(out, "streams_limited", "gauge", "request streams by what held them back in the last interval");
	for (int limit = 0; limit < LIMITS; limit++) {
		struct text_labels l = { "" };

		text_label(&l, "limit", limit_names[limit]);
		text_count(out, "streams_limited", l.text, count[limit]);
	}
}

static void write_groups(FILE *out, const struct snapshot *s)
{
	size_t count;
	struct group *groups = group_make(s->group, s, &count);
	size_t most = count < METRICS_GROUPS ? count : METRICS_GROUPS;

	text_gauge(out, "groups", "groups of streams by --group", count);
	text_gauge(out, "groups_cut_off", "of these, those without series of their own", count - most);
	for (size_t c = 0; c < group_counter_count; c++) {
		const struct metrics_counter *about = &metrics_counters[group_counters[c]];
		char name[64];

		snprintf(name, sizeof(name), "group_%s", about->name);
		if (most)
			text_family(out, name, about->type, about->words);
		for (size_t i = 0; i < most; i++) {
			struct text_labels l = { "" };

			text_label(&l, s->group->name, group_text(s->group, &groups[i]).text);
			text_count(out, name, l.text, groups[i].sum.value[group_counters[c]]);
		}
	}
	free(groups);
}

/* ---- how well we see ---- */

static struct text_labels interface_label(const struct snapshot_interface *f)
{
	struct text_labels l = { "" };

	text_label(&l, "interface", f->name);
	return l;
}

static void write_interfaces(FILE *out, const struct snapshot *s)
{
	text_family(out, "interface_info", "gauge", "how an interface is watched; always 1");
	for (size_t i = 0; i < s->interface_count; i++) {
		struct text_labels l = interface_label(&s->interfaces[i]);

		text_label(&l, "mode", s->interfaces[i].mode);
		text_label(&l, "direction", s->interfaces[i].direction);
		text_count(out, "interface_info", l.text, 1);
	}
	text_family(out, "interface_watched", "gauge", "1: the interface is there and watched; 0: it has gone");
	for (size_t i = 0; i < s->interface_count; i++)
		text_count(out, "interface_watched", interface_label(&s->interfaces[i]).text, !s->interfaces[i].gone);
	text_family(out, "interface_ring_missed_total", "counter", "frames the interface missed before we could see them");
	for (size_t i = 0; i < s->interface_count; i++)
		text_count(out, "interface_ring_missed_total", interface_label(&s->interfaces[i]).text,
			   s->interfaces[i].ring_missed);
}

static __u64 resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (f) {
		if (fscanf(f, "%*u %llu", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	return pages * sysconf(_SC_PAGESIZE);
}

static __u64 nanoseconds(const struct timeval *t)
{
	return t->tv_sec * NSEC_PER_SEC + t->tv_usec * NSEC_PER_USEC;
}

void metrics_write_process(FILE *out, double seconds, __u64 took)
{
	struct rusage used;

	text_family(out, "build_info", "gauge", "which rocescope this is; always 1");
	text_count(out, "build_info", "version=\"" VERSION "\"", 1);
	text_family(out, "seconds", "gauge", "time since watching began");
	text_seconds(out, "seconds", "", seconds_to_ns(seconds));
	text_family(out, "snapshot_seconds", "gauge", "how long it took to read the counters for this answer");
	text_seconds(out, "snapshot_seconds", "", took);
	text_gauge(out, "resident_memory_bytes", "memory of this process, without the kernel's tables", resident_bytes());
	getrusage(RUSAGE_SELF, &used);
	text_family(out, "cpu_seconds_total", "counter", "CPU time of this process; counting itself is the kernel's softirq");
	text_seconds(out, "cpu_seconds_total", "", nanoseconds(&used.ru_utime) + nanoseconds(&used.ru_stime));
}

static void write_health(FILE *out, const struct snapshot *s, const struct metrics_options *o)
{
	metrics_write_process(out, s->seconds, o->took);
	text_gauge(out, "untracked_streams", "streams for which the table had no room, about how many if there are many",
		   s->untracked.streams);
	if (!o->events)
		return;
	text_family(out, "events_suppressed_total", "counter", "faulty packets beyond --event-limit");
	text_count(out, "events_suppressed_total", "", o->events_suppressed);
}

void metrics_write_counters(FILE *out, const struct host_counter *list, size_t count)
{
	if (!count)
		return;
	text_family(out, "host_counter_total", "counter", "counters of devices and drivers that have moved since the start");
	for (size_t i = 0; i < count; i++) {
		struct text_labels l = { "" };

		text_label(&l, "where", list[i].where);
		text_label(&l, "name", list[i].name);
		text_label(&l, "dropped", list[i].dropped ? "true" : "false");
		text_count(out, "host_counter_total", l.text, list[i].value);
	}
}

static void write_host(FILE *out, const struct host *host)
{
	const struct host_counter *list;
	const char *const *hints;
	size_t count = host_counters(host, &list);

	text_gauge(out, "host_hints", "lines of what may be silently wrong on this machine", host_hints(host, &hints));
	metrics_write_counters(out, list, count);
}

int metrics_write(FILE *out, const struct snapshot *s, const struct host *host, const struct metrics_options *o)
{
	write_totals(out, s, o->memory);
	write_lints(out, s, o->memory);
	dialogues_write_totals(out, s, o->memory);
	if (o->known && o->limits)
		write_limits(out, o);
	if (s->group)
		write_groups(out, s);
	write_interfaces(out, s);
	write_health(out, s, o);
	if (host)
		write_host(out, host);
	if (streams_write(out, s, o))
		return -1;
	return ferror(out) ? -1 : 0;
}
