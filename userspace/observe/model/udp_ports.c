// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "lib/number.h"
#include "roce/packet/wire.h"
#include "userspace/observe/model/udp_ports.h"

#define NUMBER_BITS_LEAST 4 /* fewer cannot tell late from lost */
#define SPEAD_BITS 48 /* of a heap's identifier, in the usual flavour */
#define OFFSET_MOST (150 * 8) /* behind Ethernet, IPv4 and UDP the window ends there (ROCE_WINDOW_BYTES) */

#define BE(offset, count) { .at = (offset), .bits = (count) }
#define LE(offset, count) { .at = (offset), .bits = (count), .little = 1 }
#define NONE { 0 }
const struct udp_named udp_named[] = {
#define UDP_FORMAT(name_, kind_, number_, stream_, more_, words_)                                                           \
	{ .name = #name_, .words = words_,                                                                                 \
	  .format = { .kind = kind_, .number = number_, .stream = { stream_, more_ } } },
#include "roce/packet/udp_format.def"
#undef UDP_FORMAT
};
const size_t udp_named_count = ROCE_ARRAY_SIZE(udp_named);
#undef BE
#undef LE
#undef NONE

struct ports_parser {
	struct roce_ports ports;
	struct roce_udp_format *format; /* of the last port; NULL: none was named yet */
	size_t count;
	char *mistake;
	char word[80];
};

/* Says what is wrong. Its value is false. */
#define refuse(p, ...) ({ snprintf((p)->mistake, UDP_MISTAKE, __VA_ARGS__); false; })

/* OFFSET:BITS[:le] */
static bool parse_field(struct ports_parser *p, const char *text, __u32 most, struct udp_field *field)
{
	uint64_t at, bits;
	char *end;

	if (!parse_whole(text, &at, &end) || *end != ':' || !parse_whole(end + 1, &bits, &end) || (*end && strcmp(end, ":le")))
		return refuse(p, "'%s': a field is OFFSET:BITS or OFFSET:BITS:le", p->word);
	if (at >= OFFSET_MOST)
		return refuse(p, "'%s': OFFSET is at most %d bits", p->word, OFFSET_MOST - 1);
	if (!bits || bits > most)
		return refuse(p, "'%s': BITS is 1 to %u", p->word, most);
	if (at % 8 + bits > 64)
		return refuse(p, "'%s': a field lies in eight bytes, beginning with its first", p->word);
	*field = (struct udp_field){ .at = at, .bits = bits, .little = *end != 0 };
	return true;
}

static bool parse_seq(struct ports_parser *p, const char *text)
{
	if (p->format->kind != UDP_PROGRAMS)
		return refuse(p, "'%s': the port's number is named already", p->word);
	p->format->kind = UDP_NUMBER;
	return parse_field(p, text, 64, &p->format->number);
}

static bool parse_step(struct ports_parser *p, const char *text)
{
	uint64_t step;
	char *end;

	if (!parse_whole(text, &step, &end) || *end || !step)
		return refuse(p, "'%s': a step is a number from 1 on", p->word);
	p->format->step = step;
	return true;
}

static bool parse_stream(struct ports_parser *p, const char *text)
{
	struct udp_field *stream = p->format->stream;

	if (stream[1].bits)
		return refuse(p, "'%s': a stream is named by at most %d fields", p->word, UDP_STREAM_FIELDS);
	return parse_field(p, text, 32 - stream[0].bits, &stream[stream[0].bits ? 1 : 0]);
}

static bool parse_frames(struct ports_parser *p, const char *text)
{
	uint64_t frames;

	if (p->format->kind != UDP_SECOND)
		return refuse(p, "'%s': only vdif has frames in a second", p->word);
	if (!parse_number(text, 1 << 24, &frames) || !frames)
		return refuse(p, "'%s': 1 to %d frames are in a second", p->word, 1 << 24);
	p->format->frames = frames;
	return true;
}

static bool parse_key(struct ports_parser *p, const char *equals)
{
	static const struct {
		const char *name;
		bool (*parse)(struct ports_parser *p, const char *text);
	} keys[] = { { "seq", parse_seq }, { "step", parse_step }, { "stream", parse_stream }, { "frames", parse_frames } };
	size_t length = equals - p->word;

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(keys); i++)
		if (strlen(keys[i].name) == length && !memcmp(keys[i].name, p->word, length))
			return keys[i].parse(p, equals + 1);
	return refuse(p, "'%s': the keys are seq, step, stream and frames", p->word);
}

static bool parse_name(struct ports_parser *p)
{
	if (p->format->kind != UDP_PROGRAMS || p->format->step || p->format->stream[0].bits)
		return refuse(p, "'%s': a port has one format, directly behind it", p->word);
	for (size_t i = 0; i < udp_named_count; i++)
		if (!strcmp(p->word, udp_named[i].name)) {
			*p->format = udp_named[i].format;
			return true;
		}
	return refuse(p, "no format is called '%s' ('--help udp' lists them)", p->word);
}

