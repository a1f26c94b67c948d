// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * xdp_replay [-q] [--plain | --way NAME...] [--udp PORTS] [--imm TEXT] [--once] [--truth FILE] FILE.pcap
 *
 * Runs every frame of a capture (- : standard input) through the kernel's programs (BPF_PROG_TEST_RUN) and through the
 * engine in user space, and compares: the ICRC verdict frame by frame, all totals and the whole state of all streams at
 * the end, and of their dialogues what is no time (but on the way `old`, which has none). Each way through the kernel has maps of its own:
 *     plain   the program for drivers without multi-buffer XDP: frames that fit one buffer
 *     frags   the multi-buffer program: longer ones are fragmented
 *     split   the same with every frame cut in two somewhere, where the kernel can be told so (6.18, and 6.1.x of late)
 *     egress  the tc program: frames that fit one buffer
 *     old     as plain, the program for kernels before 5.17 (bpf/monitor_old.bpf.c)
 *     decap   the multi-buffer program that looks through tunnels: a frame in one stands for what is in it
 * --way: only these. --plain: --way old, for kernels without multi-buffer XDP. --udp: as of the command. --imm: as rocescope's.
 * --once: copies of frames are left out, and their verdict is `other`; the way `old` knows no such option.
 * --truth: a file with the right verdict on each frame, a line each; - where it is not known.
 *
 * Prints N bpf=VERDICT user=VERDICT a frame (-q: only where something differs). VERDICT: good, bad, unchecked, other (not
 * RoCE), refused (by the kernel). Exit status 1 if anything differs, 2 if it could not be run.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#define PCAP_DONT_INCLUDE_PCAP_BPF_H /* its struct bpf_insn is not the kernel's */
#include <pcap/pcap.h>
#include <pcap/dlt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bpf/abi.h"
#include "roce/icrc/checksum.h"
#include "roce/packet/cm.h"
#include "roce/datagram/datagram.h"
#include "roce/stream/frame_class.h"
#include "roce/icrc/fold.h"
#include "roce/dialogue/follow_dialogue.h"
#include "roce/observe.h"
#include "tests/support/observe_old.h"
#include "tests/support/slice8.h"
#include "userspace/observe/live/monitor_programs.h"
#include "userspace/observe/live/maps.h"
#include "userspace/observe/model/imm.h"
#include "userspace/observe/model/pairs.h"
#include "userspace/observe/model/table.h"
#include "userspace/observe/model/udp_ports.h"

/* What test runs put into one buffer: a page without XDP's headroom and struct skb_shared_info (net/bpf/test_run.c). */
#define LINEAR_MAX (4096 - 256 - 320)
#define SHOWN 50 /* differing streams that are described */
#define STREAMS 65536
#define NEVER 3600 /* s after which a stream counts as idle */

enum verdict { REFUSED, OTHER, UNCHECKED, GOOD, BAD };

static const char *const verdict_names[] = { "refused", "other", "unchecked", "good", "bad" };

/* A way through the kernel, and user space's state for the same frames. */
struct way {
	const char *name, *program_name;
	struct live_programs bpf; /* object NULL: this way is not used */
	int program;
	bool old;
	bool one_buffer, split;
	bool outward; /* does not judge UDP checksums */
	bool decap;
	bool chosen;
	struct roce_totals before; /* the program's previous totals */
	struct roce_totals totals; /* user space's */
	__u32 longest; /* ... and its longest whole frame */
	struct table table;
	struct pairs pairs;
	struct roce_dialogue *dialogues; /* by the stream's index in the table; NULL: this way has none */
};

static struct way ways[] = {
	{ .name = "plain", .program_name = "watch_plain", .one_buffer = true },
	{ .name = "frags", .program_name = "watch_frags" },
	{ .name = "split", .program_name = "watch_frags", .split = true },
	{ .name = "egress", .program_name = "watch_egress", .one_buffer = true, .outward = true },
	{ .name = "old", .program_name = "watch_old", .one_buffer = true, .old = true },
	{ .name = "decap", .program_name = "watch_decap", .decap = true },
};

static struct slice8 slice8;
static struct roce_ports ports;
static struct roce_blocks_by blocks;
static bool quiet, once;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "xdp_replay: %s: %s\n", what, why);
	exit(2);
}

