// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/options.h"
#include "roce/opcode.h"
#include "roce/wire.h"
#include "send/compose.h"
#include "send/fault.h"

#define TEXT_MOST 200	     /* characters of a --fault */
#define BY_MOST 65535	     /* packets that one may leave later */
#define BURST_MOST (8 * CELL_BYTES)
#define PAYLOAD_MOST 9000    /* of middle-size */
#define PSN_MOST 0xffffff
#define MTU_MOST 4096	     /* the largest path MTU, the smallest: IBTA 9.2 */
#define MTU_LEAST 256
#define BEYOND 32	     /* bytes of payload-beyond-mtu: more than a RETH, which would be another lint */

/* What a fault needs of the plan. */
enum {
	NEEDS_IPV4 = 1 << 0,
	NEEDS_IPV6 = 1 << 1,
	NEEDS_PAD = 1 << 2,	  /* payload that is no multiple of 4 */
	NEEDS_RETH = 1 << 3,
	NEEDS_IMM = 1 << 4,
	NEEDS_REQUEST = 1 << 5,	  /* UC or RC */
	NEEDS_CONNECTED = 1 << 6, /* no datagrams */
};

struct kind {
	const char *name; /* with _ */
	enum fault_unit unit;
	enum fault_stage stage;
	unsigned int needs;
	const char *keys;
	const char *words;
};

static const struct kind kinds[FAULT_KINDS] = {
#define FAULT(name, unit, stage, needs, keys, words) [FAULT_##name] = { #name, unit, stage, needs, keys, words },
#include "send/fault.def"
#undef FAULT
};

/* What `value` may be; else 0 to PSN_MOST. */
static const struct { uint64_t least, most; } values[FAULT_KINDS] = {
	[FAULT_psn_skip] = { 1, PSN_MOST },
	[FAULT_icrc_constant] = { 0, UINT32_MAX },
	[FAULT_tver] = { 1, 15 },
	[FAULT_pkey_invalid] = { 0, 0x8000 },
	[FAULT_reserved_bits] = { 1, 0x7f },
	[FAULT_qpn_management] = { 0, 1 },
	[FAULT_middle_size] = { 0, PAYLOAD_MOST },
	[FAULT_dma_length] = { 1, UINT32_MAX },
};

static const char *const wheres[] = {
	[WHERE_PAYLOAD_OR_ICRC] = "payload-or-icrc", [WHERE_PAYLOAD] = "payload", [WHERE_ICRC] = "icrc",
	[WHERE_HEADERS] = "headers", [WHERE_ANYWHERE] = "anywhere",
};

enum fault_stage fault_stage(enum fault_kind kind)
{
	return kinds[kind].stage;
}

const char *fault_name(enum fault_kind kind)
{
	static char names[FAULT_KINDS][32];
	char *name = names[kind];

	for (size_t i = 0; i + 1 < sizeof(names[0]) && kinds[kind].name[i]; i++)
		name[i] = kinds[kind].name[i] == '_' ? '-' : kinds[kind].name[i];
	return name;
}

/* ---- text ---- */

/* What is wrong, in words. */
__attribute__((format(printf, 1, 2))) static const char *wrong(const char *format, ...)
{
	static char said[3 * TEXT_MOST];
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	return said;
}

/* Changes of a character that make one of the other (Levenshtein). */
static size_t distance(const char *a, const char *b)
{
	size_t row[TEXT_MOST + 1], n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t before = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t other = before + (a[i - 1] != b[j - 1]);

			before = row[j];
			row[j] = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
			row[j] = other < row[j] ? other : row[j];
		}
	}
	return row[n];
}

/* The names nearest to what was meant, three at most. */
static const char *unknown_kind(const char *text)
{
	char near[120] = "";
	int found = 0;

	for (size_t most = 1; most <= strlen(text) / 3 + 1; most++) {
		for (enum fault_kind k = 0; k < FAULT_KINDS && found < 3; k++) {
			const char *name = fault_name(k);
			size_t d = *text && strstr(name, text) ? 1 : distance(text, name);

			if (d != most)
				continue;
			strcat(strcat(near, found++ ? ", " : ""), name);
		}
	}
	return found ? wrong("there is no fault '%s'; did you mean %s?", text, near) :
		       wrong("there is no fault '%s'", text);
}

/* Decimal, or hexadecimal with 0x. */
static bool whole_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	bool hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	const char *digits = text + 2 * hex;
	char *end;

	if (!(*digits >= '0' && *digits <= '9') && !(hex && (*digits | 0x20) >= 'a' && (*digits | 0x20) <= 'f'))
		return false;
	errno = 0;
	*number = strtoull(digits, &end, hex ? 16 : 10);
	return !errno && !*end && *number >= least && *number <= most;
}

