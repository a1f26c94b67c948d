/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns packets of the plan into bytes. A packet without a fault becomes a slot: a template of headers with a few fields set.
 * Its ICRC joins the CRC of the headers with the known CRC of the payload, because a CRC is linear. A packet with a fault
 * becomes a whole frame first.
 */
#ifndef USERSPACE_TRAFFIC_SEND_COMPOSE_H
#define USERSPACE_TRAFFIC_SEND_COMPOSE_H

#include "userspace/traffic/send/packet.h"
#include "userspace/traffic/send/plan.h"

#define CNP_RESERVED 16 /* bytes of zero behind a CNP's BTH (IBTA A17.9.3); counted as headers here */

struct composer;

/* Fills the payload memory with the plan's pattern. Errors end the program (a file that cannot be read). */
struct composer *composer_new(const struct send_plan *plan, __u8 *payload);
void composer_free(struct composer *c);

/* Composes the packet as a slot with a right ICRC. s->departure is left unchanged. */
void compose_slot(struct composer *c, const struct send_packet *p, struct slot *s);

/* Composes the packet as a frame. Everything is right but the ICRC, which frame_seal() computes. */
void compose_frame(struct composer *c, const struct send_packet *p, struct send_frame *f);

/*
 * Sets the IP and UDP lengths and the IPv4 header checksum for the frame's present bytes. Overwrites a fault's lengths: call it
 * before the fault.
 */
void frame_lengths(struct send_frame *f);

/*
 * frame_insert() inserts zeroes at offset `at`, frame_remove() removes bytes. Both update offsets and length only. Bytes
 * inserted at the beginning of a header, or of the payload, belong to the header before it; bytes inserted right behind the BTH
 * are an extension header. The frame must fit into CELL_BYTES.
 */
void frame_insert(struct send_frame *f, uint32_t at, uint32_t bytes);
void frame_remove(struct send_frame *f, uint32_t at, uint32_t bytes);

/*
 * Writes the ICRC, as f->icrc says, if the frame has one, and the UDP checksum if the plan has one. value: for icrc-constant.
 * before: the frame of the QP's previous packet, or NULL.
 */
void frame_seal(struct send_frame *f, const struct send_plan *plan, uint32_t value, const struct send_frame *before);

/* Whether the frame's last four bytes are the right ICRC of the bytes before them. */
bool frame_icrc_good(const struct send_frame *f);

/* Turns the frame into a slot: the bytes behind the headers are copied into the cell (index below CELLS). */
void frame_slot(const struct send_frame *f, __u8 *payload, uint32_t cell, struct slot *s);

#endif
