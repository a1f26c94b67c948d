// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * engine [OPTIONS]: times the engine's parts by the kernel's test run, and CRCs in user space over the same bytes, in ns a
 * packet. Prints one JSON object: { "program": rows, "flood": rows, "refused": rows without proof }. A row has its samples:
 * [ns, adds a cycle, MHz], the last two from the probe (0: not known). bench/quiet.py makes figures of them.
 * --spoil, for the tests: times packets with wrong ICRCs or a jump of the PSN, which must be refused.
 */
#include <errno.h>
#include <isa-l/crc.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench/frame.h"
#include "bench/pin.h"
#include "bench/probe.h"
#include "bench/slice8.h"
#include "bpf/capture_abi.h"
#include "bpf/receive_abi.h"
#include "lib/clock.h"
#include "lib/option.h"
#include "roce/icrc/fold.h"
#include "userspace/observe/live/maps.h"
#include "userspace/observe/model/udp_ports.h"

#include "bench/bench.skel.h" /* needs the types above */

#define MEASURES 20
#define RUNS_MAX 51
#define QUIET_WANTED 9 /* of the samples of each program */
#define STREAMS_MAX 65536 /* the monitor's default */
#define CRC_RESIDUE (~TABLE_RESIDUE) /* the CRC of any message followed by its CRC, by zlib's convention */

/* What a program does besides rewriting, and so what it must prove. */
enum {
	DOES_REWRITE = 1,
	DOES_WATCH = 2,
	DOES_STREAMS = 4,
	DOES_ICRC = 8,
	DOES_REFERENCE = 16,
	DOES_FLOOD = 32,
	DOES_USER = 64,
	DOES_RECEIVE = 128,
	DOES_DATAGRAM = 256,
};

struct bench_kind {
	const char *name; /* docs/json.md, Bench */
	const char *symbol; /* in bench.bpf.c, without _plain or _frags */
	__u32 does;
	__u32 (*crc)(const __u8 *bytes, __u32 length); /* set for programs in user space */
};

/* One timed run. */
struct bench_sample {
	__u32 ns; /* a packet */
	struct probe_reading core;
};

struct measure {
	const struct bench_kind *kind;
	int program;
	__u32 repeat;  /* packets a run */
	__u64 packets; /* packets of all runs, including those that are not sampled */
	struct bench_sample samples[RUNS_MAX];
	int count;
	char refused[160]; /* why the row is not valid; empty: proved */
};

/* Datagrams of --udp. */
struct bench_datagram {
	enum rewrite_datagram what;
	const char *row, *format;
};

struct bench_batch {
	__u32 payload, qps;
	const struct bench_datagram *datagram; /* NULL: RoCE */
	enum rewrite_change change;
	struct bench_kind kind; /* of the datagram's row */
	bool flood;
	bool spoil_icrc, spoil_psn;
	int runs, runs_max;
	__u32 run_ns;
	struct probe *probe; /* of this CPU */
	struct bench_frame frame;
	__u8 covered[FRAME_BYTES];
	__u32 covered_length;
	struct bench_bpf *bpf;
	struct receive_cpu *received; /* by CPU */
	struct measure measures[MEASURES];
	int count;
};

static void die(const char *what, int error)
{
	fprintf(stderr, "bench: %s: %s\n", what, error == EPERM ? "no permission: run as root" : strerror(error));
	exit(1);
}

/* ---- user space ---- */

/* Both start with the register after eight bytes of ones. */
static __u32 by_zlib(const __u8 *bytes, __u32 length)
{
	return crc32(CRC_RESIDUE, bytes, length);
}

static __u32 by_isal(const __u8 *bytes, __u32 length)
{
	return crc32_gzip_refl(CRC_RESIDUE, bytes, length);
}

/* Uses the thread's own clock. The kernel's test run also stops its clock while others have the CPU. */
static __u32 run_user(struct bench_batch *b, struct measure *m)
{
	__u32 wrong = 0;
	__u64 start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (__u32 i = 0; i < m->repeat; i++)
		wrong += m->kind->crc(b->covered, b->covered_length) != CRC_RESIDUE;
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	if (wrong)
		snprintf(m->refused, sizeof(m->refused), "%u CRCs were wrong", wrong);
	return start / m->repeat;
}

