// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * blast IFACE --frame HEX [OPTIONS]
 *
 * Sends RoCEv2 packets as fast as they go, from several CPUs at once. The frame (IPv4 without options, one byte a pair of
 * digits) is the pattern: of each packet the opcode, the QPN, the PSN and the ICRC are set. Packet n belongs to stream
 * n modulo the number of streams and to round n divided by it; a round is sent by CPU round modulo the number of CPUs,
 * which keep in step. No code of the project makes the packets: the CRC is zlib's.
 *
 *     --streams N     with QPNs from --qpn on (1, 1)
 *     --packets N     of each stream, with PSNs from --psn on (1, 0)
 *     --message N     so many packets are a SEND message (1); the pattern's opcode says of which service
 *     --cpus N        so many CPUs (1) from --cpu on (0)
 *     --lead N        no CPU is further ahead of another than so many packets (64)
 *     --pause USEC    between two rounds (0)
 *     --chaos         QPNs and PSNs are random
 *     --garbage       so is all that comes behind the UDP header
 *
 * Prints { "packets", "bytes", "pause_ms": the longest time from one round's end to the next one's }.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define IP 14
#define UDP (IP + 20)
#define BTH (UDP + 8)
#define FRAME_BYTES 2048
#define ICRC_BYTES 4
#define CPUS 64
#define BATCH 32

enum { OPCODE_FIRST, OPCODE_MIDDLE, OPCODE_LAST, OPCODE_ONLY = 4 }; /* of SEND; the service is in the upper bits */

static struct {
	uint64_t streams, packets, message, cpu, cpus, lead, pause, qpn, psn;
	int chaos, garbage;
	int interface;
	uint8_t frame[FRAME_BYTES];
	size_t length;
	uint32_t crc; /* of all that comes before the BTH */
} plan = { .streams = 1, .packets = 1, .message = 1, .cpus = 1, .lead = 64, .qpn = 1 };

struct cpu {
	_Alignas(64) _Atomic uint64_t sent; /* packets that this CPU has sent */
	pthread_t thread;
	unsigned int number;
	uint64_t random;
	uint64_t longest; /* ns */
	uint8_t frame[BATCH][FRAME_BYTES];
	struct iovec part[BATCH];
	struct mmsghdr message[BATCH];
};

static struct cpu cpus[CPUS];

static void die(const char *what)
{
	fprintf(stderr, "blast: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* xorshift64 */
static uint64_t draw(struct cpu *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->random;
}

static void put24(uint8_t *to, uint32_t value)
{
	to[0] = value >> 16;
	to[1] = value >> 8;
	to[2] = value;
}

static uint8_t opcode(uint64_t round)
{
	uint64_t at = round % plan.message;

	if (plan.message == 1)
		return OPCODE_ONLY;
	return at == 0 ? OPCODE_FIRST : at == plan.message - 1 ? OPCODE_LAST : OPCODE_MIDDLE;
}

/* IBTA A17.3.3: eight bytes of ones, then the datagram with what may change on the way as ones. */
static uint32_t crc_before_bth(void)
{
	uint8_t masked[8 + BTH - IP];

	memset(masked, 0xff, 8);
	memcpy(masked + 8, plan.frame + IP, BTH - IP);
	masked[8 + 1] = masked[8 + 8] = masked[8 + 10] = masked[8 + 11] = 0xff; /* TOS, TTL, checksum */
	masked[8 + UDP - IP + 6] = masked[8 + UDP - IP + 7] = 0xff;
	return crc32(0, masked, sizeof(masked));
}

static void make(struct cpu *c, uint8_t *frame, uint64_t n)
{
	uint64_t stream = n % plan.streams, round = n / plan.streams;
	size_t covered = plan.length - ICRC_BYTES - BTH;
	uint8_t *bth = frame + BTH, reserved;
	uint32_t crc;

	if (plan.garbage) {
		for (size_t i = BTH; i < plan.length; i++)
			frame[i] = draw(c) >> 32;
		return;
	}
	bth[0] = (plan.frame[BTH] & 0xe0) | opcode(round);
	put24(bth + 5, plan.chaos ? draw(c) >> 32 : plan.qpn + stream);
	put24(bth + 9, plan.chaos ? draw(c) >> 32 : plan.psn + round);
	reserved = bth[4];
	bth[4] = 0xff;
	crc = crc32(plan.crc, bth, covered);
	bth[4] = reserved;
	memcpy(bth + covered, &crc, ICRC_BYTES); /* lowest byte first, the order of this host */
}

/* A full ring at the receiver loses nothing: the packet is sent again. */
static void flush(struct cpu *c, int fd, unsigned int count)
{
	unsigned int done = 0;

	while (done < count) {
		int n = sendmmsg(fd, c->message + done, count - done, 0);

		if (n < 0 && errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
			die("send");
		done += n > 0 ? n : 0;
	}
}

/* Waits until no other CPU is too far behind. */
static void keep_step(const struct cpu *c, uint64_t sent)
{
	for (uint64_t i = 0; i < plan.cpus; i++)
		for (unsigned int spins = 1; &cpus[i] != c && cpus[i].sent + plan.lead < sent; spins++)
			if (spins % 1024 == 0)
				sched_yield();
}

static int open_socket(void)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = plan.interface };
	int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1;

	/* the queue then follows the sender's CPU */
	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&to, sizeof(to)))
		die("packet socket");
	return fd;
}

