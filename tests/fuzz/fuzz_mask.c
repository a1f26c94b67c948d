// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * icrc_mask() sets to ones exactly the bits that the ICRC does not cover, and the engine accepts the ICRC that zlib computes.
 * Input: wanted length of the frame (2 bytes, 0: unchanged), place of a bit to flip (2), frame.
 */
#include <zlib.h>

#include "tests/fuzz/datagram.h"
#include "tests/fuzz/engine.h"
#include "tests/fuzz/must.h"

#define FRAME_ROOM 9280

/*
 * The bits of a byte that may change on the way (IBTA 7.8.1, A17.3.3): IPv4 type of service, time to live, header
 * checksum; IPv6 and GRH traffic class, flow label, hop limit; UDP checksum; BTH resv8a.
 */
static uint8_t variant_bits(const struct fuzz_datagram *d, size_t offset)
{
	if (offset == d->bth + 4 || (!d->rocev1 && (offset == d->udp + 6 || offset == d->udp + 7)))
		return 0xff;
	if (offset < d->ip || offset >= d->bth)
		return 0;
	switch (offset - d->ip) {
	case 0:
		return d->ipv6 ? 0x0f : 0; /* version | traffic class */
	case 1:
		return 0xff; /* type of service; traffic class | flow label */
	case 2: case 3:
		return d->ipv6 ? 0xff : 0; /* flow label */
	case 7:
		return d->ipv6 ? 0xff : 0; /* hop limit */
	case 8: case 10: case 11:
		return d->ipv6 ? 0 : 0xff; /* time to live, checksum */
	}
	return 0;
}

static void mask_whole(uint8_t *frame, const struct fuzz_datagram *d)
{
	for (size_t i = d->ip; i < d->end; i++)
		frame[i] |= variant_bits(d, i);
}

static uint32_t zlib_icrc(const uint8_t *masked, const struct fuzz_datagram *d)
{
	static const uint8_t ones[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	return crc32(crc32(0, ones, 8), masked + d->ip, d->end - 4 - d->ip);
}

/* Lengthens the frame with copies of its bytes and adjusts the IP length. false: it has no datagram. */
static bool resize(uint8_t *frame, size_t *size, size_t wanted)
{
	struct fuzz_datagram d;

	if (wanted > FRAME_ROOM)
		wanted = FRAME_ROOM;
	for (size_t i = *size; i < wanted; i++)
		frame[i] = frame[i - *size] * 5 + i;
	*size = wanted;
	if (!datagram_find(frame, wanted, &d))
		return false;
	wanted -= d.ip + (d.ipv6 ? 40 : 0);
	frame[d.ip + (d.ipv6 ? 4 : 2)] = wanted >> 8;
	frame[d.ip + (d.ipv6 ? 5 : 3)] = wanted;
	return true;
}

static void check_mask(const uint8_t *frame, size_t size, const struct fuzz_datagram *d, const struct roce_packet *p)
{
	uint8_t *window = calloc(1, ROCE_WINDOW_BYTES);
	size_t seen = size < ROCE_WINDOW_BYTES ? size : ROCE_WINDOW_BYTES;

	memcpy(window, frame, seen);
	icrc_mask(window, p);
	for (size_t i = 0; i < seen; i++)
		must(window[i] == (frame[i] | variant_bits(d, i)));
	for (size_t i = seen; i < ROCE_WINDOW_BYTES; i++)
		must(!window[i]);
	free(window);
}

/* Tries every way in which the engine reads a frame, and memory of exactly the frame's size. */
static bool engine_good(const uint8_t *frame, size_t size, const struct roce_packet *p)
{
	uint8_t *exact = malloc(size);
	bool good;

	memcpy(exact, frame, size);
	good = engine_icrc_is_good(exact, size, p, false);
	must(good == engine_icrc_is_good(exact, size, p, true));
	must(!memcmp(exact, frame, size));
	free(exact);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	size_t wanted = input_number(&in, 2), flip = input_number(&in, 2), length = in.left;
	static uint8_t frame[FRAME_ROOM], masked[FRAME_ROOM];
	struct roce_packet p;
	struct fuzz_datagram d;
	uint32_t crc;
	bool outside;

	if (!length || length > FRAME_ROOM)
		return 0;
	memcpy(frame, in.at, length);
	if (wanted > length && !resize(frame, &length, wanted))
		return 0;
	memcpy(masked, frame, length);
	memset(masked + length, 0, length < ROCE_WINDOW_BYTES ? ROCE_WINDOW_BYTES - length : 0);
	engine_parse(masked, length, length, NULL, &p);
	if (p.kind != ROCE_PACKET || p.truncated)
		return 0;
	must(datagram_find(frame, length, &d) && p.icrc_offset == d.end - 4);

	/* zlib's ICRC is right ... */
	mask_whole(masked, &d);
	crc = zlib_icrc(masked, &d);
	for (int i = 0; i < 4; i++)
		frame[d.end - 4 + i] = crc >> 8 * i;
	check_mask(frame, length, &d, &p);
	must(engine_good(frame, length, &p));
	/* ... and a flipped bit makes it wrong, unless the bit is variable or not covered. */
	flip %= length * 8;
	frame[flip / 8] ^= 1 << flip % 8;
	outside = flip / 8 < d.ip || flip / 8 >= d.end || variant_bits(&d, flip / 8) >> flip % 8 & 1;
	must(engine_good(frame, length, &p) == outside);
	return 0;
}
