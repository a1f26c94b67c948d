/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside the reader: an open file, and how its format finds frames in a run of its bytes. */
#ifndef PCAP_FORMAT_H
#define PCAP_FORMAT_H

#include "pcap/bytes.h"
#include "pcap/link.h"
#include "pcap/reader.h"

/* Bytes of a file that were read. */
struct pcap_run {
	__u8 *at, *end; /* a format moves `at` past what it has used */
	size_t need;	/* bytes from `at` on that the format needs to continue, if there are fewer */
	struct capture_piece *piece; /* has room for RUN_FRAMES(bytes of the run) more frames */
	__u8 *copies; /* room for frames that must be copied to get a header; RUN_COPIES(bytes of the run) */
};

#define RUN_RECORD 16 /* least bytes of the file for one frame */
#define RUN_FRAMES(bytes) ((bytes) / RUN_RECORD + 1)
#define RUN_COPIES(bytes) (RUN_FRAMES(bytes) * LINK_MADE_UP + (bytes))

struct pcap_interface {
	enum link_kind link;
	__u32 snaplen;	/* 0: none */
	__u64 second;	/* units of time in a second */
	__u64 offset;	/* seconds to add, modulo 2^64 */
	bool selected;	/* its frames are (struct capture_frame) */
};

#define FORMAT_HEADER 28 /* bytes at the beginning of a file that tell its format */

struct format {
	/* Whether the first four bytes are of this format, and whether its byte order is swapped. */
	bool (*is)(const __u8 *bytes, bool *swapped);
	/* Starts with the first bytes, FORMAT_HEADER or all there are. Returns how many of them it used; -1: see c->error. */
	ssize_t (*start)(struct capture *c, const __u8 *bytes, size_t length);
	/* Puts frames into r->piece until no whole one is left. -1: c->error says what is wrong at r->at. */
	int (*walk)(struct capture *c, struct pcap_run *r);
	/* The file has ended after the bytes that walk() used. -1: see c->error. */
	int (*finish)(struct capture *c);
};

extern const struct format format_pcap, format_pcapng;

struct capture {
	const char *name;
	struct bytes *bytes;
	enum capture_link link;
	const struct format *format;
	bool swapped; /* the file, or this section, has the other byte order */
	bool ended;   /* c->error, if set, was returned or will be next */
	__u64 count;  /* frames so far */
	__u64 latest; /* ns */
	struct link_memory memory;
	/* the bytes after the last whole frame, for the next piece; need: how many are needed to continue */
	__u8 *rest;
	size_t rest_length, rest_room, need;
	/* pcap: one interface; pcapng: those of this section, and the number in the sections before */
	struct pcap_interface *interfaces;
	__u32 interface_count, interface_room, interfaces_before;
	/* pcap: bytes before each frame, and ns in the smaller unit of time */
	__u32 record, unit;
	/* pcapng: bytes to skip, and the block length after them; 0: none */
	__u64 skip;
	__u32 trailer;
	bool selection; /* capture_is_selection() */
	__u64 left_out; /* capture_left_out() */
	bool any_known; /* some interface has a known link type; else `unknown` is the latest type */
	__u32 unknown;
	char error[CAPTURE_ERROR];
};

/* Returns -1 and sets c->error to this line. */
int format_fail(struct capture *c, const char *line, ...) __attribute__((format(printf, 2, 3)));
/* The same for damage after the beginning of the file. */
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

/* Adds a frame. Its bytes in the file are at `bytes`. */
static inline void format_put(struct capture *c, struct pcap_run *r, __u32 interface, __u8 *bytes, __u32 captured, __u32 wire,
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
