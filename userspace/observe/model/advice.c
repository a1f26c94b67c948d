// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/address.h"
#include "lib/shell.h"
#include "userspace/observe/model/advice.h"
#include "userspace/observe/model/qpn.h"

static void add(struct advice *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct advice *a, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(a->line[a->count++], ADVICE_TEXT, format, arguments);
	va_end(arguments);
}

struct shell_word advice_where(const struct snapshot *s)
{
	if (s->interface_count == 1)
		return shell_word(s->interfaces[0].name);
	return shell_word(s->interface_count && strcmp(s->interfaces[0].mode, "file") ? "IFACE..." : "FILE...");
}

struct stream_text {
	char text[2 * INET6_ADDRSTRLEN + sizeof(struct qpn_text) + sizeof(" > " " QPN ")];
};

/* "10.9.0.1 > 10.9.0.2 QPN 258 (0x102)"; of a flow of --udp its port. */
static struct stream_text stream_text(const struct roce_key *key, const __u8 dst[16], __u32 qpn)
{
	struct stream_text t;
	int length = snprintf(t.text, sizeof(t.text), "%s > %s ", address_text(key->src).text, address_text(dst).text);

	if (key->kind == KEY_UDP)
		snprintf(t.text + length, sizeof(t.text) - length, "port %u", key->port);
	else
		snprintf(t.text + length, sizeof(t.text) - length, "QPN %s", qpn_text(qpn).text);
	return t;
}

static struct stream_text text_of(const struct snapshot_stream *s)
{
	return stream_text(&s->key, snapshot_destination(s), s->key.qpn);
}

static void advise_icrcs(struct advice *a, const struct snapshot *s)
{
	const struct snapshot_stream *first = NULL;
	size_t streams = 0;

	for (size_t i = 0; i < s->stream_count; i++) {
		if (!snapshot_icrcs_are_wrong(&s->streams[i].stream))
			continue;
		if (!streams++)
			first = &s->streams[i];
	}
	if (streams)
		add(a, "most ICRCs of %zu stream%s are wrong (%s%s): `rocescope doctor %s` says why", streams, streams == 1 ? "" : "s",
		    streams == 1 ? "" : "the first: ", text_of(first).text, advice_where(s).text);
}

#define TWICE_LEAST 100	 /* fewer packets may be so by chance */
#define TWICE_SHARE 0.45 /* of a stream's packets that are duplicates, where nearly each is seen twice */

/* Whether nearly each packet is seen twice. A sender that repeats itself, or a network that does, looks the same in one place. */
static bool is_seen_twice(const struct roce_stream *s)
{
	const __u64 *v = s->counters.value;
	__u64 packets = snapshot_packets(s), again = v[COUNTER_psn_duplicates] + v[COUNTER_captured_twice];

	return packets >= TWICE_LEAST && again >= packets * TWICE_SHARE && again <= packets * (1 - TWICE_SHARE);
}

/* arrival.before 0: it has arrived in one place only. */
static bool is_at_two_interfaces(const struct roce_stream *s)
{
	return s->arrival.before && roce_arrival_interface(s->arrival.before) != roce_arrival_interface(s->last.arrival);
}

/* Most of what is seen twice is the same frame: it counts nowhere but in frames, packets and bytes. */
static bool is_captured_twice(const struct roce_stream *s)
{
	return s->counters.value[COUNTER_captured_twice] > s->counters.value[COUNTER_psn_duplicates];
}

static void advise_twice(struct advice *a, const struct snapshot *s)
{
	bool file = s->interface_count && !strcmp(s->interfaces[0].mode, "file");
	bool both = s->interface_count && !strcmp(s->interfaces[0].direction, "both");
	const struct snapshot_stream *first = NULL;
	size_t streams = 0;

	for (size_t i = 0; i < s->stream_count; i++) {
		const struct roce_stream *stream = &s->streams[i].stream;

		if (!is_seen_twice(stream) || !(file || is_captured_twice(stream) || is_at_two_interfaces(stream) ||
						(both && s->interface_count == 1)))
			continue;
		if (!streams++)
			first = &s->streams[i];
	}
	if (streams)
		add(a, "nearly each packet of %zu stream%s is seen twice (%s%s)%s: %s", streams, streams == 1 ? "" : "s",
		    streams == 1 ? "" : "the first: ", text_of(first).text,
		    is_captured_twice(&first->stream) ? "" : ", so half of them are duplicates, and messages of UC broken",
		    file ? "a capture of all interfaces of a host that forwards has that (`tcpdump -i any`): capture at one of them" :
		    both ? "this host forwards them, and they are seen when they come and when they leave. Use `--direction in`, or watch one "
			   "interface" :
		    s->interface_count == 1 ? "a mirror of both directions of a port brings that: mirror one of them" :
			   "they pass two of the interfaces. Watch one of them; `rocescope between` says what is lost between two");
}

