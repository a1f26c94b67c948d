// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "pcap/decompress.h"

/* The streams of zlib and of liblzma have members of the same names. */
#define DECODE(result, stream, io, call) \
do { \
	(stream)->next_in = (void *)(io)->in; \
	(stream)->avail_in = (io)->in_left; \
	(stream)->next_out = (io)->out; \
	(stream)->avail_out = (io)->out_left; \
	result = call; \
	*(io) = (struct decoder_io){ (stream)->next_in, (stream)->avail_in, (stream)->next_out, (stream)->avail_out }; \
} while (0)

/* ---- gzip (RFC 1952) ---- */

#define GZIP_ONLY (15 + 16) /* zlib.h, inflateInit2(): the largest window, with a gzip header */

static void *gzip_begin(void)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && inflateInit2(z, GZIP_ONLY) == Z_OK)
		return z;
	free(z);
	return NULL;
}

static enum decoder_result gzip_decode(void *state, struct decoder_io *io)
{
	z_stream *z = state;
	int r;

	DECODE(r, z, io, inflate(z, Z_NO_FLUSH));
	if (r == Z_STREAM_END)
		return DECODER_END;
	return r == Z_OK || r == Z_BUF_ERROR ? DECODER_MORE : DECODER_DAMAGED;
}

static int gzip_again(void *state)
{
	return inflateReset(state) == Z_OK ? 0 : -1;
}

static void gzip_end(void *state)
{
	inflateEnd(state);
	free(state);
}

/* ---- xz ---- */

static int xz_again(void *state)
{
	return lzma_stream_decoder(state, DECODER_MEMORY, 0) == LZMA_OK ? 0 : -1;
}

static void xz_end(void *state)
{
	lzma_end(state);
	free(state);
}

static void *xz_begin(void)
{
	lzma_stream *x = calloc(1, sizeof(*x)); /* all zero, like LZMA_STREAM_INIT */

	if (x && !xz_again(x))
		return x;
	free(x);
	return NULL;
}

static enum decoder_result xz_decode(void *state, struct decoder_io *io)
{
	lzma_stream *x = state;
	lzma_ret r;

	DECODE(r, x, io, lzma_code(x, LZMA_RUN));
	switch (r) {
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return DECODER_MORE;
	case LZMA_STREAM_END:
		return DECODER_END;
	case LZMA_MEM_ERROR:
	case LZMA_MEMLIMIT_ERROR:
		return DECODER_TOO_LARGE;
	default:
		return DECODER_DAMAGED;
	}
}

/* ---- zstd (RFC 8878) ---- */

/* By default the library allows windows of 2^ZSTD_WINDOWLOG_LIMIT_DEFAULT bytes, which is 128 MiB. */
static void *zstd_begin(void)
{
	return ZSTD_createDStream();
}

static enum decoder_result zstd_decode(void *state, struct decoder_io *io)
{
	ZSTD_inBuffer in = { io->in, io->in_left, 0 };
	ZSTD_outBuffer out = { io->out, io->out_left, 0 };
	size_t r = ZSTD_decompressStream(state, &out, &in);

	*io = (struct decoder_io){ io->in + in.pos, io->in_left - in.pos, io->out + out.pos, io->out_left - out.pos };
	if (!r)
		return DECODER_END;
	if (!ZSTD_isError(r))
		return DECODER_MORE;
	switch (ZSTD_getErrorCode(r)) {
	case ZSTD_error_frameParameter_windowTooLarge:
	case ZSTD_error_memory_allocation:
		return DECODER_TOO_LARGE;
	default:
		return DECODER_DAMAGED;
	}
}

static int zstd_again(void *state)
{
	return ZSTD_isError(ZSTD_DCtx_reset(state, ZSTD_reset_session_only)) ? -1 : 0;
}

static void zstd_end(void *state)
{
	ZSTD_freeDStream(state);
}

static const struct decoder decoders[] = {
	{ "gzip", "\x1f\x8b\x08", 3, gzip_begin, gzip_decode, gzip_again, gzip_end },
	{ "xz", "\xfd" "7zXZ\0", 6, xz_begin, xz_decode, xz_again, xz_end },
	{ "zstd", "\x28\xb5\x2f\xfd", 4, zstd_begin, zstd_decode, zstd_again, zstd_end },
};

const struct decoder *decoder_find(const __u8 *bytes, size_t length)
{
	for (size_t i = 0; i < sizeof(decoders) / sizeof(*decoders); i++)
		if (length >= decoders[i].magic_length && !memcmp(bytes, decoders[i].magic, decoders[i].magic_length))
			return &decoders[i];
	return NULL;
}
