/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of a capture file (pcap in microseconds or nanoseconds, either byte order; pcapng as far as libpcap reads it),
 * one after the other: memory does not grow with the file.
 */
#ifndef PCAP_READER_H
#define PCAP_READER_H

#include <linux/types.h>
#include <pcap/pcap.h>

struct capture {
	const char *name; /* for people */
	pcap_t *pcap;
	__u64 size; /* bytes of the file, 0: not known (a pipe) */
	char error[PCAP_ERRBUF_SIZE + 64]; /* one line without the name, set when a call failed */
};

struct capture_frame {
	const __u8 *bytes; /* until the next call */
	__u32 captured;	   /* bytes there are */
	__u32 wire;	   /* bytes there were on the wire, never less */
	__u64 time;	   /* ns since 1970 */
};

/* path: "-" is standard input. 0, or -1 with c->error, and then there is nothing to close. */
int capture_open(struct capture *c, const char *path);

/* 1: a frame; 0: the end; -1: the rest cannot be read (c->error), what came before was right. */
int capture_next(struct capture *c, struct capture_frame *frame);

/* Bytes read so far, of c->size. */
__u64 capture_position(const struct capture *c);

void capture_close(struct capture *c);

#endif
