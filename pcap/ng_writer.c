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
#include "pcap/ng_block.h"

#define BUFFER_BYTES (1 << 20)
#define NUMBER_CHARACTERS 12 /* "-4294967295" */

/* A file that this run began. Its name or its inode may be another file's by now. */
struct own_file {
	__u32 number;
	struct statx was;
};

struct ng_writer {
	int fd; /* -1: writing has ended */
	bool broken; /* the reader of the pipe has gone */
	bool rotates;
	struct ng_rotation rotation;
	char *name; /* as given by the user */
	char *path;	  /* of the open file */
	__u32 number;	  /* the number in its name */
	__u32 begun;	  /* files begun */
	struct own_file *kept;
	__u32 kept_count;
	size_t interfaces;
	__u32 snaplen[INTERFACES_MOST];
	struct ng_statistics statistics[INTERFACES_MOST];
	bool has_statistics;
	__u64 size;    /* bytes of this file, with those in the buffer */
	__u64 packets; /* the same, in packets */
	__u64 first, last; /* times of its packets */
	__u64 written; /* packets in files */
	char error[NG_ERROR];
	__u8 *head; /* the beginning of every file */
	size_t head_bytes;
	size_t buffered; /* bytes of whole blocks */
	struct ng_block block;
	__u8 buffer[BUFFER_BYTES];
};

static bool fail(struct ng_writer *w, int error)
{
	if (!*w->error)
		snprintf(w->error, sizeof(w->error), "%s", cause(error).text);
	w->broken |= error == EPIPE;
	return false;
}

static void copy_error(char to[NG_ERROR], const struct ng_writer *w)
{
	snprintf(to, NG_ERROR, "%s", w->error);
}

/* Bytes of the whole blocks among the first `length` bytes of the buffer. Counts their packets as written. */
static size_t whole_blocks(struct ng_writer *w, size_t length)
{
	size_t whole = 0;
	__u32 block[2]; /* type, length */

	for (; whole + sizeof(block) <= length; whole += block[1]) {
		memcpy(block, w->buffer + whole, sizeof(block));
		if (block[1] > length - whole)
			break;
		w->written += block[0] == NG_PACKET;
	}
	return whole;
}

/* Removes the last `bytes` of the file. Only a regular file can be shortened. */
static void take_back(struct ng_writer *w, size_t bytes)
{
	off_t end = lseek(w->fd, 0, SEEK_CUR) - (off_t)bytes;

	if (bytes && end >= 0 && !ftruncate(w->fd, end))
		lseek(w->fd, end, SEEK_SET);
}

/* Errors that a file system (NFS) reports only on close count too. */
static bool close_file(struct ng_writer *w)
{
	int fd = w->fd;

	w->fd = -1;
	return !close(fd) || fail(w, errno);
}

bool ng_broken(const struct ng_writer *w)
{
	struct pollfd file = { .fd = w->fd };

	return w->broken || (w->fd >= 0 && poll(&file, 1, 0) > 0 && file.revents & POLLERR);
}

/* Returns how much of the buffer was written. If not all: see errno. */
static size_t write_buffer(struct ng_writer *w)
{
	bool interrupted = false;
	size_t done = 0;

	while (done < w->buffered) {
		ssize_t n = write(w->fd, w->buffer + done, w->buffered - done);

		if (n < 0 && (errno != EINTR || interrupted))
			break;
		interrupted = n < 0;
		done += n > 0 ? n : 0;
	}
	return done;
}

static bool flush(struct ng_writer *w)
{
	size_t done = write_buffer(w);
	int error = errno;

	take_back(w, done - whole_blocks(w, done));
	if (done == w->buffered) {
		w->buffered = 0;
		return true;
	}
	w->buffered = 0;
	fail(w, error);
	close_file(w);
	return false;
}

/* Appends to the buffer. The bytes do not count as part of the file yet. */
static bool append(struct ng_writer *w, const void *bytes, size_t length)
{
	if (w->buffered + length > BUFFER_BYTES && !flush(w))
		return false;
	memcpy(w->buffer + w->buffered, bytes, length);
	w->buffered += length;
	return true;
}

static const char *ending(const char *name)
{
	const char *base = strrchr(name, '/'), *dot;

	base = base ? base + 1 : name;
	dot = strrchr(base, '.');
	return dot && dot != base ? dot : name + strlen(name);
}

/* NAME.pcapng: NAME-00001.pcapng */
static void name_file(struct ng_writer *w, __u32 number)
{
	const char *rest = ending(w->name);

	if (w->rotates)
		sprintf(w->path, "%.*s-%05u%s", (int)(rest - w->name), w->name, number, rest);
}

