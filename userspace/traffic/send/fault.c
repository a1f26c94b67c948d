// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which packets a fault hits, and what it changes in them. */
#include <math.h>

#include "lib/bytes.h"
#include "roce/packet/opcode.h"
#include "roce/packet/wire.h"
#include "userspace/traffic/send/compose.h"
#include "userspace/traffic/send/fault.h"
#include "userspace/traffic/send/icrc_way.h"

#define MTU_LEAST 256 /* path MTUs are powers of two (IBTA 9.2) */
#define MTU_MOST 4096
#define BEYOND 32     /* payload-beyond-mtu exceeds the MTU by this many bytes: more than a RETH, which would be another lint */

const struct fault_row fault_rows[FAULT_KINDS] = {
#define FAULT(name, unit, stage, needs, keys, words) [FAULT_##name] = { #name, unit, stage, needs, keys },
#include "userspace/traffic/send/fault.def"
#undef FAULT
};

enum fault_stage fault_stage(enum fault_kind kind)
{
	return fault_rows[kind].stage;
}

const char *fault_name(enum fault_kind kind)
{
	static char names[FAULT_KINDS][32];
	char *name = names[kind];

	for (size_t i = 0; i + 1 < sizeof(names[0]) && fault_rows[kind].name[i]; i++)
		name[i] = fault_rows[kind].name[i] == '_' ? '-' : fault_rows[kind].name[i];
	return name;
}

bool fault_concerns(const struct send_fault *f, const struct send_packet *p, uint64_t *number)
{
	enum fault_unit unit = fault_rows[f->kind].unit;

	if (f->qp >= 0 && f->qp != p->qp->index)
		return false;
	*number = unit == UNIT_PACKETS ? p->number : p->message + 1;
	switch (unit) {
	case UNIT_PACKETS:
		return true;
	case UNIT_BEGINS:
		return p->place & AT_FIRST;
	case UNIT_ENDS:
		return p->place & AT_LAST;
	case UNIT_FIRSTS:
		return p->place == AT_FIRST;
	case UNIT_MIDDLES: /* the middle follows a packet of its own size */
		return !p->place && p->offset == p->payload_bytes;
	case UNIT_LASTS:
		return p->place == AT_LAST;
	}
	return false;
}

uint64_t fault_draw(const struct send_fault *f, uint64_t *random)
{
	double uniform = ((fault_random(random) >> 11) + 1) * 0x1p-53; /* above 0, at most 1 */
	double passed;

	if (f->p >= 1)
		return 1;
	passed = floor(log(uniform) / log1p(-f->p));
	return passed < 0x1p63 ? 1 + (uint64_t)passed : 1ull << 63;
}

/* ---- packets ---- */

/* A path MTU other than the plan's. A smaller one would be another mistake if the message's Last were larger than it. */
static uint32_t other_mtu(const struct send_plan *plan)
{
	uint32_t smaller = 0, larger = MTU_LEAST;

	for (uint32_t mtu = MTU_LEAST; mtu < plan->mtu && mtu <= MTU_MOST; mtu *= 2)
		smaller = mtu;
	while (larger <= plan->mtu && larger < MTU_MOST)
		larger *= 2;
	if (smaller && (plan->message > 2ull * plan->mtu || plan->message - plan->mtu <= smaller || larger <= plan->mtu))
		return smaller;
	return larger;
}

/* The payload size that a fault of sizes sets. */
static uint32_t other_size(const struct send_fault *f, const struct send_plan *plan)
{
	uint64_t base = plan->mtu;

	switch (f->kind) {
	case FAULT_payload_not_path_mtu:
		return plan->mtu + (plan->mtu == MTU_LEAST - 8 ? 16 : 8);
	case FAULT_payload_mixed:
		return other_mtu(plan);
	case FAULT_payload_beyond_mtu:
		if (plan->message <= plan->mtu)
			base = plan->message > MTU_MOST ? plan->message : MTU_MOST;
		return base + BEYOND;
	case FAULT_middle_size:
		return f->has_value ? f->value : plan->mtu > 8 ? plan->mtu - 8 : plan->mtu + 8;
	default:
		return 0;
	}
}