/* ---- in the kernel ---- */

static struct roce_totals read_totals(const struct bench_batch *b)
{
	struct roce_totals totals = { 0 };

	if (maps_read_totals(bpf_map__fd(b->bpf->maps.totals), &totals))
		die("counters", errno);
	return totals;
}

/* Packets between two positions, less than one cycle of all PSNs. */
static __u64 passed(const struct rewrite_position *from, const struct rewrite_position *to)
{
	__u32 qps = from->qps ?: 1;

	return (__u64)((to->psn - from->psn) & 0xffffff) * qps + to->index - from->index;
}

static void expect(struct measure *m, const char *what, __u64 got, __u64 want)
{
	if (got != want && !*m->refused)
		snprintf(m->refused, sizeof(m->refused), "%s: %llu, expected %llu", what, got, want);
}

/* Whether the engine saw all packets of a run and found them right. */
static void prove_run(struct measure *m, const struct roce_totals *before, const struct roce_totals *after)
{
	__u32 does = m->kind->does, icrc = does & DOES_ICRC ? m->repeat : 0, roce = does & DOES_DATAGRAM ? 0 : m->repeat;

#define GREW(name) (after->value[COUNTER_##name] - before->value[COUNTER_##name])
	expect(m, "frames", GREW(frames), does & DOES_WATCH ? m->repeat : 0);
	expect(m, "roce_packets", GREW(roce_packets), does & DOES_WATCH ? roce : 0);
	expect(m, "udp_packets", GREW(udp_packets), does & DOES_DATAGRAM ? m->repeat : 0);
	expect(m, "icrc_checked", GREW(icrc_checked), icrc);
	expect(m, "icrc_bad", GREW(icrc_bad), 0);
	if (!(does & DOES_FLOOD)) {
		expect(m, "untracked_packets", GREW(untracked_packets), 0);
		expect(m, "streams_evicted", GREW(streams_evicted), 0);
	}
#undef GREW
}

/* Continues the streams' own sequence. */
static bool is_tracked(const struct measure *m)
{
	return (m->kind->does & (DOES_STREAMS | DOES_FLOOD)) == DOES_STREAMS;
}

/* Packets that were placed into memory. */
static __u64 placed(const struct bench_batch *b)
{
	__u64 sum = 0;

	for (int i = 0; i < libbpf_num_possible_cpus(); i++)
		sum += *(volatile __u64 *)&b->received[i].packets;
	return sum;
}

static __u32 run_program(struct bench_batch *b, struct measure *m)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = b->frame.bytes, .data_size_in = b->frame.length,
		    .repeat = m->repeat);
	struct bench_bpf__bss *bss = b->bpf->bss;
	struct rewrite_position *at = is_tracked(m) ? &bss->tracked : &bss->stateless, from = *at;
	struct roce_totals before = read_totals(b), after;
	__u64 good = bss->reference_good, in_memory = placed(b);

	if (bpf_prog_test_run_opts(m->program, &run))
		die("BPF_PROG_TEST_RUN", errno);
	after = read_totals(b);
	prove_run(m, &before, &after);
	expect(m, "packets rewritten", passed(&from, at), m->kind->does & DOES_REWRITE ? m->repeat : 0);
	expect(m, "packets right by the reference", bss->reference_good - good,
	       m->kind->does & DOES_REFERENCE ? m->repeat : 0);
	expect(m, "packets in memory", placed(b) - in_memory, m->kind->does & DOES_RECEIVE ? m->repeat : 0);
	return run.duration;
}

static __u32 run_once(struct bench_batch *b, struct measure *m)
{
	m->packets += m->repeat;
	return m->kind->does & DOES_USER ? run_user(b, m) : run_program(b, m);
}

/* ---- a batch: programs timed in turn ---- */

