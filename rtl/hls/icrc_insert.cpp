// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Puts the ICRC into RoCEv2 frames (IBTA 7.8.1, annex A17.3.3): rtl/icrc_insert.v in C++ for HLS, as short as it can be
// (docs/rtl.md). A frame is stored until its last word came. It ends with the ICRC field; what that holds is replaced. Frames
// that are not RoCEv2 over IPv4 without options or IPv6 without extension headers pass as they are.
//
// It was never synthesized.
#include <cstdint>

#include "icrc_insert.h"

static const int most = 9216; // bytes of a frame; what is longer loses its end

// Those bits of byte `at` of the IP packet that may change on the way: they go into the CRC as ones.
static uint8_t masked(bool v6, int at)
{
	if (v6)
		return at == 0 ? 0x0f : at <= 3 ? 0xff : at == 7 || at == 46 || at == 47 || at == 52 ? 0xff : 0x00;
	return at == 1 || at == 8 || at == 10 || at == 11 || at == 26 || at == 27 || at == 32 ? 0xff : 0x00;
}

static uint32_t crc_byte(uint32_t crc, uint8_t byte)
{
	crc ^= byte;
	for (int bit = 0; bit < 8; bit++)
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	return crc;
}

static void fill_in(uint8_t *frame, int size)
{
	int ip = 14;

	while (ip < 22 && (frame[ip - 2] == 0x81 || frame[ip - 2] == 0x88)) // VLAN tags
		ip += 4;

	bool v6 = frame[ip - 2] == 0x86 && frame[ip - 1] == 0xdd;
	bool v4 = frame[ip - 2] == 0x08 && frame[ip - 1] == 0x00 && frame[ip] == 0x45;
	int port = ip + (v6 ? 42 : 22);

	// UDP, to port 4791; behind it a BTH and the ICRC
	if ((!v4 && !v6) || size < port + 6 + 12 + 4 || frame[ip + (v6 ? 6 : 9)] != 17 || frame[port] != 0x12 ||
	    frame[port + 1] != 0xb7)
		return;

	uint32_t crc = 0xffffffff;

	for (int i = 0; i < 8; i++)
		crc = crc_byte(crc, 0xff);
	for (int i = ip; i < size - 4; i++)
		crc = crc_byte(crc, frame[i] | masked(v6, i - ip));
	for (int i = 0; i < 4; i++)
		frame[size - 4 + i] = ~crc >> 8 * i;
}

void icrc_insert(hls::stream<axis_word> &in, hls::stream<axis_word> &out)
{
#pragma HLS INTERFACE axis port = in
#pragma HLS INTERFACE axis port = out
	static uint8_t frame[most];
	static int size;

	if (in.empty())
		return;

	axis_word word = in.read();

	for (int i = 0; i < DATA_BYTES; i++)
		if (word.keep.range(i, i) && size < most)
			frame[size++] = word.data.range(8 * i + 7, 8 * i);
	if (!word.last)
		return;
	if (size >= 60)
		fill_in(frame, size);
	for (int at = 0; at < size; at += DATA_BYTES) {
		axis_word sent = axis_word();

		for (int i = 0; i < DATA_BYTES && at + i < size; i++) {
			sent.data.range(8 * i + 7, 8 * i) = frame[at + i];
			sent.keep.range(i, i) = 1;
		}
		sent.last = at + DATA_BYTES >= size;
		out.write(sent);
	}
	size = 0;
}
