/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first datagrams of a flow, one after the other, and how the fields in them count. */
#ifndef USERSPACE_DIAGNOSE_FLOW_FLOW_SAMPLE_H
#define USERSPACE_DIAGNOSE_FLOW_FLOW_SAMPLE_H

#include "userspace/diagnose/finding/packet.h"

#define SAMPLE_MOST 288 /* more than a counter's lowest byte has values, so that a carry is seen */
#define SAMPLE_BYTES 150 /* of a datagram: behind them no field of --udp begins (userspace/observe/model/udp_ports.c) */

struct sample_head {
	__u64 frame;
	__u32 payload; /* bytes of the whole datagram */
	__u32 content; /* hash of what was captured of it */
	__u32 bytes;   /* of it in `data` */
	__u8 data[SAMPLE_BYTES + 8]; /* eight bytes can be read at each of them */
};

/* All zero at first. */
struct flow_sample {
	struct sample_head *heads;
	size_t count, room;
	bool ended; /* the next datagram does not follow: no more are taken */
};

/* Takes the datagram of a frame of kind ROCE_UDP, if there is room. */
void sample_take(struct flow_sample *s, const struct doctor_packet *p);

/* How a field counts from each datagram to the next. Datagrams that come again, one directly after the other, are left out. */
struct stride {
	size_t steps;
	size_t right; /* steps by `by` */
	size_t still; /* steps by 0 */
	size_t near;  /* steps by no more than STRIDE_NEAR times `unit`, forward or back */
	__u64 by;     /* the most frequent step, modulo 2^bits */
	__u32 bits;
};

#define STRIDE_NEAR 1024

/* unit: by which it is told to count, 1 or more. */
struct stride sample_stride(const struct flow_sample *s, const struct udp_field *field, __u64 unit);

/* How far the most frequent step goes. *back: backward. */
__u64 stride_size(const struct stride *s, bool *back);

/* Whether nearly all steps are the same, and not 0: eighths of them. */
bool stride_is_regular(const struct stride *s, size_t eighths);

/* The value of a field. false: the datagram ends before. */
bool sample_value(const struct sample_head *h, const struct udp_field *field, __u64 *value);

/* Looks for a field of whole bytes that counts. false: there is none. */
bool sample_find_counter(const struct flow_sample *s, struct udp_field *field, struct stride *stride);

/*
 * Looks for a field of whole bytes that separates the datagrams into several flows, in each of which `number` counts by `unit`.
 * false: there is none.
 */
bool sample_find_separator(const struct flow_sample *s, const struct udp_field *number, __u64 unit, struct udp_field *field);

void sample_free(struct flow_sample *s);

#endif
