// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "userspace/observe/live/kernel.h"
#include "userspace/observe/verbs/kernel.h"
#include "userspace/observe/verbs/map_walk.h"

#include "bpf/verbs.skel.h"

#define WITHOUT "QPs are known by RDMA netlink alone: their state once an interval, no settings, and no change in between"

/* The programs of this half, and whether it is worth anything without one. */
static const struct {
	const char *program;
	bool needed;
} half[] = {
	{ "verbs_create_user", true },	 { "verbs_modify_user", true },	   { "verbs_destroy_begin", true }, { "verbs_destroy_end", true },
	{ "verbs_query", true },	 { "verbs_create_kernel", false }, { "verbs_modify_kernel", false }, { "verbs_async", false },
};

#define HALF (sizeof(half) / sizeof(half[0]))
_Static_assert(HALF == sizeof(((struct kernel_half *)0)->links) / sizeof(struct bpf_link *), "a link for each program");

/* ---- what libbpf would print ---- */

static char warning[160]; /* the first line of the first one */

static int keep_warning(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char text[sizeof(warning)];

	if (level != LIBBPF_WARN || warning[0])
		return 0;
	vsnprintf(text, sizeof(text), format, arguments);
	text[strcspn(text, "\n")] = 0;
	strcpy(warning, strncmp(text, "libbpf: ", 8) ? text : text + 8);
	return 0;
}

/* ---- which functions there are ---- */

struct functions {
	struct btf *kernel, *core, *uverbs; /* NULL: has no BTF */
};

static bool is_module(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/%s/initstate", name);
	return !access(path, F_OK);
}

static void functions_read(struct functions *f)
{
	*f = (struct functions){ .kernel = btf__load_vmlinux_btf() };
	if (libbpf_get_error(f->kernel))
		f->kernel = NULL;
	if (!f->kernel)
		return;
	f->core = is_module("ib_core") ? btf__load_module_btf("ib_core", f->kernel) : NULL;
	f->uverbs = is_module("ib_uverbs") ? btf__load_module_btf("ib_uverbs", f->kernel) : NULL;
	if (libbpf_get_error(f->core))
		f->core = NULL;
	if (libbpf_get_error(f->uverbs))
		f->uverbs = NULL;
}

static void functions_free(struct functions *f)
{
	btf__free(f->uverbs);
	btf__free(f->core);
	btf__free(f->kernel);
}

static bool in(const struct btf *btf, const char *function)
{
	return btf && btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) > 0;
}

static bool functions_have(const struct functions *f, const char *function)
{
	return in(f->core, function) || in(f->uverbs, function) || (!f->core && !f->uverbs && in(f->kernel, function));
}

/* ---- what this half needs ---- */

static const char *function_of(const struct bpf_program *p)
{
	return strchr(bpf_program__section_name(p), '/') + 1;
}

/* A module's BTF has no file: the kernel gives it by a number, for which it wants CAP_SYS_ADMIN. */
static bool may_load(const struct functions *f)
{
	return f->core ? kernel_may_administer() : kernel_trusts_us();
}

static bool say_what_lacks(const struct functions *f, struct notes *notes)
{
	if (!f->kernel)
		notes_add(notes, WITHOUT ". This kernel has no BTF (CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux)");
	else if (is_module("ib_core") && !f->core)
		notes_add(notes, WITHOUT ". The module ib_core has no BTF that fits this kernel, as with vendors' own builds (DOCA-OFED, "
			  "MLNX_OFED): use the kernel's own, or build it with CONFIG_DEBUG_INFO_BTF_MODULES");
	else if (!may_load(f))
		notes_add(notes, WITHOUT ". No permission for tracing programs: run as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN");
	else if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_TRACING, NULL) != 1)
		notes_add(notes, WITHOUT ". This kernel takes no tracing programs (fentry, fexit): it was built without them, or is locked "
			  "down");
	else
		return false;
	return true;
}