/* Checks the programs that keep streams: every QP was seen, with all its packets and without a fault. */
static void prove_streams(struct bench_batch *b, struct measure *m, const struct snapshot *s)
{
	__u64 streams = 0, packets = 0, messages = 0, blocks = 0, changes = 0, faults = 0, want = 0;

	for (int i = 0; i < b->count; i++)
		want += is_tracked(&b->measures[i]) ? b->measures[i].packets : 0;
	for (size_t i = 0; i < s->stream_count; i++) {
		const __u64 *v = s->streams[i].stream.counters.value;

		if (s->streams[i].key.qpn >= REWRITE_FLOOD)
			continue;
		streams++;
		packets += v[COUNTER_roce_packets] + v[COUNTER_udp_packets];
		messages += v[COUNTER_messages];
		blocks += v[COUNTER_blocks];
		changes += s->streams[i].stream.class_changes;
		faults += v[COUNTER_psn_gaps] + v[COUNTER_psn_duplicates] + v[COUNTER_psn_resyncs] +
			  v[COUNTER_messages_broken] + v[COUNTER_blocks_missing] + v[COUNTER_icrc_bad];
	}
	expect(m, "streams", streams, b->qps);
	expect(m, "packets of the streams", packets, want);
	if (!b->datagram)
		expect(m, "messages of the streams", messages, want);
	else if (b->datagram->what == DATAGRAM_spead)
		expect(m, "heaps", messages, want / REWRITE_HEAP);
	expect(m, "blocks, by the addresses", blocks, b->change == CHANGE_RING ? want : 0);
	expect(m, "changes of the traffic class", changes, b->change == CHANGE_CLASS ? want - streams : 0);
	expect(m, "gaps, duplicates, resyncs, broken messages, missing blocks and bad ICRCs", faults, 0);
}

static void prove_batch(struct bench_batch *b)
{
	struct snapshot s = { 0 };

	if (maps_read_streams(bpf_map__fd(b->bpf->maps.table_states), bpf_map__fd(b->bpf->maps.streams), -1, &s))
		die("streams", errno);
	for (int i = 0; i < b->count; i++)
		if (b->measures[i].kind->does & DOES_STREAMS)
			prove_streams(b, &b->measures[i], &s);
	snapshot_free(&s);
}

/* A round is one packet of every QP. Runs are whole rounds. */
static void calibrate(struct bench_batch *b, struct measure *m)
{
	__u32 round = m->kind->does & DOES_USER ? 1 : b->qps, ns, wanted;

	m->repeat = (20000 + round - 1) / round * round;
	run_once(b, m); /* creates the streams and warms the caches */
	ns = run_once(b, m) ?: 1;
	wanted = b->run_ns / ns;
	m->repeat = (wanted + round - 1) / round * round;
}

static struct bench_sample take_sample(struct bench_batch *b, struct measure *m)
{
	struct bench_sample s;

	probe_take(b->probe); /* leaves out what was before */
	s.ns = run_once(b, m);
	s.core = probe_take(b->probe);
	return s;
}

/* Whether each program has samples enough while nobody shared the core. bench/quiet.py has the last word: it knows the best. */
static bool quiet_enough(const struct bench_batch *b)
{
	static double best;

	for (int i = 0; i < b->count; i++)
		for (int k = 0; k < b->measures[i].count; k++)
			if (best < b->measures[i].samples[k].core.adds)
				best = b->measures[i].samples[k].core.adds;
	for (int i = 0; i < b->count; i++) {
		int quiet = 0;

		for (int k = 0; k < b->measures[i].count; k++)
			quiet += b->measures[i].samples[k].core.adds >= QUIET_SHARE * best;
		if (quiet < QUIET_WANTED)
			return false;
	}
	return true;
}

static void time_batch(struct bench_batch *b)
{
	for (int i = 0; i < b->count; i++)
		calibrate(b, &b->measures[i]);
	b->bpf->bss->tracked.psn += b->spoil_psn;
	/* in turn, so that a disturbance affects all programs equally */
	for (int run = 0; run < b->runs || (run < b->runs_max && !quiet_enough(b)); run++)
		for (int i = 0; i < b->count; i++) {
			struct measure *m = &b->measures[i];

			m->samples[m->count++] = take_sample(b, m);
		}
	prove_batch(b);
}

static struct bpf_program *find_program(const struct bench_batch *b, const struct bench_kind *kind)
{
	char name[64];

	if (!(kind->does & DOES_REWRITE))
		return bpf_object__find_program_by_name(b->bpf->obj, kind->symbol);
	snprintf(name, sizeof(name), "%s_%s", kind->symbol, b->frame.length > FRAME_LINEAR ? "frags" : "plain");
	return bpf_object__find_program_by_name(b->bpf->obj, name);
}

