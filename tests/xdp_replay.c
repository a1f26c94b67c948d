// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * xdp_replay [-q] FILE.pcap: runs every frame of a capture through the kernel's XDP program (BPF_PROG_TEST_RUN) and through
 * the engine in user space, and compares: the ICRC verdict frame by frame, all totals and streams at the end. Prints
 *     N bpf=VERDICT user=VERDICT        VERDICT: good, bad, unchecked, other (not RoCE), refused (by the kernel)
 * a frame (-q: only where they differ). Exit status 1 if anything differs, 2 if it could not be run.
 */
#include <errno.h>
#include <inttypes.h>
#define PCAP_DONT_INCLUDE_PCAP_BPF_H /* its struct bpf_insn is not the kernel's */
#include <pcap/pcap.h>
#include <pcap/dlt.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bpf/abi.h"
#include "bpf/monitor.skel.h"
#include "userspace/maps.h"

#define STREAMS 65536

static const char *const counter_names[ROCE_COUNTERS] = {
#define COUNTER(name, ...) [COUNTER_##name] = #name,
#include "roce/counters.def"
#undef COUNTER
};

static struct fold_tables tables;
static __u8 frame[FRAME_MAX + ROCE_WINDOW_BYTES];
static struct snapshot user = { .complete = true };
static void *user_index; /* tsearch() tree over user.streams */

static void die(const char *what, const char *why)
{
	fprintf(stderr, "xdp_replay: %s: %s\n", what, why);
	exit(2);
}

/* ---- the engine in user space ---- */

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct roce_key));
}

static struct roce_stream *user_stream(const struct roce_packet *p)
{
	struct snapshot_stream *s = &user.streams[user.stream_count], **found;

	roce_stream_key(p, &s->key);
	found = tsearch(s, &user_index, compare_keys);
	if (*found == s && ++user.stream_count == STREAMS)
		die("capture", "too many streams");
	return &(*found)->stream;
}

static enum icrc_verdict user_icrc(const struct roce_packet *p)
{
	__u32 r = ICRC_REGISTER, at = p->l3_offset, end = p->icrc_offset + WIRE_ICRC_LEN;

	icrc_mask(frame, p);
	for (; at + 8 <= end; at += 8)
		r = fold_eight(&tables, r, roce_load(__u64, frame + at));
	for (; at < end; at++)
		r = fold_byte(&tables, r, frame[at]);
	return r == ICRC_REGISTER ? ICRC_GOOD : ICRC_BAD;
}

static const char *verdict_name(bool roce, enum icrc_verdict icrc)
{
	static const char *const names[] = { [ICRC_UNCHECKED] = "unchecked", [ICRC_GOOD] = "good", [ICRC_BAD] = "bad" };

	return roce ? names[icrc] : "other";
}

static const char *user_run(const __u8 *data, __u32 length)
{
	enum icrc_verdict icrc = ICRC_UNCHECKED;
	struct roce_packet p;

	memcpy(frame, data, length < FRAME_MAX ? length : FRAME_MAX);
	roce_parse(frame, length, length, NULL, &p);
	roce_count_frame(&user.totals, &p);
	if (p.kind != ROCE_PACKET)
		return verdict_name(false, icrc);
	if (length <= FRAME_MAX)
		icrc = user_icrc(&p);
	roce_count_packet(&user.totals, &p, icrc);
	roce_observe(user_stream(&p), &p, icrc, 1);
	return verdict_name(true, icrc);
}

/* ---- the program in the kernel ---- */

static struct monitor_bpf *load(void)
{
	struct monitor_bpf *bpf = monitor_bpf__open();

	if (!bpf)
		die("BPF", strerror(errno));
	bpf->rodata->settings.icrc_every = 1;
	bpf->rodata->settings.max_streams = STREAMS;
	maps_complete_settings((struct monitor_settings *)&bpf->rodata->settings, 3600);
	*(struct fold_tables *)&bpf->rodata->fold_tables = tables;
	if (monitor_bpf__load(bpf))
		die("BPF", strerror(errno));
	return bpf;
}

static struct roce_counters bpf_totals(const struct monitor_bpf *bpf)
{
	struct roce_counters totals = { 0 };

	if (maps_read_totals(bpf_map__fd(bpf->maps.scratches), &totals))
		die("BPF map", strerror(errno));
	return totals;
}