/* What follows from the values, once all of a port's words are read. */
static bool complete(struct ports_parser *p)
{
	struct roce_udp_format *f = p->format;
	int bits;

	if (!f)
		return true;
	if (f->kind == UDP_PROGRAMS) {
		if (f->step || f->stream[0].bits)
			return refuse(p, "port %u: step and stream need seq or a format", p->ports.port[p->count - 1]);
		return true;
	}
	if ((f->kind == UDP_SECOND || f->kind == UDP_TIME) && f->step > 1)
		return refuse(p, "port %u: frames and packets of this format have no step", p->ports.port[p->count - 1]);
	if ((f->kind == UDP_HEAP || f->kind == UDP_TIME) && f->stream[0].bits)
		return refuse(p, "port %u: stream needs seq, or a format whose number is a field",
			      p->ports.port[p->count - 1]);
	if (f->kind == UDP_HEAP && !f->step)
		return true;
	if (!f->step)
		f->step = 1;
	f->step_bits = __builtin_ctzll(f->step);
	f->inverse = udp_inverse(f->step);
	bits = (f->kind == UDP_HEAP ? SPEAD_BITS : f->number.bits) - f->step_bits;
	if (bits < NUMBER_BITS_LEAST || (bits < 64 && f->step >> f->step_bits >> bits))
		return refuse(p, "port %u: a number of %u bits with a step of %llu goes round too soon",
			      p->ports.port[p->count - 1], f->number.bits, f->step);
	return true;
}

static bool parse_port(struct ports_parser *p)
{
	uint64_t port;

	if (!complete(p))
		return false;
	if (!parse_number(p->word, 65535, &port) || !port || port == WIRE_ROCEV2_PORT)
		return refuse(p, "wants UDP ports from 1 to 65535, but not 4791");
	for (size_t i = 0; i < p->count; i++)
		if (p->ports.port[i] == port)
			return refuse(p, "port %u is named twice", (unsigned int)port);
	if (p->count == ROCE_UDP_PORTS)
		return refuse(p, "at most %d ports", ROCE_UDP_PORTS);
	p->ports.port[p->count] = port;
	p->format = &p->ports.format[p->count++];
	return true;
}

static bool parse_word(struct ports_parser *p)
{
	const char *equals = strchr(p->word, '=');
	bool port = p->word[0] >= '0' && p->word[0] <= '9';

	if (port || !p->format)
		return parse_port(p);
	return equals ? parse_key(p, equals) : parse_name(p);
}

const struct roce_udp_format *udp_ports_find(const struct roce_ports *ports, __u16 port)
{
	for (size_t i = 0; i < ROCE_UDP_PORTS; i++)
		if (port && ports->port[i] == port)
			return &ports->format[i];
	return NULL;
}

const struct udp_named *udp_format_named(const struct roce_udp_format *f)
{
	for (size_t i = 0; i < udp_named_count; i++) {
		const struct roce_udp_format *named = &udp_named[i].format;

		if (f->kind == named->kind && !memcmp(&f->number, &named->number, sizeof(f->number)) &&
		    !memcmp(f->stream, named->stream, sizeof(f->stream)))
			return &udp_named[i];
	}
	return NULL;
}

static void say_field(struct udp_format_text *t, const char *key, const struct udp_field *field)
{
	size_t length = strlen(t->text);

	if (field->bits)
		snprintf(t->text + length, sizeof(t->text) - length, "%s%s=%u:%u%s", length ? "," : "", key, field->at,
			 field->bits, field->little ? ":le" : "");
}

static void say_number(struct udp_format_text *t, const char *key, __u64 n)
{
	size_t length = strlen(t->text);

	snprintf(t->text + length, sizeof(t->text) - length, ",%s=%llu", key, n);
}

struct udp_format_text udp_format_text(const struct roce_udp_format *f)
{
	const struct udp_named *named = udp_format_named(f);
	struct udp_format_text t = { "" };

	if (named)
		snprintf(t.text, sizeof(t.text), "%s", named->name);
	else
		say_field(&t, "seq", &f->number);
	if (f->step > 1 || (f->step && f->kind == UDP_HEAP))
		say_number(&t, "step", f->step);
	if (f->frames)
		say_number(&t, "frames", f->frames);
	for (size_t i = 0; !named && i < UDP_STREAM_FIELDS; i++)
		say_field(&t, "stream", &f->stream[i]);
	return t;
}

bool udp_ports_add(struct roce_ports *ports, const char *text, char mistake[UDP_MISTAKE])
{
	struct ports_parser p = { .ports = *ports, .mistake = mistake };

	while (p.count < ROCE_UDP_PORTS && p.ports.port[p.count])
		p.count++;
	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ",");

		if (length >= sizeof(p.word))
			return refuse(&p, "too long a word");
		memcpy(p.word, at, length);
		p.word[length] = 0;
		if (!parse_word(&p))
			return false;
		at += length;
		if (!*at)
			break;
	}
	if (!complete(&p))
		return false;
	*ports = p.ports;
	return true;
}
