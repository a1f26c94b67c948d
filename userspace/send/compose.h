/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a packet of the plan to bytes. The usual packet becomes a slot: its headers are a template with a few fields set, and
 * its ICRC is the CRC of the headers joined with that of the payload, which is known: a CRC is linear. A packet with a
 * fault becomes a whole frame first.
 */
#ifndef USERSPACE_SEND_COMPOSE_H
#define USERSPACE_SEND_COMPOSE_H

#include "userspace/send/packet.h"
#include "userspace/send/plan.h"

#define CNP_RESERVED 16 /* bytes of zero behind a CNP's BTH (IBTA A17.9.3): as headers, here */

struct composer;

/* payload: the payload memory, whose pattern is filled in here. Errors end the program (a file that cannot be read). */
struct composer *composer_new(const struct plan *plan, __u8 *payload);
void composer_free(struct composer *c);

/* The packet as a slot, with a right ICRC. s->departure is left alone. */
void compose_slot(struct composer *c, const struct packet *p, struct slot *s);

/* The packet as a frame, all right but the ICRC: frame_seal() makes that. */
void compose_frame(struct composer *c, const struct packet *p, struct frame *f);

/* IP and UDP lengths, IPv4 header checksum for the bytes as they are now. (Not what a fault set on purpose: call it before.) */
void frame_lengths(struct frame *f);

/*
 * Makes room of zeroes, or takes bytes out; offsets and length follow, nothing else does. What is put right in front of a
 * header, or of the payload, belongs to the header before it; right behind the BTH it is an extension header. The frame must
 * fit into CELL_BYTES.
 */
void frame_insert(struct frame *f, uint32_t at, uint32_t bytes);
void frame_remove(struct frame *f, uint32_t at, uint32_t bytes);

/*
 * The ICRC in f->icrc's ways, if the frame has one, and the UDP checksum if the plan has one. value: of icrc-constant; before:
 * the frame of the QP's packet before, or NULL.
 */
void frame_seal(struct frame *f, const struct plan *plan, uint32_t value, const struct frame *before);

/* Whether its last four bytes are the right ICRC of the bytes before them. */
bool frame_icrc_good(const struct frame *f);

/* The frame as a slot: its bytes behind the headers go into the cell (index below CELLS). */
void frame_slot(const struct frame *f, __u8 *payload, uint32_t cell, struct slot *s);

#endif
