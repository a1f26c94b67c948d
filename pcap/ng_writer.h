/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing pcapng (draft-ietf-opsawg-pcapng), with what plain pcap cannot say: interfaces, comments, direction, queue, verdict.
 * libpcap writes none. The file always ends with a whole block, also when the disk is full.
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
	const char *filter;	 /* what was captured, in words: --reason, may be NULL */
	__u32 snaplen;		 /* 0: none; longer packets are cut. The same for all: libpcap reads no others */
};

/* What an interface block at the end says of the interface. */
struct ng_statistics {
	__u64 start, end; /* ns since 1970 */
	__u64 received;	  /* frames that were seen */
	__u64 dropped;	  /* by the interface */
	__u64 accepted;	  /* chosen to be written */
	__u64 os_dropped; /* chosen, and lost on the way here */
	__u64 delivered;  /* written */
};

enum ng_direction { NG_UNKNOWN, NG_INWARD, NG_OUTWARD };

struct ng_packet {
	__u32 interface; /* index, below count */
	__u64 time;	 /* ns since 1970 */
	const __u8 *bytes;
	__u32 captured, wire;
	const char *comment; /* may be NULL */
	enum ng_direction direction;
	__s64 queue; /* -1: not known */
	__s64 verdict; /* of XDP (enum xdp_action), -1: not known */
	__s64 id; /* -1: none */
	__u64 dropped; /* packets that were lost between the one before and this one */
};

/*
 * Where files go, and how much of the disk they take at most. 0: without that bound. Files rotate if one of the first two is
 * set.
 */
struct ng_rotation {
	__u64 file_bytes;    /* none becomes larger, unless a single packet is */
	double file_seconds; /* a packet that is so much later than the first of its file begins the next one */
	__u32 files;	     /* only the newest so many are kept, of those that this writer began */
};

struct ng_writer;

/*
 * path: "-" is standard output (no rotation). With rotation NAME.pcapng becomes NAME-00001.pcapng, NAME-00002.pcapng ...,
 * and NAME becomes NAME-00001; names that exist are left out. Without rotation a file that exists is overwritten.
 * count: 1 to INTERFACES_MOST. SIGPIPE and SIGXFSZ are the caller's to ignore.
 * NULL and one line in `error` (without the name): it cannot be written.
 */
#define NG_ERROR 256
struct ng_writer *ng_open(const char *path, const struct ng_interface *interfaces, size_t count,
			  const struct ng_rotation *rotation, char error[NG_ERROR]);

/*
 * false: the disk is full, or the file cannot be written any more: it ends with the last whole block, nothing more is
 * written, and ng_error() says why; the caller goes on counting. A reader of a pipe may be waited for; when two signals have
 * come meanwhile (whose handlers are without SA_RESTART) and it has read nothing in between, that is an error, too.
 */
bool ng_put(struct ng_writer *w, const struct ng_packet *p);

/* Out of the buffer, into the file: what is there can be read by others. */
bool ng_flush(struct ng_writer *w);

/* The file that is being written now, and how many were begun; why writing ended, NULL: it has not. */
const char *ng_path(const struct ng_writer *w);
__u32 ng_files(const struct ng_writer *w);
const char *ng_error(const struct ng_writer *w);

/* Whether it is a pipe that nobody reads any more. It shows without anything being written. */
bool ng_broken(const struct ng_writer *w);

/* Packets that are in files, with those that were deleted since; not those that a full disk left in the buffer. */
__u64 ng_written(const struct ng_writer *w);

/* Statistics, one an interface, go into the end of every file: those handed in last (until then there are no figures). */
void ng_tell(struct ng_writer *w, const struct ng_statistics *statistics);

/* false: as ng_put(). Frees w in any case; why is in `error`. */
bool ng_close(struct ng_writer *w, char error[NG_ERROR]);

#endif