/* ---- the receiver's maps ---- */

#define RECEIVE_RKEY 0x1234 /* of bench/frame.c */

static void prepare_receive(struct bench_batch *b)
{
	struct receive_settings *s = (struct receive_settings *)&b->bpf->rodata->receive;

	*s = (struct receive_settings){ .own = { [10] = 0xff, 0xff, 10, 9, 0, 2 }, .first_qpn = REWRITE_QPN, .qps = b->qps,
					.memory = RECEIVE_CHUNK, .block = RECEIVE_CHUNK };
	bpf_map__set_max_entries(b->bpf->maps.qps, b->qps);
	bpf_map__set_max_entries(b->bpf->maps.rings, libbpf_num_possible_cpus());
	bpf_map__set_max_entries(b->bpf->maps.receive_cpus, libbpf_num_possible_cpus());
}

static void *mapped(const struct bpf_map *map)
{
	size_t bytes = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (at == MAP_FAILED)
		die(bpf_map__name(map), errno);
	return at;
}

/* Registers the memory and arms the QPs. */
static void arm_receive(struct bench_batch *b)
{
	const struct roce_region region = { .va = FRAME_VA, .bytes = RECEIVE_CHUNK / 2, .rkey = RECEIVE_RKEY };
	struct receive_qp *qps = mapped(b->bpf->maps.qps);

	if (bpf_map_update_elem(bpf_map__fd(b->bpf->maps.regions), &region.rkey, &region, BPF_ANY))
		die("regions", errno);
	for (__u32 i = 0; i < b->qps; i++)
		qps[i].responder = (struct roce_responder){
			.peer = { [10] = 0xff, 0xff, 10, 9, 0, 1 }, .qpn = REWRITE_QPN + i, .path_mtu = 4096, .pkey = 0xffff,
			.service = SERVICE_UC, .state = RESPONDER_READY, .endless = 1, .receive_at = RECEIVE_CHUNK / 2,
			.receive_bytes = 4096, .receive_slots = 1,
		};
	munmap(qps, bpf_map__value_size(b->bpf->maps.qps) * b->qps);
	b->received = mapped(b->bpf->maps.receive_cpus);
}

/* Tells the programs what the datagrams are. */
static void tell_datagram(struct bench_batch *b, struct monitor_settings *settings)
{
	char option[64], mistake[UDP_MISTAKE];

	snprintf(option, sizeof(option), "%u,%s", FRAME_UDP_PORT, b->datagram->format);
	if (!udp_ports_add(&settings->ports, option, mistake)) {
		fprintf(stderr, "bench: --udp %s: %s\n", option, mistake);
		exit(1);
	}
	*(enum rewrite_datagram *)&b->bpf->rodata->datagram_what = b->datagram->what;
	memcpy((void *)&b->bpf->rodata->datagram_base, b->frame.bytes + FRAME_BTH, 8);
	*(__u32 *)&b->bpf->rodata->datagram_payload = frame_datagram_bytes(&b->frame) - 40; /* behind SPEAD's header */
}

