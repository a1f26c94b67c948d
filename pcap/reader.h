/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capture files: pcap (microseconds, nanoseconds, either byte order) and pcapng, plain or compressed, by pieces: memory
 * does not grow with the file. Whatever the link type, a frame begins with an Ethernet header: one is made up where the file
 * has none.
 *
 * One thread reads pieces, one after the other; what is in a piece may be worked on by any thread.
 */
#ifndef PCAP_READER_H
#define PCAP_READER_H

#include <linux/types.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* What the file's frames begin with. */
enum capture_link {
	CAPTURE_LINK_FILE, /* as the file says: Ethernet, raw IP, Linux SLL and SLL2, InfiniBand */
	CAPTURE_LINK_ETHERNET,
	CAPTURE_LINK_IP,
	CAPTURE_LINK_BTH, /* bare transport headers, as test vectors of HLS code have them */
};

/* Behind a frame's last byte so many more may be read; they have no meaning. */
#define CAPTURE_SLACK 192

struct capture; /* an open file */

struct capture_frame {
	__u8 *bytes;	/* in the piece's memory; the reader of the piece may change them */
	__u32 captured; /* bytes there are, at most CAPTURE_FRAME_MAX; 0: a link type that is not known */
	__u32 wire;	/* bytes there were on the wire, never less */
	__u64 time;	/* ns since 1970 */
	__u32 interface; /* pcapng: which of its interfaces */
	bool no_icrc;	/* what the ICRC covers is not in the file (bare headers) */
	bool cut;	/* it was in a tunnel (roce/decap.h): a mirror may have cut it before `wire`; the reader leaves it false */
};

#define CAPTURE_FRAME_MAX (1 << 18)

struct capture_piece {
	struct capture_frame *frames;
	size_t count;
	__u64 first;  /* number of frames[0] in the file, from 1 */
	__u64 latest; /* the latest time of all frames up to the end of this piece, ns */
	/* the reader's own */
	__u8 *memory;
	size_t size, room;
	__u64 claim;   /* offset of the bytes that it shall have */
	bool claimed;
	bool fetched;  /* they are there */
};

/*
 * path: "-" is standard input. NULL and one line in `error` (without the name): it cannot be read.
 */
#define CAPTURE_ERROR 256
struct capture *capture_open(const char *path, enum capture_link link, char error[CAPTURE_ERROR]);

/* For people. */
const char *capture_name(const struct capture *c);

/*
 * 1: at least one frame; 0: the end; -1: the rest cannot be read (capture_error()): what came in pieces before was right. A
 * piece is all zero at first, is used again and again, and freed by capture_piece_free(). On pipes a piece has what is
 * there: it does not wait until it is full.
 */
int capture_read(struct capture *c, struct capture_piece *piece);

/* From now on capture_read() fails instead of waiting for a pipe when that is set, by a signal. stop: may be NULL. */
void capture_heed(struct capture *c, const volatile sig_atomic_t *stop);

/*
 * So that several threads may copy at once what a plain file has in memory: capture_claim(), by one thread at a time, says
 * which bytes a piece shall have; capture_fetch(), by any, reads them; then capture_read(), of the pieces in the order of their
 * claims, finds their frames, which may be none. false: nothing can be claimed (any more), capture_read() reads by itself.
 */
bool capture_claim(struct capture *c, struct capture_piece *piece);
void capture_fetch(const struct capture *c, struct capture_piece *piece);

void capture_piece_free(struct capture_piece *piece);

/* One line without the name, why capture_read() failed. */
const char *capture_error(const struct capture *c);

/* As far as it was read: rocescope capture chose what is in it, so that packets are missing between others. */
bool capture_is_selection(const struct capture *c);

/* Bytes read so far (of the file as it is, compressed or not), and the file's size; 0: not known (a pipe). */
__u64 capture_position(const struct capture *c);
__u64 capture_size(const struct capture *c);

void capture_close(struct capture *c);

#endif