/* Whether all functions that are needed are there. A note says which one is not. */
static bool has_functions(const struct verbs_bpf *b, const struct functions *f, struct notes *notes)
{
	for (size_t i = 0; i < HALF; i++) {
		const struct bpf_program *p = bpf_object__find_program_by_name(b->obj, half[i].program);

		if (!half[i].needed || functions_have(f, function_of(p)))
			continue;
		notes_add(notes, WITHOUT ". This kernel's ib_core has no function %s()", function_of(p));
		return false;
	}
	return true;
}

static void choose_half(const struct verbs_bpf *b, const struct functions *f, struct notes *notes)
{
	for (size_t i = 0; i < HALF; i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(b->obj, half[i].program);
		bool has = functions_have(f, function_of(p));

		bpf_program__set_autoload(p, has);
		if (!has && !strcmp(half[i].program, "verbs_async"))
			notes_add(notes, "asynchronous events of QPs are not seen: the module ib_uverbs is not loaded, or has no BTF");
		else if (!has)
			notes_add(notes, "QPs of the kernel itself are known by RDMA netlink alone: it has no function %s()", function_of(p));
	}
}

static struct stat about(const char *path)
{
	struct stat s = { 0 };

	stat(path, &s);
	return s;
}

static void say_who_we_are(struct verbs_bpf *b)
{
	struct stat pids = about("/proc/self/ns/pid");

	b->rodata->verbs_self = getpid();
	b->rodata->verbs_pid_inode = pids.st_ino;
	b->rodata->verbs_pid_device = (__u64)major(pids.st_dev) << 20 | minor(pids.st_dev); /* as the kernel itself has it (MKDEV()) */
	b->rodata->verbs_net_inode = about("/proc/self/ns/net").st_ino;
}

/* ---- loading ---- */

static struct verbs_bpf *open_programs(void)
{
	struct verbs_bpf *b = verbs_bpf__open();
	struct bpf_program *p;

	if (!b)
		return NULL;
	bpf_object__for_each_program(p, b->obj)
		bpf_program__set_autoload(p, false);
	say_who_we_are(b);
	return b;
}

/* errno, and `warning`, say why not. */
static bool try_to_load(struct kernel_half *k, const struct functions *f, const struct calls_half *calls, struct notes *notes)
{
	int error;

	warning[0] = 0;
	k->programs = open_programs();
	if (!k->programs)
		return false;
	if (f)
		choose_half(k->programs, f, notes);
	if (calls)
		calls->choose(calls->context, k->programs);
	warning[0] = 0; /* what was tried meanwhile may have failed */
	error = verbs_bpf__load(k->programs);
	k->chosen = !error && f;
	if (!error)
		return true;
	verbs_bpf__destroy(k->programs);
	k->programs = NULL;
	errno = -error;
	return false;
}

/* What the kernel and libbpf have said to the last programs, of which they took none. */
struct reason {
	char text[sizeof(warning) + 64];
};

static struct reason reason(void)
{
	struct reason r;

	snprintf(r.text, sizeof(r.text), "%.60s%s%s", strerror(errno), warning[0] ? ": " : "", warning);
	return r;
}

static void say_refused(struct notes *notes)
{
	notes_add(notes, WITHOUT ". This kernel refuses the programs at ib_core: %s", reason().text);
}

/* One half that the kernel refuses must not take the other one with it. */
static void load(struct kernel_half *k, const struct functions *f, const struct calls_half *calls, struct notes *notes)
{
	struct reason why;

	if (f && calls && try_to_load(k, f, calls, notes))
		return;
	why = reason();
	if (f && try_to_load(k, f, NULL, notes)) {
		if (calls)
			calls->refused(calls->context, why.text);
		return;
	}
	if (f)
		say_refused(notes);
	if (calls && !try_to_load(k, NULL, calls, notes))
		calls->refused(calls->context, reason().text);
}

