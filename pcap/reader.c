// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/format.h"

#define PAGE 4096
#define PIECE_BYTES (256 << 10) /* of the file: a piece and its frames stay in a core's L2 cache */
#define FRONT 64		/* writable bytes before the first frame */
#define REST_BYTES (16 << 10)	/* room before fetched bytes for the rest of the piece before: a jumbo frame */

/* ---- errors ---- */

int format_fail(struct capture *c, const char *line, ...)
{
	va_list arguments;

	va_start(arguments, line);
	vsnprintf(c->error, sizeof(c->error), line, arguments);
	va_end(arguments);
	return -1;
}

int format_damaged(struct capture *c, const char *why, ...)
{
	char text[CAPTURE_ERROR - 64];
	va_list arguments;

	va_start(arguments, why);
	vsnprintf(text, sizeof(text), why, arguments);
	va_end(arguments);
	return format_fail(c, "cut or damaged, what was read until there counts: %s", text);
}

int format_unknown_link(struct capture *c, __u32 type)
{
	const char *words = link_words(type);

	if (words)
		return format_fail(c, "link type %u is %s", type, words);
	return format_fail(c, "link type %u: only Ethernet, IP, MPLS, Linux SLL, InfiniBand and ERF can be read (--link says what it "
			   "is)", type);
}

/* ---- pieces ---- */

static size_t round_up(size_t n)
{
	return (n + PAGE - 1) / PAGE * PAGE;
}

/*
 * One mapping for a piece: its frames, bytes of the file, and copied frames. Pages that are not touched cost nothing, so each
 * part has room for the most it may need. capture_piece.room: bytes of the file.
 */
static size_t frames_bytes(size_t room)
{
	return round_up(RUN_FRAMES(room) * sizeof(struct capture_frame) + FRONT);
}

static __u8 *file_bytes(const struct capture_piece *p)
{
	return p->memory + frames_bytes(p->room);
}

static bool piece_allocate(struct capture_piece *p, size_t room)
{
	room = round_up(room);
	p->size = frames_bytes(room) + room + round_up(RUN_COPIES(room) + 2 * CAPTURE_SLACK);
	p->memory = aligned_alloc(PAGE, p->size);
	p->room = p->memory ? room : 0;
	return p->memory;
}

void capture_piece_free(struct capture_piece *piece)
{
	free(piece->memory);
	*piece = (struct capture_piece){ 0 };
}

/*
 * Puts `left` bytes from `from` into the piece, with room for those needed next. The next bytes of the file keep their offset
 * within a page: the kernel copies fastest then.
 */
static int place(struct capture *c, struct pcap_run *r, const __u8 *from, size_t left)
{
	size_t room = PAGE + (r->need > PIECE_BYTES ? r->need : PIECE_BYTES);
	size_t offset = (bytes_position(c->bytes) - left) % PAGE;
	struct capture_piece *p = r->piece, old = *p;

	if (p->room < room) {
		*p = (struct capture_piece){ .first = old.first };
		if (!piece_allocate(p, room)) {
			*p = old;
			return format_fail(c, "no memory");
		}
	}
	r->at = file_bytes(p) + offset;
	r->end = r->at + left;
	memmove(r->at, from, left);
	if (p->memory != old.memory)
		capture_piece_free(&old);
	p->frames = (struct capture_frame *)p->memory;
	r->copies = file_bytes(p) + p->room + CAPTURE_SLACK;
	return 0;
}

static __u8 *room_end(const struct capture_piece *p)
{
	return file_bytes(p) + p->room;
}

/* Keeps the bytes after the last whole frame for the next piece. */
static int keep_rest(struct capture *c, const struct pcap_run *r)
{
	size_t left = r->end - r->at;
	__u8 *rest;

	if (left > c->rest_room) {
		rest = realloc(c->rest, left);
		if (!rest)
			return format_fail(c, "no memory");
		c->rest = rest;
		c->rest_room = left;
	}
	if (left)
		memcpy(c->rest, r->at, left);
	c->rest_length = left;
	c->need = r->need;
	return 0;
}

