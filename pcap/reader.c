// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pcap/reader.h"

static int fail(struct capture *c, const char *why)
{
	snprintf(c->error, sizeof(c->error), "%s", why);
	return -1;
}

/* libpcap's words, and what they may mean: of all that is no capture it says 'unknown file format'. */
static int fail_format(struct capture *c, const char *why)
{
	const char *hint = "";

	if (strstr(why, "unknown file format"))
		hint = " (neither pcap nor pcapng; if it is compressed, decompress it first)";
	else if (strstr(why, "only got 0"))
		hint = " (the file is empty)";
	snprintf(c->error, sizeof(c->error), "%s%s", why, hint);
	return -1;
}

static FILE *open_file(struct capture *c, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	struct stat st;

	if (!f || fstat(fileno(f), &st)) {
		fail(c, strerror(errno));
		return NULL;
	}
	c->size = S_ISREG(st.st_mode) ? st.st_size : 0;
	return f;
}

static void close_file(FILE *f)
{
	if (f != stdin)
		fclose(f);
}

int capture_open(struct capture *c, const char *path)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	int link;
	FILE *f;

	c->name = strcmp(path, "-") ? path : "standard input";
	f = open_file(c, path);
	if (!f)
		return -1;
	c->pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, why);
	if (!c->pcap) {
		close_file(f);
		return fail_format(c, why);
	}
	link = pcap_datalink(c->pcap);
	if (link == DLT_EN10MB)
		return 0;
	snprintf(c->error, sizeof(c->error), "link type %s: only captures of Ethernet can be read",
		 pcap_datalink_val_to_name(link) ?: "unknown");
	capture_close(c);
	return -1;
}

int capture_next(struct capture *c, struct capture_frame *frame)
{
	struct pcap_pkthdr *h;
	int r = pcap_next_ex(c->pcap, &h, &frame->bytes);

	if (r == PCAP_ERROR_BREAK)
		return 0;
	if (r != 1) {
		snprintf(c->error, sizeof(c->error), "cut or damaged, what was read until there counts: %s",
			 pcap_geterr(c->pcap));
		return -1;
	}
	frame->captured = h->caplen;
	frame->wire = h->len > h->caplen ? h->len : h->caplen;
	/* in nanoseconds, whatever the file has: tv_usec holds them */
	frame->time = (__u64)h->ts.tv_sec * 1000000000u + h->ts.tv_usec;
	return 1;
}

__u64 capture_position(const struct capture *c)
{
	off_t at = ftello(pcap_file(c->pcap));

	return at < 0 ? 0 : at;
}

void capture_close(struct capture *c)
{
	pcap_close(c->pcap); /* closes the file as well, standard input excepted */
	c->pcap = NULL;
}
