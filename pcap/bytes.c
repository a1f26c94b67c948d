// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cause.h"
#include "pcap/bytes.h"
#include "pcap/decompress.h"

#define INPUT_BYTES (1 << 16)
#define POLL_MS 100 /* how often a thread that waits for a pipe checks `stop`: any thread may have got the signal */

struct bytes {
	int fd;
	__u64 position, size;
	const volatile sig_atomic_t *stop; /* may be NULL */
	off_t begin; /* plain file: offset from which it is read; -1: it cannot seek */
	const struct decoder *decoder; /* NULL: not compressed */
	void *state;
	enum decoder_result result; /* the latest result */
	char error[BYTES_ERROR];
	/* bytes read and not handed out yet: compressed ones, or those of a plain pipe that told its format */
	const __u8 *at;
	size_t left;
	__u8 input[INPUT_BYTES];
};

static ssize_t fail(struct bytes *b, const char *why)
{
	snprintf(b->error, sizeof(b->error), "%s", why);
	return -1;
}

static ssize_t fail_decoding(struct bytes *b, const char *why)
{
	snprintf(b->error, sizeof(b->error), "its %s data %s", b->decoder->name, why);
	return -1;
}

/* ---- the file as it is ---- */

/* Waits until a pipe has bytes or has ended. false: stopped. */
static bool await(const struct bytes *b)
{
	struct pollfd file = { .fd = b->fd, .events = POLLIN };
	int ready;

	do {
		if (b->stop && *b->stop)
			return false;
		ready = poll(&file, 1, b->stop ? POLL_MS : -1);
	} while (!ready || (ready < 0 && errno == EINTR));
	return true;
}

static ssize_t read_file(struct bytes *b, void *to, size_t room)
{
	ssize_t n;

	do {
		if (b->begin < 0 && !await(b))
			return fail(b, "told to stop");
		n = b->begin < 0 ? read(b->fd, to, room) : pread(b->fd, to, room, b->begin + b->position);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0)
		return fail(b, cause(errno).text);
	b->position += n;
	return n;
}

static ssize_t refill(struct bytes *b)
{
	ssize_t n = read_file(b, b->input, sizeof(b->input));

	b->at = b->input;
	b->left = n > 0 ? n : 0;
	return n;
}

static ssize_t read_plain(struct bytes *b, void *to, size_t room)
{
	size_t n = b->left < room ? b->left : room;

	if (!n)
		return read_file(b, to, room);
	memcpy(to, b->at, n);
	b->at += n;
	b->left -= n;
	return n;
}

void bytes_heed(struct bytes *b, const volatile sig_atomic_t *stop)
{
	b->stop = stop;
}

bool bytes_claim(struct bytes *b, size_t count, __u64 *offset)
{
	if (b->begin < 0 || b->decoder || b->position + count > b->size)
		return false;
	*offset = b->position;
	b->position += count;
	return true;
}

bool bytes_fetch(const struct bytes *b, __u64 offset, void *to, size_t count)
{
	ssize_t n;

	for (; count; count -= n, offset += n, to += n) {
		n = pread(b->fd, to, count, b->begin + offset);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return false;
	}
	return true;
}

/* ---- decompressed ---- */

/* Compressed members may follow each other (`cat a.gz b.gz`), with zero bytes between and after them. */
static int begin_next(struct bytes *b)
{
	while (b->left && !*b->at) {
		b->at++;
		b->left--;
	}
	if (!b->left)
		return 0;
	b->result = DECODER_MORE;
	return b->decoder->again(b->state) ? fail(b, cause(ENOMEM).text) : 0;
}

/* An error is returned only if no byte was decoded before it. */
static ssize_t decode(struct bytes *b, void *to, size_t room)
{
	struct decoder_io io = { b->at, b->left, to, room };

	if (b->result <= DECODER_END)
		b->result = b->decoder->decode(b->state, &io);
	b->at = io.in;
	b->left = io.in_left;
	if (io.out_left < room)
		return room - io.out_left;
	if (b->result == DECODER_TOO_LARGE)
		return fail_decoding(b, "needs too much memory: decompress it first");
	return b->result == DECODER_DAMAGED ? fail_decoding(b, "cannot be decompressed") : 0;
}

static ssize_t read_decoded(struct bytes *b, void *to, size_t room)
{
	ssize_t n;

	for (;;) {
		if (b->result == DECODER_END && begin_next(b))
			return -1;
		/* also without input: the decoder may hold bytes that did not fit before */
		n = b->result == DECODER_END ? 0 : decode(b, to, room);
		if (n)
			return n;
		if (b->left)
			continue;
		n = refill(b);
		if (n < 0)
			return n;
		if (!n)
			return b->result == DECODER_END ? 0 : fail_decoding(b, "ends too early");
	}
}

ssize_t bytes_read(struct bytes *b, void *to, size_t room)
{
	return b->decoder ? read_decoded(b, to, room) : read_plain(b, to, room);
}

/* ---- opening ---- */

static int open_file(struct bytes *b, const char *path)
{
	struct stat st;

	b->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (b->fd < 0 || fstat(b->fd, &st))
		return fail(b, cause(errno).text);
	b->begin = S_ISREG(st.st_mode) ? lseek(b->fd, 0, SEEK_CUR) : -1;
	b->size = b->begin < 0 ? 0 : st.st_size - b->begin;
	posix_fadvise(b->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;
}

/* Reads the first bytes to find the format. They are read again if the file can seek. */
static int detect(struct bytes *b)
{
	ssize_t n;

	b->at = b->input;
	while (b->left < DECODER_MAGIC) {
		n = read_file(b, b->input + b->left, DECODER_MAGIC - b->left);
		if (n < 0)
			return -1;
		if (!n)
			break;
		b->left += n;
	}
	b->decoder = decoder_find(b->input, b->left);
	if (b->decoder) {
		b->state = b->decoder->begin();
		return b->state ? 0 : fail(b, cause(ENOMEM).text);
	}
	if (b->begin >= 0)
		b->position = b->left = 0;
	return 0;
}

struct bytes *bytes_open(const char *path, char error[BYTES_ERROR])
{
	struct bytes *b = calloc(1, sizeof(*b));

	if (!b) {
		snprintf(error, BYTES_ERROR, "%s", cause(ENOMEM).text);
		return NULL;
	}
	if (!open_file(b, path) && !detect(b))
		return b;
	memcpy(error, b->error, BYTES_ERROR);
	bytes_close(b);
	return NULL;
}

const char *bytes_error(const struct bytes *b)
{
	return b->error;
}

__u64 bytes_position(const struct bytes *b)
{
	return b->position - b->left;
}

__u64 bytes_size(const struct bytes *b)
{
	return b->size;
}

void bytes_close(struct bytes *b)
{
	if (b->state)
		b->decoder->end(b->state);
	if (b->fd > STDIN_FILENO)
		close(b->fd);
	free(b);
}
