// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cause.h"
#include "pcap/writer.h"

#define BUFFER_BYTES (1 << 20)
#define RECORD_HEADER 16 /* struct pcap_sf_pkthdr of libpcap */
#define LONGEST 65535

static int fail(struct pcap_writer *w, int error)
{
	snprintf(w->error, sizeof(w->error), "%s", cause(error).text);
	return -1;
}

/* Drops what stdio has buffered, so that closing the file does not write it. */
static void release(struct pcap_writer *w)
{
	__fpurge(w->file);
	pcap_dump_close(w->dumper);
	pcap_close(w->pcap);
	free(w->buffer);
}

static void cut(struct pcap_writer *w)
{
	__fpurge(w->file);
	/* only a regular file can be shortened */
	if (w->good >= 0 && !ftruncate(fileno(w->file), w->good))
		lseek(fileno(w->file), w->good, SEEK_SET);
}

int writer_flush(struct pcap_writer *w)
{
	int error;

	if (pcap_dump_flush(w->dumper) || ferror(w->file)) {
		error = errno;
		cut(w);
		clearerr(w->file);
		w->buffered = 0;
		return fail(w, error);
	}
	w->buffered = 0;
	w->good = lseek(fileno(w->file), 0, SEEK_CUR);
	return 0;
}

static FILE *open_file(const char *path)
{
	FILE *file;
	int fd;

	if (strcmp(path, "-"))
		return fopen(path, "we");
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	file = fdopen(fd, "w");
	if (!file)
		close(fd);
	return file;
}

int writer_open(struct pcap_writer *w, const char *path)
{
	*w = (struct pcap_writer){ .file = open_file(path) };
	if (!w->file)
		return fail(w, errno);
	w->good = lseek(fileno(w->file), 0, SEEK_CUR);
	signal(SIGPIPE, SIG_IGN);
	w->buffer = malloc(BUFFER_BYTES);
	w->pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, LONGEST, PCAP_TSTAMP_PRECISION_NANO);
	/* a buffer that stdio allocates would not have this size */
	if (w->buffer && w->pcap && !setvbuf(w->file, w->buffer, _IOFBF, BUFFER_BYTES))
		w->dumper = pcap_dump_fopen(w->pcap, w->file);
	if (!w->dumper) {
		if (w->pcap)
			pcap_close(w->pcap);
		fclose(w->file);
		free(w->buffer);
		return fail(w, ENOMEM);
	}
	if (!writer_flush(w))
		return 0;
	release(w);
	return -1;
}

int writer_has_room(const struct pcap_writer *w, __u32 bytes)
{
	return w->buffered + RECORD_HEADER + bytes <= BUFFER_BYTES;
}

void writer_put(struct pcap_writer *w, __u64 time, const __u8 *bytes, __u32 length)
{
	struct pcap_pkthdr h = {
		/* in nanoseconds, the precision of the file */
		.ts = { .tv_sec = time / 1000000000u, .tv_usec = time % 1000000000u }, .caplen = length, .len = length,
	};

	pcap_dump((u_char *)w->dumper, &h, bytes);
	w->buffered += RECORD_HEADER + length;
}

int writer_close(struct pcap_writer *w)
{
	int result = writer_flush(w), fd;

	/* NFS reports some errors only on close, and libpcap does not pass them on */
	fd = result ? -1 : dup(fileno(w->file));
	if (fd >= 0 && close(fd))
		result = fail(w, errno);
	release(w);
	return result;
}
