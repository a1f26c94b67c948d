// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "lib/cause.h"
#include "lib/shell.h"
#include "userspace/observe/live/kernel.h"
#include "userspace/observe/live/share.h"

#define PRIORITY 5 /* lower ones run first; libxdp's default is 50, xdp-filter has 10 */
#define DISPATCHER "xdp_dispatcher"
#define PROGRAMS 10 /* the maximum of a dispatcher */
#define TRIES 3
#define TRY_PAUSE 20000 /* us */
#define OURS "roce_stream" /* a type in the BTF of our programs */

struct share {
	struct xdp_program *program;
	char why[200];
};

const char *share_why(const struct share *s)
{
	return s->why;
}

static int because(struct share *s, const char *words)
{
	snprintf(s->why, sizeof(s->why), "%s", words);
	return SHARE_WHY;
}

static const char *bpffs(void)
{
	return secure_getenv("LIBXDP_BPFFS") ?: "/sys/fs/bpf";
}

static bool has_bpffs(void)
{
	struct statfs fs;

	return !statfs(bpffs(), &fs) && fs.f_type == BPF_FS_MAGIC;
}

/* Only CAP_SYS_ADMIN may list programs. */
static bool is_admin(void)
{
	__u32 id;

	return !bpf_prog_get_next_id(0, &id) || errno != EPERM;
}

/* Checks libxdp's requirements first, because libxdp silently continues without a dispatcher. */
static bool is_possible(void)
{
	if (!is_admin())
		fputs("rocescope: --share needs CAP_SYS_ADMIN as well: run as root\n", stderr);
	else if (!has_bpffs())
		fprintf(stderr, "rocescope: --share needs the BPF file system: mount -t bpf bpf %s\n", bpffs());
	else
		return true;
	return false;
}

struct share *share_new(struct bpf_object *object, const struct bpf_program *program, bool frags)
{
	DECLARE_LIBXDP_OPTS(xdp_program_opts, o, .obj = object, .prog_name = bpf_program__name(program));
	struct share *s;

	if (!is_possible())
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->program = xdp_program__create(&o);
	if (libxdp_get_error(s->program) || xdp_program__set_run_prio(s->program, PRIORITY) ||
	    xdp_program__set_chain_call_enabled(s->program, XDP_PASS, true) ||
	    xdp_program__set_xdp_frags_support(s->program, frags)) {
		fputs("rocescope: libxdp does not take the program\n", stderr);
		if (libxdp_get_error(s->program))
			s->program = NULL;
		share_free(s);
		return NULL;
	}
	return s;
}

/* The attached programs, to be closed. NULL: none, or unknown. */
static struct xdp_multiprog *attached(unsigned int ifindex)
{
	struct xdp_multiprog *m = xdp_multiprog__get_from_ifindex(ifindex);

	return libxdp_get_error(m) ? NULL : m;
}

/* Whether the dispatcher's programs are in another BPF file system, or in one that no longer exists. */
static bool is_lost(const struct xdp_multiprog *m)
{
	return m && xdp_multiprog__is_legacy(m) && !strcmp(xdp_program__name(xdp_multiprog__main_prog(m)), DISPATCHER);
}

static void describe_lost(char *why, size_t room, const char *name)
{
	snprintf(why, room,
		 "there is a dispatcher whose programs are not in %s: `ip link set dev %s xdp off` takes all of them away",
		 bpffs(), shell_name(name).text);
}

/* Without a dispatcher, libxdp attaches the program alone, which would keep other programs off. */
static int check_dispatcher(struct share *s, unsigned int ifindex)
{
	struct xdp_multiprog *m = attached(ifindex);
	bool alone = !m || xdp_multiprog__is_legacy(m);

	if (alone && m && xdp_program__id(xdp_multiprog__main_prog(m)) == xdp_program__id(s->program))
		xdp_multiprog__detach(m);
	xdp_multiprog__close(m);
	return alone ? because(s, "--share: this kernel does not take libxdp's dispatcher (its programs are of type EXT)") : 0;
}

