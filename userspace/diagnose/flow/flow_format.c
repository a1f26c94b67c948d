// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "lib/bytes.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/flow/flow_format.h"

#define MARK5B_SYNC 0xabaddeed

static __u32 little16(const __u8 *b)
{
	return b[0] | b[1] << 8;
}

static __u32 little24(const __u8 *b)
{
	return b[0] | b[1] << 8 | b[2] << 16;
}

static void say_length(struct format_mismatch *m, const char *what, __u32 bytes, __u32 payload)
{
	SAY(m->expected, "%s %u", what, payload);
	SAY(m->found, "%u", bytes);
}

/* Each returns whether the datagram fits, and says what it looked at. `bytes` are enough for the header. */

/* SPEAD 4: magic number and version. */
static bool fits_spead(const struct sample_head *h, struct format_mismatch *m)
{
	SAY(m->expected, "53 04");
	SAY(m->found, "%02x %02x", h->data[0], h->data[1]);
	return h->data[0] == 0x53 && h->data[1] == 4;
}

/* ANSI/VITA 49.0, 6.1: the packet type is below 8, and the size, in words, that of all packets in the datagram. */
static bool fits_vita49(const struct sample_head *h, struct format_mismatch *m)
{
	__u32 at, size;

	SAY(m->expected, "type below 8, size %u", h->payload);
	SAY(m->found, "type %u, size %u", h->data[0] >> 4, 4 * get16(h->data + 2));
	for (at = 0; at + 4 <= h->bytes; at += size) {
		size = 4 * get16(h->data + at + 2);
		if (!size || h->data[at] >> 4 > 7 || size > h->payload - at)
			return false;
	}
	return at == h->payload || h->bytes < h->payload;
}

/* VDIF 1.1.1, word 2: the frame's length in units of 8 bytes, header included. A datagram has one or several. */
static bool fits_vdif_at(const struct sample_head *h, __u32 at, struct format_mismatch *m)
{
	__u32 length = 8 * little24(h->data + at + 8), rest = h->payload - at;

	say_length(m, "frame length", length, rest);
	return length >= 16 && !(rest % length);
}

static bool fits_vdif(const struct sample_head *h, struct format_mismatch *m)
{
	return fits_vdif_at(h, 0, m);
}

/* VTP: a number, then VDIF; or Mark 5B, which begins with a sync word. */
static bool fits_udps(const struct sample_head *h, struct format_mismatch *m)
{
	return fits_vdif_at(h, 8, m) || roce_load(__u32, h->data + 8) == MARK5B_SYNC;
}

/* RFNoC specification, 'CHDR': the packet type is one of six, the length that of the datagram, but for padding of one word. */
static bool fits_chdr(const struct sample_head *h, struct format_mismatch *m)
{
	__u32 length = little16(h->data + 2), type = h->data[6] >> 5, payload = h->payload;

	SAY(m->expected, "type 0 to 2, 4, 6, 7, length %u", payload);
	SAY(m->found, "type %u, length %u", type, length);
	return type != 3 && type != 5 && length >= 8 && length <= payload && payload - length < 64;
}

static const struct {
	const char *name;
	bool (*fits)(const struct sample_head *h, struct format_mismatch *m);
	__u8 header; /* bytes */
	__u8 word;   /* bytes of the words that have a byte order; 0: it has none */
	bool telling; /* a datagram that does not fit is none of the format */
} checks[] = {
	{ "spead", fits_spead, 8, 0, true },
	{ "udps", fits_udps, 20, 0, false },
	{ "vdif", fits_vdif, 16, 4, true },
	{ "chdr", fits_chdr, 8, 8, true },
	{ "vita49", fits_vita49, 4, 4, true },
};

static struct sample_head swapped(const struct sample_head *h, __u32 word)
{
	struct sample_head other = *h;

	for (__u32 i = 0; i + word <= sizeof(h->data); i++)
		other.data[i] = h->data[i / word * word + word - 1 - i % word];
	return other;
}

/* How many datagrams fit. */
static size_t count_fits(size_t check, const struct flow_sample *s, bool swap)
{
	struct format_mismatch unused;
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct sample_head h = swap ? swapped(&s->heads[i], checks[check].word) : s->heads[i];

		count += h.bytes >= checks[check].header && checks[check].fits(&h, &unused);
	}
	return count;
}

enum format_verdict format_judge(const char *name, const struct flow_sample *s, struct format_mismatch *mismatch)
{
	size_t i, fit;

	for (i = 0; i < ROCE_ARRAY_SIZE(checks) && strcmp(checks[i].name, name); i++)
		;
	if (i == ROCE_ARRAY_SIZE(checks) || !checks[i].telling || !s->count)
		return FORMAT_UNKNOWN;
	fit = count_fits(i, s, false);
	if (8 * fit >= s->count)
		return FORMAT_FITS;
	checks[i].fits(&s->heads[0], mismatch);
	if (s->heads[0].bytes < checks[i].header)
		say_length(mismatch, "bytes of header", s->heads[0].bytes, checks[i].header);
	if (checks[i].word && count_fits(i, s, true) == s->count)
		return FORMAT_SWAPPED;
	return FORMAT_OTHER;
}

const char *format_guess(const struct flow_sample *s)
{
	for (size_t i = 0; s->count && i < ROCE_ARRAY_SIZE(checks); i++)
		if (count_fits(i, s, false) == s->count)
			return checks[i].name;
	return NULL;
}