static bool probability(const char *text, double *p)
{
	char *end;

	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	if ((text[0] | 0x20) == '0' && (text[1] | 0x20) == 'x')
		return false;
	*p = strtod(text, &end);
	return !*end && *p > 0 && *p <= 1;
}

/* N or N-M. */
static bool range(char *text, uint64_t least, uint64_t most, uint32_t *from, uint32_t *to)
{
	char *dash = strchr(text, '-');
	uint64_t a, b;

	if (dash)
		*dash = '\0';
	if (!whole_number(text, least, most, &a))
		return false;
	b = a;
	if (dash && !whole_number(dash + 1, a, most, &b))
		return false;
	*from = a;
	*to = b;
	return true;
}

static const char *set_value(struct fault *f, const char *text)
{
	uint64_t least = values[f->kind].least, most = values[f->kind].most ? values[f->kind].most : PSN_MOST;

	f->has_value = true;
	if (!whole_number(text, least, most, &f->value))
		return wrong("value is %" PRIu64 " to %" PRIu64, least, most);
	if (f->kind == FAULT_pkey_invalid && f->value & 0x7fff)
		return "value is 0 or 0x8000: other P_Keys are valid";
	return NULL;
}

static const char *set_where(struct fault *f, const char *text)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(wheres); i++) {
		if (strcmp(text, wheres[i]))
			continue;
		f->where = i;
		return NULL;
	}
	return "where is payload-or-icrc, payload, icrc, headers or anywhere";
}

static const char *set_key(struct fault *f, const char *key, char *text)
{
	uint64_t n = 0;

	if (!strcmp(key, "p"))
		return probability(text, &f->p) ? NULL : "p is a probability: above 0, and at most 1";
	if (!strcmp(key, "every"))
		return whole_number(text, 1, UINT64_MAX, &f->every) ? NULL : "every is a number from 1";
	if (!strcmp(key, "at"))
		return whole_number(text, 1, UINT64_MAX, &f->at) ? NULL : "at is a number: packets are counted from 1";
	if (!strcmp(key, "by"))
		return range(text, f->kind == FAULT_reorder, BY_MOST, &f->by, &f->by_most) ? NULL :
		       wrong("by is N or N-M, packets from %d to %d", f->kind == FAULT_reorder, BY_MOST);
	if (!strcmp(key, "value"))
		return set_value(f, text);
	if (!strcmp(key, "where"))
		return set_where(f, text);
	if (!strcmp(key, "qp")) {
		bool ok = whole_number(text, 0, UINT32_MAX, &n);

		f->qp = n;
		return ok ? NULL : "qp is the index of a QP: they are counted from 0";
	}
	if (!strcmp(key, "byte")) {
		bool ok = whole_number(text, 0, CELL_BYTES - 1, &n);

		f->byte = n;
		return ok ? NULL : wrong("byte is 0 to %d", CELL_BYTES - 1);
	}
	if (!strcmp(key, "bit")) {
		bool ok = whole_number(text, 0, 7, &n);

		f->bit = n;
		return ok ? NULL : "bit is 0, the lowest, to 7";
	}
	if (!strcmp(key, "burst")) {
		bool ok = whole_number(text, 1, BURST_MOST, &n);

		f->burst = n;
		return ok ? NULL : wrong("burst is 1 to %d bits", BURST_MOST);
	}
	return "there is no such key";
}

/* Which of the words in the list it is, from 0; -1: none of them. A word of the list may have =DEFAULT behind it. */
static int word_of(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (int i = 0; *list; i++) {
		size_t n = strcspn(list, " ="), all = strcspn(list, " ");

		if (n == length && !memcmp(list, word, n))
			return i;
		list += all + (list[all] == ' ');
	}
	return -1;
}

/* KEY=VALUE each, `seen` of them before; defaults go the same way as what the user says. */
static const char *set_keys(struct fault *f, char *text, const char *between, uint32_t *seen)
{
	static const char *const common = "p every at qp";
	const char *keys = kinds[f->kind].keys, *why;
	char *pair;

	while ((pair = strsep(&text, between))) {
		char *value = strchr(pair, '=');
		int place;

		if (!value) {
			if (!seen) /* a key without a default */
				continue;
			return wrong("'%s' is no KEY=VALUE", pair);
		}
		*value++ = '\0';
		place = word_of(common, pair);
		if (place < 0 && (place = word_of(keys, pair)) >= 0)
			place += 8;
		if (place < 0)
			return wrong("%s has no '%s'; it has %s%s%s", fault_name(f->kind), pair, "p, every, at, qp",
				     *keys ? " and " : "", keys);
		if (seen && *seen & 1u << place)
			return wrong("%s is given twice", pair);
		if (seen)
			*seen |= 1u << place;
		why = set_key(f, pair, value);
		if (why)
			return why;
	}
	return NULL;
}

