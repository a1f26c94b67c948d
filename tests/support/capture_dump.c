// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the reader of capture files makes of one, for tests/reader.test.
 *
 * capture_dump [--link file|ethernet|ip|bth] FILE   a line for each frame: number, bytes, bytes on the wire, ns, interface,
 *                                                   whether without ICRC, CRC-32 of its bytes; then `end` or the error
 *              --cut       the file cut after each of its bytes: its length, how many frames it has, the CRC-32 of the lines
 *                          of those, and what is said
 *              --libpcap   by libpcap's reader
 *              --time      how fast it is, and how much memory it has had
 */
#include <fcntl.h>
#include <getopt.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "pcap/reader.h"

struct dump_options {
	enum capture_link link;
	int cut, libpcap, time;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Receives each frame's line. */
typedef void (*line_function)(void *context, const char *line, size_t length);

static void print_line(void *context, const char *line, size_t length)
{
	(void)context;
	fwrite(line, 1, length, stdout);
}

static void put_frame(line_function put, void *context, __u64 number, const struct capture_frame *f)
{
	char line[160];

	if (f->captured > f->wire || f->captured > CAPTURE_FRAME_MAX)
		abort();
	put(context, line, snprintf(line, sizeof(line), "%llu %u %u %llu %u %d %08lx\n", number, f->captured, f->wire,
				    f->time, f->interface, f->no_icrc, crc32(0, f->bytes, f->captured)));
}

static void check_piece(const struct capture_piece *p, __u64 expected)
{
	__u8 slack[CAPTURE_SLACK];

	if (!p->count || p->first != expected)
		abort();
	for (size_t i = 0; i < p->count; i++) {
		/* must be readable: the sanitizer checks it */
		memcpy(slack, p->frames[i].bytes + p->frames[i].captured, sizeof(slack));
		__asm__ volatile("" : : "r"(slack) : "memory");
		if (p->frames[i].time > p->latest)
			abort();
	}
}

/* Reads the whole file; returns the message at its end. */
static void read_all(const char *path, const struct dump_options *o, struct capture_piece *piece, line_function put,
		     void *context,
		     char message[CAPTURE_ERROR])
{
	struct capture *c = capture_open(path, o->link, message);
	__u64 number = 1;
	int more;

	if (!c)
		return;
	while ((more = capture_read(c, piece)) == 1) {
		check_piece(piece, number);
		for (size_t i = 0; i < piece->count; i++)
			put_frame(put, context, number++, &piece->frames[i]);
		fflush(stdout);
	}
	snprintf(message, CAPTURE_ERROR, "%s", more < 0 ? capture_error(c) : "end");
	if (capture_size(c) && capture_position(c) > capture_size(c))
		abort();
	if (capture_read(c, piece) != more)
		abort();
	capture_close(c);
}

/* ---- cut ---- */

struct digest {
	unsigned long crc, lines;
};

static void digest_line(void *context, const char *line, size_t length)
{
	struct digest *d = context;

	d->crc = crc32(d->crc, (const Bytef *)line, length);
	d->lines++;
}

/* The longest first: the reader's memory behind the end then holds the bytes that the file really had there. */
static void cut(const char *path, const struct dump_options *o)
{
	int from = open(path, O_RDONLY), to = memfd_create("cut", 0);
	struct capture_piece piece = { 0 };
	char name[64], message[CAPTURE_ERROR];
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st))
		die(path);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", to);
	if (copy_file_range(from, NULL, to, NULL, st.st_size, 0) != st.st_size) {
		char *bytes = malloc(st.st_size);

		if (read(from, bytes, st.st_size) != st.st_size || pwrite(to, bytes, st.st_size, 0) != st.st_size)
			die(path);
		free(bytes);
	}
	for (off_t length = st.st_size; length >= 0; length--) {
		struct digest d = { 0 };

		if (ftruncate(to, length))
			die(name);
		read_all(name, o, &piece, digest_line, &d, message);
		printf("%lld %lu %08lx %s\n", (long long)length, d.lines, d.crc, message);
	}
	capture_piece_free(&piece);
	close(from);
	close(to);
}