/* Loads only the programs that this batch times. */
static void load(struct bench_batch *b)
{
	struct monitor_settings *settings;
	struct bpf_program *each;

	b->bpf = bench_bpf__open();
	if (!b->bpf)
		die("BPF", errno);
	bpf_object__for_each_program(each, b->bpf->obj)
		bpf_program__set_autoload(each, false);
	for (int i = 0; i < b->count; i++)
		if (!(b->measures[i].kind->does & DOES_USER))
			bpf_program__set_autoload(find_program(b, b->measures[i].kind), true);
	settings = (struct monitor_settings *)&b->bpf->rodata->settings;
	settings->icrc_every = 1;
	settings->max_streams = STREAMS_MAX;
	if (b->datagram)
		tell_datagram(b, settings);
	settings->blocks.by_ring = b->change == CHANGE_RING;
	*(enum rewrite_change *)&b->bpf->rodata->change = b->change;
	maps_complete_settings(settings, 1);
	fold_make_tables((struct fold_tables *)&b->bpf->rodata->fold_tables);
	*(struct capture_settings *)&b->bpf->rodata->capture =
		(struct capture_settings){ .kinds = ~0u, .snaplen = ROCE_WINDOW_BYTES, .limit = 10 };
	slice8_make((struct slice8_tables *)&b->bpf->rodata->slice8_tables);
	bpf_map__set_max_entries(b->bpf->maps.buckets, settings->bucket_mask + 1);
	bpf_map__set_max_entries(b->bpf->maps.streams, settings->max_streams);
	prepare_receive(b);
	if (bench_bpf__load(b->bpf))
		die("BPF", errno);
	arm_receive(b);
	for (int i = 0; i < b->count; i++)
		if (!(b->measures[i].kind->does & DOES_USER))
			b->measures[i].program = bpf_program__fd(find_program(b, b->measures[i].kind));
	frame_tables(&b->frame, &b->bpf->bss->rewrite_tables);
	b->bpf->bss->rewrite_tables.base ^= b->spoil_icrc;
	b->bpf->bss->icrc_offset = b->frame.length - 4;
	b->bpf->bss->tracked.qps = b->qps;
	b->bpf->bss->stateless.qps = b->flood ? 0 : b->qps;
}

/* ---- rows ---- */

static json_t *samples_of(const struct measure *m)
{
	json_t *samples = json_array();

	for (int i = 0; i < m->count; i++) {
		const struct bench_sample *s = &m->samples[i];

		json_array_append_new(samples, json_pack("[i, f, f]", s->ns, s->core.adds, s->core.mhz));
	}
	return samples;
}

/* "empty": what is subtracted from the samples; null: nothing. */
static json_t *row_of(const struct bench_batch *b, const struct measure *m)
{
	bool net = m->kind->does & DOES_REWRITE;

	return json_pack("{s:s, s:i, s:i, s:s, s:I, s:o, s:o}", "name", m->kind->name, "payload", b->payload, "qps", b->qps,
			 "packet", b->frame.packet, "packets", (json_int_t)m->packets, "samples", samples_of(m), "empty",
			 net ? samples_of(&b->measures[0]) : json_null());
}

static void refuse(const struct bench_batch *b, const struct measure *m, json_t *refused)
{
	fprintf(stderr, "bench: refused: %s at %u bytes, %u QPs: %s\n", m->kind->name, b->payload, b->qps, m->refused);
	json_array_append_new(refused, json_pack("{s:s, s:i, s:i, s:s}", "name", m->kind->name, "payload", b->payload, "qps",
						 b->qps, "why", *m->refused ? m->refused : "the empty program's row is"));
}

static void add_rows(struct bench_batch *b, json_t *result)
{
	for (int i = 0; i < b->count; i++) {
		struct measure *m = &b->measures[i];
		bool flood = m->kind->does & DOES_FLOOD;

		if ((b->datagram || b->change) && !i && !*m->refused) /* only subtracted */
			continue;
		if (*m->refused || *b->measures[0].refused)
			refuse(b, m, json_object_get(result, "refused"));
		else if (flood || !b->flood) /* the others of a flood only fill the table, or are subtracted */
			json_array_append_new(json_object_get(result, flood ? "flood" : "program"), row_of(b, m));
	}
}

#define IN_KERNEL (DOES_REWRITE | DOES_WATCH)
static const struct bench_kind empty = { "empty", "empty", DOES_REWRITE, NULL };
static const struct bench_kind empty_datagram = { "empty", "empty_datagram", DOES_REWRITE, NULL };
static const struct bench_kind empty_changed = { "empty", "empty_changed", DOES_REWRITE, NULL };
static const struct bench_kind empty_bare = { "empty-bare", "empty_bare", 0, NULL };
static const struct bench_kind streams = { "streams", "streams", IN_KERNEL | DOES_STREAMS, NULL };
static const struct bench_kind all = { "all", "all", IN_KERNEL | DOES_STREAMS | DOES_ICRC, NULL };
static const struct bench_kind events = { "events", "events", IN_KERNEL | DOES_STREAMS | DOES_ICRC, NULL };
static const struct bench_kind receive = { "receive", "receive", IN_KERNEL | DOES_STREAMS | DOES_ICRC | DOES_RECEIVE, NULL };
static const struct bench_kind flood = { "flood", "flood", IN_KERNEL | DOES_STREAMS | DOES_ICRC | DOES_FLOOD, NULL };
static const struct bench_kind without_streams[] = {
	{ "parse", "parse", IN_KERNEL, NULL },
	{ "icrc", "icrc", IN_KERNEL | DOES_ICRC, NULL },
	{ "copy", "copy", IN_KERNEL | DOES_REFERENCE, NULL },
	{ "icrc-slice8", "icrc_slice8", IN_KERNEL | DOES_REFERENCE, NULL },
	{ "icrc-table", "icrc_table", IN_KERNEL | DOES_REFERENCE, NULL },
	{ "user-zlib", NULL, DOES_USER, by_zlib },
	{ "user-isal", NULL, DOES_USER, by_isal },
};

