/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decompression of a stream. Its memory does not depend on the input. */
#ifndef PCAP_DECOMPRESS_H
#define PCAP_DECOMPRESS_H

#include <linux/types.h>
#include <stddef.h>

#define DECODER_MAGIC 6		     /* bytes that decoder_find() needs */
#define DECODER_MEMORY (128u << 20) /* most bytes to decompress with; output of `xz -9` and `zstd -19` needs less */

/* `in` and `out` move past the bytes used and filled. */
struct decoder_io {
	const __u8 *in;
	size_t in_left;
	__u8 *out;
	size_t out_left;
};

enum decoder_result {
	DECODER_MORE,	 /* out is full, or in is empty */
	DECODER_END,	 /* the end of one compressed member; more may follow */
	DECODER_DAMAGED,
	DECODER_TOO_LARGE, /* it needs more than DECODER_MEMORY */
};

struct decoder {
	const char *name;
	const char *magic;
	size_t magic_length;
	void *(*begin)(void); /* NULL: no memory */
	enum decoder_result (*decode)(void *state, struct decoder_io *io);
	int (*again)(void *state); /* after DECODER_END: starts again; 0 or -1 */
	void (*end)(void *state);
};

/* Finds the decoder by the first bytes of a file. NULL: not compressed. */
const struct decoder *decoder_find(const __u8 *bytes, size_t length);

#endif
