// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 2 s, long 5 s
/* The pcapng writer: every block is walked, files rotate, and writing ends at any byte. */
#include "pcap/ng_block.c"
#include "pcap/ng_writer.c"

#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/cmocka_includes.h"
#include "tests/unit/long.h"

#define PATH_MOST 256
#define START 1700000000000000000u

static const struct ng_interface ports[] = {
	{ .name = "a", .description = "b", .hardware = "c", .filter = "d", .snaplen = 200 }, { .name = "e", .snaplen = 200 },
};
static __u8 bytes[NG_PACKET_MOST + 1000];
static struct ng_block block;

static char folder[] = "/tmp/test_ng_writer.XXXXXX";

static const char *in_folder(const char *name)
{
	static char paths[4][PATH_MOST];
	static int next;

	next = (next + 1) % 4;
	snprintf(paths[next], PATH_MOST, "%s/%s", folder, name);
	return paths[next];
}

static __u32 u32_at(const __u8 *p)
{
	__u32 value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/* ---- blocks ---- */

static const __u8 *find_option(const __u8 *p, const __u8 *end, __u16 code, __u16 *length)
{
	while (p < end) {
		__u16 head[2];

		assert_true(end - p >= 4);
		memcpy(head, p, 4);
		*length = head[1];
		assert_true(end - p >= 4 + (*length + 3) / 4 * 4);
		for (__u32 i = *length; i % 4; i++)
			assert_int_equal(p[4 + i], 0);
		if (head[0] == code)
			return p + 4;
		if (!head[0]) {
			assert_ptr_equal(p + 4, end);
			return NULL;
		}
		p += 4 + (*length + 3) / 4 * 4;
	}
	fail_msg("no end of options");
	return NULL;
}

static void assert_option(__u32 fixed, __u16 code, const void *value, __u16 length)
{
	__u16 has;
	const __u8 *p = find_option(block.bytes + fixed, block.bytes + block.length - 4, code, &has);

	assert_non_null(p);
	assert_int_equal(has, length);
	assert_memory_equal(p, value, length);
}

static void assert_no_option(__u32 fixed, __u16 code)
{
	__u16 has;

	assert_null(find_option(block.bytes + fixed, block.bytes + block.length - 4, code, &has));
}

static void assert_ends(__u32 type)
{
	assert_int_equal(block.length % 4, 0);
	assert_int_equal(u32_at(block.bytes), type);
	assert_int_equal(u32_at(block.bytes + 4), block.length);
	assert_int_equal(u32_at(block.bytes + block.length - 4), block.length);
}

static void section(void **state)
{
	static const __u8 fixed[] = { 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255 };
	struct utsname system;

	(void)state;
	uname(&system);
	ng_block_section(&block);
	assert_ends(0x0a0d0d0a);
	if (u32_at(fixed) == BYTE_ORDER_MAGIC)
		assert_memory_equal(block.bytes + 8, fixed, sizeof(fixed));
	assert_option(24, 2, system.machine, strlen(system.machine));
	assert_option(24, 4, "rocescope " VERSION, strlen("rocescope " VERSION));
}

static void interface(void **state)
{
	static char longer[9000];
	struct ng_interface i = { .name = longer, .description = longer, .hardware = longer, .filter = longer };

	(void)state;
	ng_block_interface(&block, &ports[0]);
	assert_ends(1);
	assert_int_equal(u32_at(block.bytes + 8), 1); /* Ethernet, and a reserved zero */
	assert_int_equal(u32_at(block.bytes + 12), 200);
	assert_option(16, 2, "a", 1);
	assert_option(16, 3, "b", 1);
	assert_option(16, 9, "\x9", 1);
	assert_option(16, 11, "\0d", 2);
	assert_option(16, 15, "c", 1);
	ng_block_interface(&block, &ports[1]);
	assert_no_option(16, 3);
	assert_no_option(16, 11);
	assert_no_option(16, 15);
	memset(longer, 'x', sizeof(longer) - 1);
	ng_block_interface(&block, &i);
	assert_ends(1);
	assert_true(block.length < 8192); /* make_head() */
	assert_option(16, 2, longer, 1024);
}

static void packet(void **state)
{
	__u64 verdict = 4, dropped = 0x123456789a, id = 0x7000000000000001;
	__u8 xdp[9] = { 2 };

	(void)state;
	memcpy(xdp + 1, &verdict, 8);
	for (__u32 length = 0; length < 140; length++) {
		struct ng_packet p = {
			.interface = 1, .time = 0x1122334455667788, .bytes = bytes, .captured = length, .wire = 1000,
			.comment = "words", .direction = NG_OUTWARD, .queue = 7, .verdict = verdict, .id = id, .dropped = dropped,
		};
		__u32 fixed = 28 + (length + 3) / 4 * 4;

		ng_block_packet(&block, &p, 0);
		assert_ends(6);
		assert_int_equal(u32_at(block.bytes + 8), 1);
		assert_int_equal(u32_at(block.bytes + 12), 0x11223344);
		assert_int_equal(u32_at(block.bytes + 16), 0x55667788);
		assert_int_equal(u32_at(block.bytes + 20), length);
		assert_int_equal(u32_at(block.bytes + 24), 1000);
		assert_memory_equal(block.bytes + 28, bytes, length);
		assert_option(fixed, 1, "words", 5);
		assert_option(fixed, 2, &(__u32){ 2 }, 4);
		assert_option(fixed, 4, &dropped, 8);
		assert_option(fixed, 5, &id, 8);
		assert_option(fixed, 6, &(__u32){ 7 }, 4);
		assert_option(fixed, 7, xdp, 9);
		p = (struct ng_packet){ .bytes = bytes, .captured = length, .queue = -1, .verdict = -1, .id = -1, .comment = "" };
		ng_block_packet(&block, &p, 0);
		assert_ends(6);
		assert_int_equal(u32_at(block.bytes + 24), length);
		for (int code = 1; code <= 7; code++)
			assert_no_option(fixed, code);
	}
}

static void longest(void **state)
{
	static char comment[100000];
	struct ng_packet p = {
		.bytes = bytes, .captured = sizeof(bytes), .wire = sizeof(bytes), .comment = comment, .direction = NG_INWARD, .dropped = 1,
	};

	(void)state;
	memset(comment, 'x', sizeof(comment) - 1);
	ng_block_packet(&block, &p, 0);
	assert_ends(6);
	assert_true(block.length <= sizeof(block.bytes));
	assert_int_equal(u32_at(block.bytes + 20), NG_PACKET_MOST);
	assert_int_equal(u32_at(block.bytes + 24), sizeof(bytes));
	assert_option(28 + NG_PACKET_MOST, 1, comment, 65535);
	assert_option(28 + NG_PACKET_MOST, 7, "\2\0\0\0\0\0\0\0\0", 9);
	ng_block_packet(&block, &p, 61);
	assert_int_equal(u32_at(block.bytes + 20), 61);
	assert_int_equal(u32_at(block.bytes + 24), sizeof(bytes));
	assert_option(28 + 64, 2, &(__u32){ 1 }, 4);
}

static void statistics(void **state)
{
	const struct ng_statistics s = { 0x100000002, 0x300000004, 5, 6, 7, 8, 9, ~0ull };

	(void)state;
	ng_block_statistics(&block, 3, s.end, &s);
	assert_ends(5);
	assert_int_equal(block.length, NG_STATISTICS_BYTES);
	assert_int_equal(u32_at(block.bytes + 8), 3);
	assert_memory_equal(block.bytes + 12, ((__u32[]){ 3, 4 }), 8);
	assert_option(20, 2, (__u32[]){ 1, 2 }, 8);
	assert_option(20, 3, (__u32[]){ 3, 4 }, 8);
	for (int code = 4; code <= 8; code++)
		assert_option(20, code, &(__u64){ code + 1 }, 8);
	assert_option(20, 1, "reason=left-out count=18446744073709551615", 42);
	ng_block_statistics(&block, 0, 0, NULL);
	assert_ends(5);
	for (int code = 1; code <= 8; code++)
		assert_no_option(20, code);
}

/* ---- files ---- */

struct found {
	bool exists, ended; /* with statistics */
	__u64 size, packets, first;
};

/* Fails if the file has anything but complete blocks in their order. */
static struct found walk(const char *path)
{
	static __u8 whole[4 << 20];
	struct found f = { 0 };
	__u32 interfaces = 0;
	FILE *file = fopen(path, "r");

	f.exists = file;
	if (!file)
		return f;
	f.size = fread(whole, 1, sizeof(whole), file);
	fclose(file);
	assert_true(f.size < sizeof(whole));
	for (__u64 at = 0; at < f.size; at += u32_at(whole + at + 4)) {
		__u32 type = u32_at(whole + at), length = u32_at(whole + at + 4);

		assert_true(length >= 12 && length % 4 == 0 && at + length <= f.size);
		assert_int_equal(u32_at(whole + at + length - 4), length);
		assert_int_equal(type == NG_SECTION, at == 0);
		interfaces += type == NG_INTERFACE;
		assert_true(at == 0 || interfaces);
		if (type == NG_PACKET && !f.packets++)
			f.first = (__u64)u32_at(whole + at + 12) << 32 | u32_at(whole + at + 16);
		f.ended = type == NG_STATISTICS;
	}
	assert_true(interfaces);
	return f;
}

static struct ng_packet packet_of(__u32 n, __u32 length)
{
	return (struct ng_packet){
		.interface = n & 1, .time = START + n * 100000000ull, .bytes = bytes, .captured = length, .wire = length,
		.queue = n, .verdict = -1, .id = n, .comment = n % 3 ? NULL : "a comment",
	};
}

static struct ng_writer *opened(const char *path, const struct ng_rotation *rotation)
{
	char error[NG_ERROR] = "";
	struct ng_writer *w = ng_open(path, ports, 2, rotation, error);

	assert_string_equal(error, "");
	assert_non_null(w);
	return w;
}

static void closed(struct ng_writer *w)
{
	char error[NG_ERROR];

	assert_true(ng_close(w, error));
	assert_string_equal(error, "");
}

static void one_file(void **state)
{
	const char *path = in_folder("one.pcapng");
	struct ng_writer *w = opened(path, NULL);
	struct ng_statistics s[2] = { { .received = 5 } };
	struct found f;

	(void)state;
	f = walk(path);
	assert_int_equal(f.packets, 0);
	for (__u32 n = 0; n < 20000; n++) {
		struct ng_packet p = packet_of(n, n % 250);

		assert_true(ng_put(w, &p));
		if (n == 9) {
			assert_true(ng_flush(w));
			assert_int_equal(walk(path).packets, 10);
			assert_int_equal(ng_written(w), 10);
		}
	}
	assert_string_equal(ng_path(w), path);
	assert_int_equal(ng_files(w), 1);
	assert_null(ng_error(w));
	ng_set_statistics(w, s);
	closed(w);
	f = walk(path);
	assert_int_equal(f.packets, 20000);
	assert_true(f.ended);
	unlink(path);
}

static void no_packets(void **state)
{
	const char *path = in_folder("none.pcapng");

	(void)state;
	closed(opened(path, NULL));
	assert_true(walk(path).ended);
	unlink(path);
}

/* A block that the buffer no longer has room for, and one that never fits twice. */
static void large_packets(void **state)
{
	const char *path = in_folder("large.pcapng");
	struct ng_interface whole = { .name = "a" };
	char error[NG_ERROR];
	struct ng_writer *w = ng_open(path, &whole, 1, NULL, error);

	(void)state;
	for (__u32 n = 0; n < 12; n++) {
		struct ng_packet p = packet_of(n, n & 1 ? sizeof(bytes) : 100);

		p.interface = 0;
		assert_true(ng_put(w, &p));
	}
	closed(w);
	assert_int_equal(walk(path).packets, 12);
	unlink(path);
}

/* Any limit: no file is larger, unless it has only one packet. No file has fewer packets than fit. */
static void rotation_by_size(void **state)
{
	enum { PACKETS = 60 };
	char name[32];

	(void)state;
	for (__u32 bound = 1; bound < 6000; bound += bound < 700 ? 97 : test_long() ? 13 : 43) {
		struct ng_writer *w = opened(in_folder("size.pcapng"), &(struct ng_rotation){ .file_bytes = bound });
		__u32 files, packets = 0;

		for (__u32 n = 0; n < PACKETS; n++) {
			struct ng_packet p = packet_of(n, n * 7 % 199);

			assert_true(ng_put(w, &p));
			if (n == 30)
				ng_set_statistics(w, (struct ng_statistics[2]){ 0 });
		}
		files = ng_files(w);
		closed(w);
		for (__u32 k = 1; k <= files; k++) {
			struct found f;

			sprintf(name, "size-%05u.pcapng", k);
			f = walk(in_folder(name));
			assert_true(f.exists && f.ended && f.packets);
			assert_true(f.size <= bound || f.packets == 1);
			packets += f.packets;
			unlink(in_folder(name));
			/* the next file's first packet did not fit: at most 300 bytes, after the statistics */
			assert_true(k == files || f.size + 2 * NG_STATISTICS_BYTES + 300 > bound);
		}
		assert_int_equal(packets, PACKETS);
	}
	assert_false(walk(in_folder("size.pcapng")).exists);
}

static void rotation_by_time(void **state)
{
	struct ng_writer *w = opened(in_folder("time"), &(struct ng_rotation){ .file_seconds = 0.5 });
	char name[32];

	(void)state;
	for (__u32 n = 0; n < 20; n++) {
		struct ng_packet p = packet_of(n, 60);

		p.time -= n % 5 == 1 ? 250000000 : 0; /* the next file's bounds ignore a time before its first packet */
		assert_true(ng_put(w, &p));
	}
	assert_int_equal(ng_files(w), 4);
	closed(w);
	for (__u32 k = 1; k <= 4; k++) {
		struct found f;

		sprintf(name, "time-%05u", k);
		f = walk(in_folder(name));
		assert_int_equal(f.packets, 5);
		assert_int_equal(f.first, START + (k - 1) * 500000000ull);
		unlink(in_folder(name));
	}
}

static void touch(const char *name)
{
	FILE *f = fopen(in_folder(name), "w");

	fputs("foreign", f);
	fclose(f);
}

static bool is_foreign(const char *name)
{
	char text[8] = "";
	FILE *f = fopen(in_folder(name), "r");

	if (!f)
		return false;
	text[fread(text, 1, 7, f)] = 0;
	fclose(f);
	return !strcmp(text, "foreign");
}

/* Deletes only files of this run, and keeps at most `files`. */
static void bounded_files(void **state)
{
	enum { FILES = 3, PACKETS = 12 };
	struct ng_writer *w;
	char name[32];

	(void)state;
	touch("few-00001.x");
	touch("few-00004.x");
	w = opened(in_folder("few.x"), &(struct ng_rotation){ .file_bytes = 1, .files = FILES });
	for (__u32 n = 0; n < PACKETS; n++) {
		struct ng_packet p = packet_of(n, 60);
		__u32 there = 0;

		assert_true(ng_put(w, &p));
		for (__u32 k = 1; k < 20; k++) {
			sprintf(name, "few-%05u.x", k);
			there += !access(in_folder(name), F_OK) && !is_foreign(name);
		}
		assert_true(there <= FILES);
		if (n == 4) { /* files 2, 3, 5, 6, 7, of which the last three exist: another file replaces 6 */
			usleep(20000); /* file times have the resolution of a tick */
			unlink(in_folder("few-00006.x"));
			touch("few-00006.x");
		}
	}
	assert_int_equal(ng_files(w), PACKETS);
	assert_string_equal(ng_path(w), in_folder("few-00014.x"));
	closed(w);
	for (__u32 k = 1; k < 20; k++) {
		sprintf(name, "few-%05u.x", k);
		if (k == 1 || k == 4 || k == 6)
			assert_true(is_foreign(name));
		else
			assert_int_equal(walk(in_folder(name)).exists, k >= 12 && k <= 14);
		unlink(in_folder(name));
	}
}

static void names(void **state)
{
	static const char *const pairs[][2] = {
		{ "n.pcapng", "n-00001.pcapng" }, { "n", "n-00001" }, { ".n", ".n-00001" }, { "n.1.pcap", "n.1-00001.pcap" },
	};

	(void)state;
	assert_int_equal(mkdir(in_folder("d.x"), 0755), 0);
	for (int k = 0; k < 5; k++) {
		const char *name = k < 4 ? in_folder(pairs[k][0]) : in_folder("d.x/n");
		struct ng_writer *w = opened(name, &(struct ng_rotation){ .file_seconds = 1 });

		assert_string_equal(ng_path(w), k < 4 ? in_folder(pairs[k][1]) : in_folder("d.x/n-00001"));
		assert_int_equal(unlink(ng_path(w)), 0);
		closed(w);
	}
	rmdir(in_folder("d.x"));
}

static void limit(rlim_t bytes_most)
{
	struct rlimit l;

	getrlimit(RLIMIT_FSIZE, &l);
	l.rlim_cur = bytes_most;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* Writing ends at that byte, with or without rotation; `flushes`: after each packet. */
static void ends_at(rlim_t most, bool flushes, const struct ng_rotation *rotation)
{
	const char *path = in_folder("full.pcapng");
	char error[NG_ERROR] = "", now[PATH_MOST], name[32];
	struct ng_writer *w;
	__u64 packets = 0, written;
	bool good = true;

	limit(most);
	w = ng_open(path, ports, 2, rotation, error);
	for (__u32 n = 0; w && n < 8; n++) {
		struct ng_packet p = packet_of(n, n * 17 % 120);

		good &= ng_put(w, &p);
		if (flushes)
			good &= ng_flush(w);
		assert_int_equal(good, !ng_error(w));
	}
	if (w) {
		ng_flush(w);
		written = ng_written(w);
		snprintf(now, sizeof(now), "%s", ng_path(w));
		good = ng_close(w, error);
		assert_true(good || !strcmp(error, strerror(EFBIG)));
	} else {
		assert_string_equal(error, strerror(EFBIG));
		assert_false(walk(path).exists);
	}
	limit(RLIM_INFINITY);
	for (__u32 k = 0; w && k < 9; k++) {
		struct found f;

		sprintf(name, k ? "full-%05u.pcapng" : "full.pcapng", k);
		f = walk(in_folder(name));
		packets += f.packets;
		assert_true(f.size <= most);
		unlink(in_folder(name));
	}
	if (w)
		assert_int_equal(packets, written);
	if (good && w)
		assert_int_equal(packets, 8);
}

/* By default every fifth byte: at each place within the words of a block. */
static void full_disk(void **state)
{
	(void)state;
	for (rlim_t most = 1; most < 1800; most += test_long() ? 1 : 5) {
		ends_at(most, false, NULL);
		ends_at(most, true, NULL);
		ends_at(most, most & 1, &(struct ng_rotation){ .file_bytes = 900 });
	}
}

static void reader_has_gone(void **state)
{
	int ends[2], stdout_kept = dup(STDOUT_FILENO);
	struct ng_packet p = packet_of(0, 100);
	char error[NG_ERROR];
	struct ng_writer *w;

	(void)state;
	fflush(stdout);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	w = ng_open("-", ports, 2, &(struct ng_rotation){ .file_bytes = 1 }, error);
	dup2(stdout_kept, STDOUT_FILENO);
	close(stdout_kept);
	assert_non_null(w);
	assert_string_equal(ng_path(w), "-");
	assert_true(ng_put(w, &p));
	assert_true(ng_put(w, &p));
	assert_true(ng_flush(w));
	assert_int_equal(ng_files(w), 1);
	close(ends[0]);
	assert_true(ng_put(w, &p));
	assert_false(ng_flush(w));
	assert_string_equal(ng_error(w), strerror(EPIPE));
	assert_false(ng_put(w, &p));
	assert_int_equal(ng_written(w), 2);
	assert_false(ng_close(w, error));
	assert_string_equal(error, strerror(EPIPE));
}

/* An append keeps the old content. */
static void appended(void **state)
{
	int fd, stdout_kept = dup(STDOUT_FILENO);
	char error[NG_ERROR], text[8] = "";
	struct ng_writer *w;

	(void)state;
	fflush(stdout);
	touch("append");
	fd = open(in_folder("append"), O_RDWR | O_APPEND);
	dup2(fd, STDOUT_FILENO);
	limit(60);
	w = ng_open("-", ports, 2, NULL, error);
	limit(RLIM_INFINITY);
	dup2(stdout_kept, STDOUT_FILENO);
	close(stdout_kept);
	assert_null(w);
	assert_int_equal(pread(fd, text, 7, 0), 7);
	assert_string_equal(text, "foreign");
	assert_int_equal(lseek(fd, 0, SEEK_END), 7);
	close(fd);
	unlink(in_folder("append"));
}

static void cannot_be_written(void **state)
{
	char error[NG_ERROR];

	(void)state;
	assert_null(ng_open(in_folder("none/x"), ports, 2, NULL, error));
	assert_string_equal(error, strerror(ENOENT));
	assert_null(ng_open(folder, ports, 2, NULL, error));
	assert_string_equal(error, strerror(EISDIR));
	assert_null(ng_open("", ports, 2, NULL, error));
	assert_null(ng_open("/dev/full", ports, 2, NULL, error));
	assert_string_equal(error, strerror(ENOSPC));
	assert_null(ng_open("/dev/null", ports, 2, &(struct ng_rotation){ .file_seconds = 1 }, error));
	assert_non_null(strstr(error, "rotated"));
	closed(opened("/dev/null", NULL));
}

static int set_up(void **state)
{
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i * 7;
	return !mkdtemp(folder);
}

/* Fails if a test left a file. */
static int tear_down(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(section), cmocka_unit_test(interface), cmocka_unit_test(packet), cmocka_unit_test(longest),
		cmocka_unit_test(statistics), cmocka_unit_test(one_file), cmocka_unit_test(no_packets),
		cmocka_unit_test(large_packets), cmocka_unit_test(rotation_by_size), cmocka_unit_test(rotation_by_time),
		cmocka_unit_test(bounded_files), cmocka_unit_test(names), cmocka_unit_test(full_disk),
		cmocka_unit_test(reader_has_gone), cmocka_unit_test(appended), cmocka_unit_test(cannot_be_written),
	};

	return cmocka_run_group_tests_name("ng_writer", tests, set_up, tear_down);
}
