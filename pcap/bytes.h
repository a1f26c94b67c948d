/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes of a file or a pipe, one after the other, decompressed if they are compressed (gzip, xz, zstd: by their magic
 * number, whatever the file is called).
 */
#ifndef PCAP_BYTES_H
#define PCAP_BYTES_H

#include <linux/types.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define BYTES_ERROR 160

struct bytes;

/* path: "-" is standard input. NULL: it cannot be read, and why is in `error`, without the name. */
struct bytes *bytes_open(const char *path, char error[BYTES_ERROR]);

/*
 * How many bytes were put at `to`, as many as are there without waiting for more, at most room; 0: the end; -1: the rest
 * cannot be read (bytes_error()), what came before was right.
 */
ssize_t bytes_read(struct bytes *b, void *to, size_t room);
const char *bytes_error(const struct bytes *b);

/* From now on bytes_read() fails instead of waiting for a pipe when that is set, by a signal. */
void bytes_heed(struct bytes *b, const volatile sig_atomic_t *stop);

/*
 * The next `count` bytes of a plain file, to be read by bytes_fetch(): by any thread, in any order, while others are claimed or
 * read. false: so many are not sure to be there, or it is no plain file; then bytes_read() goes on behind what was claimed.
 */
bool bytes_claim(struct bytes *b, size_t count, __u64 *offset);
/* false: the file does not have them any more. */
bool bytes_fetch(const struct bytes *b, __u64 offset, void *to, size_t count);

/* How many bytes of the file were read, compressed as they are, and how many it has; 0: not known (a pipe). */
__u64 bytes_position(const struct bytes *b);
__u64 bytes_size(const struct bytes *b);

void bytes_close(struct bytes *b);

#endif
