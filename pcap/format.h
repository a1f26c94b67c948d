/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside the reader: an open file, and how its format finds frames in a run of the file's bytes. */
#ifndef PCAP_FORMAT_H
#define PCAP_FORMAT_H

#include "pcap/bytes.h"
#include "pcap/link.h"
#include "pcap/reader.h"

/* The bytes of a file that are at hand. */
struct run {
	__u8 *at, *end; /* a format moves `at` behind what it has used */
	size_t need;	/* bytes from `at` on that it needs to go on, more than there are */
	struct capture_piece *piece; /* has room for RUN_FRAMES(bytes at hand) more frames */
	__u8 *copies; /* where frames go whose made-up headers have no room before them; RUN_COPIES(bytes at hand) */
};

#define RUN_RECORD 16 /* bytes of the file that a frame takes at least */
#define RUN_FRAMES(bytes) ((bytes) / RUN_RECORD + 1)
#define RUN_COPIES(bytes) (RUN_FRAMES(bytes) * LINK_MADE_UP + (bytes))

struct capture_interface {
	enum link_kind link;
	__u32 snaplen;	/* 0: none */
	__u64 second;	/* units of its times in a second */
	__u64 offset;	/* seconds to be added, modulo 2^64 */
};

#define FORMAT_HEADER 28 /* bytes of a file's beginning that say what it is */

struct format {
	/* Whether the file is of this format, by its first four bytes, and whether it has the other byte order. */
	bool (*is)(const __u8 *bytes, bool *swapped);
	/* How many of its first bytes, FORMAT_HEADER or all there are, are behind us now; -1: c->error. */
	ssize_t (*start)(struct capture *c, const __u8 *bytes, size_t length);
	/* Frames go into r->piece until there are no whole ones any more. -1: c->error, for what begins at r->at. */
	int (*walk)(struct capture *c, struct run *r);
	/* The file has ended behind what walk() has used. -1: c->error. */
	int (*finish)(struct capture *c);
};

extern const struct format format_pcap, format_pcapng;

struct capture {
	const char *name;
	struct bytes *bytes;
	enum capture_link link;
	const struct format *format;
	bool swapped; /* the file, or this section of it, has the other byte order */
	bool ended;   /* c->error, if there is one, has been or is to be said */
	__u64 count;  /* frames so far */
	__u64 latest; /* ns */
	struct link_memory memory;
	/* the bytes behind the last whole frame, which begin the next piece, and how many of them are needed to go on */
	__u8 *rest;
	size_t rest_length, rest_room, need;
	/* pcap has one; pcapng: those of this section, and how many those before it had */
	struct capture_interface *interfaces;
	__u32 interface_count, interface_room, interfaces_before;
	/* pcap: bytes in front of each frame, and ns of its times' smaller unit */
	__u32 record, unit;
	/* pcapng: bytes that are of no interest, and behind those the length of their block once more; 0: none */
	__u64 skip;
	__u32 trailer;
	bool selection; /* capture_is_selection() */
	bool any_known; /* an interface of a known link type, else the latest unknown one */
	__u32 unknown;
	char error[CAPTURE_ERROR];
};

/* -1, with that line in c->error. */
int format_fail(struct capture *c, const char *line, ...) __attribute__((format(printf, 2, 3)));
/* The same for what is wrong behind the beginning. */
int format_damaged(struct capture *c, const char *why, ...) __attribute__((format(printf, 2, 3)));
int format_unknown_link(struct capture *c, __u32 type);

static inline __u16 format_16(const __u8 *p, bool swapped)
{
	__u16 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swapped ? __builtin_bswap16(v) : v;
}

static inline __u32 format_32(const __u8 *p, bool swapped)
{
	__u32 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swapped ? __builtin_bswap32(v) : v;
}

static inline __u64 format_64(const __u8 *p, bool swapped)
{
	__u64 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swapped ? __builtin_bswap64(v) : v;
}

/* A frame, whose bytes in the file are at `bytes`. */
static inline void format_put(struct capture *c, struct run *r, __u32 interface, __u8 *bytes, __u32 captured, __u32 wire,
			      __u64 time)
{
	struct capture_frame *f = &r->piece->frames[r->piece->count++];
	enum link_kind link = c->interfaces[interface].link;

	*f = (struct capture_frame){ .bytes = bytes, .captured = captured, .wire = wire > captured ? wire : captured,
				     .time = time, .interface = c->interfaces_before + interface };
	if (link != LINK_ETHERNET)
		link_to_ethernet(link, f, &r->copies, &c->memory);
	if (time > c->latest)
		c->latest = time;
}

#endif