static uint32_t largest_payload(const struct send_plan *plan)
{
	return plan->message < plan->mtu ? plan->message : plan->mtu;
}

uint32_t fault_growth(const struct send_fault *f, const struct send_plan *plan)
{
	uint32_t size = other_size(f, plan), usual = largest_payload(plan);

	switch (f->kind) {
	case FAULT_pad_count:
		return 3;
	case FAULT_extra_reth:
		return sizeof(struct wire_reth);
	case FAULT_extra_imm:
		return WIRE_IMMDT_LEN;
	default:
		return size > usual ? size - usual + 3 : 0; /* with pad bytes */
	}
}

/* Changes the payload's size. A RETH in the same packet announces the new size. */
static void resize(struct send_packet *p, uint32_t bytes)
{
	p->dma_length += bytes - p->payload_bytes;
	p->payload_bytes = bytes;
	p->pad = -bytes & 3;
}

static void mistake_psn(const struct send_fault *f, const struct send_plan *plan, struct send_packet *p)
{
	uint32_t first = plan_qp(plan, p->qp->index).psn, psn = p->psn;

	switch (f->kind) {
	case FAULT_psn_constant:
		psn = f->has_value ? f->value : first;
		break;
	case FAULT_psn_plus_2:
		p->qp->psn = (p->qp->psn + 1) & PSN_MASK;
		break;
	case FAULT_psn_per_message:
		psn = first + p->message;
		break;
	case FAULT_psn_swapped:
		psn = __builtin_bswap32(psn << 8);
		break;
	case FAULT_psn_wrap_16:
		psn &= 0xffff;
		break;
	case FAULT_psn_start:
		psn += f->value;
		break;
	case FAULT_psn_other_side:
		psn += plan->other_psn - first;
		break;
	case FAULT_psn_set:
		psn = f->value;
		break;
	case FAULT_psn_skip:
		psn += f->value;
		p->qp->psn = (p->qp->psn + f->value) & PSN_MASK;
		break;
	default:
		break;
	}
	p->psn = psn & PSN_MASK;
}

bool fault_packet(const struct send_fault *f, const struct send_plan *plan, struct send_packet *p)
{
	switch (f->kind) {
	case FAULT_missing_first:
	case FAULT_missing_last:
		return false;
	case FAULT_payload_not_path_mtu:
	case FAULT_payload_mixed:
	case FAULT_payload_beyond_mtu:
	case FAULT_middle_size:
		resize(p, other_size(f, plan));
		break;
	case FAULT_dma_length:
		p->dma_length += f->value;
		break;
	case FAULT_dma_reth:
		p->dma_length += sizeof(struct wire_reth);
		break;
	case FAULT_dma_immdt:
		p->dma_length += WIRE_IMMDT_LEN;
		break;
	case FAULT_qpn_management:
		p->dqpn = f->value;
		break;
	case FAULT_service_mixed:
		p->opcode ^= SERVICE_RC << 5 ^ SERVICE_UC << 5;
		break;
	default:
		mistake_psn(f, plan, p);
	}
	return true;
}

/* ---- frames ---- */

static void mend_ip_checksum(struct send_frame *frame)
{
	__u8 *ip = frame->bytes + frame->ip;

	if (frame->ipv6)
		return;
	put16(ip + 10, 0);
	put16(ip + 10, ~sum_fold(sum_add(0, ip, WIRE_IPV4_LEN)));
}