/* ---- the engine in user space ---- */

static enum verdict to_verdict(const struct roce_packet *p, enum icrc_verdict icrc)
{
	if (p->kind != ROCE_PACKET)
		return OTHER;
	return icrc == ICRC_UNCHECKED ? UNCHECKED : icrc == ICRC_GOOD ? GOOD : BAD;
}

/* User space's result for a frame, the same for every way. */
struct replay_judged {
	__u8 frame[FRAME_MAX + ROCE_WINDOW_BYTES];
	struct roce_packet packet;
	enum icrc_verdict icrc;
};

static struct replay_judged as_it_is, inside;

static void judge_frame(struct replay_judged *j, const __u8 *data, __u32 length, bool cut)
{
	struct roce_packet *p = &j->packet;
	__u32 r;

	memcpy(j->frame, data, length < FRAME_MAX ? length : FRAME_MAX);
	roce_parse_frame(j->frame, length, length, cut, &ports, p);
	roce_tell_blocks(p, &blocks);
	j->icrc = ICRC_UNCHECKED;
	if (p->kind != ROCE_PACKET || length > FRAME_MAX || p->truncated)
		return;
	roce_take_whole(p, j->frame, FRAME_MAX);
	icrc_mask(j->frame, p);
	r = slice8_register(&slice8, ICRC_REGISTER, j->frame, p->l3_offset, p->icrc_offset + WIRE_ICRC_LEN);
	j->icrc = r == ICRC_REGISTER ? ICRC_GOOD : ICRC_BAD;
}

static void judge(const __u8 *data, __u32 length)
{
	static __u8 frame[1 << 18];
	struct roce_inner inner;

	judge_frame(&as_it_is, data, length, false);
	if (!roce_decap(data, length, length, &inner)) {
		inside = as_it_is;
		return;
	}
	memcpy(frame, data + inner.offset, inner.captured);
	roce_inner_ethernet(frame, inner.ethertype);
	judge_frame(&inside, frame, inner.captured, true);
}

static struct replay_judged *judged_of(const struct way *w)
{
	return w->decap ? &inside : &as_it_is;
}

/* The stream of requests to which the packet of `stream` belongs or responds; NULL: none. */
static struct roce_stream *requests_of(struct way *w, struct roce_stream *stream, const struct roce_packet *p)
{
	struct roce_key key;

	if (!(p->op & OP_RESPONSE))
		return stream;
	roce_peer_key(stream, p, &key);
	w->table.max = w->table.count;
	return stream->pair.from ? table_find(&w->table, &key) : NULL;
}

/* Call it after roce_observe(). */
static void user_dialogue(struct way *w, struct roce_stream *stream, const struct roce_packet *p, bool again)
{
	struct roce_stream *requests = dialogue_wants(p) ? requests_of(w, stream, p) : NULL;
	struct roce_dialogue *d;

	if (!requests)
		return;
	d = &w->dialogues[(struct snapshot_stream *)((char *)requests - offsetof(struct snapshot_stream, stream)) -
			  w->table.streams];
	if (p->op & OP_RESPONSE)
		dialogue_response(d, requests, p, 1);
	else
		dialogue_request(d, requests, p, again, 1);
}

/* Returns whether the frame is left out, as a copy. */
static bool observe(struct way *w, struct roce_stream *s, struct roce_packet *p, enum icrc_verdict icrc, const struct roce_peer_info *info)
{
	if (w->old) {
		observe_old(s, p, icrc, 1, info);
		return false;
	}
	if (!roce_observe(s, p, icrc, 1, info) || !once)
		return false;
	roce_leave_out(&w->totals, &s->counters, p, icrc, &(struct roce_counters){ 0 });
	return true;
}

/*
 * untracked: the program had no room for this packet's stream. Which streams lack room depends on its table. Returns the right
 * verdict.
 */
static enum verdict user_run(struct way *w, const struct replay_judged *j, bool untracked)
{
	struct roce_packet judged = j->packet, *p = &judged;
	enum icrc_verdict icrc = j->icrc;
	struct roce_stream *stream;
	struct roce_peer_info info;
	struct roce_key key;
	bool left_out = false;

