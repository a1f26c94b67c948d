// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "lib/clock.h"
#include "lib/grow.h"
#include "userspace/observe/verbs/search.h"

#define CHUNK (1u << 20)
#define CONTEXTS 64   /* of one process: a program that makes up more of them is not followed */
#define FUNCTIONS 256 /* the same */

/* Linux 6.7: which pages are in memory, without an entry for each of the others (include/uapi/linux/fs.h). */
struct scan_pages {
	__u64 size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted, category_mask, category_anyof_mask,
		return_mask;
};

struct scan_region {
	__u64 start, end, categories;
};

#define SCAN_PAGES _IOWR('f', 16, struct scan_pages)
#define SCAN_PRESENT (1 << 3)
#define SCAN_ZERO (1 << 5)
#define PAGEMAP_PRESENT (1ull << 63)

struct range {
	__u64 start, end;
};

struct searched {
	struct search *s;
	const struct search_limits *limits;
	__u32 pid;
	int mem, pagemap;
	__u64 began, bytes_before; /* this look */
	struct range *ranges; /* the smallest first */
	size_t range_count, range_room;
	__u64 low, high; /* all code is between them */
	__u64 context[CONTEXTS];
	size_t context_count;
	/* returns the bytes that are done */
	size_t (*look)(struct searched *h, const __u8 *memory, size_t bytes, __u64 address);
	__u8 *buffer;
	size_t held; /* bytes of the buffer that belong to the run */
	bool no_scan;
};

static int proc_open(__u32 pid, const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return open(path, flags | O_CLOEXEC);
}

/* ---- mappings ---- */

static bool is_searched(const char *permissions, __u64 inode, const char *name)
{
	return permissions[1] == 'w' && permissions[3] == 'p' && !inode && strcmp(name, "[stack]") && strcmp(name, "[vvar]");
}

static void take_mapping(struct search *s, struct searched *h, const char *line)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char permissions[8], name[64] = "";

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %63s", &start, &end, permissions, &offset, &major, &minor, &inode,
		   name) < 7)
		return;
	if (permissions[2] == 'x' && inode && grow(s->code, s->code_count, s->code_room, (size_t)64))
		s->code[s->code_count++] = (struct search_code){ start, end, offset, makedev(major, minor), inode };
	else if (h && is_searched(permissions, inode, name) && grow(h->ranges, h->range_count, h->range_room, (size_t)64))
		h->ranges[h->range_count++] = (struct range){ start, end };
}

static bool read_mappings(__u32 pid, struct search *s, struct searched *h)
{
	int fd = proc_open(pid, "maps", O_RDONLY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "re");
	char line[512];
	bool whole = true;

	if (!f) {
		s->error = errno;
		return false;
	}
	/* of a line that is longer the rest is a path, and no mapping */
	while (fgets(line, sizeof(line), f)) {
		if (whole)
			take_mapping(s, h, line);
		whole = strchr(line, '\n');
	}
	fclose(f);
	return true;
}

static int by_size(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	__u64 left = x->end - x->start, right = y->end - y->start;

	return left < right ? -1 : left > right;
}

const struct search_code *search_where(const struct search *s, __u64 address)
{
	size_t low = 0, high = s->code_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (address < s->code[middle].start)
			high = middle;
		else if (address >= s->code[middle].end)
			low = middle + 1;
		else
			return &s->code[middle];
	}
	return NULL;
}

void search_path(__u32 pid, const struct search_code *code, char path[SEARCH_PATH])
{
	snprintf(path, SEARCH_PATH, "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)code->start,
		 (unsigned long long)code->end);
}

void search_add(struct search *s, __u64 address, enum verbs_at at, unsigned int opcode)
{
	if (!address || !search_where(s, address))
		return;
	for (size_t i = 0; i < s->count; i++) {
		struct search_function *f = &s->functions[i];

		if (f->address != address || f->at != at)
			continue;
		if (f->opcode != opcode)
			f->opcode = VERBS_OPCODES;
		return;
	}
	if (s->count < FUNCTIONS && grow(s->functions, s->count, s->room, (size_t)32))
		s->functions[s->count++] = (struct search_function){ .address = address, .at = at, .opcode = opcode };
}