static const struct bench_kind changed[] = {
	[CHANGE_RING] = { "streams-ring", "changed", IN_KERNEL | DOES_STREAMS, NULL },
	[CHANGE_CLASS] = { "streams-class", "changed", IN_KERNEL | DOES_STREAMS, NULL },
};

/* Besides streams less parse: finding and locking by the kernel's maps. */
static const struct bench_kind finding[] = {
	{ "find-hash", "find_hash", DOES_REWRITE | DOES_REFERENCE, NULL },
	{ "find-array", "find_array", DOES_REWRITE | DOES_REFERENCE, NULL },
};

static void add(struct bench_batch *b, const struct bench_kind *kind)
{
	b->measures[b->count++] = (struct measure){ .kind = kind };
}

/* The empty program is the first. */
static void choose(struct bench_batch *b)
{
	if (b->datagram) {
		b->kind = (struct bench_kind){ b->datagram->row, "datagram", IN_KERNEL | DOES_STREAMS | DOES_DATAGRAM, NULL };
		add(b, &empty_datagram);
		add(b, &b->kind);
		return;
	}
	if (b->change) {
		add(b, &empty_changed);
		add(b, &changed[b->change]);
		return;
	}
	add(b, &empty);
	if (b->qps == 1) {
		for (size_t i = 0; i < ROCE_ARRAY_SIZE(without_streams); i++)
			add(b, &without_streams[i]);
		if (b->frame.length <= FRAME_LINEAR)
			add(b, &empty_bare);
	}
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(finding) && b->payload == 1024 && !b->flood; i++)
		add(b, &finding[i]);
	if (!b->flood)
		add(b, &streams);
	add(b, &all);
	if (!b->flood) {
		add(b, &events);
		add(b, &receive);
	}
	if (b->flood)
		add(b, &flood);
}

static void run_batch(struct bench_batch *b, json_t *result)
{
	static const char *const changes[] = { [CHANGE_NOTHING] = "", [CHANGE_RING] = ", --imm ring",
					       [CHANGE_CLASS] = ", two traffic classes" };

	fprintf(stderr, "bench: %u bytes, %u QP%s%s%s%s%s\n", b->payload, b->qps, b->qps > 1 ? "s" : "",
		b->flood ? " and a flood of others" : "", b->datagram ? ", UDP: " : "", b->datagram ? b->datagram->format : "",
		changes[b->change]);
	if (b->datagram)
		frame_make_datagram(&b->frame, b->datagram->what, b->payload);
	else
		frame_make(&b->frame, FRAME_UC, b->payload);
	b->covered_length = frame_covered(&b->frame, b->covered);
	choose(b);
	load(b);
	time_batch(b);
	add_rows(b, result);
	munmap(b->received, (size_t)bpf_map__value_size(b->bpf->maps.receive_cpus) * libbpf_num_possible_cpus());
	bench_bpf__destroy(b->bpf);
}

/* ---- the command line ---- */

static const struct bench_datagram datagrams[] = {
#define REWRITE_DATAGRAM(name, format) { DATAGRAM_##name, "udp-" #name, format },
	REWRITE_DATAGRAMS
#undef REWRITE_DATAGRAM
};

