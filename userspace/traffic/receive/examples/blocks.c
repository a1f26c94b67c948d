// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * blocks NAME FILE BYTES COUNT: writes the blocks that `rocescope receive --pin NAME` receives to FILE, block n at n * BYTES, and
 * prints what is wrong with them. Bytes that did not come stay zero. The ring of COUNT blocks begins where the memory begins.
 * Ctrl-C ends it, and the receiver's end does, when all that is there has been written.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <rocescope_receive.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

static void end(int signal)
{
	ended = signal;
}

static void write_bytes(int file, const struct rocescope_block *b, uint64_t first, uint64_t bytes)
{
	if (pwrite(file, (const char *)b->data + first, bytes, b->number * b->bytes + first) != (ssize_t)bytes)
		err(1, "block %lu cannot be written", b->number);
}

static void write_block(int file, const struct rocescope_blocks *blocks, const struct rocescope_block *b)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < b->missing_count; i++) {
		const struct rocescope_missing *m = &b->missing[i];

		printf("block %lu lacks bytes %lu..%lu\n", b->number, m->first, m->first + m->bytes - 1);
		write_bytes(file, b, at, m->first - at);
		at = m->first + m->bytes;
	}
	write_bytes(file, b, at, b->bytes - at);
	if (rocescope_blocks_torn(blocks)) /* after the bytes were read */
		printf("block %lu may have been overwritten\n", b->number);
}

int main(int argc, char **argv)
{
	struct rocescope *r = argc == 5 ? rocescope_open(argv[1], ROCESCOPE_OLDEST) : NULL;
	struct rocescope_blocks *blocks = r ? rocescope_blocks_new(r, 0, atol(argv[3]), atol(argv[4]), 0, 0) : NULL;
	int file = blocks ? open(argv[2], O_CREAT | O_TRUNC | O_WRONLY, 0644) : -1, more, last;
	struct rocescope_completion c;
	struct rocescope_block b;
	uint64_t lost = 0;

	if (argc != 5)
		errx(2, "usage: blocks NAME FILE BYTES COUNT");
	if (!blocks)
		errx(1, "%s: %s", argv[1], rocescope_error(errno));
	if (file < 0)
		err(1, "%s", argv[2]);
	signal(SIGINT, end);
	signal(SIGTERM, end);
	do {
		last = ended;
		more = rocescope_next(r, &c, last ? 0 : 100);
		ended = last || ended || (!more && rocescope_ended(r));
		if (more && rocescope_blocks_add(blocks, &c) < 0)
			err(1, "a completion cannot be added");
		while (rocescope_blocks_next(blocks, &b, last && !more))
			write_block(file, blocks, &b);
		if (lost != rocescope_lost(r))
			printf("%lu completions lost: numbers of blocks may be too small from here on\n", rocescope_lost(r) - lost);
		lost = rocescope_lost(r);
		fflush(stdout);
	} while (more || !last);
	printf("%lu completions lost, %lu too late\n", rocescope_lost(r), rocescope_blocks_late(blocks));
	rocescope_blocks_free(blocks);
	rocescope_close(r);
	return ferror(stdout) || close(file);
}
