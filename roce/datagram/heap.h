/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SPEAD: datagrams are parts of heaps. A heap is complete when as many bytes of it have come as it is long, and incomplete when
 * HEAPS newer ones have begun before. spead2's receiver judges alike if it may take them out of order (recv_stream.cpp).
 */
#ifndef ROCE_DATAGRAM_HEAP_H
#define ROCE_DATAGRAM_HEAP_H

#include "roce/stream/stream.h"

#define HEAP_WINDOW 64 /* datagrams of a heap, behind its farthest one, that are recognized when they come twice */

/* The place of the packet's heap; HEAPS: it is not there. */
roce_inline __u32 heap_find(const struct udp_heaps *h, __u64 id)
{
	__u32 at = HEAPS;

	for (__u32 i = 0; i < HEAPS; i++)
		if (h->heap[i].id == id && h->heap[i].state != HEAP_NONE)
			at = i;
	return at;
}

/* A longer datagram than all before: places were counted wrongly until now. */
roce_inline void heap_measure(struct udp_heaps *h, __u32 payload)
{
	h->datagram = payload;
	for (__u32 i = 0; i < HEAPS; i++) {
		h->heap[i].seen = 0;
		h->heap[i].farthest = 0;
	}
}

/* Whether the datagram at this place has come before, as far as is remembered. */
roce_inline bool heap_again(struct udp_heap *heap, __u32 place)
{
	__s64 ahead = (__s64)place - heap->farthest;
	__u64 bit = 1;

	if (ahead > 0) {
		heap->seen = ahead < HEAP_WINDOW ? heap->seen << ahead : 0;
		heap->farthest = place;
	} else if (ahead > -HEAP_WINDOW) {
		bit <<= -ahead;
	} else {
		return false;
	}
	if (heap->seen & bit)
		return true;
	heap->seen |= bit;
	return false;
}

/* Takes a datagram of a heap. Returns whether it is its heap's first one. Counts up *faults for a fault. */
roce_inline bool heap_take(struct udp_heaps *h, struct roce_counters *c, const struct roce_packet *p, __u8 *faults)
{
	__u32 at = heap_find(h, p->udp.heap), place;
	bool begins = at == HEAPS;
	struct udp_heap *heap;

	if (p->udp.heap_payload > h->datagram)
		heap_measure(h, p->udp.heap_payload);
	if (begins)
		at = h->next++ % HEAPS;
	roce_opaque(at);
	if (at >= HEAPS)
		return false;
	heap = &h->heap[at];
	if (begins) {
		c->value[COUNTER_messages_broken] += heap->state == HEAP_OPEN;
		*faults += heap->state == HEAP_OPEN;
		*heap = (struct udp_heap){ .id = p->udp.heap, .state = HEAP_OPEN };
	}
	place = h->datagram ? p->udp.heap_offset / h->datagram : 0;
	/* an offset that is no multiple has no place of its own */
	if (place * h->datagram == p->udp.heap_offset && heap_again(heap, place)) {
		c->value[COUNTER_psn_duplicates]++;
		++*faults;
		return false;
	}
	heap->received += p->udp.heap_payload;
	if (heap->state == HEAP_OPEN && heap->received >= p->udp.heap_length) {
		heap->state = HEAP_COMPLETE;
		c->value[COUNTER_messages]++;
	}
	return begins;
}

#endif
