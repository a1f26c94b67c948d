// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `rocescope analyze` on a hostile capture: it ends, leaks nothing, and its figures add up. Input: the file. */
#include <jansson.h>
#include <sys/mman.h>
#include <zlib.h>

#include "pcap/reader.h"
#include "tests/fuzz/must.h"
#include "userspace/command/commands.h"
#include "userspace/observe/model/faults.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int __real_capture_read(struct capture *c, struct capture_piece *piece);
int __wrap_capture_read(struct capture *c, struct capture_piece *piece);

static __u8 filling; /* value of the readable bytes behind a frame */
static __u8 **rooms; /* copies of this run's frames */
static size_t room_count;

/*
 * Wraps the reader's function (ld --wrap): copies each frame into memory of its own size, so that the sanitizer sees its end.
 */
int __wrap_capture_read(struct capture *c, struct capture_piece *piece)
{
	int more = __real_capture_read(c, piece);

	if (more == 1) {
		rooms = realloc(rooms, (room_count + piece->count) * sizeof(*rooms));
		must(rooms);
	}
	for (size_t i = 0; more == 1 && i < piece->count; i++) {
		struct capture_frame *f = &piece->frames[i];
		__u8 *room = malloc(f->captured + CAPTURE_SLACK);

		memcpy(room, f->bytes, f->captured);
		memset(room + f->captured, filling, CAPTURE_SLACK);
		f->bytes = room;
		rooms[room_count++] = room;
	}
	return more;
}

static void free_rooms(void)
{
	while (room_count)
		free(rooms[--room_count]);
}

/* Replaces ISA-L's, whose assembler the address sanitizer does not see: this reads every byte in C first. */
unsigned int crc32_gzip_refl(unsigned int crc, const unsigned char *bytes, uint64_t length)
{
	volatile unsigned char seen;

	for (uint64_t i = 0; i < length; i++)
		seen = bytes[i];
	(void)seen;
	return crc32(crc, bytes, length);
}

/* Never below 0. A stream lacks counters that do not apply to it: they read as 0. */
static json_int_t number(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	must(!value || (json_is_integer(value) && json_integer_value(value) >= 0));
	return json_integer_value(value);
}

static void check_psn(const json_t *c)
{
	must(number(c, "psn_recovered") <= number(c, "psn_skipped"));
	must(number(c, "psn_lost") == number(c, "psn_skipped") - number(c, "psn_recovered") - number(c, "psn_unseen"));
	must(number(c, "psn_gaps") <= number(c, "psn_skipped"));
}

static json_int_t checked(const json_t *c)
{
	return number(c, "icrc_checked") + number(c, "rocev1_icrc_checked");
}

static void check_totals(const json_t *t)
{
	must(json_object_get(t, "frames"));
	must(number(t, "frames") == number(t, "other_frames") + number(t, "rocev1_packets") +
	     number(t, "ip_fragments") + number(t, "malformed") + number(t, "roce_packets"));
	must(number(t, "roce_packets") == number(t, "icrc_checked") + number(t, "icrc_unchecked"));
	must(number(t, "icrc_bad") <= checked(t));
	must(number(t, "truncated") >= number(t, "icrc_unchecked"));
	must(number(t, "truncated") <= number(t, "icrc_unchecked") + number(t, "rocev1_packets"));
	check_psn(t);
	must(number(t, "udp_lost") == number(t, "udp_skipped") - number(t, "udp_recovered"));
	must(number(t, "ud_lost") == number(t, "ud_skipped") - number(t, "ud_recovered"));
}

static bool any_fault(const json_t *totals)
{
	struct faults faults = faults_default();
	bool any = false;

#define COUNTER(name, ...) any |= faults.counter[COUNTER_##name] && number(totals, #name);
#include "roce/stream/counters.def"
#undef COUNTER
	return any;
}

static void check_json(const char *text, int status)
{
	json_error_t error;
	json_t *snapshot = json_loads(text, 0, &error), *stream;
	const json_t *totals = json_object_get(snapshot, "totals");
	json_int_t roce = 0, udp = 0;
	size_t i;

	must(snapshot);
	check_totals(totals);
	json_array_foreach(json_object_get(snapshot, "streams"), i, stream) {
		check_psn(stream);
		must(json_is_true(json_object_get(stream, "icrc_trusted")) ==
		     (checked(stream) > number(stream, "icrc_bad") || !number(stream, "icrc_bad")));
		roce += number(stream, "roce_packets");
		udp += number(stream, "udp_packets");
	}
	must(!number(totals, "untracked_packets")); /* the file is too small for so many streams */
	must(roce == number(totals, "roce_packets") && udp == number(totals, "udp_packets"));
	if (!json_is_true(json_object_get(snapshot, "complete")))
		must(status == EXIT_COULD_NOT);
	else
		must(status == (any_fault(totals) ? EXIT_FAULTS : EXIT_RAN));
	json_decref(snapshot);
}

/* Ignores the time, which is that of the run if there are no frames. */
static void check_same(const char *text, const char *other)
{
	json_t *a = json_loads(text, 0, NULL), *b = json_loads(other, 0, NULL);

	json_object_del(a, "time");
	json_object_del(b, "time");
	must(!a == !b && (!a || json_equal(a, b)));
	json_decref(a);
	json_decref(b);
}

/* Runs the command with its standard output in memory. The caller frees *output. */
static int analyze(char *path, char *view, char **output)
{
	char *arguments[] = { "analyze", path, view, "--udp", "7471", "--exit-code", NULL };
	FILE *was = stdout;
	size_t length;
	int status;

	stdout = open_memstream(output, &length);
	must(stdout);
	status = cmd_analyze(6, arguments);
	fclose(stdout);
	stdout = was;
	free_rooms();
	return status;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	stderr = fopen("/dev/null", "w"); /* the command reports every damaged file */
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	static int file = -1;
	char *output, *again;
	int status;

	if (file < 0) {
		file = memfd_create("capture", MFD_CLOEXEC);
		must(file >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	must(!ftruncate(file, 0) && pwrite(file, data, size, 0) == (ssize_t)size);
	filling = 0;
	status = analyze(path, "--json", &output);
	if (*output)
		check_json(output, status);
	else
		must(status == EXIT_COULD_NOT);
	filling = 0xff;
	must(analyze(path, "--json", &again) == status);
	check_same(output, again);
	free(output);
	free(again);
	must(analyze(path, "--streams=all", &output) == status);
	free(output);
	return 0;
}
