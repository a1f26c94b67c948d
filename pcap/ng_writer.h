/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes pcapng (draft-ietf-opsawg-pcapng), which has what pcap lacks: interfaces, comments, direction, queue, verdict. libpcap
 * cannot write it. The file always ends with a whole block, even when the disk is full.
 */
#ifndef PCAP_NG_WRITER_H
#define PCAP_NG_WRITER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/interfaces.h"

struct ng_interface {
	const char *name;
	const char *description; /* may be NULL */
	const char *hardware;	 /* driver, may be NULL */
	const char *filter;	 /* what was captured (--reason), may be NULL */
	__u32 snaplen;		 /* 0: none; longer packets are cut. The same for all interfaces: libpcap reads nothing else */
};

/* The interface statistics block at the end. */
#define NG_LEFT_OUT "reason=left-out count=" /* a number follows */

struct ng_statistics {
	__u64 start, end; /* ns since 1970 */
	__u64 received;	  /* frames seen */
	__u64 dropped;	  /* by the interface */
	__u64 accepted;	  /* frames selected */
	__u64 os_dropped; /* selected, but lost before they were written */
	__u64 delivered;  /* written */
	__u64 left_out;	  /* by the limit, or lost; not 0: NG_LEFT_OUT says so in a comment */
};

enum ng_direction { NG_UNKNOWN, NG_INWARD, NG_OUTWARD };

struct ng_packet {
	__u32 interface; /* index, less than count */
	__u64 time;	 /* ns since 1970 */
	const __u8 *bytes;
	__u32 captured, wire;
	const char *comment; /* may be NULL */
	enum ng_direction direction;
	__s64 queue; /* -1: not known */
	__s64 verdict; /* of XDP (enum xdp_action), -1: not known */
	__s64 id; /* -1: none */
	__u64 dropped; /* packets lost between the packet before and this one */
};

/* How files rotate, and how much of the disk they may take. 0: no limit. Files rotate if one of the first two is set. */
struct ng_rotation {
	__u64 file_bytes;    /* no file is larger, unless a single packet is */
	double file_seconds; /* a packet this much later than the first one of its file begins a new file */
	__u32 files;	     /* how many of the newest files are kept, of those that this writer began */
};

struct ng_writer;

/*
 * path: "-" is standard output (no rotation). With rotation NAME.pcapng becomes NAME-00001.pcapng, NAME-00002.pcapng ..., and
 * NAME becomes NAME-00001; existing files are skipped. Without rotation an existing file is overwritten. count: 1 to
 * INTERFACES_MOST. The caller must ignore SIGPIPE and SIGXFSZ. NULL: it cannot be written; `error` has one line without the
 * name.
 */
#define NG_ERROR 256
struct ng_writer *ng_open(const char *path, const struct ng_interface *interfaces, size_t count,
			  const struct ng_rotation *rotation, char error[NG_ERROR]);

/*
 * false: the disk is full, or the file cannot be written: it ends with its last whole block, nothing more is written, and
 * ng_error() says why. The caller may go on counting. It may wait for the reader of a pipe. Two signals (with handlers without
 * SA_RESTART) in which the reader has read nothing are an error too.
 */
bool ng_put(struct ng_writer *w, const struct ng_packet *p);

/* Writes the buffer to the file, so that others can read it. */
bool ng_flush(struct ng_writer *w);

/* The open file, the number of files begun, and why writing ended (NULL: it has not). */
const char *ng_path(const struct ng_writer *w);
__u32 ng_files(const struct ng_writer *w);
const char *ng_error(const struct ng_writer *w);

/* Whether it is a pipe whose reader has gone. Known without writing to it. */
bool ng_broken(const struct ng_writer *w);

/* Packets in files, deleted files included; not those that a full disk left in the buffer. */
__u64 ng_written(const struct ng_writer *w);

/* Sets the statistics, one for each interface, for the end of every file. Until the first call there are none. */
void ng_set_statistics(struct ng_writer *w, const struct ng_statistics *statistics);

/* false: as ng_put(), with the reason in `error`. Frees w in any case. */
bool ng_close(struct ng_writer *w, char error[NG_ERROR]);

#endif