/* Adds `bytes` to the IP and UDP lengths. Wrong lengths stay wrong by the same amount. */
static void lengthen(struct send_frame *frame, int bytes)
{
	__u8 *ip_length = frame->bytes + frame->ip + (frame->ipv6 ? 4 : 2), *udp_length = frame->bytes + frame->udp + 4;

	put16(ip_length, get16(ip_length) + bytes);
	put16(udp_length, get16(udp_length) + bytes);
	mend_ip_checksum(frame);
}

/* Inserts zeroes between the headers and the payload. */
static __u8 *insert_header(struct send_frame *frame, uint32_t at, uint32_t bytes)
{
	uint16_t extension = frame->extension, payload = frame->payload;

	frame_insert(frame, at, bytes);
	frame->extension = extension;
	frame->payload = payload + bytes;
	lengthen(frame, bytes);
	return frame->bytes + at;
}

static void remove_header(struct send_frame *frame, uint32_t at, uint32_t bytes)
{
	uint16_t extension = frame->extension, payload = frame->payload;

	frame_remove(frame, at, bytes);
	frame->extension = extension;
	frame->payload = payload - bytes;
	lengthen(frame, -(int)bytes);
}

/* Another fault may already have removed the extension headers from this packet. */
static bool has_extensions(const struct send_frame *frame, uint32_t bytes)
{
	return frame->payload >= frame->extension + bytes;
}

/* Adds one pad byte to make the length a multiple of 4; three pad bytes become none. */
static void mistake_pad_count(struct send_frame *frame)
{
	uint32_t end = frame->length - (frame->without_icrc ? 0 : WIRE_ICRC_LEN);
	__u8 *flags = frame->bytes + frame->bth + 1;
	uint32_t pad = *flags >> 4 & 3;

	if (pad == 3) {
		frame_remove(frame, end - 3, 3);
		lengthen(frame, -3);
	} else {
		frame_insert(frame, end, 1);
		lengthen(frame, 1);
	}
	*flags = (*flags & ~0x30) | ((pad + 1) & 3) << 4;
}

static void mistake_bth(const struct send_fault *f, struct send_frame *frame)
{
	__u8 *bth = frame->bytes + frame->bth;

	switch (f->kind) {
	case FAULT_tver:
		bth[1] = (bth[1] & 0xf0) | f->value;
		break;
	case FAULT_pkey_invalid:
		put16(bth + 2, f->value);
		break;
	case FAULT_reserved_bits:
		bth[8] = (bth[8] & 0x80) | f->value;
		break;
	case FAULT_dma_pad:
		bth[1] = (bth[1] & ~0x30) | ((bth[1] + 0x10) & 0x30);
		break;
	default:
		break;
	}
}