static void set_defaults(struct fault *f)
{
	char keys[TEXT_MOST];

	snprintf(keys, sizeof(keys), "%s", kinds[f->kind].keys);
	set_keys(f, keys, " ", NULL);
	f->has_value = false;
}

/* A fault that is parsed: whether its keys go together. */
static const char *settle(struct fault *f, uint32_t seen)
{
	int when = !!f->p + !!f->every + !!f->at;
	bool losing = f->kind == FAULT_drop || f->kind == FAULT_duplicate || f->kind == FAULT_reorder ||
		      f->kind == FAULT_corrupt;

	if (when > 1)
		return "one of p, every and at says which packets";
	if (losing && !when)
		return wrong("which packets? %s needs p=, every= or at=", fault_name(f->kind));
	if (f->kind == FAULT_corrupt && f->byte >= 0 && !(seen & 1u << (8 + word_of(kinds[f->kind].keys, "where"))))
		f->where = WHERE_ANYWHERE; /* a byte of the frame */
	return NULL;
}

const char *fault_parse(struct plan *plan, const char *text)
{
	struct fault f = { .kind = FAULT_KINDS, .qp = -1, .byte = -1, .bit = -1, .burst = 1 };
	char copy[TEXT_MOST], *keys;
	struct fault *more;
	uint32_t seen = 0;
	const char *why;

	if (strlen(text) >= sizeof(copy))
		return "a fault is KIND:KEY=VALUE,..., and not so long";
	strcpy(copy, text);
	keys = strchr(copy, ':');
	if (keys)
		*keys++ = '\0';
	for (enum fault_kind k = 0; k < FAULT_KINDS; k++) {
		if (!strcmp(copy, fault_name(k)))
			f.kind = k;
	}
	if (f.kind == FAULT_KINDS)
		return unknown_kind(copy);
	set_defaults(&f);
	if (keys && (why = set_keys(&f, keys, ",", &seen)))
		return why;
	why = settle(&f, seen);
	if (why)
		return why;
	more = realloc(plan->faults, (plan->fault_count + 1) * sizeof(*more));
	if (!more)
		return "there is no memory for it";
	more[plan->fault_count++] = f;
	plan->faults = more;
	return NULL;
}