static void advise_damaged(struct advice *a, const struct snapshot *s)
{
	__u64 lost = s->totals.value[COUNTER_psn_lost], damaged = snapshot_all_damaged(s);

	if (damaged)
		add(a, "%llu of the %llu PSNs that are lost came here with a wrong ICRC: these packets were not dropped, but damaged on "
		    "the path or in the sender. `rocescope doctor %s` says how", damaged, lost, advice_where(s).text);
}

static void advise_classes(struct advice *a, const struct snapshot *s)
{
	const struct snapshot_stream *first = NULL;
	size_t streams = 0;

	for (size_t i = 0; i < s->stream_count; i++) {
		const struct roce_stream *stream = &s->streams[i].stream;

		if (!stream->trusted || !snapshot_is_class_mixed(stream))
			continue;
		if (!streams++)
			first = &s->streams[i];
	}
	if (!streams)
		return;
	add(a, "the traffic class changes within %zu stream%s (%s%s: %s, %u changes): such packets are queued, paused and "
	    "marked apart, and overtake each other. Let the sender give all packets of a stream the same DSCP and ECN field; if it does, a "
	    "switch on the way rewrites them", streams, streams == 1 ? "" : "s", streams == 1 ? "" : "the first: ",
	    text_of(first).text, snapshot_class_text(&first->stream).text, first->stream.class_changes);
}

static void advise_tunnels(struct advice *a, const struct snapshot *s)
{
	__u64 frames = s->totals.value[COUNTER_tunnelled_frames];

	if (frames)
		add(a, "%llu frame%s RoCE inside of a tunnel that was not looked into: `--decap` looks into it", frames,
		    frames == 1 ? " has" : "s have");
}

static void advise_nothing(struct advice *a, const struct snapshot *s)
{
	const __u64 *v = s->totals.value;

	if (v[COUNTER_frames] && !v[COUNTER_tunnelled_frames] && !v[COUNTER_roce_packets] && !v[COUNTER_rocev1_packets] && !v[COUNTER_udp_packets])
		add(a, "%llu frame%s, but no RoCE packet: `rocescope doctor %s` says what came instead", v[COUNTER_frames],
		    v[COUNTER_frames] == 1 ? "" : "s", advice_where(s).text);
}

static void advise_cut(struct advice *a, const struct snapshot *s)
{
	const __u64 *v = s->totals.value;

	if (v[COUNTER_headless_frames])
		add(a, "%llu frame%s of RoCE end%s before the BTH does, so %s PSN was not captured: what is lost cannot be told. Keep 128 bytes "
		    "of each frame or more (`tcpdump -s 128`; a switch that mirrors has its own setting)", v[COUNTER_headless_frames],
		    v[COUNTER_headless_frames] == 1 ? "" : "s", v[COUNTER_headless_frames] == 1 ? "s" : "",
		    v[COUNTER_headless_frames] == 1 ? "its" : "their");
}

/* For so many streams in one table: a power of two, with enough left over for an estimate, and for a table in parts. */
static __u64 room_for(__u64 streams)
{
	__u64 room = 64;

	while (room < streams * 5 / 4 + 256)
		room *= 2;
	return room;
}

static void advise_room(struct advice *a, const struct snapshot *s)
{
	const struct untracked *u = &s->untracked;
	const struct roce_untracked_stream *first = u->worst;
	char of[200] = "";

	if (!u->streams)
		return;
	if (u->count)
		snprintf(of, sizeof(of), ", %llu of them of %s", first->packets, stream_text(&first->key, first->dst, first->dqpn).text);
	add(a, "the table has no room for %s%llu stream%s: %llu packets are not judged%s. `--max-streams %llu` makes room for them",
	    u->estimate ? "about " : "", u->streams, u->streams == 1 ? "" : "s", s->totals.value[COUNTER_untracked_packets], of,
	    room_for(s->max_streams + u->streams));
}

static void advise_selection(struct advice *a, const struct snapshot *s)
{
	char left_out[120] = "";

	if (!s->selection)
		return;
	if (s->left_out)
		snprintf(left_out, sizeof(left_out), " It left out %llu more packets, by --limit or for want of room (--buffer).",
			 s->left_out);
	add(a, "these packets are chosen ones: what is missing between them is not lost. `rocescope capture` saw all packets, and its "
	    "comments say how many were lost, late or broken; a packet that came late counts if it is in the file.%s", left_out);
}

void advice_make(struct advice *a, const struct snapshot *s)
{
	a->count = 0;
	advise_tunnels(a, s);
	advise_nothing(a, s);
	advise_cut(a, s);
	advise_twice(a, s);
	advise_selection(a, s);
	advise_room(a, s);
	advise_icrcs(a, s);
	advise_damaged(a, s);
	advise_classes(a, s);
}

void advice_warn(const struct snapshot *s)
{
	struct advice a = { 0 };

	advise_tunnels(&a, s);
	if (a.count)
		fprintf(stderr, "rocescope: %s\n", a.line[0]);
}
