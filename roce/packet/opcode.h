/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One table of opcodes (IBTA 9.2, table 38; CNP: annex A17.9.3; FLUSH, ATOMIC WRITE: annex A19): the transport service, the
 * packet's place in the message, and the extension headers behind the BTH.
 */
#ifndef ROCE_PACKET_OPCODE_H
#define ROCE_PACKET_OPCODE_H

#include "roce/packet/base.h"

/* The upper three bits of an opcode. */
enum roce_service {
	SERVICE_RC = 0,
	SERVICE_UC = 1,
	SERVICE_RD = 2,
	SERVICE_UD = 3,
	SERVICE_CNP = 4,
	SERVICE_XRC = 5,
	SERVICE_UDP = 8, /* no opcode: a flow with our stream header (monitor --udp) */
};

/* Properties of an opcode. 0: unknown (reserved or a manufacturer's). */
enum {
	OP_KNOWN = 1 << 0,
	OP_FIRST = 1 << 1, /* begins a message; with OP_LAST: the only packet of it */
	OP_MIDDLE = 1 << 2,
	OP_LAST = 1 << 3,
	OP_ONLY = OP_FIRST | OP_LAST,
	OP_RESPONSE = 1 << 4,
	OP_READ_REQUEST = 1 << 5,
	OP_ACK = 1 << 6, /* carries the PSN it acknowledges */
	OP_CNP = 1 << 7,
	/* extension headers, in the order in which they follow the BTH */
	OP_RDETH = 1 << 8,
	OP_DETH = 1 << 9,
	OP_XRCETH = 1 << 10,
	OP_FETH = 1 << 11,
	OP_RETH = 1 << 12,
	OP_ATOMICETH = 1 << 13,
	OP_AETH = 1 << 14,
	OP_ATOMICACKETH = 1 << 15,
	OP_IMMDT = 1 << 16,
	OP_IETH = 1 << 17,
	/* set by roce_tell_blocks() and ring_follow() */
	OP_RING = 1 << 18, /* its address counts blocks; OP_IMMDT then means that the message ends one */
	OP_SLOT = 1 << 19, /* a First: `immediate` is the slot that its message ends */
	/* set by parse_extensions() */
	OP_CUT = 1 << 20,      /* the frame was cut inside these headers: those that are missing are not set above */
	OP_UNPLACED = 1 << 21, /* ... and the DETH is one of them: the stream, and so the place in it, is not known */
	/* ATOMIC WRITE; above OP_RETH, so that parse_extensions() takes it away with a RETH that was cut off */
	OP_ATOMIC_WRITE = 1 << 22,
	OP_NO_PLACE = OP_ACK | OP_CNP | OP_UNPLACED, /* such packets have no place in a sequence of PSNs */
};

/* SEND and RDMA WRITE: the twelve opcodes that RC, UC, RD and XRC share. extra: headers of the service. */
#define ROCE_SENDS_AND_WRITES(base, extra)                                                          \
	[(base) + 0x00] = OP_KNOWN | (extra) | OP_FIRST,                     /* SEND First */        \
	[(base) + 0x01] = OP_KNOWN | (extra) | OP_MIDDLE,                    /* SEND Middle */       \
	[(base) + 0x02] = OP_KNOWN | (extra) | OP_LAST,                      /* SEND Last */         \
	[(base) + 0x03] = OP_KNOWN | (extra) | OP_LAST | OP_IMMDT,           /* ... with immediate */ \
	[(base) + 0x04] = OP_KNOWN | (extra) | OP_ONLY,                      /* SEND Only */         \
	[(base) + 0x05] = OP_KNOWN | (extra) | OP_ONLY | OP_IMMDT,           /* ... with immediate */ \
	[(base) + 0x06] = OP_KNOWN | (extra) | OP_FIRST | OP_RETH,           /* WRITE First */       \
	[(base) + 0x07] = OP_KNOWN | (extra) | OP_MIDDLE,                    /* WRITE Middle */      \
	[(base) + 0x08] = OP_KNOWN | (extra) | OP_LAST,                      /* WRITE Last */        \
	[(base) + 0x09] = OP_KNOWN | (extra) | OP_LAST | OP_IMMDT,           /* ... with immediate */ \
	[(base) + 0x0a] = OP_KNOWN | (extra) | OP_ONLY | OP_RETH,            /* WRITE Only */        \
	[(base) + 0x0b] = OP_KNOWN | (extra) | OP_ONLY | OP_RETH | OP_IMMDT  /* ... with immediate */