static void mistake_icrc_way(const struct send_fault *f, struct send_frame *frame)
{
	switch (f->kind) {
#define MISTAKE_MADE(name, ...)                          \
	case FAULT_icrc_##name:                          \
		icrc_add(&frame->icrc, ICRC_WAY_##name); \
		break;
#include "roce/icrc/icrc_mistake.def"
	case FAULT_icrc_constant:
		icrc_add(&frame->icrc, ICRC_WAY_constant);
		break;
	default:
		break;
	}
}

void fault_frame(const struct send_fault *f, const struct send_packet *p, struct send_frame *frame)
{
	__u8 *at;

	switch (f->kind) {
	case FAULT_df_unset:
		frame->bytes[frame->ip + 6] &= ~0x40;
		mend_ip_checksum(frame);
		break;
	case FAULT_udp_length:
		at = frame->bytes + frame->udp + 4;
		put16(at, get16(at) - WIRE_ICRC_LEN);
		break;
	case FAULT_pad_count:
		mistake_pad_count(frame);
		break;
	case FAULT_missing_reth:
		if (has_extensions(frame, sizeof(struct wire_reth)))
			remove_header(frame, frame->extension, sizeof(struct wire_reth));
		break;
	case FAULT_missing_imm:
		if (has_extensions(frame, WIRE_IMMDT_LEN))
			remove_header(frame, frame->payload - WIRE_IMMDT_LEN, WIRE_IMMDT_LEN);
		break;
	case FAULT_extra_reth:
		at = insert_header(frame, frame->extension, sizeof(struct wire_reth));
		put64(at, p->va);
		put32(at + 8, p->rkey);
		put32(at + 12, p->dma_length);
		break;
	case FAULT_extra_imm:
		put32(insert_header(frame, frame->payload, WIRE_IMMDT_LEN), p->immediate);
		break;
	case FAULT_icrc_absent:
		if (frame->without_icrc)
			break;
		frame->without_icrc = true;
		frame->length -= WIRE_ICRC_LEN;
		lengthen(frame, -WIRE_ICRC_LEN);
		break;
	default:
		mistake_bth(f, frame);
		mistake_icrc_way(f, frame);
	}
}

/* ---- frames with their ICRC ---- */

static void mistake_udp_checksum(struct send_frame *frame)
{
	__u8 *udp = frame->bytes + frame->udp;
	/* the state before hardware offload completes the checksum (roce/icrc/checksum.h): nobody could call it wrong */
	uint32_t pseudo = sum_fold(sum_add(WIRE_PROTO_UDP + get16(udp + 4),
						     frame->bytes + frame->ip + (frame->ipv6 ? 8 : 12),
						     frame->ipv6 ? 32 : 8));
	uint16_t right, is;

	put16(udp + 6, 0);
	right = ~sum_fold(sum_add(pseudo, udp, frame->length - frame->udp));
	is = right ^ 0x0101;
	if (!is || is == pseudo)
		is = right ^ 0x0202;
	if (!is || is == pseudo)
		is = right ^ 0x0404;
	put16(udp + 6, is);
}

/* The bits that `where` names: the bytes from *from up to, but without, the returned offset. */
static uint32_t corrupt_where(const struct send_fault *f, const struct send_frame *frame, uint32_t *from)
{
	uint32_t icrc = frame->without_icrc ? frame->length : frame->length - WIRE_ICRC_LEN;

	switch (f->where) {
	case WHERE_HEADERS:
		*from = frame->ip;
		return frame->payload;
	case WHERE_ANYWHERE:
		*from = 0;
		return frame->length;
	case WHERE_PAYLOAD:
		*from = frame->payload;
		if (icrc > frame->payload)
			return icrc;
		return frame->length;
	case WHERE_ICRC:
		*from = icrc;
		return frame->length;
	default:
		*from = frame->payload;
		return frame->length;
	}
}

/* The wire and the CRC take a byte's lowest bit first, so a burst in this order is a burst in both. */
static void corrupt(const struct send_fault *f, struct send_frame *frame, uint64_t *random)
{
	uint32_t from, bits = 8 * (corrupt_where(f, frame, &from) - from), burst = f->burst, first;

	if (!bits)
		return;
	if (f->byte >= 0) {
		first = 8 * (f->byte < bits / 8 ? (uint32_t)f->byte : bits / 8 - 1);
		first += f->bit >= 0 ? (uint32_t)f->bit : fault_random(random) % 8;
	} else if (f->bit >= 0) {
		first = 8 * (fault_random(random) % (bits / 8)) + f->bit;
	} else {
		first = fault_random(random) % (burst < bits ? bits - burst + 1 : 1);
	}
	for (uint32_t i = first; i < bits && i - first < burst; i++)
		frame->bytes[from + i / 8] ^= 1 << i % 8;
}

void fault_after(const struct send_fault *f, struct send_frame *frame, uint64_t *random)
{
	switch (f->kind) {
	case FAULT_ip_checksum:
		frame->bytes[frame->ip + 10] ^= 1;
		break;
	case FAULT_udp_checksum:
		mistake_udp_checksum(frame);
		break;
	case FAULT_corrupt:
		corrupt(f, frame, random);
		break;
	default:
		break;
	}
}
