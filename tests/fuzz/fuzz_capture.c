// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The reader of capture files, on any file. Its frames do not depend on how the bytes arrive. The frames of a file's beginning
 * are the first frames of the whole file. For damaged compressed data this does not hold: how much of it can be read depends on
 * how much a decoder gets at once.
 *
 * Input: a byte for --link (2 bits) and for the bytes per read() in the second run (1 << 0..15), a byte for how many bytes are
 * cut off in the third; then the file.
 */
#include <errno.h>
#include <sys/mman.h>
#include <zlib.h>

#include "pcap/decompress.h"
#include "pcap/reader.h"
#include "tests/fuzz/must.h"

#define FRAMES 65536 /* the most that are compared */

ssize_t __real_read(int file, void *to, size_t room);
ssize_t __wrap_read(int file, void *to, size_t room);
off_t __real_lseek(int file, off_t offset, int whence);
off_t __wrap_lseek(int file, off_t offset, int whence);

static size_t most = SIZE_MAX; /* bytes per read() */
static bool pipe_like;

ssize_t __wrap_read(int file, void *to, size_t room)
{
	return __real_read(file, to, room < most ? room : most);
}

off_t __wrap_lseek(int file, off_t offset, int whence)
{
	if (!pipe_like)
		return __real_lseek(file, offset, whence);
	errno = ESPIPE;
	return -1;
}

struct seen {
	size_t count;
	__u64 latest;
	char message[CAPTURE_ERROR];
	struct {
		struct capture_frame frame;
		__u32 crc;
	} frame[FRAMES];
};

static void take_frame(struct seen *s, const struct capture_frame *f)
{
	__u8 slack[CAPTURE_SLACK];

	must(f->captured <= f->wire && f->captured <= CAPTURE_FRAME_MAX);
	memcpy(slack, f->bytes + f->captured, sizeof(slack));
	__asm__ volatile("" : : "r"(slack) : "memory");
	if (s->count < FRAMES) {
		s->frame[s->count].frame = *f;
		s->frame[s->count].crc = crc32(0, f->bytes, f->captured);
	}
	s->count++;
	if (f->time > s->latest)
		s->latest = f->time;
	memset(f->bytes, 0xa5, f->captured); /* the reader no longer uses them */
}

static void take(const char *path, enum capture_link link, struct seen *s)
{
	static struct capture_piece piece; /* with old data from the input before */
	struct capture *c = capture_open(path, link, s->message);
	int more;

	s->count = s->latest = 0;
	if (!c)
		return;
	while ((more = capture_read(c, &piece)) == 1) {
		must(piece.count && piece.first == s->count + 1);
		for (size_t i = 0; i < piece.count; i++)
			take_frame(s, &piece.frames[i]);
		must(piece.latest == s->latest);
	}
	must((more < 0) == !!*capture_error(c) && !strchr(capture_error(c), '\n'));
	strcpy(s->message, more < 0 ? capture_error(c) : "end");
	must(capture_size(c) ? capture_position(c) <= capture_size(c) : pipe_like || !s->count);
	must(capture_read(c, &piece) == more);
	capture_close(c);
}

/* Compares the frames that both have. */
static void check_beginning(const struct seen *whole, const struct seen *part)
{
	size_t count = part->count < whole->count ? part->count : whole->count;

	for (size_t i = 0; i < count && i < FRAMES; i++) {
		const struct capture_frame *a = &whole->frame[i].frame, *b = &part->frame[i].frame;

		must(a->captured == b->captured && a->wire == b->wire && a->time == b->time &&
		     a->interface == b->interface && a->no_icrc == b->no_icrc);
		must(whole->frame[i].crc == part->frame[i].crc);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct seen whole, parts, cut;
	static int file = -1;
	static char path[64];
	size_t length;
	bool damaged;

	if (size < 2)
		return -1;
	if (file < 0) {
		file = memfd_create("capture", MFD_CLOEXEC);
		must(file >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	length = size - 2;
	must(!ftruncate(file, 0) && pwrite(file, data + 2, length, 0) == (ssize_t)length);
	take(path, data[0] & 3, &whole);
	most = 1 << (data[0] >> 2 & 15);
	pipe_like = true;
	take(path, data[0] & 3, &parts);
	check_beginning(&whole, &parts);
	damaged = decoder_find(data + 2, length) && strcmp(whole.message, "end");
	must(damaged || (parts.count == whole.count && !strcmp(parts.message, whole.message)));
	most = SIZE_MAX;
	pipe_like = false;
	must(!ftruncate(file, length > data[1] ? length - data[1] : 0));
	take(path, data[0] & 3, &cut);
	check_beginning(&whole, &cut);
	must(damaged || cut.count <= whole.count);
	return 0;
}