void fault_help(void)
{
#define FAULT_GROUP(words) printf("%s\n", words);
#define FAULT(name, unit, stage, needs, keys, words) \
	printf("  %-20s %s%s%s%s\n", fault_name(FAULT_##name), words, *(keys) ? " (" : "", keys, *(keys) ? ")" : "");
#include "send/fault.def"
#undef FAULT
}

/* ---- which packets ---- */

static bool has_messages(const struct plan *plan)
{
	return plan->op != SEND_ACK && plan->op != SEND_CNP;
}

/* What of the plan the fault needs and does not have; NULL: nothing. */
static const char *missing(const struct plan *plan, unsigned int needs)
{
	bool uc = plan->op == SEND_UC_WRITE_IMM || plan->op == SEND_UC_WRITE || plan->op == SEND_UC_SEND;
	bool rc = plan->op == SEND_RC_WRITE || plan->op == SEND_RC_SEND;
	bool send = plan->op == SEND_UC_SEND || plan->op == SEND_RC_SEND;
	bool padded = plan->message % 4 || (plan->message > plan->mtu && plan->mtu % 4);

	if (needs & NEEDS_IPV4 && plan->ipv6)
		return "IPv4";
	if (needs & NEEDS_IPV6 && !plan->ipv6)
		return "IPv6";
	if (needs & NEEDS_PAD && !(has_messages(plan) && padded))
		return "messages whose bytes are no multiple of 4";
	if (needs & NEEDS_RETH && !((uc || rc) && !send))
		return "an RDMA WRITE";
	if (needs & NEEDS_IMM && plan->op != SEND_UC_WRITE_IMM)
		return "immediate data";
	if (needs & NEEDS_REQUEST && !uc && !rc)
		return "requests of UC or RC";
	if (needs & NEEDS_CONNECTED && plan->op == SEND_UD_SEND)
		return "a connected service";
	return NULL;
}

static const char *missing_parts(const struct plan *plan, enum fault_unit unit)
{
	if (unit != UNIT_PACKETS && !has_messages(plan))
		return "messages";
	if (unit == UNIT_MIDDLES && plan->message <= 2ull * plan->mtu)
		return "messages of three packets or more";
	if ((unit == UNIT_FIRSTS || unit == UNIT_LASTS) && plan->message <= plan->mtu)
		return "messages of two packets or more";
	return NULL;
}

const char *fault_check(const struct plan *plan)
{
	for (size_t i = 0; i < plan->fault_count; i++) {
		const struct fault *f = &plan->faults[i];
		const char *need = missing(plan, kinds[f->kind].needs);

		if (!need)
			need = missing_parts(plan, kinds[f->kind].unit);
		if (need)
			return wrong("%s needs %s", fault_name(f->kind), need);
		if (f->qp >= plan->qps)
			return wrong("%s:qp=%" PRId64 ": there are %u QPs, and they are counted from 0", fault_name(f->kind), f->qp,
				     plan->qps);
	}
	return NULL;
}

bool fault_concerns(const struct fault *f, const struct packet *p, uint64_t *number)
{
	enum fault_unit unit = kinds[f->kind].unit;

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
	case UNIT_MIDDLES: /* one packet as large as itself is before it */
		return !p->place && p->offset == p->payload_bytes;
	case UNIT_LASTS:
		return p->place == AT_LAST;
	}
	return false;
}

uint64_t fault_draw(const struct fault *f, uint64_t *random)
{
	double uniform = ((fault_random(random) >> 11) + 1) * 0x1p-53; /* above 0, at most 1 */
	double passed;

	if (f->p >= 1)
		return 1;
	passed = floor(log(uniform) / log1p(-f->p));
	return passed < 0x1p63 ? 1 + (uint64_t)passed : 1ull << 63;
}

/* ---- packets ---- */

/* A path MTU other than the plan's; a smaller one if the message's Last is not larger, which would be another mistake. */
static uint32_t other_mtu(const struct plan *plan)
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

/* The payload that a fault of sizes gives its packet. */
static uint32_t other_size(const struct fault *f, const struct plan *plan)
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

static uint32_t largest_payload(const struct plan *plan)
{
	return plan->message < plan->mtu ? plan->message : plan->mtu;
}

uint32_t fault_growth(const struct fault *f, const struct plan *plan)
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
		return size > usual ? size - usual + 3 : 0; /* with pad */
	}
}

/* Another payload; a RETH in the same packet tells of it. */
static void resize(struct packet *p, uint32_t bytes)
{
	p->dma_length += bytes - p->payload_bytes;
	p->payload_bytes = bytes;
	p->pad = -bytes & 3;
}

static uint32_t first_psn(const struct plan *plan, const struct send_qp *qp)
{
	return plan->qp ? plan->qp[qp->index].psn : plan->first_psn;
}

static void mistake_psn(const struct fault *f, const struct plan *plan, struct packet *p)
{
	uint32_t first = first_psn(plan, p->qp), psn = p->psn;

	switch (f->kind) {
	case FAULT_psn_constant:
		psn = f->has_value ? f->value : first;
		break;
	case FAULT_psn_plus_2:
		p->qp->psn = (p->qp->psn + 1) & PSN_MOST;
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
		p->qp->psn = (p->qp->psn + f->value) & PSN_MOST;
		break;
	default:
		break;
	}
	p->psn = psn & PSN_MOST;
}

bool fault_packet(const struct fault *f, const struct plan *plan, struct packet *p, uint64_t *random)
{
	(void)random;
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

static uint32_t get16(const __u8 *from)
{
	return from[0] << 8 | from[1];
}

static void put(__u8 *to, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--, value >>= 8)
		to[i] = value;
}

/* The internet checksum's sum (RFC 1071), folded, of so many bytes, on top of another one. */
static uint32_t sum16(const __u8 *bytes, uint32_t count, uint32_t sum)
{
	for (uint32_t i = 0; i < count; i++)
		sum += i & 1 ? bytes[i] : bytes[i] << 8;
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return sum;
}

static void mend_ip_checksum(struct frame *frame)
{
	__u8 *ip = frame->bytes + frame->ip;

	if (frame->ipv6)
		return;
	put(ip + 10, 0, 2);
	put(ip + 10, (uint16_t)~sum16(ip, WIRE_IPV4_LEN, 0), 2);
}

