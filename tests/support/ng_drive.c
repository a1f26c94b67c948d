// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ng_drive [OPTIONS] FILE
 *
 * Writes a pcapng of numbered packets by pcap/ng_writer.c. Packet n (from 0) is Ethernet of type 0x88b5 (IEEE 802: for
 * experiments), n in 4 bytes, and zeroes; it is on interface n modulo their number and n * NS after 1700000000.
 * All that can be said of packets is said of those whose n is a multiple of 5, nothing of the others:
 * comment "n=N: ...", direction inward and outward in turn, dropped n + 1, id n, queue n modulo 7, verdict n modulo 5.
 *
 *     --packets N      (10)          --file-bytes N, --file-seconds S, --files N: struct ng_rotation
 *     --sizes N,...    bytes, in turn (60)
 *     --every NS       (1000)        --interfaces N  (2)
 *     --snaplen N                    --comment N     bytes of a comment, at least
 *     --flush N        after each N packets
 *     --ask            waits for a line on stdin before the last ng_flush and ng_close
 *     --silent         no statistics
 *
 * Prints to stderr: { "put": packets taken, "written", "files", "path", "error": why ng_put or ng_close failed, or null }.
 */
#include <getopt.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/ng_writer.h"

#define START 1700000000000000000u
#define SIZES 16
#define LONGEST 300000
#define COMMENT_MOST 100000

static unsigned int packets = 10, interfaces = 2, sizes[SIZES] = { 60 }, size_count = 1, comment_bytes, flush_every;
static uint64_t every = 1000;
static uint32_t snaplen;
static int ask, silent;
static struct ng_rotation rotation;

static void parse_sizes(char *list)
{
	size_count = 0;
	for (char *size = strtok(list, ","); size && size_count < SIZES; size = strtok(NULL, ","))
		sizes[size_count++] = atoi(size);
}

static const char *parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "packets", required_argument, NULL, 'n' }, { "sizes", required_argument, NULL, 's' },
		{ "every", required_argument, NULL, 'e' }, { "interfaces", required_argument, NULL, 'i' },
		{ "file-bytes", required_argument, NULL, 'b' }, { "file-seconds", required_argument, NULL, 't' },
		{ "files", required_argument, NULL, 'f' }, { "snaplen", required_argument, NULL, 'l' },
		{ "comment", required_argument, NULL, 'c' }, { "flush", required_argument, NULL, 'F' },
		{ "ask", no_argument, &ask, 1 }, { "silent", no_argument, &silent, 1 }, { 0 },
	};
	int value;

	while ((value = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (value) {
		case 'n': packets = atoi(optarg); break;
		case 's': parse_sizes(optarg); break;
		case 'e': every = strtoull(optarg, NULL, 0); break;
		case 'i': interfaces = atoi(optarg); break;
		case 'b': rotation.file_bytes = strtoull(optarg, NULL, 0); break;
		case 't': rotation.file_seconds = atof(optarg); break;
		case 'f': rotation.files = atoi(optarg); break;
		case 'l': snaplen = atoi(optarg); break;
		case 'c': comment_bytes = atoi(optarg); break;
		case 'F': flush_every = atoi(optarg); break;
		case '?': exit(2);
		}
	if (optind + 1 != argc || !size_count || interfaces < 1 || interfaces > INTERFACES_MOST || comment_bytes > COMMENT_MOST)
		exit(2);
	return argv[optind];
}

static struct ng_writer *open_writer(const char *path, char error[NG_ERROR])
{
	static char names[INTERFACES_MOST][16];
	struct ng_interface all[INTERFACES_MOST];

	for (unsigned int i = 0; i < interfaces; i++) {
		snprintf(names[i], sizeof(names[i]), "port%u", i);
		all[i] = (struct ng_interface){ .name = names[i], .snaplen = snaplen };
		if (!i) {
			all[i].description = "the first one";
			all[i].hardware = "veth";
			all[i].filter = "--reason psn,icrc";
		}
	}
	return ng_open(path, all, interfaces, &rotation, error);
}

static bool put(struct ng_writer *w, unsigned int n)
{
	static __u8 bytes[LONGEST] = { [0] = 2, [6] = 2, [11] = 1, [12] = 0x88, [13] = 0xb5 };
	static char comment[COMMENT_MOST + 64];
	struct ng_packet p = {
		.interface = n % interfaces, .time = START + n * every, .bytes = bytes, .captured = sizes[n % size_count],
		.wire = sizes[n % size_count], .queue = -1, .verdict = -1, .id = -1,
	};

	memcpy(bytes + 14, &(uint32_t){ __builtin_bswap32(n) }, 4);
	if (n % 5 == 0) {
		int length = snprintf(comment, sizeof(comment), "n=%u: in words", n);

		for (; length < (int)comment_bytes; length++)
			comment[length] = '.';
		comment[length] = 0;
		p.comment = comment;
		p.direction = n / 5 & 1 ? NG_OUTWARD : NG_INWARD;
		p.dropped = n + 1;
		p.id = n;
		p.queue = n % 7;
		p.verdict = n / 5 % 5;
	}
	return ng_put(w, &p);
}

static void set_statistics(struct ng_writer *w, unsigned int n)
{
	struct ng_statistics s[INTERFACES_MOST];

	for (unsigned int i = 0; i < interfaces; i++)
		s[i] = (struct ng_statistics){ START, START + n * every, 1000 + n, 1, 100 + n, 2, n, 0 };
	ng_set_statistics(w, s);
}

int main(int argc, char **argv)
{
	const char *path = parse(argc, argv);
	char error[NG_ERROR] = "", last[4096];
	struct ng_writer *w;
	unsigned int taken = 0;
	bool good;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	w = open_writer(path, error);
	if (!w) {
		fprintf(stderr, "rocescope: %s: %s\n", path, error);
		return 1;
	}
	for (unsigned int n = 0; n < packets; n++) {
		taken += put(w, n);
		if (!silent)
			set_statistics(w, n + 1);
		if (flush_every && n % flush_every == 0)
			ng_flush(w);
	}
	if (ask) {
		ng_flush(w);
		getchar();
	}
	ng_flush(w);
	snprintf(last, sizeof(last), "\"written\": %llu, \"files\": %u, \"path\": \"%s\"", ng_written(w), ng_files(w), ng_path(w));
	good = ng_close(w, error);
	fprintf(stderr, "{\"put\": %u, %s, \"error\": %s%s%s}\n", taken, last, good ? "" : "\"", good ? "null" : error,
		good ? "" : "\"");
	return !good;
}
