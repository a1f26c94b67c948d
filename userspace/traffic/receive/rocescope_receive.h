/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For programs that use what `rocescope receive --pin NAME` receives: its memory, and a completion for each message. Link with
 * -lrocescope_receive; docs/receive.md explains it, examples/blocks.c uses it.
 *
 * Reception needs no reader. RDMA WRITE has no flow control either: the sender may overwrite what a program reads. So read the
 * data in place or copy it, and ask rocescope_torn() afterwards: if it says 0, what was read is what the message brought.
 *
 * One thread at a time may use a struct rocescope and what belongs to it. Several programs may open the same NAME. Each has all
 * completions, and one of them posts receives: the others open it with ROCESCOPE_NO_POST. Nothing here prints.
 */
#ifndef ROCESCOPE_RECEIVE_H
#define ROCESCOPE_RECEIVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rocescope;
struct rocescope_blocks;

/* ---- a receiver ---- */

enum {
	ROCESCOPE_OLDEST = 1 << 0,  /* begin with the oldest completion that is still there; else with the next that comes */
	ROCESCOPE_NO_POST = 1 << 1, /* post receives by rocescope_post() only */
};

/*
 * Opens the receiver that is pinned as `name`. NULL with errno: ENOENT: no receiver has this name; EPROTO: a build with another
 * layout made it; EPERM, EACCES: it is another user's (before Linux 5.19: or CAP_BPF is missing); ENOMEM.
 */
struct rocescope *rocescope_open(const char *name, unsigned int flags);

/*
 * Reception goes on. The memory is not mapped any more: nothing that points into it, and no struct rocescope_blocks of it, may be
 * used afterwards, except for rocescope_blocks_free(). r: NULL does nothing.
 */
void rocescope_close(struct rocescope *r);

/*
 * 1: the receiver has ended (`rocescope receive --unpin`, or the next one has its name): nothing comes any more. What it brought
 * stays readable until rocescope_close(). A system call: ask when rocescope_next() has returned 0, and then call that until it
 * returns 0 again.
 */
int rocescope_ended(const struct rocescope *r);

/* What an errno of the functions here means: a line of text, which is not the caller's. */
const char *rocescope_error(int error);

/* The memory into which the sender writes, which cannot be written here. *bytes: its size; NULL: not wanted. */
const void *rocescope_memory(const struct rocescope *r, uint64_t *bytes);

/* ---- completions ---- */

enum {
	ROCESCOPE_IMMEDIATE = 1 << 0,  /* it has immediate data */
	ROCESCOPE_SEND = 1 << 1,       /* a SEND; else an RDMA WRITE */
	ROCESCOPE_INCOMPLETE = 1 << 2, /* only its first `placed` bytes came */
	ROCESCOPE_HEADLESS = 1 << 3,   /* its first packet did not come: where it belongs is not known */
	ROCESCOPE_LATE = 1 << 4,       /* UC: a message that was sent after it came before it, or it came twice */
};

#define ROCESCOPE_NOWHERE UINT64_MAX

/* A message that has ended. All numbers are in host byte order. */
struct rocescope_completion {
	const void *data;   /* in the memory; NULL: it has no place there, as a message of no bytes or a headless one */
	uint64_t offset;    /* of `data`, from the beginning of the memory; or ROCESCOPE_NOWHERE */
	uint64_t va;	    /* the address that the sender gave; 0: a SEND, or not known */
	uint64_t receive;   /* with immediate data, and of a SEND: which receive of the QP it used, from 0 */
	uint64_t time;	    /* when it ended: ns, CLOCK_MONOTONIC; a few ms exact */
	uint32_t length;    /* bytes; of an incomplete SEND and a headless message 0: not known */
	uint32_t placed;    /* bytes that are in the memory, from the message's beginning; all of them if it is complete */
	uint32_t immediate; /* with ROCESCOPE_IMMEDIATE */
	/*
	 * Where immediate data counts up by one: how many values of this QP are missing before this one; negative: it was sent
	 * before the last one. 0 for the first of a QP.
	 */
	int32_t skipped;
	uint32_t qpn;
	uint32_t first_psn; /* of its packets that came */
	uint32_t last_psn;
	uint32_t flags;	      /* ROCESCOPE_* */
	uint64_t reserved[4]; /* for rocescope_torn() */
};

