/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What messages of the stream programs carry behind their header, so that a receiver can tell a wrong payload whose checksums
 * are right. There are STREAM_FILLERS fillers. Each is a part of one pattern, FILLER_STEP bytes behind the one before: a sender
 * keeps the pattern once, lets each packet begin elsewhere in it, and never writes it again.
 */
#ifndef USERSPACE_TRAFFIC_STREAMS_FILLER_H
#define USERSPACE_TRAFFIC_STREAMS_FILLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roce/datagram/stream_header.h"

#define FILLER_STEP	64	/* bytes: a cache line */

/* Bytes of the pattern from which every filler can have `bytes`. */
static inline size_t filler_room(size_t bytes)
{
	return bytes + STREAM_FILLERS * FILLER_STEP;
}

/* Writes the first `bytes` of the pattern. Filler f begins at f * FILLER_STEP. */
void filler_make(void *pattern, size_t bytes);

/* The filler of a flow's packet, 1 .. STREAM_FILLERS: another one than that of its neighbours. */
static inline unsigned int filler_of(uint16_t flow, uint64_t packet)
{
	return (flow + packet) % STREAM_FILLERS + 1;
}

/*
 * Whether these bytes are those of that filler, 1 .. STREAM_FILLERS, from its byte `from` on. The first call makes the pattern:
 * threads may only call it afterwards.
 */
bool filler_right(const void *at, size_t bytes, unsigned int filler, uint64_t from);

#endif
