// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * outlet_drive --out auto|live|xdp|packet IFACE | -w FILE    [OPTIONS]
 *
 * Sends numbered frames through an outlet of rocescope send. A thread makes them in place of the planner. Frame n is Ethernet
 * of
 * type 0x88b5 (IEEE 802: for experiments), n, the offset of its payload in the pattern and its length (4 bytes each,
 * big-endian),
 * zeroes up to byte 54, the pattern from the offset on, and five bytes of ones; a frame of fewer than 59 bytes has less of the
 * zeroes. Byte k of the pattern is the highest of k * 2654435761 modulo 2^32.
 *
 *     --frames N       number of frames (1)
 *     --sizes N,...    bytes, in turn (64)
 *     --every NS       paced: frame n leaves at n times NS (0: not paced)
 *     --spacing NS     least distance between two frames
 *     --endless        no end; SIGINT ends it
 *     --reuse          makes every slot of the ring once and sends it again and again: for rates
 *     --seconds S      ends after S seconds
 *
 * Prints { "outlet", "sent", "bytes", "refused", "retried", "seconds", "late_max", "lost": by the device's counters or null }.
 */
#include <getopt.h>
#include <inttypes.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/netdev.h"
#include "lib/stop.h"
#include "userspace/traffic/send/outlet.h"

#define SIZES 64
#define HEADERS 54
#define TRAILER 5
#define PATTERN_STEP 2654435761u
#define OFFSET_STEP 4093

static struct send_plan plan;
static uint64_t frames = 1, every, spacing;
static uint32_t sizes[SIZES] = { 64 }, size_count = 1;
static int endless, reuse;
static double seconds;

static void put32(__u8 *to, uint32_t value)
{
	memcpy(to, &(uint32_t){ __builtin_bswap32(value) }, 4);
}

static uint32_t make(const struct send_memory *m, uint32_t n, __u8 *f, uint32_t headers, uint32_t offset, uint32_t length)
{
	uint32_t payload = length - headers - TRAILER;

	memset(f, 0, HEADERS);
	memset(f, 0xff, 6);
	f[6] = 2;
	f[12] = 0x88;
	f[13] = 0xb5;
	put32(f + 14, n);
	put32(f + 18, offset);
	put32(f + 22, length);
	memcpy(f + headers, m->payload + offset, payload);
	memset(f + headers + payload, 0xff, TRAILER);
	return payload;
}

static void fill(struct send_memory *m, uint64_t n)
{
	struct slot *s = &m->ring[n % RING_SLOTS];
	uint32_t length = sizes[n % size_count], offset = n * OFFSET_STEP % PAYLOAD_PATTERN;
	uint32_t headers = length < HEADERS + TRAILER ? length - TRAILER : HEADERS;
	static __u8 f[CELL_BYTES];

	s->departure = n * every;
	if (reuse && n >= RING_SLOTS)
		return;
	s->payload_bytes = make(m, n, f, headers, offset, length);
	s->payload = offset;
	s->header_bytes = headers;
	s->frame_bytes = length;
	memcpy(s->headers, f, headers);
	memcpy(s->tail, f + length - SLOT_TAIL, SLOT_TAIL);
}

static void *produce(void *context)
{
	struct send_memory *m = context;

	for (uint64_t n = 0; (endless || n < frames) && !stop; n++) {
		while (n - __atomic_load_n(&m->consumed, __ATOMIC_ACQUIRE) >= RING_SLOTS && !stop)
			sleep_until_ns(now_ns() + 100 * NSEC_PER_USEC);
		if (stop)
			break;
		fill(m, n);
		__atomic_store_n(&m->produced, n + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&m->ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

static bool send_all(struct outlet *o, uint64_t end)
{
	struct send_memory *m = o->memory;

	while (!__atomic_load_n(&m->ended, __ATOMIC_ACQUIRE) || m->consumed != m->produced) {
		if (!o->kind->run(o))
			return false;
		if (now_ns() > end)
			stop = 1;
	}
	return true;
}

static bool drive(struct outlet *o, uint64_t *sent)
{
	struct send_memory *m = o->memory;
	pthread_t maker;
	uint64_t start, bytes, late;
	bool good;

	for (uint32_t k = 0; k < PAYLOAD_CELLS; k++)
		m->payload[k] = k % PAYLOAD_PATTERN * PATTERN_STEP >> 24;
	m->spacing = spacing;
	start = now_ns();
	m->start = every ? start + NSEC_PER_MSEC : 0;
	pthread_create(&maker, NULL, produce, m);
	good = send_all(o, seconds ? start + seconds_to_ns(seconds) : UINT64_MAX);
	stop = 1;
	pthread_join(maker, NULL);
	*sent = m->consumed;
	bytes = m->bytes;
	late = m->late_max;
	if (!good)
		fprintf(stderr, "rocescope: %s\n", o->reason);
	if (!o->kind->close(o) && good) {
		fprintf(stderr, "rocescope: %s\n", o->reason);
		good = false;
	}
	fprintf(plan.file ? stderr : stdout,
		"{\"outlet\": \"%s\", \"sent\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"retried\": %" PRIu64
		", \"seconds\": %.6f, \"late_max\": %" PRIu64, o->kind->name, *sent, bytes, o->refused, o->retried,
		(now_ns() - start) / 1e9, late);
	return good;
}

static void parse_sizes(char *list)
{
	size_count = 0;
	for (char *size = strtok(list, ","); size && size_count < SIZES; size = strtok(NULL, ","))
		sizes[size_count++] = atoi(size);
}

static enum send_out way(const char *name)
{
	static const char *const names[] = { [OUT_AUTO] = "auto", [OUT_LIVE] = "live", [OUT_XDP] = "xdp", [OUT_PACKET] = "packet" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return i;
	exit(2);
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "out", required_argument, NULL, 'o' }, { "frames", required_argument, NULL, 'n' },
		{ "sizes", required_argument, NULL, 's' }, { "every", required_argument, NULL, 'e' },
		{ "spacing", required_argument, NULL, 'p' }, { "seconds", required_argument, NULL, 't' },
		{ "endless", no_argument, &endless, 1 }, { "reuse", no_argument, &reuse, 1 }, { 0 },
	};
	int value;

	while ((value = getopt_long(argc, argv, "w:", options, NULL)) != -1)
		switch (value) {
		case 'w': plan.file = optarg; break;
		case 'o': plan.out = way(optarg); break;
		case 'n': frames = strtoull(optarg, NULL, 0); break;
		case 's': parse_sizes(optarg); break;
		case 'e': every = strtoull(optarg, NULL, 0); break;
		case 'p': spacing = strtoull(optarg, NULL, 0); break;
		case 't': seconds = atof(optarg); break;
		case '?': exit(2);
		}
	plan.rate.per_second = every ? 1e9 / every : 0;
	plan.interface = optind < argc ? argv[optind] : NULL;
	if (!plan.interface && !plan.file)
		exit(2);
}

int main(int argc, char **argv)
{
	struct outlet o = { .plan = &plan };
	struct netdev_counters before;
	uint64_t sent, lost;
	unsigned int index;
	bool good;

	parse(argc, argv);
	stop_on_signals();
	for (uint32_t i = 0; i < size_count; i++)
		o.frame_most = sizes[i] > o.frame_most ? sizes[i] : o.frame_most;
	if (!outlet_open(&o))
		return 1;
	index = plan.interface ? if_nametoindex(plan.interface) : 0;
	if (index && !netdev_counters(index, &before))
		index = 0;
	good = drive(&o, &sent);
	if (index && netdev_lost(index, &before, sent, o.retried, &lost))
		printf(", \"lost\": %" PRIu64 "}\n", lost);
	else
		fprintf(plan.file ? stderr : stdout, ", \"lost\": null}\n");
	return !good;
}