	p->udp_checksum_wrong &= !w->outward;
	p->arrival = 1 << 10; /* a test run's frames come from the loopback interface */
	roce_count_frame(&w->totals, p, &w->longest);
	if (p->frame_class && !w->outward) {
		roce_classify_frame(j->frame, p->frame_bytes < ROCE_WINDOW_BYTES ? p->frame_bytes : ROCE_WINDOW_BYTES, p);
		roce_count_class(&w->totals, p);
	}
	if (p->kind != ROCE_PACKET && p->kind != ROCE_UDP)
		return OTHER;
	roce_count_packet(&w->totals.counters, p, icrc);
	if (roce_is_management(p) && icrc != ICRC_BAD)
		pairs_learn(&w->pairs, p, j->frame, p->frame_bytes);
	roce_stream_key(p, &key);
	w->table.max = untracked ? w->table.count : SIZE_MAX;
	stream = table_find(&w->table, &key);
	if (stream) {
		pairs_find(&w->pairs, stream, p);
		__u64 before = stream_seen_before(stream);

		info = table_ask(&w->table, stream, p);
		left_out = observe(w, stream, p, icrc, &info);
		if (w->dialogues && icrc != ICRC_BAD)
			user_dialogue(w, stream, p, stream_seen_before(stream) > before);
	} else if (untracked) {
		w->totals.value[COUNTER_untracked_packets]++;
	} else {
		die("memory", strerror(ENOMEM));
	}
	return left_out ? OTHER : to_verdict(p, icrc);
}

/* ---- the programs in the kernel ---- */

static struct bpf_map *map_of(const struct way *w, const char *name)
{
	return bpf_object__find_map_by_name(w->bpf.object, name);
}

/* linear: bytes of the first buffer of a split frame. Returns whether the kernel ran it that way. */
static bool test_run(const struct way *w, const __u8 *data, __u32 length, __u32 linear)
{
	struct xdp_md before = { .data_end = linear }, after = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = data, .data_size_in = length, .repeat = 1);

	if (!w->split)
		return !bpf_prog_test_run_opts(w->program, &run);
	run.ctx_in = &before;
	run.ctx_out = &after;
	run.ctx_size_in = run.ctx_size_out = sizeof(before);
	return !bpf_prog_test_run_opts(w->program, &run) && after.data_end - after.data == linear;
}

/* Older kernels refuse test runs with a linear part shorter than the frame. */
static bool can_split(struct way *w)
{
	static const __u8 nothing[64];

	if (!test_run(w, nothing, sizeof(nothing), WIRE_ETH_LEN))
		return false;
	judge(nothing, sizeof(nothing));
	user_run(w, judged_of(w), false); /* it counts as a frame */
	return true;
}

static void go_way(struct way *w)
{
	struct monitor_settings *settings;
	struct bpf_program *program;

	if (!w->old)
		w->dialogues = calloc(STREAMS, sizeof(*w->dialogues));
	if (!monitor_programs_open_object(!w->old, &w->bpf))
		die("BPF", strerror(errno));
	bpf_object__for_each_program(program, w->bpf.object)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), w->program_name));
	bpf_map__set_max_entries(map_of(w, "totals"), TOTALS_ENTRIES_FOR(libbpf_num_possible_cpus()));
	settings = w->bpf.settings;
	settings->icrc_every = 1;
	settings->ports = ports;
	settings->blocks = blocks;
	settings->once = once;
	settings->max_streams = STREAMS;
	if (w->dialogues) {
		settings->dialogues = 1;
		bpf_map__set_max_entries(map_of(w, "dialogues"), STREAMS);
	}
	maps_complete_settings(settings, NEVER);
	fold_make_tables(w->bpf.tables);
	if (bpf_object__load(w->bpf.object))
		die(w->name, strerror(errno));
	w->program = bpf_program__fd(bpf_object__find_program_by_name(w->bpf.object, w->program_name));
}

static void leave_way(struct way *w)
{
	bpf_object__close(w->bpf.object);
	w->bpf.object = NULL;
	free(w->dialogues);
	w->dialogues = NULL;
}

static struct roce_totals bpf_totals(const struct way *w)
{
	struct roce_totals totals = { 0 };

	if (maps_read_totals(bpf_map__fd(map_of(w, "totals")), &totals))
		die("BPF map", strerror(errno));
	return totals;
}

