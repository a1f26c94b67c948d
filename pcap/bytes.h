/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes of a file or a pipe in order, decompressed if they are compressed (gzip, xz, zstd). The magic number decides, not
 * the name.
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

/* path: "-" is standard input. NULL: it cannot be read; the reason is in `error`, without the name. */
struct bytes *bytes_open(const char *path, char error[BYTES_ERROR]);

/*
 * Reads at most `room` bytes, those that are there without waiting for more. Returns their number; 0: the end; -1: the rest
 * cannot be read (bytes_error()), but earlier bytes were right.
 */
ssize_t bytes_read(struct bytes *b, void *to, size_t room);
const char *bytes_error(const struct bytes *b);

/* From now on bytes_read() fails instead of waiting for a pipe once *stop is set, by a signal. */
void bytes_heed(struct bytes *b, const volatile sig_atomic_t *stop);

/*
 * Claims the next `count` bytes of a plain file for bytes_fetch(). Any thread may fetch them, in any order, while others claim
 * or read. false: they may not be there, or it is no plain file. bytes_read() continues after the claimed bytes.
 */
bool bytes_claim(struct bytes *b, size_t count, __u64 *offset);
/* false: the file no longer has these bytes. */
bool bytes_fetch(const struct bytes *b, __u64 offset, void *to, size_t count);

/* How many bytes of the file were read (compressed ones, if it is compressed), and its size. 0: unknown (a pipe). */
__u64 bytes_position(const struct bytes *b);
__u64 bytes_size(const struct bytes *b);

void bytes_close(struct bytes *b);

#endif