/* ---- what is a device ---- */

static bool is_major_of_uverbs(unsigned int wanted)
{
	FILE *f = fopen("/proc/devices", "re");
	bool characters = false, found = false;
	char line[128], name[64];
	unsigned int major;

	while (f && fgets(line, sizeof(line), f)) {
		if (strstr(line, " devices:"))
			characters = !strncmp(line, "Character", 9);
		else if (characters && sscanf(line, "%u %63s", &major, name) == 2 && major == wanted)
			found |= !strcmp(name, "infiniband_verbs");
	}
	if (f)
		fclose(f);
	return found;
}

static bool is_uverbs(const struct searched *h, int fd)
{
	char path[64], target[256];
	struct stat st;
	ssize_t length;
	char *name;

	snprintf(path, sizeof(path), "/proc/%u/fd/%d", h->pid, fd);
	if (!h->limits->any_uverbs)
		return !stat(path, &st) && S_ISCHR(st.st_mode) && is_major_of_uverbs(major(st.st_rdev));
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return false;
	target[length] = 0;
	name = strrchr(target, '/');
	return name && !strncmp(name, "/uverbs", 7);
}

/* ---- what is looked for ---- */

static bool is_code(const struct searched *h, __u64 address)
{
	return address >= h->low && address < h->high && search_where(h->s, address);
}

static __u64 word(const __u8 *memory, size_t at)
{
	__u64 value;

	memcpy(&value, memory + at, sizeof(value));
	return value;
}

#define CONTEXT_WORD(memory, op) word(memory, offsetof(struct ibv_context, ops.op))

static bool is_context(const struct searched *h, const __u8 *memory)
{
	__u64 send = CONTEXT_WORD(memory, post_send);
	const struct search_code *code;
	int fd;

	/* the quick refusal of nearly every word */
	if (send < h->low || send >= h->high || h->context_count == CONTEXTS)
		return false;
	code = search_where(h->s, send);
	memcpy(&fd, memory + offsetof(struct ibv_context, cmd_fd), sizeof(fd));
	return code && search_where(h->s, CONTEXT_WORD(memory, post_recv)) == code &&
	       search_where(h->s, CONTEXT_WORD(memory, poll_cq)) == code && is_code(h, CONTEXT_WORD(memory, req_notify_cq)) &&
	       fd >= 0 && is_uverbs(h, fd);
}

static void take_context(struct searched *h, const __u8 *memory, __u64 address)
{
	struct search *s = h->s;

	s->contexts++;
	h->context[h->context_count++] = address;
	search_add(s, CONTEXT_WORD(memory, post_send), VERBS_AT_POST_SEND, 0);
	search_add(s, CONTEXT_WORD(memory, post_recv), VERBS_AT_POST_RECV, 0);
	search_add(s, CONTEXT_WORD(memory, post_srq_recv), VERBS_AT_POST_SRQ_RECV, 0);
	search_add(s, CONTEXT_WORD(memory, poll_cq), VERBS_AT_POLL_CQ, 0);
	search_add(s, CONTEXT_WORD(memory, req_notify_cq), VERBS_AT_REQ_NOTIFY_CQ, 0);
}

#define CONTEXT_BYTES (offsetof(struct ibv_context, cmd_fd) + sizeof(int))

static size_t look_for_contexts(struct searched *h, const __u8 *memory, size_t bytes, __u64 address)
{
	size_t at = 0;

	for (; at + CONTEXT_BYTES <= bytes; at += sizeof(__u64)) {
		if (is_context(h, memory + at))
			take_context(h, memory + at, address + at);
	}
	return at;
}