/* Any place, but mostly near either end: in the headers, and in the bytes that the ICRC's code handles last. */
static __u32 split_point(unsigned long n, __u32 length)
{
	__u32 random = n * 2654435761u >> 8, most = length < LINEAR_MAX ? length : LINEAR_MAX;
	__u32 room = most - WIRE_ETH_LEN + 1, near = n & 1 ? 128 : 400;

	if (n % 3 == 0 || room <= near)
		return WIRE_ETH_LEN + random % room;
	return n % 3 == 1 ? WIRE_ETH_LEN + random % near : most - random % near;
}

static enum verdict bpf_run(struct way *w, unsigned long n, const __u8 *data, __u32 length, bool *untracked)
{
	struct roce_totals now;
	const __u64 *a = w->before.value, *b = now.value;
	enum verdict verdict = OTHER;

	if ((w->one_buffer && length > LINEAR_MAX) || !test_run(w, data, length, split_point(n, length)))
		return REFUSED;
	now = bpf_totals(w);
	*untracked = a[COUNTER_untracked_packets] != b[COUNTER_untracked_packets];
	if (a[COUNTER_icrc_bad] != b[COUNTER_icrc_bad])
		verdict = BAD;
	else if (a[COUNTER_icrc_checked] != b[COUNTER_icrc_checked] ||
		 a[COUNTER_rocev1_icrc_checked] != b[COUNTER_rocev1_icrc_checked])
		verdict = GOOD;
	else if (a[COUNTER_icrc_unchecked] != b[COUNTER_icrc_unchecked] ||
		 (a[COUNTER_rocev1_packets] != b[COUNTER_rocev1_packets] && a[COUNTER_bytes] != b[COUNTER_bytes]))
		verdict = UNCHECKED;
	w->before = now;
	return verdict;
}

/* ---- frame by frame ---- */

/*
 * User space's verdict: REFUSED if no way took the frame. If the ways disagree, `differ` names their verdicts. For a tunnel
 * that was looked through, it is the verdict on the inner frame.
 */
static enum verdict run_ways(unsigned long n, const __u8 *data, __u32 length, char *differ, size_t size)
{
	enum verdict each[ROCE_ARRAY_SIZE(ways)] = { 0 }, common = REFUSED;
	bool same = true;

	judge(data, length);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++) {
		bool untracked = false;

		if (ways[i].bpf.object)
			each[i] = bpf_run(&ways[i], n, data, length, &untracked);
		if (each[i] == REFUSED) /* the kernel did not see it: nothing to compare */
			continue;
		common = user_run(&ways[i], judged_of(&ways[i]), untracked);
		same = same && each[i] == common;
	}
	if (!same)
		for (size_t i = 0, at = 0; i < ROCE_ARRAY_SIZE(ways); i++)
			at += snprintf(differ + at, size - at, " %s=%s", ways[i].name, verdict_names[each[i]]);
	return common;
}

static bool is_true(enum verdict verdict, FILE *truth, unsigned long n)
{
	char word[16];

	if (!truth)
		return true;
	if (fscanf(truth, "%15s", word) != 1) {
		fprintf(stderr, "xdp_replay: the truth ends before frame %lu\n", n);
		exit(2);
	}
	return verdict == REFUSED || !strcmp(word, "-") || !strcmp(word, verdict_names[verdict]);
}

static int replay(pcap_t *capture, FILE *truth)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int differences = 0, result;

	for (unsigned long n = 1; (result = pcap_next_ex(capture, &header, &data)) == 1; n++) {
		char differ[128] = "";
		enum verdict verdict = run_ways(n, data, header->caplen, differ, sizeof(differ));
		bool right = is_true(verdict, truth, n);

		differences += *differ || !right;
		if (quiet && !*differ && right)
			continue;
		printf("%lu bpf=%s user=%s%s%s\n", n, *differ ? "DIFFERS" : verdict_names[verdict],
		       verdict_names[verdict], differ, right ? "" : " WRONG");
	}
	if (result != PCAP_ERROR_BREAK)
		die("capture", pcap_geterr(capture));
	return differences;
}

/* ---- totals and streams ---- */

