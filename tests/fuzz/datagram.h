/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds a frame's transport header, by IEEE 802.1Q, RFC 791, RFC 8200, and IBTA 8.3 (RoCEv1's GRH), without any code of the
 * engine.
 */
#ifndef FUZZ_DATAGRAM_H
#define FUZZ_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fuzz_datagram {
	size_t ip, udp; /* offsets of the headers; ip: IP or GRH; udp: meaningless with a GRH */
	size_t bth;	/* behind UDP or GRH */
	size_t end;	/* of the IP datagram, by its length field */
	unsigned int tags;
	unsigned int ethertype; /* behind the tags */
	bool ipv6, rocev1, fragment; /* ipv6: also for a GRH, which has the same form */
};

static inline unsigned int big16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static inline bool datagram_ipv4(const uint8_t *f, size_t n, struct fuzz_datagram *d)
{
	const uint8_t *ip = f + d->ip;

	if (n < d->ip + 20 || ip[0] >> 4 != 4 || (ip[0] & 15) < 5 || ip[9] != 17)
		return false;
	d->udp = d->ip + (ip[0] & 15) * 4;
	d->end = d->ip + big16(ip + 2);
	d->fragment = big16(ip + 6) & 0x3fff; /* more fragments, or an offset */
	return true;
}

/* Skips up to four hop-by-hop, routing, fragment, destination options, mobility, HIP and Shim6 headers. */
static inline bool datagram_ipv6(const uint8_t *f, size_t n, struct fuzz_datagram *d)
{
	static const uint8_t extensions[] = { 0, 43, 44, 60, 135, 139, 140 };
	const uint8_t *ip = f + d->ip;
	unsigned int next;

	if (n < d->ip + 40 || ip[0] >> 4 != 6)
		return false;
	d->ipv6 = true;
	d->end = d->ip + 40 + big16(ip + 4);
	d->udp = d->ip + 40;
	next = ip[6];
	for (int i = 0; i < 4 && memchr(extensions, next, sizeof(extensions)); i++) {
		const uint8_t *header = f + d->udp;
		bool fragment_header = next == 44; /* always 8 bytes; it has no length field */

		if (n < d->udp + 8)
			return false;
		d->fragment |= fragment_header && big16(header + 2) & 0xfff9;
		d->udp += fragment_header ? 8 : (header[1] + 1) * 8;
		next = header[0];
	}
	return next == 17;
}

/* A global route header before a BTH. */
static inline bool datagram_grh(const uint8_t *f, size_t n, struct fuzz_datagram *d)
{
	const uint8_t *grh = f + d->ip;

	if (n < d->ip + 40 || grh[0] >> 4 != 6 || grh[6] != 0x1b)
		return false;
	d->ipv6 = d->rocev1 = true;
	d->end = d->ip + 40 + big16(grh + 4);
	d->bth = d->ip + 40;
	return true;
}

/* false: the first n bytes of the frame have neither UDP nor a GRH. A fragment may contain bytes that look like UDP. */
static inline bool datagram_find(const uint8_t *f, size_t n, struct fuzz_datagram *d)
{
	*d = (struct fuzz_datagram){ .ip = 14 };
	if (n < 14)
		return false;
	d->ethertype = big16(f + 12);
	while (d->tags < 3 && (d->ethertype == 0x8100 || d->ethertype == 0x88a8 || d->ethertype == 0x9100 ||
			       d->ethertype == 0x9200)) {
		if (n < d->ip + 4)
			return false;
		d->ethertype = big16(f + d->ip + 2);
		d->ip += 4;
		d->tags++;
	}
	if (d->ethertype == 0x8915)
		return datagram_grh(f, n, d);
	if (d->ethertype == 0x0800 ? !datagram_ipv4(f, n, d) : d->ethertype != 0x86dd || !datagram_ipv6(f, n, d))
		return false;
	d->bth = d->udp + 8;
	return n >= d->bth;
}

#endif