int share_attach(struct share *s, const char *name, unsigned int ifindex, bool generic)
{
	enum xdp_attach_mode mode = generic ? XDP_MODE_SKB : XDP_MODE_NATIVE, there = mode;
	struct xdp_multiprog *m;
	bool held = false, lost;
	int error;

	if (share_clear(name, ifindex, false) < 0)
		return because(s, "what a killed rocescope left there is in the way");
	m = attached(ifindex);
	lost = is_lost(m);
	if (m) {
		held = xdp_multiprog__is_legacy(m);
		there = xdp_multiprog__attach_mode(m);
	}
	xdp_multiprog__close(m);
	if (lost)
		describe_lost(s->why, sizeof(s->why), name);
	if (held)
		return lost ? SHARE_WHY : EBUSY;
	if (there != mode) /* the kernel allows one mode at a time */
		return generic ? because(s, "what it is shared with is attached natively: --mode native") : EOPNOTSUPP;
	error = -xdp_program__attach(s->program, ifindex, mode, 0);
	/* a kernel may take no pointer to the context in functions of programs of type EXT (btf_check_func_arg_match()) */
	if (error == EINVAL && xdp_program__fd(s->program) < 0)
		return because(s, "--share: this kernel does not take the program under libxdp's dispatcher (Linux 6.1 does)");
	return error ?: check_dispatcher(s, ifindex);
}

/* The dispatcher's programs cannot be read for a moment while others are attached or detached. */
bool share_is_attached(const struct share *s, unsigned int ifindex)
{
	for (int i = 0; i < TRIES; i++) {
		if (xdp_program__is_attached(s->program, ifindex) != XDP_MODE_UNSPEC)
			return true;
		usleep(TRY_PAUSE);
	}
	return false;
}

bool share_has_frags(unsigned int ifindex)
{
	struct xdp_multiprog *m = attached(ifindex);
	bool has = m && xdp_multiprog__xdp_frags_support(m);

	xdp_multiprog__close(m);
	return has;
}

void share_detach(struct share *s, unsigned int ifindex)
{
	struct xdp_multiprog *m = attached(ifindex);

	if (!m)
		libxdp_clean_references(ifindex); /* the interface has gone */
	else
		xdp_program__detach(s->program, ifindex, xdp_multiprog__attach_mode(m), 0);
	xdp_multiprog__close(m);
}

/* ---- leftovers of other processes ---- */

static bool is_ours(const struct xdp_program *p)
{
	const struct btf *btf = xdp_program__btf((struct xdp_program *)p);

	return btf && btf__find_by_name_kind(btf, OURS, BTF_KIND_STRUCT) > 0;
}

static bool is_left_behind(const char *name, const struct xdp_program *p, bool loud)
{
	pid_t holder = is_ours(p) ? kernel_program_holder(xdp_program__id(p)) : 0;

	if (loud && holder)
		fprintf(stderr, "rocescope: %s: %s (id %u) is at work in process %d: left there\n", name, xdp_program__name(p),
			xdp_program__id(p), holder);
	return is_ours(p) && !holder;
}

int share_clear(const char *name, unsigned int ifindex, bool loud)
{
	struct xdp_program *p = NULL, *left[PROGRAMS];
	struct xdp_multiprog *m;
	int count = 0, error;
	char why[200];

	if (!is_admin()) {
		fprintf(stderr, "rocescope: %s: what is attached there only root is told (CAP_SYS_ADMIN)\n", name);
		return -1;
	}
	m = attached(ifindex);
	if (loud && is_lost(m)) {
		describe_lost(why, sizeof(why), name);
		fprintf(stderr, "rocescope: %s: %s\n", name, why);
		xdp_multiprog__close(m);
		return -1;
	}
	while (m && count < PROGRAMS && (p = xdp_multiprog__next_prog(p, m)))
		if (is_left_behind(name, p, loud))
			left[count++] = p;
	error = count ? -xdp_program__detach_multi(left, count, ifindex, xdp_multiprog__attach_mode(m), 0) : 0;
	if (error)
		fprintf(stderr, "rocescope: %s: what a killed process left there cannot be taken away: %s\n", name,
			cause_of_interface(error).text);
	xdp_multiprog__close(m);
	return error ? -1 : count;
}

void share_free(struct share *s)
{
	if (s && s->program)
		xdp_program__close(s->program);
	free(s);
}
