/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes pcap of Ethernet with nanoseconds. Frames are collected in a buffer of fixed size. The file always ends with a whole
 * frame, even when the disk is full.
 */
#ifndef PCAP_WRITER_H
#define PCAP_WRITER_H

#include <linux/types.h>
#include <pcap/pcap.h>
#include <stdio.h>

#include "lib/cause.h"

struct pcap_writer {
	pcap_t *pcap;
	pcap_dumper_t *dumper;
	FILE *file;
	char *buffer;
	size_t buffered; /* bytes */
	off_t good;	 /* end of the last frame written to the file; -1: no regular file (a pipe) */
	char error[CAUSE_TEXT]; /* after a failed call: one line without the name */
};

/*
 * path: "-" is standard output. Returns 0, or -1 with w->error; nothing need be closed then. A broken pipe is an error from
 * then on.
 */
int writer_open(struct pcap_writer *w, const char *path);

/* Whether a frame of this size fits into the buffer. If not, call writer_flush() first. */
int writer_has_room(const struct pcap_writer *w, __u32 bytes);

/* time: ns since 1970 */
void writer_put(struct pcap_writer *w, __u64 time, const __u8 *bytes, __u32 length);

/*
 * 0: all frames put so far are in the file. -1 (w->error): those since the last flush are not, and the file ends before them.
 */
int writer_flush(struct pcap_writer *w);

/* Flushes too. */
int writer_close(struct pcap_writer *w);

#endif
