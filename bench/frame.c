// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "bench/frame.h"
#include "roce/datagram/stream_header.h"
#include "roce/packet/wire.h"

#define OPCODE_UC_SEND_ONLY 0x24
#define OPCODE_UC_WRITE_ONLY 0x2a
#define OPCODE_RC 0xdf /* the bits of an opcode of UC that RC has, too */

static void put16(__u8 *to, __u16 value)
{
	memcpy(to, &(__u16){ htons(value) }, 2);
}

static void put32(__u8 *to, __u32 value)
{
	memcpy(to, &(__u32){ htonl(value) }, 4);
}

static __u16 header_checksum(const __u8 *ip)
{
	__u32 sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	return ~(sum + (sum >> 16));
}

static void put_ip(__u8 *ip, __u32 length)
{
	ip[0] = 0x45;
	put16(ip + 2, length);
	ip[6] = 0x40; /* DF */
	ip[8] = 64;
	ip[9] = WIRE_PROTO_UDP;
	put32(ip + 12, 0x0a090001); /* 10.9.0.1 */
	put32(ip + 16, 0x0a090002);
	put16(ip + 10, header_checksum(ip));
}

static void put_reth(__u8 *reth, __u32 payload)
{
	put32(reth + 4, FRAME_VA); /* the lower half of the address */
	put32(reth + 8, 0x1234);
	put32(reth + 12, payload);
}

void frame_make(struct bench_frame *f, enum frame_kind kind, __u32 payload)
{
	__u32 with_reth = FRAME_RETH + FRAME_RETH_LEN + payload + 4, without = with_reth - FRAME_RETH_LEN;
	bool send = with_reth > FRAME_LINEAR && without <= FRAME_LINEAR;
	__u32 random = 1, icrc;
	__u8 *b = f->bytes;

	memset(f, 0, sizeof(*f));
	f->packet = send ? "UC SEND Only" : "UC RDMA WRITE Only";
	f->length = send ? without : with_reth;
	b[0] = b[6] = 0x02; /* locally administered */
	b[5] = 2;
	b[11] = 1;
	put16(b + 12, WIRE_ETHERTYPE_IPV4);
	put_ip(b + FRAME_IP, f->length - FRAME_IP);
	put16(b + FRAME_UDP, 49152);
	put16(b + FRAME_UDP + 2, kind == FRAME_PLAIN_UDP ? FRAME_UDP_PORT : WIRE_ROCEV2_PORT);
	put16(b + FRAME_UDP + 4, f->length - FRAME_UDP);
	b[FRAME_BTH] = send ? OPCODE_UC_SEND_ONLY : OPCODE_UC_WRITE_ONLY;
	if (kind == FRAME_RC)
		b[FRAME_BTH] &= OPCODE_RC;
	b[FRAME_BTH + 1] = 0x40; /* MigReq, as set by rxe and most hardware */
	put16(b + FRAME_BTH + 2, 0xffff);
	if (!send)
		put_reth(b + FRAME_RETH, payload);
	for (__u32 i = f->length - 4 - payload; i < f->length - 4; i++) {
		random = random * 1103515245 + 12345;
		b[i] = random >> 16;
	}
	icrc = frame_icrc(f);
	memcpy(b + f->length - 4, &icrc, 4);
}

static void put64(__u8 *to, __u64 value)
{
	memcpy(to, &(__u64){ __builtin_bswap64(value) }, 8);
}

/* Headers by the specifications that roce/packet/udp_format.def names, without what rewrite_number() writes. */
static void put_datagram(__u8 *to, enum rewrite_datagram what, __u32 bytes)
{
	memset(to, 0, REWRITE_DATAGRAM_BYTES);
	switch (what) {
	case DATAGRAM_programs:
		*(struct stream_header *)to = (struct stream_header){
			.magic = htonl(STREAM_MAGIC), .version = STREAM_VERSION, .run = htonl(1), .message_size = htonl(bytes),
			.packets_in_message = htonl(1) };
		break;
	case DATAGRAM_chdr: /* data without a time stamp */
		memcpy(to, &(__u64){ 6ull << 53 | (__u64)bytes << 16 | 300 }, 8);
		break;
	case DATAGRAM_dune:
		memcpy(to, &(__u64){ 1 | 3 << 6 }, 8);
		break;
	case DATAGRAM_spead:
		put64(to, 0x5304020600000004);
		put64(to + 16, 1ull << 63 | 2ull << 48 | (__u64)REWRITE_HEAP * (bytes - 40));
		put64(to + 32, 1ull << 63 | 4ull << 48 | (bytes - 40));
		break;
	case DATAGRAM_vdif:
		memcpy(to + 8, &(__u32){ 1 << 29 | bytes / 8 }, 4);
		break;
	case DATAGRAM_vita49: /* with a stream identifier, and a counter of samples */
		put64(to, (__u64)(1 << 28 | 3 << 20 | bytes / 4) << 32 | 0x100);
		break;
	default:
		break;
	}
}

void frame_make_datagram(struct bench_frame *f, enum rewrite_datagram what, __u32 payload)
{
	frame_make(f, FRAME_PLAIN_UDP, payload);
	f->packet = "UDP";
	put_datagram(f->bytes + FRAME_BTH, what, frame_datagram_bytes(f));
}

__u32 frame_covered(const struct bench_frame *f, __u8 *to)
{
	memcpy(to, f->bytes + FRAME_IP, f->length - FRAME_IP);
	to[1] = to[8] = to[10] = to[11] = 0xff;				/* TOS, TTL, header checksum */
	to[FRAME_UDP - FRAME_IP + 6] = to[FRAME_UDP - FRAME_IP + 7] = 0xff; /* UDP checksum */
	to[FRAME_BTH - FRAME_IP + 4] = 0xff;				/* resv8a */
	return f->length - FRAME_IP;
}

__u32 frame_icrc(const struct bench_frame *f)
{
	static const __u8 ones[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	__u8 covered[sizeof(f->bytes)];
	__u32 length = frame_covered(f, covered) - 4;

	return crc32(crc32(0, ones, sizeof(ones)), covered, length);
}

void frame_rewrite(struct bench_frame *f, const struct rewrite_tables *t, __u32 qpn, __u32 psn)
{
	__u64 word = rewrite_word(qpn, psn);
	__u32 icrc = rewrite_icrc(t, qpn, psn);

	memcpy(f->bytes + FRAME_BTH + REWRITE_WORD, &word, sizeof(word));
	memcpy(f->bytes + f->length - 4, &icrc, 4);
}

/* The CRC is linear: a bit of the message always flips the same bits of the CRC, whatever the other bits are. */
void frame_tables(const struct bench_frame *f, struct rewrite_tables *t)
{
	struct bench_frame copy = *f;
	__u8 *qpn = copy.bytes + FRAME_BTH + 5, *psn = copy.bytes + FRAME_BTH + 9;

	memset(qpn, 0, 3);
	memset(psn, 0, 3);
	t->base = frame_icrc(&copy);
	for (int byte = 0; byte < 3; byte++)
		for (int value = 0; value < 256; value++) {
			qpn[2 - byte] = value;
			t->of_qpn[byte][value] = frame_icrc(&copy) ^ t->base;
			qpn[2 - byte] = 0;
			psn[2 - byte] = value;
			t->of_psn[byte][value] = frame_icrc(&copy) ^ t->base;
			psn[2 - byte] = 0;
		}
}