static int open_next(struct ng_writer *w)
{
	if (!strcmp(w->name, "-"))
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (!w->rotates)
		return open(w->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	for (;;) {
		int fd;

		name_file(w, ++w->number);
		fd = open(w->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		/* another run has taken this number */
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
}

/* File systems without a birth time give 0. */
static bool same_file(const struct statx *a, const struct statx *b)
{
	return a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor && a->stx_ino == b->stx_ino &&
	       a->stx_btime.tv_sec == b->stx_btime.tv_sec && a->stx_btime.tv_nsec == b->stx_btime.tv_nsec;
}

static bool read_status(int fd, const char *path, struct statx *s)
{
	*s = (struct statx){ 0 };
	return !statx(fd, path, AT_SYMLINK_NOFOLLOW | (*path ? 0 : AT_EMPTY_PATH), STATX_BASIC_STATS | STATX_BTIME, s);
}

static void forget_oldest(struct ng_writer *w)
{
	struct own_file *f = w->kept;
	struct statx now;

	name_file(w, f->number);
	if (read_status(AT_FDCWD, w->path, &now) && same_file(&now, &f->was))
		unlink(w->path);
	memmove(f, f + 1, --w->kept_count * sizeof(*f));
}

/* Deletes old files first, so that the disk never holds more than allowed. */
static bool remember(struct ng_writer *w)
{
	struct own_file *kept;

	if (!w->rotation.files || !w->rotates)
		return true;
	kept = realloc(w->kept, (w->kept_count + 1) * sizeof(*kept));
	if (!kept)
		return fail(w, ENOMEM);
	w->kept = kept;
	while (w->kept_count >= w->rotation.files)
		forget_oldest(w);
	return true;
}

/* Begins a file. A file without its whole head is removed. */
static bool begin_file(struct ng_writer *w)
{
	struct statx s;

	if (!remember(w))
		return false;
	w->fd = open_next(w);
	if (w->fd < 0)
		return fail(w, errno);
	read_status(w->fd, "", &s);
	if (w->rotation.files && w->rotates)
		w->kept[w->kept_count++] = (struct own_file){ w->number, s };
	w->begun++;
	w->size = w->head_bytes;
	w->packets = 0;
	append(w, w->head, w->head_bytes);
	if (flush(w))
		return true;
	if (S_ISREG(s.stx_mode) && strcmp(w->name, "-"))
		unlink(w->path);
	return false;
}

static bool end_file(struct ng_writer *w)
{
	for (size_t i = 0; i < w->interfaces; i++) {
		const struct ng_statistics *s = w->has_statistics ? &w->statistics[i] : NULL;

		ng_block_statistics(&w->block, i, s ? s->end : w->packets ? w->last : 0, s);
		if (!append(w, w->block.bytes, w->block.length))
			return false;
	}
	return flush(w) && close_file(w);
}

/* Builds the blocks at the beginning of every file. */
static bool make_head(struct ng_writer *w, const struct ng_interface *interfaces)
{
	size_t room = (1 + w->interfaces) * 8192;

	w->head = malloc(room);
	if (!w->head)
		return false;
	for (size_t i = 0; i <= w->interfaces; i++) {
		if (i)
			ng_block_interface(&w->block, &interfaces[i - 1]);
		else
			ng_block_section(&w->block);
		memcpy(w->head + w->head_bytes, w->block.bytes, w->block.length);
		w->head_bytes += w->block.length;
	}
	return true;
}

static void release(struct ng_writer *w)
{
	free(w->head);
	free(w->kept);
	free(w->name);
	free(w->path);
	free(w);
}

static bool start(struct ng_writer *w, const struct ng_interface *interfaces)
{
	struct stat s;

	if (!w->name || !w->path || !make_head(w, interfaces))
		return fail(w, ENOMEM);
	strcpy(w->path, w->name);
	if (w->rotates && !stat(w->name, &s) && !S_ISREG(s.st_mode)) {
		snprintf(w->error, sizeof(w->error), "not a file; only files can be rotated");
		return false;
	}
	return begin_file(w);
}

struct ng_writer *ng_open(const char *path, const struct ng_interface *interfaces, size_t count,
			  const struct ng_rotation *rotation, char error[NG_ERROR])
{
	struct ng_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		snprintf(error, NG_ERROR, "%s", cause(ENOMEM).text);
		return NULL;
	}
	w->fd = -1;
	w->interfaces = count;
	w->rotation = rotation ? *rotation : (struct ng_rotation){ 0 };
	w->rotates = strcmp(path, "-") && (w->rotation.file_bytes || w->rotation.file_seconds > 0);
	w->path = malloc(strlen(path) + NUMBER_CHARACTERS + 1);
	w->name = strdup(path);
	for (size_t i = 0; i < count; i++)
		w->snaplen[i] = interfaces[i].snaplen;
	if (start(w, interfaces))
		return w;
	copy_error(error, w);
	release(w);
	return NULL;
}

static bool must_rotate(const struct ng_writer *w, const struct ng_packet *p)
{
	__u64 end = w->size + w->block.length + w->interfaces * NG_STATISTICS_BYTES;

	if (!w->rotates || !w->packets)
		return false;
	return (w->rotation.file_bytes && end > w->rotation.file_bytes) ||
	       (w->rotation.file_seconds > 0 && p->time > w->first &&
		(p->time - w->first) / 1e9 >= w->rotation.file_seconds);
}

bool ng_put(struct ng_writer *w, const struct ng_packet *p)
{
	if (w->fd < 0)
		return false;
	ng_block_packet(&w->block, p, w->snaplen[p->interface]);
	if (must_rotate(w, p)) {
		if (!end_file(w) || !begin_file(w))
			return false;
		ng_block_packet(&w->block, p, w->snaplen[p->interface]);
	}
	if (!append(w, w->block.bytes, w->block.length))
		return false;
	w->size += w->block.length;
	w->first = w->packets++ ? w->first : p->time;
	w->last = p->time;
	return true;
}

bool ng_flush(struct ng_writer *w)
{
	return w->fd >= 0 && flush(w);
}

const char *ng_path(const struct ng_writer *w)
{
	return w->path;
}

__u32 ng_files(const struct ng_writer *w)
{
	return w->begun;
}

__u64 ng_written(const struct ng_writer *w)
{
	return w->written;
}

const char *ng_error(const struct ng_writer *w)
{
	return *w->error ? w->error : NULL;
}

void ng_set_statistics(struct ng_writer *w, const struct ng_statistics *statistics)
{
	memcpy(w->statistics, statistics, w->interfaces * sizeof(*statistics));
	w->has_statistics = true;
}

bool ng_close(struct ng_writer *w, char error[NG_ERROR])
{
	bool good = w->fd >= 0 && end_file(w);

	copy_error(error, w);
	release(w);
	return good;
}
