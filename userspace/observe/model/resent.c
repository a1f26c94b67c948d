// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#include "roce/icrc/icrc.h"
#include "userspace/observe/model/resent.h"

/* What `bytes` add to the CRC register, from which nothing else is known. */
static __u32 add(__u32 reg, const __u8 *bytes, __u64 length)
{
	return ~crc32_gzip_refl(~reg, bytes, length);
}

/* The headers of a packet like p as the ICRC covers them. */
static void mask(__u8 window[ROCE_WINDOW_BYTES], const struct resent_packet *of, const struct roce_packet *p)
{
	memset(window, 0, ROCE_WINDOW_BYTES);
	memcpy(window + p->l3_offset, of->header, of->head);
	icrc_mask(window, p);
}

/* Both have right ICRCs, so these differ by what headers and content differ. p: the packet of `now`. */
static bool differs(const struct resent_packet *now, const struct resent_packet *before, const struct roce_packet *p)
{
	static const __u8 zeroes[1024];
	__u8 a[ROCE_WINDOW_BYTES], b[ROCE_WINDOW_BYTES];
	__u32 reg, left = now->covered - now->head;

	mask(a, now, p);
	mask(b, before, p);
	for (__u32 i = 0; i < now->head; i++)
		a[p->l3_offset + i] ^= b[p->l3_offset + i];
	for (reg = add(0, a + p->l3_offset, now->head); left; left -= left < sizeof(zeroes) ? left : sizeof(zeroes))
		reg = add(reg, zeroes, left < sizeof(zeroes) ? left : sizeof(zeroes));
	return (now->icrc ^ before->icrc) != reg;
}

bool resent_take(struct resent *r, __u64 hash, const __u8 *frame, const struct roce_packet *p, bool again)
{
	__u32 end = p->l4_offset + (p->rocev1 ? 0 : WIRE_UDP_LEN) + sizeof(struct wire_bth);
	struct resent_packet *before, now = {
		.what = (hash ^ p->number) | 1ull << 63, .icrc = p->icrc, .covered = p->icrc_offset - p->l3_offset,
		.head = end - p->l3_offset, .opcode = p->opcode,
	};
	bool other = false;

	if (now.head > RESENT_HEADER)
		return false;
	if (!r->packets)
		r->packets = calloc(RESENT_PACKETS, sizeof(*r->packets));
	if (!r->packets)
		return false;
	memcpy(now.header, frame + p->l3_offset, now.head);
	before = &r->packets[(hash + p->number) % RESENT_PACKETS];
	if (again && before->what == now.what && before->head == now.head)
		other = before->opcode != now.opcode || before->covered != now.covered || differs(&now, before, p);
	*before = now;
	return other;
}

void resent_free(struct resent *r)
{
	free(r->packets);
	r->packets = NULL;
}