static int compare_counters(const char *of, const __u64 *bpf, const __u64 *us, int count)
{
	int differ = 0;

	for (int c = 0; c < count; c++) {
		if (bpf[c] == us[c])
			continue;
		differ++;
		printf("%s: %s bpf=%" PRIu64 " user=%" PRIu64 "\n", of, counter_names[c], (uint64_t)bpf[c],
		       (uint64_t)us[c]);
	}
	return differ;
}

/* The first byte at which two states differ. */
static size_t first_difference(const struct roce_stream *a, const struct roce_stream *b)
{
	size_t at = 0;

	while (((const __u8 *)a)[at] == ((const __u8 *)b)[at])
		at++;
	return at;
}

static int compare_stream(const char *way, struct snapshot_stream *bpf, struct snapshot_stream *us, bool show)
{
	char of[96];

	if (memcmp(&bpf->key, &us->key, sizeof(us->key))) {
		if (show)
			printf("%s: streams differ: QPN bpf=%u user=%u\n", way, bpf->key.qpn, us->key.qpn);
		return 1;
	}
	bpf->stream.first_seen = us->stream.first_seen;
	bpf->stream.last_seen = us->stream.last_seen;
	bpf->stream.psn.late = us->stream.psn.late; /* an index and a pointer */
	bpf->stream.pair_generation = us->stream.pair_generation; /* user space has one for all QPNs */
	if (!memcmp(&bpf->stream, &us->stream, sizeof(us->stream)))
		return 0;
	snprintf(of, sizeof(of), "%s: stream of QPN %u side %u", way, us->key.qpn, us->key.side);
	if (show && !compare_counters(of, bpf->stream.counters.value, us->stream.counters.value, ROCE_STREAM_COUNTERS))
		printf("%s: same counters, other state from byte %zu on\n", of,
		       first_difference(&bpf->stream, &us->stream));
	return 1;
}

static bool same_latency(const struct roce_latency *a, const struct roce_latency *b)
{
	return a->timed == b->timed && dialogue_latencies(a) == dialogue_latencies(b);
}

static bool same_pending(const struct roce_pending *a, const struct roce_pending *b)
{
	bool same = a->random == b->random && a->skip == b->skip && a->length == b->length && a->shift == b->shift;

	for (int i = 0; same && i < a->length; i++) {
		__u64 other = a->entry[(a->begin + i) % DIALOGUE_PENDING] ^ b->entry[(b->begin + i) % DIALOGUE_PENDING];

		same = !(other & PSN_MASK);
	}
	return same;
}

/* Compares everything but times. */
static bool same_dialogue(const struct roce_dialogue *a, const struct roce_dialogue *b)
{
	bool same = a->outstanding == b->outstanding && a->outstanding_most == b->outstanding_most &&
		    a->reads == b->reads && a->reads_most == b->reads_most && a->back_packets == b->back_packets;

	return same && !memcmp(a->back, b->back, sizeof(a->back)) && a->sent == b->sent && a->answered == b->answered &&
	       a->next == b->next && a->again == b->again && a->negative == b->negative && same_latency(&a->ack, &b->ack) &&
	       same_latency(&a->read, &b->read) && same_pending(&a->acks, &b->acks) &&
	       same_pending(&a->responses, &b->responses);
}

static int compare_dialogue(const char *way, const struct snapshot_stream *bpf, const struct snapshot_stream *us, bool show)
{
	if (!bpf->dialogue && !us->dialogue)
		return 0;
	if (bpf->dialogue && us->dialogue && same_dialogue(bpf->dialogue, us->dialogue))
		return 0;
	if (show)
		printf("%s: dialogue of QPN %u differs\n", way, us->key.qpn);
	return 1;
}