/* READ, atomics and acknowledgements, shared by RC, RD and XRC. req, resp: headers of the service. */
#define ROCE_READS_AND_ATOMICS(base, req, resp)                                                      \
	[(base) + 0x0c] = OP_KNOWN | (req) | OP_ONLY | OP_READ_REQUEST | OP_RETH,                     \
	[(base) + 0x0d] = OP_KNOWN | (resp) | OP_RESPONSE | OP_FIRST | OP_AETH,                       \
	[(base) + 0x0e] = OP_KNOWN | (resp) | OP_RESPONSE | OP_MIDDLE,                                \
	[(base) + 0x0f] = OP_KNOWN | (resp) | OP_RESPONSE | OP_LAST | OP_AETH,                        \
	[(base) + 0x10] = OP_KNOWN | (resp) | OP_RESPONSE | OP_ONLY | OP_AETH,                        \
	[(base) + 0x11] = OP_KNOWN | (resp) | OP_RESPONSE | OP_ACK | OP_AETH,                         \
	[(base) + 0x12] = OP_KNOWN | (resp) | OP_RESPONSE | OP_ONLY | OP_AETH | OP_ATOMICACKETH,      \
	[(base) + 0x13] = OP_KNOWN | (req) | OP_ONLY | OP_ATOMICETH, /* CmpSwap */                    \
	[(base) + 0x14] = OP_KNOWN | (req) | OP_ONLY | OP_ATOMICETH  /* FetchAdd */

#define ROCE_FLUSH_AND_ATOMIC_WRITE(base, extra)                                                     \
	[(base) + 0x1c] = OP_KNOWN | (extra) | OP_ONLY | OP_FETH | OP_RETH, /* FLUSH */               \
	[(base) + 0x1d] = OP_KNOWN | (extra) | OP_ONLY | OP_RETH | OP_ATOMIC_WRITE

#define ROCE_SENDS_WITH_INVALIDATE(base, extra)                                                      \
	[(base) + 0x16] = OP_KNOWN | (extra) | OP_LAST | OP_IETH,                                     \
	[(base) + 0x17] = OP_KNOWN | (extra) | OP_ONLY | OP_IETH

static const __u32 roce_opcodes[256] = {
	ROCE_SENDS_AND_WRITES(0x00, 0),
	ROCE_READS_AND_ATOMICS(0x00, 0, 0),
	ROCE_SENDS_WITH_INVALIDATE(0x00, 0),
	ROCE_FLUSH_AND_ATOMIC_WRITE(0x00, 0),
	ROCE_SENDS_AND_WRITES(0x20, 0),
	ROCE_SENDS_AND_WRITES(0x40, OP_RDETH | OP_DETH),
	ROCE_READS_AND_ATOMICS(0x40, OP_RDETH | OP_DETH, OP_RDETH),
	ROCE_FLUSH_AND_ATOMIC_WRITE(0x40, OP_RDETH | OP_DETH),
	[0x55] = OP_KNOWN | OP_RDETH | OP_DETH,           /* RD RESYNC */
	[0x64] = OP_KNOWN | OP_ONLY | OP_DETH,            /* UD SEND Only */
	[0x65] = OP_KNOWN | OP_ONLY | OP_DETH | OP_IMMDT, /* ... with immediate */
	[0x81] = OP_KNOWN | OP_RESPONSE | OP_CNP,
	ROCE_SENDS_AND_WRITES(0xa0, OP_XRCETH),
	ROCE_READS_AND_ATOMICS(0xa0, OP_XRCETH, 0),
	ROCE_SENDS_WITH_INVALIDATE(0xa0, OP_XRCETH),
	ROCE_FLUSH_AND_ATOMIC_WRITE(0xa0, OP_XRCETH),
};

/* The transport service's name in JSON and tables. */
static inline const char *roce_service_name(enum roce_service service)
{
	static const char *const names[] = {
		[SERVICE_RC] = "RC", [SERVICE_UC] = "UC", [SERVICE_RD] = "RD", [SERVICE_UD] = "UD",
		[SERVICE_CNP] = "CNP", [SERVICE_XRC] = "XRC", [SERVICE_UDP] = "UDP",
	};

	return (unsigned int)service < ROCE_ARRAY_SIZE(names) && names[service] ? names[service] : "?";
}

#endif