static const char *bpf_run(const struct monitor_bpf *bpf, const __u8 *data, __u32 length)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = data, .data_size_in = length, .repeat = 1);
	static struct roce_counters before;
	struct roce_counters now;
	enum icrc_verdict icrc = ICRC_UNCHECKED;
	bool roce;

	if (bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.watch_frags), &run))
		return "refused";
	now = bpf_totals(bpf);
	roce = now.value[COUNTER_roce_packets] != before.value[COUNTER_roce_packets];
	if (now.value[COUNTER_icrc_bad] != before.value[COUNTER_icrc_bad])
		icrc = ICRC_BAD;
	else if (now.value[COUNTER_icrc_checked] != before.value[COUNTER_icrc_checked])
		icrc = ICRC_GOOD;
	before = now;
	return verdict_name(roce, icrc);
}

/* ---- the comparison ---- */

static int compare_counters(const char *of, const struct roce_counters *bpf, const struct roce_counters *us)
{
	int differ = 0;

	for (int c = 0; c < ROCE_COUNTERS; c++) {
		if (bpf->value[c] == us->value[c])
			continue;
		differ++;
		printf("%s: %s bpf=%" PRIu64 " user=%" PRIu64 "\n", of, counter_names[c], (uint64_t)bpf->value[c],
		       (uint64_t)us->value[c]);
	}
	return differ;
}

static int compare_stream(struct snapshot_stream *bpf, struct snapshot_stream *us)
{
	char of[64];

	if (memcmp(&bpf->key, &us->key, sizeof(us->key))) {
		printf("streams differ: QPN bpf=%u user=%u\n", bpf->key.qpn, us->key.qpn);
		return 1;
	}
	bpf->stream.first_seen = us->stream.first_seen;
	bpf->stream.last_seen = us->stream.last_seen;
	if (!memcmp(&bpf->stream, &us->stream, sizeof(us->stream)))
		return 0;
	snprintf(of, sizeof(of), "stream of QPN %u side %u", us->key.qpn, us->key.side);
	if (!compare_counters(of, &bpf->stream.counters, &us->stream.counters))
		printf("%s: same counters, other state\n", of);
	return 1;
}

static int compare_all(const struct monitor_bpf *bpf)
{
	struct snapshot s = { .totals = bpf_totals(bpf) };
	int differ = 0;

	if (maps_read_streams(bpf_map__fd(bpf->maps.table_states), bpf_map__fd(bpf->maps.streams), &s))
		die("BPF map", strerror(errno));
	snapshot_finish(&s);
	snapshot_finish(&user);
	differ += compare_counters("totals", &s.totals, &user.totals);
	if (s.stream_count != user.stream_count) {
		printf("streams: bpf=%zu user=%zu\n", s.stream_count, user.stream_count);
		return differ + 1;
	}
	for (size_t i = 0; i < s.stream_count; i++)
		differ += compare_stream(&s.streams[i], &user.streams[i]);
	snapshot_free(&s);
	return differ;
}

static int replay(pcap_t *capture, const struct monitor_bpf *bpf, bool quiet)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int differ = 0, result;

	for (unsigned long n = 1; (result = pcap_next_ex(capture, &header, &data)) == 1; n++) {
		const char *b = bpf_run(bpf, data, header->caplen), *u = "refused";

		if (strcmp(b, u)) /* what the kernel did not see is nothing to compare */
			u = user_run(data, header->caplen);
		differ += b != u && strcmp(b, u);
		if (!quiet || strcmp(b, u))
			printf("%lu bpf=%s user=%s\n", n, b, u);
	}
	if (result != PCAP_ERROR_BREAK)
		die("capture", pcap_geterr(capture));
	return differ;
}

int main(int argc, char **argv)
{
	bool quiet = argc == 3 && !strcmp(argv[1], "-q");
	char error[PCAP_ERRBUF_SIZE];
	struct monitor_bpf *bpf;
	pcap_t *capture;
	int differ;

	if (argc != 2 + quiet)
		die("usage", "xdp_replay [-q] FILE.pcap");
	capture = pcap_open_offline(argv[argc - 1], error);
	if (!capture)
		die(argv[argc - 1], error);
	if (pcap_datalink(capture) != DLT_EN10MB)
		die(argv[argc - 1], "not a capture of Ethernet");
	fold_make_tables(&tables);
	user.streams = calloc(STREAMS, sizeof(*user.streams));
	if (!user.streams)
		die("memory", strerror(errno));
	bpf = load();
	differ = replay(capture, bpf, quiet);
	differ += compare_all(bpf);
	printf("%s: %llu frames, %zu streams, %d differences\n", argv[argc - 1],
	       (unsigned long long)user.totals.value[COUNTER_frames], user.stream_count, differ);
	monitor_bpf__destroy(bpf);
	pcap_close(capture);
	return differ ? 1 : 0;
}
