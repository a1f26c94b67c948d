/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing a capture file: pcap of Ethernet, with nanoseconds. Frames gather in a buffer of fixed size; the file always ends
 * with a whole frame, also when the disk is full.
 */
#ifndef PCAP_WRITER_H
#define PCAP_WRITER_H

#include <linux/types.h>
#include <pcap/pcap.h>
#include <stdio.h>

struct writer {
	pcap_t *pcap;
	pcap_dumper_t *dumper;
	FILE *file;
	char *buffer;
	size_t buffered; /* bytes */
	off_t good;	 /* where in the file the last frame that is safe ends; -1: it is no file (a pipe) */
	char error[64]; /* one line without the name, set when a call failed */
};

/*
 * path: "-" is standard output. 0, or -1 with w->error, and then there is nothing to close. A broken pipe is an error from
 * then on.
 */
int writer_open(struct writer *w, const char *path);

/* Whether a frame of that many bytes fits into the buffer; else writer_flush() it first. */
int writer_has_room(const struct writer *w, __u32 bytes);

/* time: ns since 1970 */
void writer_put(struct writer *w, __u64 time, const __u8 *bytes, __u32 length);

/*
 * 0: all frames put so far are in the file. -1 (w->error): those since the last flush are not, and the file was cut behind
 * it.
 */
int writer_flush(struct writer *w);

/* Flushes as well. */
int writer_close(struct writer *w);

#endif