/* Reads at r->end. 1: read; 0: the end of the file; -1: see c->error. */
static int read_more(struct capture *c, struct pcap_run *r)
{
	ssize_t n;

	if ((size_t)(room_end(r->piece) - r->at) < r->need || r->at == r->end)
		if (place(c, r, r->at, r->end - r->at))
			return -1;
	n = bytes_read(c->bytes, r->end, room_end(r->piece) - r->end);
	if (n < 0)
		return format_damaged(c, "%s", bytes_error(c->bytes));
	r->end += n;
	if (n)
		return 1;
	return r->at < r->end ? format_damaged(c, "the file ends inside a frame") : c->format->finish(c);
}

/* Finds at least one frame, if there is one. 1: there may be more; 0: the end; -1: see c->error. */
static int fill(struct capture *c, struct pcap_run *r)
{
	int more;

	if (place(c, r, c->rest, c->rest_length))
		return -1;
	for (;;) {
		if (c->format->walk(c, r))
			return -1;
		if (r->piece->count)
			return keep_rest(c, r) ? -1 : 1;
		more = read_more(c, r);
		if (more <= 0)
			return more;
	}
}

/* ---- pieces whose bytes are fetched before their turn ---- */

/* Where the claimed bytes begin: at the same offset within a page as in the file, see place(). */
static __u8 *claimed_bytes(const struct capture_piece *p)
{
	return file_bytes(p) + REST_BYTES + p->claim % PAGE;
}

bool capture_claim(struct capture *c, struct capture_piece *piece)
{
	piece->claimed = !c->ended && bytes_claim(c->bytes, PIECE_BYTES, &piece->claim);
	return piece->claimed;
}

void capture_fetch(const struct capture *c, struct capture_piece *piece)
{
	const size_t room = REST_BYTES + PAGE + PIECE_BYTES;

	if (piece->room < room) {
		free(piece->memory);
		piece_allocate(piece, room);
	}
	piece->fetched = piece->memory && bytes_fetch(c->bytes, piece->claim, claimed_bytes(piece), PIECE_BYTES);
}

/* The rest does not fit before the claimed bytes: moves both into a larger piece. */
static int join(struct capture *c, struct pcap_run *r)
{
	struct capture_piece *p = r->piece, old = *p;

	*p = (struct capture_piece){ .first = old.first };
	if (!piece_allocate(p, c->rest_length + PIECE_BYTES)) {
		*p = old;
		return format_fail(c, "no memory");
	}
	r->at = file_bytes(p);
	memcpy(r->at + c->rest_length, claimed_bytes(&old), PIECE_BYTES);
	capture_piece_free(&old);
	return 0;
}

/* Finds the frames of a claimed piece, together with the rest of the piece before. */
static int take_claimed(struct capture *c, struct pcap_run *r)
{
	struct capture_piece *p = r->piece;

	if (!p->fetched)
		return format_damaged(c, "the file became shorter, or memory short, while it was read");
	r->at = claimed_bytes(p) - c->rest_length;
	if (c->rest_length > REST_BYTES && join(c, r))
		return -1;
	memcpy(r->at, c->rest, c->rest_length);
	r->end = r->at + c->rest_length + PIECE_BYTES;
	p->frames = (struct capture_frame *)p->memory;
	r->copies = file_bytes(p) + p->room + CAPTURE_SLACK;
	return c->format->walk(c, r) || keep_rest(c, r) ? -1 : 1;
}

int capture_read(struct capture *c, struct capture_piece *piece)
{
	struct pcap_run r = { .piece = piece, .need = c->need };
	bool claimed = piece->claimed;

	piece->count = 0;
	piece->claimed = false;
	piece->first = c->count + 1;
	if (!c->ended && (claimed ? take_claimed(c, &r) : fill(c, &r)) <= 0)
		c->ended = true;
	c->count += piece->count;
	piece->latest = c->latest;
	if (piece->count || (claimed && !c->ended))
		return 1;
	return c->error[0] ? -1 : 0;
}