/* ---- libpcap ---- */

static pcap_t *open_libpcap(const char *path)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);

	if (!pcap) {
		printf("%s\n", why);
		exit(0);
	}
	return pcap;
}

static void dump_libpcap(const char *path)
{
	pcap_t *pcap = open_libpcap(path);
	struct pcap_pkthdr *h;
	const u_char *bytes;
	__u64 number = 1;
	int r;

	while ((r = pcap_next_ex(pcap, &h, &bytes)) == 1) {
		struct capture_frame f = {
			.bytes = (__u8 *)bytes, .captured = h->caplen, .wire = h->len > h->caplen ? h->len : h->caplen,
			.time = h->ts.tv_sec * 1000000000ull + h->ts.tv_usec,
		};

		put_frame(print_line, NULL, number++, &f);
	}
	puts(r == PCAP_ERROR_BREAK ? "end" : pcap_geterr(pcap));
	pcap_close(pcap);
}

/* ---- time ---- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void time_libpcap(const char *path, __u64 *frames, __u64 *sum)
{
	pcap_t *pcap = open_libpcap(path);
	struct pcap_pkthdr *h;
	const u_char *bytes;

	while (pcap_next_ex(pcap, &h, &bytes) == 1) {
		++*frames;
		*sum += h->caplen + bytes[0];
	}
	pcap_close(pcap);
}

static void time_reader(const char *path, const struct dump_options *o, __u64 *frames, __u64 *sum)
{
	struct capture_piece piece = { 0 };
	char why[CAPTURE_ERROR];
	struct capture *c = capture_open(path, o->link, why);

	if (!c) {
		puts(why);
		exit(1);
	}
	while (capture_read(c, &piece) == 1) {
		*frames += piece.count;
		for (size_t i = 0; i < piece.count; i++)
			*sum += piece.frames[i].captured + piece.frames[i].bytes[0];
	}
	capture_piece_free(&piece);
	capture_close(c);
}

/* Of this program only: getrusage()'s peak includes that of the parent before exec. */
static long peak_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (status && fgets(line, sizeof(line), status))
		sscanf(line, "VmHWM: %ld", &kib);
	if (status)
		fclose(status);
	return kib;
}

static void time_it(const char *path, const struct dump_options *o)
{
	__u64 frames = 0, sum = 0;
	double start = now(), seconds;
	struct stat st;

	if (stat(path, &st))
		die(path);
	if (o->libpcap)
		time_libpcap(path, &frames, &sum);
	else
		time_reader(path, o, &frames, &sum);
	seconds = now() - start;
	printf("%lld bytes, %llu frames (%llx), %.4f s: %.2f GB/s, peak %ld KiB\n", (long long)st.st_size, frames, sum,
	       seconds, st.st_size / seconds / 1e9, peak_kib());
}

/* ---- the command line ---- */

static enum capture_link link_by_name(const char *name)
{
	static const char *const names[] = { "file", "ethernet", "ip", "bth" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return i;
	fprintf(stderr, "capture_dump: --link %s?\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	struct dump_options o = { 0 };
	const struct option options[] = {
		{ "link", required_argument, NULL, 'l' }, { "cut", no_argument, &o.cut, 1 },
		{ "libpcap", no_argument, &o.libpcap, 1 }, { "time", no_argument, &o.time, 1 }, { 0 },
	};
	struct capture_piece piece = { 0 };
	char message[CAPTURE_ERROR];
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			return 2;
		if (option == 'l')
			o.link = link_by_name(optarg);
	}
	if (optind != argc - 1) {
		fputs("usage: capture_dump [--link NAME] [--cut | --libpcap] [--time] FILE\n", stderr);
		return 2;
	}
	if (o.time) {
		time_it(argv[optind], &o);
	} else if (o.cut) {
		cut(argv[optind], &o);
	} else if (o.libpcap) {
		dump_libpcap(argv[optind]);
	} else {
		read_all(argv[optind], &o, &piece, print_line, NULL, message);
		puts(message);
		capture_piece_free(&piece);
	}
	return 0;
}