/* IP and UDP lengths for so many bytes more. Wrong ones stay as wrong as they are. */
static void lengthen(struct frame *frame, int bytes)
{
	__u8 *ip_length = frame->bytes + frame->ip + (frame->ipv6 ? 4 : 2), *udp_length = frame->bytes + frame->udp + 4;

	put(ip_length, get16(ip_length) + bytes, 2);
	put(udp_length, get16(udp_length) + bytes, 2);
	mend_ip_checksum(frame);
}

/* Zeroes between the headers and the payload. */
static __u8 *insert_header(struct frame *frame, uint32_t at, uint32_t bytes)
{
	uint16_t extension = frame->extension, payload = frame->payload;

	frame_insert(frame, at, bytes);
	frame->extension = extension;
	frame->payload = payload + bytes;
	lengthen(frame, bytes);
	return frame->bytes + at;
}

static void remove_header(struct frame *frame, uint32_t at, uint32_t bytes)
{
	uint16_t extension = frame->extension, payload = frame->payload;

	frame_remove(frame, at, bytes);
	frame->extension = extension;
	frame->payload = payload - bytes;
	lengthen(frame, -(int)bytes);
}

/* One pad byte more than brings it to a multiple of 4; three: none. */
static void mistake_pad_count(struct frame *frame)
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

static void mistake_bth(const struct fault *f, struct frame *frame)
{
	__u8 *bth = frame->bytes + frame->bth;

	switch (f->kind) {
	case FAULT_tver:
		bth[1] = (bth[1] & 0xf0) | f->value;
		break;
	case FAULT_pkey_invalid:
		put(bth + 2, f->value, 2);
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

static void mistake_icrc_way(const struct fault *f, struct frame *frame)
{
	switch (f->kind) {
#define ICRC_WAY(name, words)                    \
	case FAULT_icrc_##name:                  \
		frame->icrc = ICRC_WAY_##name;   \
		break;
#include "send/icrc_way.def"
#undef ICRC_WAY
	default:
		break;
	}
}

void fault_frame(const struct fault *f, const struct plan *plan, const struct packet *p, struct frame *frame, uint64_t *random)
{
	__u8 *at;

	(void)plan;
	(void)random;
	switch (f->kind) {
	case FAULT_df_unset:
		frame->bytes[frame->ip + 6] &= ~0x40;
		mend_ip_checksum(frame);
		break;
	case FAULT_udp_length:
		at = frame->bytes + frame->udp + 4;
		put(at, get16(at) - WIRE_ICRC_LEN, 2);
		break;
	case FAULT_pad_count:
		mistake_pad_count(frame);
		break;
	case FAULT_missing_reth:
		remove_header(frame, frame->extension, sizeof(struct wire_reth));
		break;
	case FAULT_missing_imm:
		remove_header(frame, frame->payload - WIRE_IMMDT_LEN, WIRE_IMMDT_LEN);
		break;
	case FAULT_extra_reth:
		at = insert_header(frame, frame->extension, sizeof(struct wire_reth));
		put(at, p->va, 8);
		put(at + 8, p->rkey, 4);
		put(at + 12, p->dma_length, 4);
		break;
	case FAULT_extra_imm:
		put(insert_header(frame, frame->payload, WIRE_IMMDT_LEN), p->immediate, 4);
		break;
	case FAULT_icrc_absent:
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

static void mistake_udp_checksum(struct frame *frame)
{
	__u8 *udp = frame->bytes + frame->udp;
	/* what hardware would still have to complete (roce/checksum.h): nobody could call it wrong */
	uint32_t pseudo = sum16(frame->bytes + frame->ip + (frame->ipv6 ? 8 : 12), frame->ipv6 ? 32 : 8,
				WIRE_PROTO_UDP + get16(udp + 4));
	uint16_t right, is;

	put(udp + 6, 0, 2);
	right = ~sum16(udp, frame->length - frame->udp, pseudo);
	is = right ^ 0x0101;
	if (!is || is == pseudo)
		is = right ^ 0x0202;
	if (!is || is == pseudo)
		is = right ^ 0x0404;
	put(udp + 6, is, 2);
}

/* The bits that `where` names: bytes from *from to before the returned one. */
static uint32_t corrupt_where(const struct fault *f, const struct frame *frame, uint32_t *from)
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

/* The lowest bit of a byte is on the wire, and in the CRC, before its highest: a burst is one in both. */
static void corrupt(const struct fault *f, struct frame *frame, uint64_t *random)
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

void fault_after(const struct fault *f, const struct plan *plan, const struct packet *p, struct frame *frame, uint64_t *random)
{
	(void)plan;
	(void)p;
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