/* ---- files ---- */

static const struct {
	const char *magic;
	const char *what;
} strangers[] = {
	{ "BZh", "bzip2, which has to be decompressed first" },
	{ "\x04\x22\x4d\x18", "lz4, which has to be decompressed first" },
	{ "snoop", "snoop, of which editcap can make pcapng" },
	{ "GMBU", "Network Monitor's, of which editcap can make pcapng" },
	{ "RTSS", "Network Monitor's, of which editcap can make pcapng" },
	{ "TRSNIFF data", "a Sniffer's, of which editcap can make pcapng" },
	{ "XCP", "NetXRay's, of which editcap can make pcapng" },
	{ "\x7fver", "OmniPeek's, of which editcap can make pcapng" },
};

static int fail_strange(struct capture *c)
{
	for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++)
		if (c->rest_length >= strlen(strangers[i].magic) &&
		    !memcmp(c->rest, strangers[i].magic, strlen(strangers[i].magic)))
			return format_fail(c, "neither pcap nor pcapng: it is %s", strangers[i].what);
	return format_fail(c, c->rest_length ? "neither pcap nor pcapng" : "the file is empty");
}

/* Reads the bytes that tell the format, as far as the file has them. */
static int read_header(struct capture *c)
{
	ssize_t n;

	c->rest = malloc(FORMAT_HEADER);
	if (!c->rest)
		return format_fail(c, "no memory");
	c->rest_room = FORMAT_HEADER;
	do {
		n = bytes_read(c->bytes, c->rest + c->rest_length, FORMAT_HEADER - c->rest_length);
		if (n < 0)
			return format_fail(c, "%s", bytes_error(c->bytes));
		c->rest_length += n;
	} while (n && c->rest_length < FORMAT_HEADER);
	return 0;
}

static int start(struct capture *c)
{
	static const struct format *const formats[] = { &format_pcap, &format_pcapng };
	ssize_t used;

	if (read_header(c))
		return -1;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats) && c->rest_length >= 4; i++)
		if (formats[i]->is(c->rest, &c->swapped)) {
			c->format = formats[i];
			break;
		}
	if (!c->format)
		return fail_strange(c);
	used = c->format->start(c, c->rest, c->rest_length);
	if (used < 0)
		return -1;
	c->rest_length -= used;
	memmove(c->rest, c->rest + used, c->rest_length);
	return 0;
}

struct capture *capture_open(const char *path, enum capture_link link, char error[CAPTURE_ERROR])
{
	struct capture *c = calloc(1, sizeof(*c));

	if (!c) {
		snprintf(error, CAPTURE_ERROR, "no memory");
		return NULL;
	}
	c->name = strcmp(path, "-") ? path : "standard input";
	c->link = link;
	c->bytes = bytes_open(path, c->error);
	if (c->bytes && !start(c))
		return c;
	memcpy(error, c->error, CAPTURE_ERROR);
	capture_close(c);
	return NULL;
}

void capture_heed(struct capture *c, const volatile sig_atomic_t *stop)
{
	bytes_heed(c->bytes, stop);
}

const char *capture_name(const struct capture *c)
{
	return c->name;
}

const char *capture_error(const struct capture *c)
{
	return c->error;
}

bool capture_is_selection(const struct capture *c)
{
	return c->selection;
}

__u64 capture_left_out(const struct capture *c)
{
	return c->left_out;
}

__u64 capture_position(const struct capture *c)
{
	return bytes_position(c->bytes);
}

__u64 capture_size(const struct capture *c)
{
	return bytes_size(c->bytes);
}

void capture_close(struct capture *c)
{
	if (c->bytes)
		bytes_close(c->bytes);
	free(c->interfaces);
	free(c->rest);
	free(c);
}