static int compare_way(struct way *w)
{
	struct snapshot bpf = { .totals = bpf_totals(w) }, user = { .totals = w->totals };
	int dialogues = w->dialogues ? bpf_map__fd(map_of(w, "dialogues")) : -1, differ = 0;
	size_t met = 0;

	user.streams = table_take(&w->table, &user.stream_count);
	for (size_t i = 0; w->dialogues && i < user.stream_count; i++)
		if (w->dialogues[i].heard)
			user.streams[i].dialogue = &w->dialogues[i];
	if (maps_read_streams(bpf_map__fd(map_of(w, "table_states")), bpf_map__fd(map_of(w, "streams")), dialogues, &bpf))
		die("BPF map", strerror(errno));
	snapshot_finish(&bpf);
	snapshot_finish(&user);
	differ += compare_counters(w->name, bpf.totals.value, user.totals.value, ROCE_COUNTERS);
	if (bpf.stream_count != user.stream_count) {
		printf("%s: streams: bpf=%zu user=%zu\n", w->name, bpf.stream_count, user.stream_count);
		differ++;
	}
	for (size_t i = 0; i < bpf.stream_count && i < user.stream_count; i++)
		differ += compare_stream(w->name, &bpf.streams[i], &user.streams[i], differ < SHOWN);
	for (size_t i = 0; i < bpf.stream_count && i < user.stream_count; i++) {
		differ += compare_dialogue(w->name, &bpf.streams[i], &user.streams[i], differ < SHOWN);
		met += !!user.streams[i].dialogue;
	}
	printf("%s: %" PRIu64 " frames, %zu streams, %" PRIu64 " packets untracked, %zu dialogues\n", w->name,
	       (uint64_t)user.totals.value[COUNTER_frames], user.stream_count,
	       (uint64_t)user.totals.value[COUNTER_untracked_packets], met);
	snapshot_free(&bpf);
	snapshot_free(&user);
	return differ;
}

/* ---- the command line ---- */

struct arguments {
	const char *capture;
	const char *truth;
};

static void usage(void)
{
	die("usage", "xdp_replay [-q] [--plain | --way NAME...] [--udp PORTS] [--imm TEXT] [--once] [--truth FILE] FILE.pcap");
}

static void choose(const char *name)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++)
		if (!strcmp(name, ways[i].name)) {
			ways[i].chosen = true;
			return;
		}
	usage();
}

static struct arguments parse_arguments(int argc, char **argv)
{
	static const struct option options[] = {
		{ "plain", no_argument, NULL, 'p' },
		{ "way", required_argument, NULL, 'w' },
		{ "udp", required_argument, NULL, 'u' },
		{ "imm", required_argument, NULL, 'i' },
		{ "once", no_argument, NULL, 'o' },
		{ "truth", required_argument, NULL, 't' },
		{ 0 },
	};
	struct arguments a = { 0 };
	char mistake[UDP_MISTAKE];
	bool all = true;
	int option;

	while ((option = getopt_long(argc, argv, "q", options, NULL)) != -1) {
		switch (option) {
		case 'q':
			quiet = true;
			break;
		case 'p':
		case 'w':
			choose(option == 'p' ? "old" : optarg);
			all = false;
			break;
		case 'u':
			if (!udp_ports_add(&ports, optarg, mistake))
				die(optarg, mistake);
			break;
		case 'i':
			if (imm_parse(optarg, &blocks))
				usage();
			break;
		case 'o':
			once = true;
			break;
		case 't':
			a.truth = optarg;
			break;
		default:
			usage();
		}
	}
	if (optind != argc - 1)
		usage();
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++)
		ways[i].chosen |= all;
	a.capture = argv[optind];
	return a;
}

static pcap_t *open_capture(const char *path)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *capture = pcap_open_offline(path, error);

	if (!capture)
		die(path, error);
	if (pcap_datalink(capture) != DLT_EN10MB)
		die(path, "not a capture of Ethernet");
	return capture;
}

/* Each CPU judges short frames by what it has seen: so all frames come on one. */
static void stay(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("CPU", strerror(errno));
}

int main(int argc, char **argv)
{
	struct arguments a = parse_arguments(argc, argv);
	pcap_t *capture = open_capture(a.capture);
	FILE *truth = a.truth ? fopen(a.truth, "re") : NULL;
	int differences;

	if (a.truth && !truth)
		die(a.truth, strerror(errno));
	stay();
	slice8_make(&slice8);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++) {
		if (!ways[i].chosen)
			continue;
		go_way(&ways[i]);
		if (ways[i].split && !can_split(&ways[i]))
			leave_way(&ways[i]);
	}
	differences = replay(capture, truth);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++) {
		if (!ways[i].bpf.object)
			continue;
		differences += compare_way(&ways[i]);
		leave_way(&ways[i]);
	}
	printf("%s: %d differences\n", a.capture, differences);
	pcap_close(capture);
	return differences ? 1 : 0;
}