static const struct {
	__u32 payload, qps;
	bool quick, flood;
	const struct bench_datagram *datagram;
	enum rewrite_change change;
} plan[] = {
	{ .payload = 64, .qps = 1 }, { .payload = 128, .qps = 1 },
	{ .payload = 256, .qps = 1 }, { .payload = 512, .qps = 1 },
	{ .payload = 1024, .qps = 1, .quick = true }, { .payload = 2048, .qps = 1 },
	{ .payload = 3456, .qps = 1 }, { .payload = 4096, .qps = 1, .quick = true },
	{ .payload = 1024, .qps = 2000, .quick = true }, { .payload = 1024, .qps = 65536 },
	{ .payload = 1024, .qps = 65536, .flood = true },
	{ .payload = 1024, .qps = 1, .quick = true, .change = CHANGE_RING }, { .payload = 1024, .qps = 2000, .change = CHANGE_RING },
	{ .payload = 1024, .qps = 1, .quick = true, .change = CHANGE_CLASS }, { .payload = 1024, .qps = 2000, .change = CHANGE_CLASS },
	{ .payload = 1024, .qps = 2000, .datagram = &datagrams[DATAGRAM_seq] },
#define REWRITE_DATAGRAM(name, format) { .payload = 1024, .qps = 1, .quick = true, .datagram = &datagrams[DATAGRAM_##name] },
	REWRITE_DATAGRAMS
#undef REWRITE_DATAGRAM
};

/* Which errors to make, to check that the benchmark notices them. */
enum spoil { SPOIL_NOTHING, SPOIL_ICRC, SPOIL_PSN };
static const char *const spoils[] = { [SPOIL_NOTHING] = "nothing", [SPOIL_ICRC] = "icrc", [SPOIL_PSN] = "psn", NULL };

struct bench_options {
	bool quick;
	enum spoil spoil;
	__u32 cpu, payload, qps, runs;
};

static const struct option_entry entries[] = {
	{ "quick", NULL, "fewer packets and shorter runs", OPTION_FLAG(struct bench_options, quick) },
	{ "spoil", NULL, "run once with packets whose result is wrong",
	  OPTION_CHOICE(struct bench_options, spoil, spoils), .usual = "nothing" },
	{ "cpu", "N", "the CPU to run on; without it the last one", OPTION_NUMBER(struct bench_options, cpu, 0, CPU_SETSIZE
										  - 1) },
	{ "payload", "BYTES", "only packets with this payload", OPTION_NUMBER(struct bench_options, payload, 1,
									      FRAME_PAYLOAD_MAX) },
	{ "qps", "N", "only rows with this number of QPs", OPTION_NUMBER(struct bench_options, qps, 1, STREAMS_MAX) },
	{ "runs", "N", "exactly so many samples, quiet or not", OPTION_NUMBER(struct bench_options, runs, 1, RUNS_MAX) },
	{ 0 },
};

static const struct option_table tables[] = { { NULL, entries, 0 }, { 0 } };
static const struct command command = { .arguments = "[OPTIONS]", .tables = tables };

static bool is_wanted(const struct bench_options *o, size_t i)
{
	return (plan[i].quick || !o->quick) && (!o->payload || o->payload == plan[i].payload) &&
	       (!o->qps || o->qps == plan[i].qps);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1 };
	static struct bench_batch batch;
	struct probe *probe;
	json_t *result = json_pack("{s:[], s:[], s:[]}", "program", "flood", "refused");

	if (command_parse(&command, &o, argc, argv) < argc)
		usage_error("it takes options only");
	o.quick |= o.spoil;
	probe = probe_start(o.cpu, PROBE_OFTEN_NS);
	if (!pin(o.cpu) || !probe)
		die("CPU", errno);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(plan); i++) {
		if (!is_wanted(&o, i))
			continue;
		batch = (struct bench_batch){ .payload = plan[i].payload, .qps = plan[i].qps, .flood = plan[i].flood,
					     .probe = probe,
					.datagram = plan[i].datagram, .change = plan[i].change,
					.runs = o.runs ?: o.quick ? 3 : 17, .run_ns = o.quick ? 4000000 : 30000000 };
		batch.runs_max = o.runs || o.quick ? batch.runs : 2 * batch.runs;
		batch.spoil_icrc = o.spoil == SPOIL_ICRC;
		batch.spoil_psn = o.spoil == SPOIL_PSN;
		run_batch(&batch, result);
		if (o.spoil)
			break;
	}
	json_dumpf(result, stdout, JSON_COMPACT);
	return 0;
}