/* The functions of struct ibv_qp_ex and ibv_cq_ex. */
static const struct member {
	size_t offset;
	__u8 at, opcode;
} qp_members[] = {
	{ offsetof(struct ibv_qp_ex, wr_atomic_cmp_swp), VERBS_AT_WR, IBV_WR_ATOMIC_CMP_AND_SWP },
	{ offsetof(struct ibv_qp_ex, wr_atomic_fetch_add), VERBS_AT_WR, IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ offsetof(struct ibv_qp_ex, wr_bind_mw), VERBS_AT_WR, IBV_WR_BIND_MW },
	{ offsetof(struct ibv_qp_ex, wr_local_inv), VERBS_AT_WR, IBV_WR_LOCAL_INV },
	{ offsetof(struct ibv_qp_ex, wr_rdma_read), VERBS_AT_WR, IBV_WR_RDMA_READ },
	{ offsetof(struct ibv_qp_ex, wr_rdma_write), VERBS_AT_WR, IBV_WR_RDMA_WRITE },
	{ offsetof(struct ibv_qp_ex, wr_rdma_write_imm), VERBS_AT_WR, IBV_WR_RDMA_WRITE_WITH_IMM },
	{ offsetof(struct ibv_qp_ex, wr_send), VERBS_AT_WR, IBV_WR_SEND },
	{ offsetof(struct ibv_qp_ex, wr_send_imm), VERBS_AT_WR, IBV_WR_SEND_WITH_IMM },
	{ offsetof(struct ibv_qp_ex, wr_send_inv), VERBS_AT_WR, IBV_WR_SEND_WITH_INV },
	{ offsetof(struct ibv_qp_ex, wr_send_tso), VERBS_AT_WR, IBV_WR_TSO },
	{ offsetof(struct ibv_qp_ex, wr_set_sge), VERBS_AT_WR_SET_SGE, 0 },
	{ offsetof(struct ibv_qp_ex, wr_set_sge_list), VERBS_AT_WR_SET_SGE_LIST, 0 },
	{ offsetof(struct ibv_qp_ex, wr_set_inline_data), VERBS_AT_WR_SET_INLINE, 0 },
	{ offsetof(struct ibv_qp_ex, wr_set_inline_data_list), VERBS_AT_WR_SET_INLINE_LIST, 0 },
	{ offsetof(struct ibv_qp_ex, wr_start), VERBS_AT_WR_START, 0 },
	{ offsetof(struct ibv_qp_ex, wr_complete), VERBS_AT_WR_COMPLETE, 0 },
	{ offsetof(struct ibv_qp_ex, wr_abort), VERBS_AT_WR_ABORT, 0 },
}, cq_members[] = {
	{ offsetof(struct ibv_cq_ex, start_poll), VERBS_AT_START_POLL, 0 },
	{ offsetof(struct ibv_cq_ex, next_poll), VERBS_AT_NEXT_POLL, 0 },
	{ offsetof(struct ibv_cq_ex, end_poll), VERBS_AT_END_POLL, 0 },
	{ offsetof(struct ibv_cq_ex, read_opcode), VERBS_AT_READ_OPCODE, 0 },
	{ offsetof(struct ibv_cq_ex, read_vendor_err), VERBS_AT_READ_VENDOR_ERR, 0 },
	{ offsetof(struct ibv_cq_ex, read_byte_len), VERBS_AT_READ_BYTE_LEN, 0 },
	{ offsetof(struct ibv_cq_ex, read_qp_num), VERBS_AT_READ_QP_NUM, 0 },
};

#define MEMBERS(members) members, sizeof(members) / sizeof(*(members))

/* All members that are set are code. */
static bool is_all_code(const struct searched *h, const __u8 *memory, const struct member *m, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (word(memory, m[i].offset) && !is_code(h, word(memory, m[i].offset)))
			return false;
	}
	return true;
}

static void take_members(struct searched *h, const __u8 *memory, const struct member *m, size_t count)
{
	for (size_t i = 0; i < count; i++)
		search_add(h->s, word(memory, m[i].offset), m[i].at, m[i].opcode);
}

