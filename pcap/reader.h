/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capture files, pcap (microseconds or nanoseconds, either byte order) and pcapng, plain or compressed, read piece by piece:
 * memory does not grow with the file. Every frame begins with an Ethernet header, whatever the link type; a missing one is made
 * up.
 *
 * One thread reads the pieces in order. Any thread may work on the frames of a piece.
 */
#ifndef PCAP_READER_H
#define PCAP_READER_H

#include <linux/types.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* The link type of the file. */
enum capture_link {
	CAPTURE_LINK_FILE, /* as the file says: Ethernet, raw IP, MPLS, Linux SLL and SLL2, InfiniBand, ERF */
	CAPTURE_LINK_ETHERNET,
	CAPTURE_LINK_IP,
	CAPTURE_LINK_BTH, /* bare transport headers, as in test vectors of HLS code */
};

/* This many bytes after a frame's end may be read. They have no meaning. */
#define CAPTURE_SLACK 192

struct capture; /* an open file */

struct capture_frame {
	__u8 *bytes;	/* in the piece's memory; the user of the piece may change them */
	__u32 captured; /* bytes in the file, at most CAPTURE_FRAME_MAX; 0: unknown link type */
	__u32 wire;	/* bytes on the wire, at least `captured` */
	__u64 time;	/* ns since 1970 */
	__u32 interface; /* pcapng: index of its interface; SLL2: as the header says */
	bool no_icrc;	/* the file lacks what the ICRC covers (bare headers) */
	bool cut;	/* it was in a tunnel (roce/packet/decap.h) and may be cut before `wire`; the reader leaves it false */
	bool selected;	/* rocescope capture chose it: packets between it and others are missing in the file */
	__u16 comment_length;
	const char *comment; /* of a selected frame, in the piece's memory, without a 0 at its end; NULL: none */
};

#define CAPTURE_FRAME_MAX (1 << 18)

struct capture_piece {
	struct capture_frame *frames;
	size_t count;
	__u64 first;  /* number of frames[0] in the file, from 1 */
	__u64 latest; /* latest time of all frames up to the end of this piece, ns */
	/* private to the reader */
	__u8 *memory;
	size_t size, room;
	__u64 claim;   /* offset of the claimed bytes */
	bool claimed;
	bool fetched;  /* the claimed bytes were read */
};

/* path: "-" is standard input. NULL: it cannot be read; `error` has one line without the name. */
#define CAPTURE_ERROR 256
struct capture *capture_open(const char *path, enum capture_link link, char error[CAPTURE_ERROR]);

/* The name for messages. */
const char *capture_name(const struct capture *c);

/*
 * 1: at least one frame; 0: the end; -1: the rest cannot be read (capture_error()), but earlier pieces were right. A piece is
 * all zero at first, can be reused, and is freed by capture_piece_free(). On a pipe a piece takes what is there: it does not
 * wait until it is full.
 */
int capture_read(struct capture *c, struct capture_piece *piece);

/* From now on capture_read() fails instead of waiting for a pipe once *stop is set, by a signal. stop: may be NULL. */
void capture_heed(struct capture *c, const volatile sig_atomic_t *stop);

/*
 * Lets several threads copy the bytes of a plain file at once. capture_claim(), in one thread at a time, chooses the bytes of a
 * piece. capture_fetch(), in any thread, reads them. Then capture_read() finds their frames; it takes the pieces in the order
 * of their claims, and may find none. false: nothing (more) can be claimed; capture_read() reads the bytes itself.
 */
bool capture_claim(struct capture *c, struct capture_piece *piece);
void capture_fetch(const struct capture *c, struct capture_piece *piece);

void capture_piece_free(struct capture_piece *piece);

/* One line without the name: why capture_read() failed. */
const char *capture_error(const struct capture *c);

/* Whether the file has `selected` frames, as far as it was read. */
bool capture_is_selection(const struct capture *c);

/* Packets that rocescope capture left out of it (--limit), or had no room for, as the end of the file says. */
__u64 capture_left_out(const struct capture *c);

/* Bytes of the file read so far (compressed ones, if it is compressed), and its size. 0: unknown (a pipe). */
__u64 capture_position(const struct capture *c);
__u64 capture_size(const struct capture *c);

void capture_close(struct capture *c);

#endif
