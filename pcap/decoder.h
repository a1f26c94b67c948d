/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decompression, as a stream: what it needs of memory does not depend on what it is given. */
#ifndef PCAP_DECODER_H
#define PCAP_DECODER_H

#include <linux/types.h>
#include <stddef.h>

#define DECODER_MAGIC 6		     /* bytes by which decoder_find() knows */
#define DECODER_MEMORY (128u << 20) /* bytes that compressed data may ask for; what `xz -9` and `zstd -19` make needs less */

/* Both move on by what was used up and filled. */
struct decoder_io {
	const __u8 *in;
	size_t in_left;
	__u8 *out;
	size_t out_left;
};

enum decoder_result {
	DECODER_MORE,	 /* out is full, or in is used up */
	DECODER_END,	 /* of what was compressed at once; more may follow */
	DECODER_DAMAGED,
	DECODER_TOO_LARGE, /* needs more than DECODER_MEMORY */
};

struct decoder {
	const char *name;
	const char *magic;
	size_t magic_length;
	void *(*begin)(void); /* NULL: no memory */
	enum decoder_result (*decode)(void *state, struct decoder_io *io);
	int (*again)(void *state); /* behind DECODER_END: from the start; 0 or -1 */
	void (*end)(void *state);
};

/* By a file's first bytes; NULL: they are not compressed. */
const struct decoder *decoder_find(const __u8 *bytes, size_t length);

#endif