static bool is_extended(const struct searched *h, const __u8 *memory, size_t first, size_t last, const struct member *m,
			size_t count)
{
	return is_code(h, word(memory, first)) && is_code(h, word(memory, last)) && is_all_code(h, memory, m, count);
}

#define EXTENDED_BYTES \
	(sizeof(struct ibv_qp_ex) > sizeof(struct ibv_cq_ex) ? sizeof(struct ibv_qp_ex) : sizeof(struct ibv_cq_ex))

static size_t look_for_extended(struct searched *h, const __u8 *memory, size_t bytes, __u64 address)
{
	size_t at = 0;

	(void)address;
	for (; at + EXTENDED_BYTES <= bytes; at += sizeof(__u64)) {
		__u64 value = word(memory, at);
		bool known = false;

		for (size_t i = 0; i < h->context_count && !known; i++)
			known = value == h->context[i];
		if (!known)
			continue;
		if (is_extended(h, memory + at, offsetof(struct ibv_qp_ex, wr_start), offsetof(struct ibv_qp_ex, wr_complete),
				MEMBERS(qp_members))) {
			h->s->qps++;
			take_members(h, memory + at, MEMBERS(qp_members));
		} else if (is_extended(h, memory + at, offsetof(struct ibv_cq_ex, start_poll),
				       offsetof(struct ibv_cq_ex, next_poll), MEMBERS(cq_members))) {
			h->s->cqs++;
			take_members(h, memory + at, MEMBERS(cq_members));
		}
	}
	return at;
}

/* ---- memory ---- */

static bool is_over(struct searched *h)
{
	if (h->s->bytes - h->bytes_before >= h->limits->bytes || now_ns() - h->began >= h->limits->ns)
		h->s->cut = true;
	return h->s->cut || h->s->error;
}

/* Pages that are in memory, one behind the other. What a struct may have begun at the end of a chunk goes before the next. */
static void look_at_run(struct searched *h, struct range run)
{
	size_t held = 0;

	while (run.start < run.end && !is_over(h)) {
		size_t want = run.end - run.start < CHUNK - held ? run.end - run.start : CHUNK - held;
		ssize_t got = pread(h->mem, h->buffer + held, want, run.start);
		size_t done;

		if (got <= 0) {
			if (got < 0 && errno != EIO && errno != EFAULT)
				h->s->error = errno;
			return;
		}
		h->s->bytes += got;
		done = h->look(h, h->buffer, held + got, run.start - held);
		held = held + got - done;
		memmove(h->buffer, h->buffer + done, held);
		run.start += got;
	}
}

/* Adds pages to a run; what does not adjoin begins another one. */
static void add_to_run(struct searched *h, struct range *run, __u64 start, __u64 end)
{
	if (run->end != start) {
		look_at_run(h, *run);
		run->start = start;
	}
	run->end = end;
}

/* false: not on this kernel. */
static bool scan_range(struct searched *h, struct range range)
{
	struct scan_region regions[256];
	struct range run = { 0 };

	while (range.start < range.end && !is_over(h)) {
		struct scan_pages scan = {
			.size = sizeof(scan),
			.start = range.start,
			.end = range.end,
			.vec = (uintptr_t)regions,
			.vec_len = 256,
			.category_inverted = SCAN_ZERO,
			.category_mask = SCAN_PRESENT | SCAN_ZERO,
			.return_mask = SCAN_PRESENT,
		};
		int count = ioctl(h->pagemap, SCAN_PAGES, &scan);

		if (count < 0)
			return false;
		for (int i = 0; i < count; i++)
			add_to_run(h, &run, regions[i].start, regions[i].end);
		range.start = scan.walk_end;
	}
	look_at_run(h, run);
	return true;
}

#define ENTRIES 8192