/*
 * The next completion. Those of a QP come in the order in which its messages ended, as long as one CPU receives the QP. Waits at
 * most `timeout` ms, by short sleeps; 0: not at all, -1: without end, also if the receiver ends. Returns 1; or 0: none came, or a
 * signal did while it slept. One that comes between two sleeps does not end it, so a program that ends by signals has a timeout.
 *
 * Unless ROCESCOPE_NO_POST was given, the receive that the previous completion used is posted again: call it when that one's data
 * is no longer needed.
 */
int rocescope_next(struct rocescope *r, struct rocescope_completion *to, int timeout);

/*
 * Whether any of the message's bytes may have been overwritten since the message ended. Call it after reading them. 1: maybe;
 * 0: certainly not, unless two QPs write the same bytes at once. It looks at whole blocks (`rocescope receive --block`), so another
 * message to the same block counts as well.
 * Where a message is larger than a block, its second and further blocks are only looked at from rocescope_next() on.
 */
int rocescope_torn(const struct rocescope *r, const struct rocescope_completion *c);

/*
 * Posts the receive that `c` used again: the QP may use its buffer for another SEND. c: NULL: all receives that were used until
 * now, of all QPs, as is right when completions were lost. It does no harm to post one twice.
 */
void rocescope_post(struct rocescope *r, const struct rocescope_completion *c);

/* How many completions were overwritten before this reader came to them, since rocescope_open(). What they told is not known. */
uint64_t rocescope_lost(const struct rocescope *r);

/* ---- a ring of blocks ---- */

/*
 * An instrument writes block after block into the memory and begins again at the end. A block is filled by one message or by many,
 * of one QP or of many. Each message must have a completion: with immediate data it has, without it `receive` needs --each.
 */

/* A range of bytes of a block that did not come. */
struct rocescope_missing {
	uint64_t first; /* from the beginning of the block */
	uint64_t bytes;
};

struct rocescope_block {
	uint64_t number; /* counted on from lap to lap: the block at place p of the ring in lap k is k * count + p */
	const void *data;
	uint64_t bytes;
	uint64_t missing_bytes; /* 0: the block is complete */
	uint32_t missing_count;
	const struct rocescope_missing *missing; /* in ascending order */
};

#define ROCESCOPE_ANY_BLOCK UINT64_MAX

/*
 * Follows the ring of `count` blocks of `bytes` bytes which begins at `offset` of the memory. Many rings may be followed at once.
 * first: the number of the first block that is given out, or ROCESCOPE_ANY_BLOCK: that of the first completion.
 * window: how many blocks the sender may be ahead of a block that still waits for its messages; less than half of count. 0: the
 * most. A sender that leaves out half a lap or more cannot be told from one that has gone round. Nor can lost completions: when
 * rocescope_lost() has counted up by half a lap, numbers may be too small by laps. Immediate data that counts up tells by how many.
 * NULL with errno: EINVAL: not in the memory, or offset or bytes are no multiple of --block, or there are less than 3 blocks, or
 * the window is too large; ENOMEM.
 */
struct rocescope_blocks *rocescope_blocks_new(struct rocescope *r, uint64_t offset, uint64_t bytes, uint32_t count,
					      uint64_t first, uint32_t window);

/* b: NULL does nothing. Also after rocescope_close(). */
void rocescope_blocks_free(struct rocescope_blocks *b);

/*
 * Adds a completion. Call rocescope_blocks_next() afterwards until it returns 0. Returns 1: it belongs to the ring; 0: it does not;
 * -1 with errno: ENOMEM; ENOSPC: rocescope_blocks_next() has blocks to give out first.
 */
int rocescope_blocks_add(struct rocescope_blocks *b, const struct rocescope_completion *c);

/*
 * The next block, in the order of their numbers, if it is complete or if it will not become so: the sender is ahead by `window`
 * blocks. end: 1: no more completions come, so give out all that was begun. Returns 1, and 0 if there is none. *to is valid until
 * the next call with `b`.
 */
int rocescope_blocks_next(struct rocescope_blocks *b, struct rocescope_block *to, int end);

/*
 * Whether the bytes of the block that rocescope_blocks_next() has given out may have been overwritten. Call it after reading them.
 * 1: maybe; 0: certainly not. A block of which a message is under way, or whose completion was lost, counts as overwritten.
 */
int rocescope_blocks_torn(const struct rocescope_blocks *b);

/* How many completions came for blocks that had been given out already. */
uint64_t rocescope_blocks_late(const struct rocescope_blocks *b);

#ifdef __cplusplus
}
#endif

#endif
