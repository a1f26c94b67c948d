// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/utsname.h>

#include "pcap/ng_block.h"
#include "version.h"

#define BYTE_ORDER_MAGIC 0x1a2b3c4d
#define VERSION_MAJOR 1
#define LINKTYPE_ETHERNET 1
#define NANOSECONDS 9	    /* if_tsresol: 10^-9 */
#define FILTER_IN_WORDS 0   /* first octet of if_filter */
#define VERDICT_LINUX_XDP 2 /* first octet of epb_verdict */
#define STRING_MOST 1024    /* most bytes of text about a section or an interface */

enum { OPT_END = 0, OPT_COMMENT = 1 };
enum { SHB_HARDWARE = 2, SHB_OS = 3, SHB_USERAPPL = 4 };
enum { IF_NAME = 2, IF_DESCRIPTION = 3, IF_TSRESOL = 9, IF_FILTER = 11, IF_OS = 12, IF_HARDWARE = 15 };
enum { EPB_FLAGS = 2, EPB_DROPCOUNT = 4, EPB_PACKETID = 5, EPB_QUEUE = 6, EPB_VERDICT = 7 };
enum { ISB_STARTTIME = 2, ISB_ENDTIME, ISB_IFRECV, ISB_IFDROP, ISB_FILTERACCEPT, ISB_OSDROP, ISB_USRDELIV };

/* Appends bytes, padded with zeroes to a multiple of 4. */
static void put(struct ng_block *b, const void *bytes, __u32 length)
{
	if (length) /* bytes may be NULL then */
		memcpy(b->bytes + b->length, bytes, length);
	b->length += length;
	while (b->length % 4)
		b->bytes[b->length++] = 0;
}

static void put32(struct ng_block *b, __u32 value)
{
	put(b, &value, sizeof(value));
}

/* Times: the upper half first, in either byte order. */
static void put_time(struct ng_block *b, __u64 time)
{
	put32(b, time >> 32);
	put32(b, time);
}

static void option(struct ng_block *b, __u16 code, const void *value, __u16 length)
{
	put(b, (__u16[]){ code, length }, 4);
	put(b, value, length);
}

static void option_string(struct ng_block *b, __u16 code, const char *value, __u32 most)
{
	if (value && *value)
		option(b, code, value, MIN(strlen(value), most));
}

static void option32(struct ng_block *b, __u16 code, __u32 value)
{
	option(b, code, &value, sizeof(value));
}

static void option64(struct ng_block *b, __u16 code, __u64 value)
{
	option(b, code, &value, sizeof(value));
}

/* The kind of verdict and 64 bits in the section's byte order, as Wireshark reads them. */
static void option_verdict(struct ng_block *b, __u64 verdict)
{
	__u8 value[9] = { VERDICT_LINUX_XDP };

	memcpy(value + 1, &verdict, sizeof(verdict));
	option(b, EPB_VERDICT, value, sizeof(value));
}

static void option_time(struct ng_block *b, __u16 code, __u64 time)
{
	option(b, code, (__u32[]){ time >> 32, time }, sizeof(time));
}

static void begin(struct ng_block *b, enum ng_block_type type)
{
	b->length = 0;
	put32(b, type);
	put32(b, 0);
}

/* A block has its whole length at both ends. */
static void end(struct ng_block *b)
{
	option(b, OPT_END, NULL, 0);
	put32(b, b->length + 4);
	memcpy(b->bytes + 4, &b->length, 4);
}

static void operating_system(char name[], size_t size, const struct utsname *system)
{
	snprintf(name, size, "%s %s", system->sysname, system->release);
}

void ng_block_section(struct ng_block *b)
{
	char name[sizeof(struct utsname)];
	struct utsname system = { 0 };

	uname(&system);
	operating_system(name, sizeof(name), &system);
	begin(b, NG_SECTION);
	put32(b, BYTE_ORDER_MAGIC);
	put(b, (__u16[]){ VERSION_MAJOR, 0 }, 4);
	put(b, &(__s64){ -1 }, 8); /* the section ends with the file */
	option_string(b, SHB_HARDWARE, system.machine, STRING_MOST);
	option_string(b, SHB_OS, name, STRING_MOST);
	option_string(b, SHB_USERAPPL, "rocescope " VERSION, STRING_MOST);
	end(b);
}

void ng_block_interface(struct ng_block *b, const struct ng_interface *i)
{
	char name[sizeof(struct utsname)], filter[STRING_MOST] = { FILTER_IN_WORDS };
	struct utsname system = { 0 };

	uname(&system);
	operating_system(name, sizeof(name), &system);
	begin(b, NG_INTERFACE);
	put(b, (__u16[]){ LINKTYPE_ETHERNET, 0 }, 4);
	put32(b, i->snaplen);
	option_string(b, IF_NAME, i->name, STRING_MOST);
	option_string(b, IF_DESCRIPTION, i->description, STRING_MOST);
	option(b, IF_TSRESOL, &(__u8){ NANOSECONDS }, 1);
	if (i->filter && *i->filter) {
		snprintf(filter + 1, sizeof(filter) - 1, "%s", i->filter);
		option(b, IF_FILTER, filter, 1 + strlen(filter + 1));
	}
	option_string(b, IF_OS, name, STRING_MOST);
	option_string(b, IF_HARDWARE, i->hardware, STRING_MOST);
	end(b);
}

void ng_block_packet(struct ng_block *b, const struct ng_packet *p, __u32 snaplen)
{
	__u32 captured = MIN(p->captured, snaplen ? MIN(snaplen, NG_PACKET_MOST) : NG_PACKET_MOST);

	begin(b, NG_PACKET);
	put32(b, p->interface);
	put_time(b, p->time);
	put32(b, captured);
	put32(b, p->wire < p->captured ? p->captured : p->wire);
	put(b, p->bytes, captured);
	option_string(b, OPT_COMMENT, p->comment, NG_OPTION_MOST);
	if (p->direction != NG_UNKNOWN)
		option32(b, EPB_FLAGS, p->direction);
	if (p->dropped)
		option64(b, EPB_DROPCOUNT, p->dropped);
	if (p->id >= 0)
		option64(b, EPB_PACKETID, p->id);
	if (p->queue >= 0)
		option32(b, EPB_QUEUE, p->queue);
	if (p->verdict >= 0)
		option_verdict(b, p->verdict);
	end(b);
}

static void option_left_out(struct ng_block *b, __u64 left_out)
{
	char text[sizeof(NG_LEFT_OUT) + 20];

	if (!left_out)
		return;
	snprintf(text, sizeof(text), NG_LEFT_OUT "%llu", left_out);
	option_string(b, OPT_COMMENT, text, sizeof(text));
}

void ng_block_statistics(struct ng_block *b, __u32 interface, __u64 time, const struct ng_statistics *s)
{
	begin(b, NG_STATISTICS);
	put32(b, interface);
	put_time(b, time);
	if (s) {
		option_time(b, ISB_STARTTIME, s->start);
		option_time(b, ISB_ENDTIME, s->end);
		option64(b, ISB_IFRECV, s->received);
		option64(b, ISB_IFDROP, s->dropped);
		option64(b, ISB_FILTERACCEPT, s->accepted);
		option64(b, ISB_OSDROP, s->os_dropped);
		option64(b, ISB_USRDELIV, s->delivered);
		option_left_out(b, s->left_out);
	}
	end(b);
}