void kernel_half_load(struct kernel_half *k, const struct calls_half *calls, struct notes *notes)
{
	libbpf_print_fn_t print = libbpf_set_print(keep_warning);
	struct verbs_bpf *b = verbs_bpf__open();
	struct functions f;
	bool can;

	functions_read(&f);
	can = b && !say_what_lacks(&f, notes) && has_functions(b, &f, notes);
	verbs_bpf__destroy(b);
	load(k, can ? &f : NULL, calls->choose ? calls : NULL, notes);
	functions_free(&f);
	libbpf_set_print(print);
}

/* ---- attaching ---- */

static int take_change(void *context, void *data, size_t size)
{
	struct kernel_half *k = context;

	if (size >= sizeof(struct verbs_change))
		k->take(k->context, data);
	return 0;
}

static void detach(struct kernel_half *k)
{
	for (size_t i = 0; i < HALF; i++) {
		struct bpf_link **link = k->links + i;

		bpf_link__destroy(*link);
		*link = NULL;
	}
}

static bool attach(struct kernel_half *k)
{
	for (size_t i = 0; i < HALF; i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(k->programs->obj, half[i].program);

		if (!bpf_program__autoload(p))
			continue;
		k->links[i] = bpf_program__attach(p);
		if (libbpf_get_error(k->links[i])) {
			k->links[i] = NULL;
			return false;
		}
	}
	return true;
}

void kernel_half_attach(struct kernel_half *k, struct notes *notes, void (*take)(void *context, const struct verbs_change *c),
			void *context)
{
	libbpf_print_fn_t print;

	if (!k->chosen)
		return;
	print = libbpf_set_print(keep_warning);
	k->take = take;
	k->context = context;
	warning[0] = 0;
	k->changes = ring_buffer__new(bpf_map__fd(k->programs->maps.verbs_changes), take_change, k, NULL);
	if (!k->changes || !attach(k)) {
		say_refused(notes);
		detach(k);
		ring_buffer__free(k->changes);
		k->changes = NULL;
	}
	libbpf_set_print(print);
}

void kernel_half_close(struct kernel_half *k)
{
	detach(k);
	ring_buffer__free(k->changes);
	verbs_bpf__destroy(k->programs);
	*k = (struct kernel_half){ 0 };
}

/* ---- reading ---- */

int kernel_half_fd(const struct kernel_half *k)
{
	return k->changes ? ring_buffer__epoll_fd(k->changes) : -1;
}

void kernel_half_read(struct kernel_half *k)
{
	if (k->changes)
		ring_buffer__consume(k->changes);
}

__u32 kernel_half_begin_round(struct kernel_half *k)
{
	return k->changes ? ++k->programs->bss->verbs_round : 0;
}

__u64 kernel_half_lost(const struct kernel_half *k)
{
	return k->changes ? k->programs->bss->verbs_lost : 0;
}

__u64 kernel_half_full(const struct kernel_half *k)
{
	return k->changes ? k->programs->bss->verbs_full : 0;
}

/* Unless its number is a younger QP's by now. */
static void forget(int map, const struct verbs_qp_key *key, __u64 born)
{
	struct verbs_kernel_qp now;

	if (!bpf_map_lookup_elem(map, key, &now) && now.born == born)
		bpf_map_delete_elem(map, key);
}

struct walk {
	int map;
	bool (*take)(void *context, const struct verbs_qp_key *key, const struct verbs_kernel_qp *v);
	void *context;
};

static void take_entry(void *context, const void *key, const void *value)
{
	const struct verbs_kernel_qp *v = value;
	const struct walk *w = context;

	if (w->take(w->context, key, v))
		forget(w->map, key, v->born);
}

void kernel_half_walk(struct kernel_half *k, bool (*take)(void *context, const struct verbs_qp_key *key, const struct verbs_kernel_qp *v),
		      void *context)
{
	struct walk w = { .take = take, .context = context };

	if (!k->changes)
		return;
	w.map = bpf_map__fd(k->programs->maps.verbs_qps);
	map_walk(w.map, sizeof(struct verbs_qp_key), sizeof(struct verbs_kernel_qp), take_entry, &w);
}