static void walk_range(struct searched *h, struct range range)
{
	const __u64 page = sysconf(_SC_PAGESIZE);
	struct range run = { 0 };
	__u64 entries[ENTRIES];

	while (range.start < range.end && !is_over(h)) {
		__u64 left = (range.end - range.start) / page;
		ssize_t got = pread(h->pagemap, entries, (left < ENTRIES ? left : ENTRIES) * sizeof(*entries),
				    range.start / page * sizeof(*entries));

		if (got < (ssize_t)sizeof(*entries))
			break;
		for (size_t i = 0; i < got / sizeof(*entries); i++, range.start += page) {
			if (entries[i] & PAGEMAP_PRESENT)
				add_to_run(h, &run, range.start, range.start + page);
		}
	}
	look_at_run(h, run);
}

static void look_everywhere(struct searched *h, size_t (*look)(struct searched *, const __u8 *, size_t, __u64))
{
	bool cut = h->s->cut;

	h->look = look;
	h->began = now_ns();
	h->bytes_before = h->s->bytes;
	h->s->cut = false;
	for (size_t i = 0; i < h->range_count && !is_over(h); i++) {
		if (!h->no_scan && !scan_range(h, h->ranges[i]))
			h->no_scan = true;
		if (h->no_scan)
			walk_range(h, h->ranges[i]);
	}
	h->s->cut |= cut;
}

static void look_through(struct searched *h)
{
	struct search *s = h->s;

	if (!s->code_count)
		return;
	h->low = s->code[0].start;
	h->high = s->code[s->code_count - 1].end;
	qsort(h->ranges, h->range_count, sizeof(*h->ranges), by_size);
	look_everywhere(h, look_for_contexts);
	if (h->context_count)
		look_everywhere(h, look_for_extended);
}

bool search_process(__u32 pid, const struct search_limits *limits, struct search *s)
{
	struct searched h = { .s = s, .limits = limits, .pid = pid, .mem = -1, .pagemap = -1 };
	__u64 began = now_ns();

	*s = (struct search){ 0 };
	if (read_mappings(pid, s, &h)) {
		h.mem = proc_open(pid, "mem", O_RDONLY);
		h.pagemap = h.mem < 0 ? -1 : proc_open(pid, "pagemap", O_RDONLY);
		h.buffer = malloc(CHUNK);
		if (h.pagemap < 0 || !h.buffer)
			s->error = errno;
		else
			look_through(&h);
	}
	if (h.mem >= 0)
		close(h.mem);
	if (h.pagemap >= 0)
		close(h.pagemap);
	free(h.buffer);
	free(h.ranges);
	s->ns = now_ns() - began;
	return s->contexts;
}

bool search_code(__u32 pid, struct search *s)
{
	*s = (struct search){ 0 };
	return read_mappings(pid, s, NULL);
}

void search_free(struct search *s)
{
	free(s->code);
	free(s->functions);
	*s = (struct search){ 0 };
}

/* ---- instructions ---- */

#ifdef __x86_64__
/*
 * Instructions that Linux does instead of the CPU since 5.0 at the latest (arch/x86/kernel/uprobes.c: push_setup_xol_ops(),
 * branch_setup_xol_ops()). All others are copied and stepped over.
 */
static bool is_emulated(const __u8 *c, size_t length)
{
	if (length >= 1 && ((c[0] >= 0x50 && c[0] <= 0x57) || c[0] == 0x90 || (c[0] >= 0x70 && c[0] <= 0x7f)))
		return true; /* push of a register, nop, jump on condition */
	if (length >= 1 && (c[0] == 0xe8 || c[0] == 0xe9 || c[0] == 0xeb))
		return true; /* call, jump */
	if (length >= 2 && c[0] == 0x41 && c[1] >= 0x50 && c[1] <= 0x57)
		return true; /* push of r8 to r15 */
	return length >= 2 && c[0] == 0x0f && c[1] >= 0x80 && c[1] <= 0x8f;
}

int search_cheap_place(const __u8 *code, size_t length)
{
	static const __u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = length >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)) ? sizeof(endbr64) : 0;

	return is_emulated(code + at, length - at) ? (int)at : -1;
}
#else
int search_cheap_place(const __u8 *code, size_t length)
{
	(void)code, (void)length;
	return 0;
}
#endif
