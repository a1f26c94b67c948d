// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * read_crc FILE: the least work that verifies the packets of a capture file. Reads it by plain read() into a buffer that stays
 * in the cache, and computes ISA-L's CRC of every packet. `analyze` is compared with it. Only for pcap files of this machine's
 * byte order. Prints { "packets", "bytes", "crc" }.
 */
#include <err.h>
#include <fcntl.h>
#include <isa-l/crc.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUFFER (1 << 18)
#define FILE_HEADER 24

struct record {
	__u32 seconds, fraction, captured, wire;
};

int main(int argc, char **argv)
{
	static unsigned char buffer[BUFFER];
	size_t filled = 0, at = FILE_HEADER, packets = 0, bytes = 0;
	unsigned int crcs = 0;
	struct record r;
	ssize_t more;
	int file;

	if (argc != 2)
		errx(2, "usage: read_crc FILE");
	file = open(argv[1], O_RDONLY);
	if (file < 0)
		err(1, "%s", argv[1]);
	while ((more = read(file, buffer + filled, BUFFER - filled)) > 0) {
		filled += more;
		bytes += more;
		for (; at + sizeof(r) <= filled; at += sizeof(r) + r.captured, packets++) {
			memcpy(&r, buffer + at, sizeof(r));
			if (r.captured > BUFFER - sizeof(r))
				errx(1, "%s: a packet that is larger than the buffer", argv[1]);
			if (at + sizeof(r) + r.captured > filled)
				break;
			crcs ^= crc32_gzip_refl(0, buffer + at + sizeof(r), r.captured);
		}
		memmove(buffer, buffer + at, filled - at);
		filled -= at;
		at = 0;
	}
	if (more < 0)
		err(1, "%s", argv[1]);
	/* the CRC is printed so that the compiler cannot leave it out */
	printf("{\"packets\": %zu, \"bytes\": %zu, \"crc\": %u}\n", packets, bytes, crcs);
	return 0;
}