static void pin(unsigned int number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot run on as many CPUs");
}

static void prepare(struct cpu *c)
{
	for (int i = 0; i < BATCH; i++) {
		memcpy(c->frame[i], plan.frame, plan.length);
		c->part[i] = (struct iovec){ c->frame[i], plan.length };
		c->message[i].msg_hdr = (struct msghdr){ .msg_iov = &c->part[i], .msg_iovlen = 1 };
	}
	c->random = (now() ^ (uint64_t)c->number << 32) | 1;
}

static void rest(struct cpu *c, uint64_t *last)
{
	uint64_t t;

	if (plan.pause)
		usleep(plan.pause);
	t = now();
	if (t - *last > c->longest)
		c->longest = t - *last;
	*last = t;
}

static void *run(void *context)
{
	uint64_t batch = plan.lead / 2 < 1 ? 1 : plan.lead / 2 > BATCH ? BATCH : plan.lead / 2, last = now(), sent = 0;
	unsigned int count = 0;
	struct cpu *c = context;
	int fd = open_socket();

	pin(plan.cpu + c->number);
	prepare(c);
	for (uint64_t round = c->number; round < plan.packets; round += plan.cpus) {
		for (uint64_t n = round * plan.streams; n < (round + 1) * plan.streams; n++) {
			make(c, c->frame[count++], n);
			if (count < batch && !(plan.pause && n % plan.streams == plan.streams - 1))
				continue;
			keep_step(c, sent);
			flush(c, fd, count);
			sent += count;
			c->sent = sent;
			count = 0;
		}
		rest(c, &last);
	}
	flush(c, fd, count);
	c->sent = UINT64_MAX / 2;
	close(fd);
	return NULL;
}

static void parse_frame(const char *hex)
{
	unsigned int byte;

	for (plan.length = 0; plan.length < FRAME_BYTES && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		plan.frame[plan.length++] = byte;
	if (plan.length < BTH + 16)
		die("--frame: too short");
	plan.crc = crc_before_bth();
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "frame", required_argument, NULL, 'f' }, { "streams", required_argument, NULL, 's' },
		{ "packets", required_argument, NULL, 'n' }, { "message", required_argument, NULL, 'm' },
		{ "cpus", required_argument, NULL, 'c' }, { "lead", required_argument, NULL, 'l' },
		{ "pause", required_argument, NULL, 'w' }, { "qpn", required_argument, NULL, 'q' },
		{ "psn", required_argument, NULL, 'p' }, { "cpu", required_argument, NULL, 'o' },
		{ "chaos", no_argument, &plan.chaos, 1 },
		{ "garbage", no_argument, &plan.garbage, 1 }, { 0 },
	};
	uint64_t *const numbers[] = { ['s'] = &plan.streams, ['n'] = &plan.packets, ['m'] = &plan.message,
				      ['c'] = &plan.cpus, ['l'] = &plan.lead, ['w'] = &plan.pause, ['q'] = &plan.qpn,
				      ['p'] = &plan.psn, ['o'] = &plan.cpu };
	int value;

	while ((value = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (value == '?')
			exit(2);
		if (value == 'f')
			parse_frame(optarg);
		else if (value)
			*numbers[value] = strtoull(optarg, NULL, 0);
	}
	plan.interface = optind < argc ? if_nametoindex(argv[optind]) : 0;
	if (!plan.interface || !plan.length || plan.cpus < 1 || plan.cpus > CPUS || !plan.streams || !plan.message)
		die("blast IFACE --frame HEX [OPTIONS]");
}

int main(int argc, char **argv)
{
	uint64_t longest = 0, packets;

	parse(argc, argv);
	for (unsigned int i = 0; i < plan.cpus; i++) {
		cpus[i].number = i;
		errno = pthread_create(&cpus[i].thread, NULL, run, &cpus[i]);
		if (errno)
			die("thread");
	}
	for (unsigned int i = 0; i < plan.cpus; i++) {
		pthread_join(cpus[i].thread, NULL);
		longest = cpus[i].longest > longest ? cpus[i].longest : longest;
	}
	packets = plan.streams * plan.packets;
	printf("{ \"packets\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"pause_ms\": %.1f }\n", packets,
	       packets * plan.length, longest / 1e6);
	return 0;
}
