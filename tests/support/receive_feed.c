// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * receive_feed NAME OWN PEER FIRST_QPN QPS MEMORY BLOCK RKEY VA PATH_MTU SLOTS BYTES RECEIVES FILE.pcap
 *
 * A receiver of UC that is pinned as NAME, without an interface: for each number that it reads from standard input it runs so many
 * frames more of the file through bpf/receive.bpf.c (BPF_PROG_TEST_RUN), and prints how many are left. Each QP has a CPU, as if the
 * NIC spread them over queues. OWN, PEER: 16 bytes in hexadecimal; SLOTS: buffers of a QP for SENDs, of BYTES each, which begin with
 * the memory; 0: none, and receives never end. RECEIVES: posted on each QP. At the end it removes the pins.
 */
#define PCAP_DONT_INCLUDE_PCAP_BPF_H /* its struct bpf_insn is not the kernel's */
#include <pcap/pcap.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "roce/packet/wire.h"
#include "tests/support/receive_run.h"
#include "userspace/observe/live/pin.h"

static const char *const pinned[] = { "memory", "qps", "rings", "receive_cpus", "receive_setup", "generations", "regions" };

struct feed_frame {
	__u8 *data;
	__u32 bytes;
	__u32 cpu;
};

static struct test_receive_run run;
static struct feed_frame *frames;
static size_t frame_count, fed;

static void parse_address(const char *text, __u8 to[16])
{
	for (int i = 0; i < 16; i++)
		sscanf(text + 2 * i, "%2hhx", &to[i]);
}

static void pin(const char *directory, bool unpin)
{
	char path[PATH_MAX];
	__u32 zero = 0;

	mkdir(PIN_ROOT, 0700);
	mkdir(directory, 0700);
	if (!unpin && bpf_map_update_elem(bpf_map__fd(run.bpf->maps.receive_setup), &zero,
					  (const void *)&run.bpf->rodata->receive, BPF_ANY))
		run_die("receive_setup", errno);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(pinned); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(run.bpf->obj, pinned[i]);

		snprintf(path, sizeof(path), "%s/%s", directory, pinned[i]);
		if (unpin ? unlink(path) : bpf_obj_pin(bpf_map__fd(map), path))
			run_die(path, errno);
	}
	if (unpin)
		rmdir(directory);
}

/* Where the BTH's QPN is: the files have IPv4 without options and IPv6 without extension headers. */
static __u32 qpn_of(const __u8 *data)
{
	const __u8 *bth = data + WIRE_ETH_LEN + (data[12] == 0x08 ? 20 : 40) + 8;

	return bth[5] << 16 | bth[6] << 8 | bth[7];
}

static void read_frames(const char *path)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *capture = pcap_open_offline(path, error);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct pcap_pkthdr *header;
	const u_char *data;

	if (!capture)
		run_die(error, errno);
	while (pcap_next_ex(capture, &header, &data) == 1) {
		if (!(frame_count & (frame_count - 1)))
			frames = realloc(frames, (frame_count ? 2 * frame_count : 1) * sizeof(*frames));
		frames[frame_count] = (struct feed_frame){ malloc(header->caplen), header->caplen, qpn_of(data) % cpus };
		memcpy(frames[frame_count++].data, data, header->caplen);
	}
	pcap_close(capture);
}

static void feed_cpu(size_t begin, size_t end, __u32 cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		run_die("CPU", errno);
	for (size_t i = begin; i < end; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = frames[i].data, .data_size_in = frames[i].bytes, .repeat = 1);

		if (frames[i].cpu == cpu && bpf_prog_test_run_opts(run.program, &o))
			run_die("test run", errno);
	}
}

static void arm(__u32 qp, const char *peer, __u32 path_mtu, __u32 slots, __u32 bytes, __u64 receives)
{
	struct receive_qp *q = &run.qps[qp];

	q->responder = (struct roce_responder){ .path_mtu = path_mtu, .pkey = 0xffff, .service = SERVICE_UC, .state = RESPONDER_READY,
						.qpn = run.bpf->rodata->receive.first_qpn + qp, .endless = !slots,
						.receive_at = (__u64)qp * slots * bytes, .receive_bytes = bytes,
						.receive_slots = slots };
	parse_address(peer, q->responder.peer);
	q->posted = receives;
	q->armed = 1;
}

int main(int argc, char **argv)
{
	struct receive_settings s = { .layout = RECEIVE_LAYOUT, .each = 1 };
	char directory[PATH_MAX];
	size_t count;

	if (argc != 15)
		run_die("arguments", EINVAL);
	parse_address(argv[2], s.own);
	s.first_qpn = atol(argv[4]);
	s.qps = atol(argv[5]);
	s.memory = atol(argv[6]);
	s.block = atol(argv[7]);
	s.receives = atol(argv[13]);
	run_load(&run, "receive_frags", &s, 0);
	run_region(&run, &(struct roce_region){ .rkey = atol(argv[8]), .va = strtoull(argv[9], NULL, 0), .bytes = s.memory });
	for (__u32 qp = 0; qp < s.qps; qp++)
		arm(qp, argv[3], atol(argv[10]), atol(argv[11]), atol(argv[12]), s.receives);
	read_frames(argv[14]);
	snprintf(directory, sizeof(directory), "%s/%s", PIN_ROOT, argv[1]);
	pin(directory, false);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%zu\n", frame_count);
	while (scanf("%zu", &count) == 1) {
		count = count < frame_count - fed ? count : frame_count - fed;
		for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
			feed_cpu(fed, fed + count, cpu);
		fed += count;
		printf("%zu\n", frame_count - fed);
	}
	pin(directory, true);
	return 0;
}
