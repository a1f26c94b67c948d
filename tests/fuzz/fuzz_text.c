// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Texts with a grammar of their own: a filter (typed, or of a plan), a file for --expect, the layout of maps that another build has
 * pinned, and formats of --udp.
 * Input: the kind (1 byte), then the text; of a layout: the old one, a 0, ours.
 */
#include <sys/mman.h>

#include "lib/exit.h"
#include "tests/fuzz/must.h"
#include "userspace/observe/live/layout.h"
#include "userspace/observe/model/expect.h"
#include "userspace/observe/model/filter.h"
#include "userspace/observe/model/udp_ports.h"

#define VALUE 4096 /* bytes of an old value */

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* A filter that is taken holds or not, and its text is the same filter. */
static void check_filter(const char *text)
{
	char mistake[FILTER_MISTAKE] = "";
	struct filter *f = filter_parse(text, mistake), *again;
	struct snapshot_stream s = { 0 };

	if (!f) {
		must(*mistake && memchr(mistake, 0, sizeof(mistake)));
		return;
	}
	must(!strcmp(filter_text(f), text));
	again = filter_parse(filter_text(f), mistake);
	must(again);
	for (int i = 0; i < 8; i++) {
		s.key.src[15] = s.key.qpn = i;
		s.stream.counters.value[i] = i;
		must(filter_wants(f, &s) == filter_wants(again, &s));
	}
	filter_free(again);
	filter_free(f);
}

/* Each connection is known from both ends, and no end twice. */
static void check_expect(const char *text, size_t size)
{
	int file = memfd_create("expect", MFD_CLOEXEC);
	struct expected e;
	char path[40];

	must(file >= 0 && write(file, text, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	if (expect_read(path, &e) == EXIT_RAN) {
		must(e.count % 2 == 0);
		for (size_t i = 0; i < e.count; i++) {
			must(e.entries[i].pair.peer_qpn >= 2 && e.entries[i].pair.peer_qpn <= 0xffffff);
			must(!i || memcmp(&e.entries[i - 1].key, &e.entries[i].key, sizeof(e.entries[i].key)) < 0);
		}
	}
	expect_free(&e);
	close(file);
}

/* Nothing is read behind an old value, whatever its text says, nor written behind a new one, whose text is ours. */
static void check_layout(const char *old, const char *now)
{
	struct layout_move *moves;
	size_t count;

	layout_reads(old, now);
	if (!*now || now[strlen(now) - 1] != '\n')
		return;
	layout_shares(old, now, "stream.");
	moves = layout_moves(old, now, VALUE, &count);
	must(moves);
	for (size_t i = 0; i < count; i++)
		must(moves[i].bytes && (uint64_t)moves[i].from + moves[i].bytes <= VALUE);
	free(moves);
}

/* What is taken is told again in the same words, or such that mean the same. */
static void check_udp(const char *text)
{
	static const struct roce_ports none;
	struct roce_ports ports = none, again = none;
	char mistake[UDP_MISTAKE] = "", told[ROCE_UDP_PORTS * (sizeof(struct udp_format_text) + sizeof("65535,,"))] = "";
	size_t length = 0;

	if (!udp_ports_add(&ports, text, mistake)) {
		must(*mistake && memchr(mistake, 0, sizeof(mistake)) && !memcmp(&ports, &none, sizeof(ports)));
		return;
	}
	for (size_t i = 0; i < ROCE_UDP_PORTS && ports.port[i]; i++) {
		struct udp_format_text format = udp_format_text(&ports.format[i]);

		length += sprintf(told + length, "%s%u%s%s", i ? "," : "", ports.port[i], *format.text ? "," : "", format.text);
	}
	must(udp_ports_add(&again, told, mistake));
	must(!memcmp(&ports, &again, sizeof(ports)));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	stderr = fopen("/dev/null", "w"); /* where a mistake in --expect is told */
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = size ? malloc(size) : NULL;
	size_t length;

	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	length = strlen(text);
	if (data[0] % 4 == 0)
		check_filter(text);
	else if (data[0] % 4 == 1)
		check_expect(text, size - 1);
	else if (data[0] % 4 == 3)
		check_udp(text);
	else
		check_layout(text, length < size - 1 ? text + length + 1 : "");
	free(text);
	return 0;
}
