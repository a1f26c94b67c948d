// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/verbs.skel.h"
#include "lib/clock.h"
#include "lib/grow.h"
#include "userspace/observe/host/processes.h"
#include "userspace/observe/verbs/calls.h"
#include "userspace/observe/verbs/cost.h"
#include "userspace/observe/verbs/hooks.h"
#include "userspace/observe/verbs/map_walk.h"
#include "userspace/observe/verbs/probes.h"
#include "userspace/observe/verbs/search.h"

#define UPDATE_NS 1000000000ull	 /* most time for searching in one update */
#define AGAIN_NS 5000000000ull	 /* a process is searched again after that, if its QPs have changed or nothing was found */
#define FORGET_NS 60000000000ull /* calls of a process that has ended are forgotten after that */
#define TRIES 10		 /* searches that find nothing */
#define STOP_AFTER 3		 /* updates above the limit of cost */
#define PAST 4096

/* Where a probe is. */
struct place {
	__u64 device, inode, offset;
	__u8 at;
};

struct watched {
	__u32 pid;
	unsigned int qps, qps_searched, tries;
	__u64 start; /* of struct process: its number may become another one's */
	__u64 searched;
	enum verbs_blind blind;
	bool here; /* in this update */
	struct place *places;
	size_t place_count, place_room;
	struct probe_set **sets;
	size_t set_count, set_room;
};

/* That a QP uses a CQ. */
struct use {
	struct verbs_queue_key cq;
	__u32 qpn;
	bool mapped; /* of all uses of a CQ that one which find_use() finds: the kernel's programs know of it */
};

struct record {
	struct verbs_call_key key;
	struct verbs_calls calls;
};

struct calls {
	struct verbs_bpf *bpf;
	struct calls_options options;
	bool multi;
	struct processes *processes;
	struct watched all; /* probes in every process: pid 0 */
	struct watched *watched; /* by pid */
	size_t count, room;
	struct record *records; /* by pid, QPN and age */
	size_t record_count, record_room;
	struct record *past; /* of numbers that are another QP's by now */
	size_t past_count, past_room;
	struct use *uses; /* by CQ, then QPN */
	size_t use_count, use_room;
	struct verbs_cq *cqs;
	size_t cq_count, cq_room;
	struct verbs_srq *srqs;
	size_t srq_count, srq_room;
	struct cost cost;
	struct verbs_cost shown;
	bool has_cost;
	unsigned int over; /* updates in which they cost too much */
	__u64 begun_ns;	   /* that calls_begun() took since the last update */
	struct notes *notes;
};

/* ---- loading ---- */

static void choose(struct verbs_bpf *b, bool wanted)
{
	bpf_program__set_autoload(b->progs.verbs_calling, wanted);
	bpf_program__set_autoload(b->progs.verbs_called, wanted);
	bpf_map__set_autocreate(b->maps.verbs_calls, wanted);
	bpf_map__set_autocreate(b->maps.verbs_past, wanted);
	bpf_map__set_autocreate(b->maps.verbs_wrs, wanted);
	bpf_map__set_autocreate(b->maps.verbs_cqs, wanted);
	bpf_map__set_autocreate(b->maps.verbs_cq_users, wanted);
	bpf_map__set_autocreate(b->maps.verbs_srqs, wanted);
	bpf_map__set_autocreate(b->maps.verbs_strangers, wanted);
	bpf_map__set_autocreate(b->maps.verbs_insides, wanted);
	bpf_map__set_autocreate(b->maps.verbs_readings, wanted);
	bpf_map__set_autocreate(b->maps.verbs_attached, wanted);
	bpf_map__set_autocreate(b->maps.verbs_costs, wanted);
}

/*
 * Linux 6.1, or what has its BPF: it brought this function. Before it, hash maps without preallocation in such programs make the
 * kernel warn (WARN_ONCE).
 */
static bool kernel_can(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_user_ringbuf_drain, NULL) == 1;
}

const char *calls_prepare(struct verbs_bpf *b, bool wanted, const struct calls_options *o)
{
	bool can = wanted && kernel_can();

	choose(b, can);
	if (wanted && !can)
		return "calls need Linux 6.1 and the right to load BPF programs";
	if (can)
		probes_prepare(b, !o->no_multi && probes_have_multi());
	return NULL;
}

/* ---- attaching ---- */

static bool is_known(const struct watched *p, const struct place *place)
{
	for (size_t i = 0; i < p->place_count; i++) {
		const struct place *known = &p->places[i];

		if (known->inode == place->inode && known->offset == place->offset && known->device == place->device &&
		    known->at == place->at)
			return true;
	}
	return false;
}

enum group { OF_CONTEXT, OF_QP, OF_CQ, ALONE, GROUPS };

/* Functions that make sense only together. */
static enum group group_of(enum verbs_at at)
{
	switch (at) {
	case VERBS_AT_POST_SEND:
	case VERBS_AT_POST_RECV:
	case VERBS_AT_POLL_CQ:
		return OF_CONTEXT;
	case VERBS_AT_WR_START ... VERBS_AT_WR_ABORT:
		return OF_QP;
	case VERBS_AT_START_POLL ... VERBS_AT_END_POLL:
		return OF_CQ;
	default:
		return ALONE;
	}
}

static bool has_return(enum verbs_at at)
{
	return (at >= VERBS_AT_POST_SEND && at <= VERBS_AT_POLL_CQ) || at == VERBS_AT_WR_COMPLETE ||
	       at == VERBS_AT_START_POLL || at == VERBS_AT_NEXT_POLL || at >= VERBS_AT_READ_OPCODE;
}

static bool has_entry(enum verbs_at at)
{
	return at < VERBS_AT_READ_OPCODE;
}

/* A function that was found, and where it is in its file. */
struct found {
	const struct search_function *function;
	const struct search_code *code;
	struct place place;
	bool cheap, known;
};

/* pid: in whose memory it was found. */
static struct found find(const struct calls *c, const struct watched *owner, __u32 pid, const struct search *s, size_t i)
{
	const struct search_function *function = &s->functions[i];
	const struct search_code *code = search_where(s, function->address);
	struct found f = { .function = function, .code = code };
	char path[SEARCH_PATH];
	__u8 bytes[16];
	ssize_t got = -1;
	int place, fd;

	f.place = (struct place){ code->device, code->inode, function->address - code->start + code->offset, function->at };
	/* the file: in memory there may be probes already */
	search_path(pid, code, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = pread(fd, bytes, sizeof(bytes), f.place.offset);
		close(fd);
	}
	place = got > 0 ? search_cheap_place(bytes, got) : 0;
	f.cheap = place >= 0 || c->options.expensive;
	f.place.offset += place > 0 ? place : 0;
	f.known = is_known(&c->all, &f.place) || is_known(owner, &f.place);
	return f;
}

static bool add_set(struct watched *owner, struct probe_set **set)
{
	if (!grow(owner->sets, owner->set_count, owner->set_room, (size_t)4))
		return false;
	*set = calloc(1, sizeof(**set));
	if (!*set)
		return false;
	owner->sets[owner->set_count++] = *set;
	return true;
}

static void add_place(struct watched *owner, const struct place *place)
{
	if (grow(owner->places, owner->place_count, owner->place_room, (size_t)32))
		owner->places[owner->place_count++] = *place;
}

/* Attaches what is wanted of one file. Returns 0 or an errno. */
static int attach_code(struct calls *c, struct watched *owner, __u32 pid, const struct found *found, size_t count,
		       const struct search_code *code)
{
	char path[SEARCH_PATH];
	struct probe_set *set;
	size_t places = owner->place_count;
	int error;

	if (!add_set(owner, &set))
		return ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct found *f = &found[i];
		struct probe_place p = { f->place.offset, f->function->at | (__u64)f->function->opcode << 8 };

		if (f->known || f->code->inode != code->inode || f->code->device != code->device)
			continue;
		if (has_entry(f->function->at) && set->entries < PROBE_PLACES)
			set->entry[set->entries++] = p;
		if (has_return(f->function->at) && set->returns < PROBE_PLACES)
			set->returned[set->returns++] = p;
		add_place(owner, &f->place);
	}
	if (!set->entries && !set->returns)
		return 0;
	search_path(pid, code, path);
	error = probes_attach(set, c->bpf, c->multi, path, owner->pid);
	if (error)
		owner->place_count = places;
	return error;
}

static void say_expensive(struct calls *c, __u32 pid, const bool *expensive)
{
	if (expensive[OF_QP])
		notes_add(c->notes, "process %u: what it posts by ibv_wr_*() is not counted: without --expensive its "
			  "provider's functions are too slow to probe", pid);
	if (expensive[OF_CQ])
		notes_add(c->notes, "process %u: what it polls from extended CQs is not counted: without --expensive its "
			  "provider's functions are too slow to probe", pid);
}

/* Attaches at the functions that a search has found. pid: in whose memory. owner->pid: whose calls, 0: all. */
static enum verbs_blind attach(struct calls *c, struct watched *owner, __u32 pid, const struct search *s)
{
	struct found *found = calloc(s->count + 1, sizeof(*found));
	bool expensive[GROUPS] = { false }, wanted = false;
	enum verbs_blind blind = VERBS_SEEN;
	int error = 0;

	if (!found)
		return VERBS_REFUSED;
	for (size_t i = 0; i < s->count; i++) {
		found[i] = find(c, owner, pid, s, i);
		expensive[group_of(found[i].function->at)] |= !found[i].cheap;
	}
	for (size_t i = 0; i < s->count; i++) {
		enum group group = group_of(found[i].function->at);

		found[i].known |= !found[i].cheap || (group != ALONE && expensive[group]);
		wanted |= !found[i].known;
	}
	say_expensive(c, pid, expensive);
	if (expensive[OF_CONTEXT]) {
		blind = VERBS_EXPENSIVE;
		wanted = false;
	}
	for (size_t i = 0; i < s->count && wanted && !error; i++) {
		bool first = true;

		for (size_t k = 0; k < i && first; k++)
			first = found[k].code->inode != found[i].code->inode || found[k].code->device != found[i].code->device;
		if (first)
			error = attach_code(c, owner, pid, found, s->count, found[i].code);
	}
	free(found);
	if (error) {
		notes_add(c->notes, "process %u: the kernel refuses probes: %s", pid, strerror(error));
		return VERBS_REFUSED;
	}
	if (wanted && owner->pid) {
		__u64 now = now_ns();

		bpf_map_update_elem(bpf_map__fd(c->bpf->maps.verbs_attached), &owner->pid, &now, BPF_ANY);
	}
	return blind;
}

static void detach(struct watched *p)
{
	probes_detach(p->sets, p->set_count);
	for (size_t i = 0; i < p->set_count; i++)
		free(p->sets[i]);
	free(p->sets);
	free(p->places);
	p->sets = NULL;
	p->places = NULL;
	p->set_count = p->set_room = p->place_count = p->place_room = 0;
}

static struct search_limits limits_of(const struct calls *c)
{
	struct search_limits limits = SEARCH_LIMITS;

	limits.any_uverbs = c->options.any_uverbs;
	return limits;
}

/* The providers of our own libibverbs: for all processes that use the same files. */
static void attach_all(struct calls *c)
{
	struct search_limits limits = limits_of(c);
	struct search s = { 0 };
	struct hooks h;

	if (c->options.no_devices || !hooks_open(&h))
		return;
	if (search_process(h.pid, &limits, &s) && attach(c, &c->all, h.pid, &s) == VERBS_SEEN)
		c->bpf->bss->verbs_attached_all = now_ns();
	search_free(&s);
	hooks_close(&h);
}

/* ---- processes ---- */

static __u64 start_of(const struct calls *c, __u32 pid)
{
	const struct process *p = processes_find(c->processes, pid);

	return p ? p->start : 0;
}

static bool has_ended(__u32 pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

static void search_in(struct calls *c, struct watched *p)
{
	struct search_limits limits = limits_of(c);
	struct search s;

	p->searched = now_ns();
	p->qps_searched = p->qps;
	if (search_process(p->pid, &limits, &s)) {
		p->blind = attach(c, p, p->pid, &s);
		p->tries = 0;
	} else {
		p->tries++;
		p->blind = s.error ? VERBS_REFUSED : VERBS_NO_PROVIDER;
		if (s.error && !has_ended(p->pid))
			notes_add(c->notes, "process %u: its memory cannot be read: %s", p->pid, strerror(s.error));
		else if (s.cut)
			notes_add(c->notes, "process %u: only %llu MiB of its memory were looked through, and no device was "
				  "found in them", p->pid, (unsigned long long)(s.bytes >> 20));
	}
	search_free(&s);
}

static bool is_due(const struct watched *p, __u64 now)
{
	if (!p->searched)
		return true;
	if (now - p->searched < AGAIN_NS)
		return false;
	return p->qps != p->qps_searched || (p->blind == VERBS_NO_PROVIDER && p->tries < TRIES);
}

static int by_pid(const void *a, const void *b)
{
	const struct watched *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static struct watched *find_process(const struct calls *c, __u32 pid)
{
	struct watched key = { .pid = pid };

	return c->count ? bsearch(&key, c->watched, c->count, sizeof(key), by_pid) : NULL;
}

static int by_number(const void *a, const void *b)
{
	const __u32 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void forget_notes(struct calls *c, __u32 pid)
{
	char begin[32];

	snprintf(begin, sizeof(begin), "process %u:", pid);
	notes_remove(c->notes, begin);
}

/* Those that have ended, and whose number may be another one's, lose their probes, and what was noted of them. */
static void remove_ended(struct calls *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct watched *p = &c->watched[i];

		if (p->here && p->start == start_of(c, p->pid)) {
			c->watched[kept++] = *p;
			continue;
		}
		detach(p);
		forget_notes(c, p->pid);
		bpf_map_delete_elem(bpf_map__fd(c->bpf->maps.verbs_attached), &p->pid);
	}
	c->count = kept;
}

/* Unless it is known, or has ended. */
static void add_process(struct calls *c, __u32 pid, unsigned int qps)
{
	struct watched p = { .pid = pid, .qps = qps, .start = start_of(c, pid), .blind = VERBS_NO_PROVIDER, .here = true };

	if (!p.pid || !p.start || find_process(c, p.pid) || !grow(c->watched, c->count, c->room, (size_t)16))
		return;
	c->watched[c->count++] = p;
	qsort(c->watched, c->count, sizeof(*c->watched), by_pid);
}

static void update_processes(struct calls *c, const __u32 *pids, size_t count)
{
	__u32 *sorted = malloc((count + 1) * sizeof(*sorted));

	if (!sorted)
		return;
	memcpy(sorted, pids, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_number);
	for (size_t i = 0; i < c->count; i++)
		c->watched[i].here = false;
	for (size_t i = 0, same; i < count; i += same) {
		struct watched *p = find_process(c, sorted[i]);

		for (same = 1; i + same < count && sorted[i + same] == sorted[i]; same++)
			;
		if (p) {
			p->here = true;
			p->qps = same;
		}
	}
	remove_ended(c);
	for (size_t i = 0, same; i < count; i += same) {
		for (same = 1; i + same < count && sorted[i + same] == sorted[i]; same++)
			;
		add_process(c, sorted[i], same);
	}
	free(sorted);
}

static void search_due(struct calls *c)
{
	__u64 began = now_ns();

	for (size_t i = 0; i < c->count && now_ns() - began < UPDATE_NS; i++) {
		if (is_due(&c->watched[i], began))
			search_in(c, &c->watched[i]);
	}
}

/* ---- reading ---- */

static int by_key(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->key.pid != y->key.pid)
		return x->key.pid < y->key.pid ? -1 : 1;
	if (x->key.qpn != y->key.qpn)
		return x->key.qpn < y->key.qpn ? -1 : 1;
	return x->calls.since < y->calls.since ? -1 : x->calls.since > y->calls.since;
}

/*
 * The process fills less of the maps. Its own calls may change these numbers meanwhile: then they are a little wrong, and the
 * limit with them.
 */
static void give_back(const struct calls *c, __u32 pid, __u64 entries, __u64 blocks)
{
	int fd = bpf_map__fd(c->bpf->maps.verbs_strangers);
	struct verbs_strangers s;

	__sync_fetch_and_sub(&c->bpf->bss->verbs_strangers_all, entries);
	if ((!entries && !blocks) || bpf_map_lookup_elem(fd, &pid, &s))
		return;
	s.entries -= entries < s.entries ? entries : s.entries;
	s.blocks -= blocks < s.blocks ? blocks : s.blocks;
	bpf_map_update_elem(fd, &pid, &s, BPF_EXIST);
}

/* What its requests are remembered in. */
static void forget_requests(const struct calls *c, __u32 pid, const struct verbs_calls *calls)
{
	struct verbs_block_key key = { .id = calls->id };
	__u64 end = calls->tail / VERBS_BLOCK, most = calls->head / VERBS_BLOCK + VERBS_WAITING / VERBS_BLOCK, blocks = 0;

	for (key.block = calls->head / VERBS_BLOCK; key.block <= end && key.block <= most; key.block++)
		blocks += !bpf_map_delete_elem(bpf_map__fd(c->bpf->maps.verbs_wrs), &key);
	give_back(c, pid, 0, blocks);
}

/* A process has this number that began after `since`. since 0: not known yet. */
static bool is_another_process(const struct calls *c, __u32 pid, __u64 since)
{
	const struct process *p = processes_find(c->processes, pid);

	return p && since && since < p->began;
}

/* What was counted since then is of a process that has ended. */
static bool is_of_ended(const struct calls *c, __u32 pid, __u64 since)
{
	return !start_of(c, pid) || is_another_process(c, pid, since);
}

static bool is_forgotten(const struct calls *c, const struct record *r)
{
	const struct verbs_calls *calls = &r->calls;
	__u64 last = calls->last_completion > calls->last_post ? calls->last_completion : calls->last_post;

	if (calls->since > last)
		last = calls->since;
	return now_ns() > last + FORGET_NS && !start_of(c, r->key.pid);
}

static void take_past(struct calls *c, const struct record *r)
{
	if (c->past_count == PAST) {
		memmove(c->past, c->past + PAST / 2, PAST / 2 * sizeof(*c->past));
		c->past_count = PAST / 2;
	}
	if (grow(c->past, c->past_count, c->past_room, (size_t)16))
		c->past[c->past_count++] = *r;
}

/* Takes it out of the map, which has room for other QPs then. keep: it may still be asked for. */
static void forget(struct calls *c, const struct record *r, bool keep)
{
	if (bpf_map_delete_elem(bpf_map__fd(c->bpf->maps.verbs_calls), &r->key))
		return;
	forget_requests(c, r->key.pid, &r->calls);
	give_back(c, r->key.pid, !!r->calls.stranger, 0);
	if (keep)
		take_past(c, r);
}

/* What was counted is final: its process's number is another one's, or the kernel's half knew its QP, and knows it no more. */
static bool has_died(const struct calls *c, const struct record *r)
{
	struct verbs_birth_key key = { .pid = r->key.pid, .qpn = r->key.qpn };
	struct verbs_birth birth;

	if (is_another_process(c, r->key.pid, r->calls.since))
		return true;
	if (!r->calls.born)
		return false;
	memcpy(key.device, r->calls.device, sizeof(key.device));
	return bpf_map_lookup_elem(bpf_map__fd(c->bpf->maps.verbs_births), &key, &birth) || birth.born != r->calls.born;
}

static bool read_record(const struct calls *c, struct record *r)
{
	return !bpf_map_lookup_elem(bpf_map__fd(c->bpf->maps.verbs_calls), &r->key, &r->calls);
}

static void take_record(void *context, const void *key, const void *value)
{
	struct calls *c = context;
	struct record *r;

	if (!grow(c->records, c->record_count, c->record_room, (size_t)64))
		return;
	r = &c->records[c->record_count];
	memcpy(&r->key, key, sizeof(r->key));
	memcpy(&r->calls, value, sizeof(r->calls));
	if (is_forgotten(c, r))
		forget(c, r, false);
	else if (has_died(c, r) && read_record(c, r)) /* again: with its last calls */
		forget(c, r, true);
	else
		c->record_count++;
}

static void read_records(struct calls *c)
{
	c->record_count = 0;
	map_walk(bpf_map__fd(c->bpf->maps.verbs_calls), sizeof(struct verbs_call_key), sizeof(struct verbs_calls), take_record, c);
	if (c->record_count)
		qsort(c->records, c->record_count, sizeof(*c->records), by_key);
}

static void read_past(struct calls *c)
{
	int fd = bpf_map__fd(c->bpf->maps.verbs_past);
	struct verbs_past_key key;

	for (int i = 0; i < PAST && !bpf_map_get_next_key(fd, NULL, &key); i++) {
		struct record r = { .key = key.key };

		if (!bpf_map_lookup_elem(fd, &key, &r.calls)) {
			forget_requests(c, key.key.pid, &r.calls);
			take_past(c, &r);
		}
		bpf_map_delete_elem(fd, &key);
	}
}

/* ---- which QPs use a CQ ---- */

static int compare_cqs(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->cq.pid != y->cq.pid)
		return x->cq.pid < y->cq.pid ? -1 : 1;
	return x->cq.address < y->cq.address ? -1 : x->cq.address > y->cq.address;
}

static int compare_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return compare_cqs(x, y) ?: x->qpn < y->qpn ? -1 : x->qpn > y->qpn;
}

static void add_use(struct calls *c, __u32 pid, __u64 cq, __u32 qpn)
{
	if (grow(c->uses, c->use_count, c->use_room, (size_t)64))
		c->uses[c->use_count++] = (struct use){ { .address = cq, .pid = pid }, qpn, false };
}

static void find_uses(struct calls *c)
{
	c->use_count = 0;
	for (size_t i = 0; i < c->record_count; i++) {
		const struct record *r = &c->records[i];

		if (!r->calls.qp)
			continue;
		add_use(c, r->key.pid, r->calls.send_cq, r->key.qpn);
		add_use(c, r->key.pid, r->calls.recv_cq, r->key.qpn);
	}
	if (c->use_count)
		qsort(c->uses, c->use_count, sizeof(*c->uses), compare_uses);
}

/* The same one each time. */
static struct use *find_use(const struct calls *c, const struct verbs_queue_key *cq)
{
	const struct use key = { .cq = *cq };

	return c->use_count ? bsearch(&key, c->uses, c->use_count, sizeof(key), compare_cqs) : NULL;
}

/* As the map verbs_cq_users has it. u: of find_use(); NULL: 0. */
static __u32 user_of(const struct calls *c, const struct use *u)
{
	const struct use *end = c->uses + c->use_count;

	if (!u)
		return 0;
	if ((u > c->uses && !compare_cqs(u - 1, u) && u[-1].qpn != u->qpn) || (u + 1 < end && !compare_cqs(u + 1, u) && u[1].qpn != u->qpn))
		return VERBS_SEVERAL;
	return u->qpn;
}

/*
 * A CQ is destroyed after all of its QPs, and another one may be made at its address. A QP that was seen only since the calls were
 * read makes it VERBS_SEVERAL in the kernel: if that is overwritten it is put right the next time.
 */
static void take_user(void *context, const void *key, const void *value)
{
	const struct calls *c = context;
	int fd = bpf_map__fd(c->bpf->maps.verbs_cq_users);
	struct use *use = find_use(c, key);
	__u32 user = user_of(c, use), now;

	if (use)
		use->mapped = true;
	memcpy(&now, value, sizeof(now));
	if (now == user)
		return;
	if (user)
		bpf_map_update_elem(fd, key, &user, BPF_EXIST);
	else
		bpf_map_delete_elem(fd, key);
}

static void update_users(struct calls *c)
{
	find_uses(c);
	map_walk(bpf_map__fd(c->bpf->maps.verbs_cq_users), sizeof(struct verbs_queue_key), sizeof(__u32), take_user, c);
}

/* A QP that was seen only since the calls were read may have lost it, and would say it only once. */
static void put_back_user(const struct calls *c, const struct verbs_queue_key *cq)
{
	const struct use *use = find_use(c, cq);
	__u32 user = user_of(c, use);

	if (use && !use->mapped)
		bpf_map_update_elem(bpf_map__fd(c->bpf->maps.verbs_cq_users), cq, &user, BPF_NOEXIST);
}

static void forget_cq(const struct calls *c, const struct verbs_queue_key *cq, const struct verbs_cq_calls *calls)
{
	bpf_map_delete_elem(bpf_map__fd(c->bpf->maps.verbs_cq_users), cq);
	if (!bpf_map_delete_elem(bpf_map__fd(c->bpf->maps.verbs_cqs), cq))
		give_back(c, cq->pid, !!calls->stranger, 0);
}

static void take_cq(void *context, const void *key, const void *value)
{
	const struct verbs_queue_key *cq = key;
	const struct verbs_cq_calls *calls = value;
	struct calls *c = context;

	if (is_of_ended(c, cq->pid, calls->since)) {
		forget_cq(c, cq, calls);
		return;
	}
	put_back_user(c, cq);
	if (grow(c->cqs, c->cq_count, c->cq_room, (size_t)16))
		c->cqs[c->cq_count++] = (struct verbs_cq){
			cq->pid, cq->address, calls->polls, calls->empty, calls->failed,
			calls->completions, calls->batch_most, calls->notified,
		};
}

static void read_cqs(struct calls *c)
{
	c->cq_count = 0;
	map_walk(bpf_map__fd(c->bpf->maps.verbs_cqs), sizeof(struct verbs_queue_key), sizeof(struct verbs_cq_calls), take_cq, c);
}

static void take_srq(void *context, const void *key, const void *value)
{
	const struct verbs_queue_key *srq = key;
	const struct verbs_srq_calls *calls = value;
	struct calls *c = context;

	if (is_of_ended(c, srq->pid, calls->since)) {
		if (!bpf_map_delete_elem(bpf_map__fd(c->bpf->maps.verbs_srqs), srq))
			give_back(c, srq->pid, !!calls->stranger, 0);
		return;
	}
	if (grow(c->srqs, c->srq_count, c->srq_room, (size_t)16))
		c->srqs[c->srq_count++] = (struct verbs_srq){
			srq->pid, srq->address, calls->posts, calls->wrs, calls->bytes, calls->refused,
		};
}

static void read_srqs(struct calls *c)
{
	c->srq_count = 0;
	map_walk(bpf_map__fd(c->bpf->maps.verbs_srqs), sizeof(struct verbs_queue_key), sizeof(struct verbs_srq_calls), take_srq, c);
}

/* ---- */

static void stop(struct calls *c)
{
	for (size_t i = 0; i < c->count; i++) {
		detach(&c->watched[i]);
		c->watched[i].blind = VERBS_STOPPED;
	}
	detach(&c->all);
	cost_close(&c->cost);
	c->shown.stopped = true;
	notes_add(c->notes, "the probes cost %.1f %% of a core, more than the limit of %.1f %%, and were taken away: calls are "
		  "counted up to there", 100 * c->shown.share, 100 * c->options.most);
}

static void update_cost(struct calls *c)
{
	cost_update(&c->cost, c->bpf, &c->shown);
	c->over = c->options.most > 0 && c->shown.share > c->options.most ? c->over + 1 : 0;
	if (c->over >= STOP_AFTER)
		stop(c);
}

static void note_pid_namespace(struct calls *c)
{
	char target[64];
	ssize_t length = readlink("/proc/self/ns/pid", target, sizeof(target) - 1);

	target[length > 0 ? length : 0] = 0;
	/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
	if (strcmp(target, "pid:[4026531836]"))
		notes_add(c->notes, "this is not the machine's first PID namespace: the kernel's programs know processes by "
			  "other numbers, and their calls are not shown");
}

/* Single uprobes are a file each. */
static void raise_limit_of_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

struct calls *calls_open(struct verbs_bpf *b, const struct calls_options *o, struct notes *notes)
{
	struct calls *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->bpf = b;
	c->options = *o;
	c->notes = notes;
	c->processes = processes_open();
	if (!c->processes) {
		free(c);
		return NULL;
	}
	c->multi = bpf_program__expected_attach_type(b->progs.verbs_calling) != 0;
	note_pid_namespace(c);
	raise_limit_of_files();
	c->has_cost = cost_open(&c->cost, b, c->multi);
	if (c->has_cost)
		attach_all(c);
	else
		notes_add(c->notes, "the kernel refuses probes at functions of programs (uprobes): no calls are counted");
	return c;
}

void calls_close(struct calls *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->count; i++)
		detach(&c->watched[i]);
	detach(&c->all);
	cost_close(&c->cost);
	processes_close(c->processes);
	free(c->watched);
	free(c->records);
	free(c->past);
	free(c->uses);
	free(c->cqs);
	free(c->srqs);
	free(c);
}

void calls_begun(struct calls *c, __u32 pid)
{
	__u64 began = now_ns();
	struct watched *p;

	if (!c->has_cost || c->shown.stopped || c->begun_ns > UPDATE_NS || find_process(c, pid))
		return;
	add_process(c, pid, 1);
	p = find_process(c, pid);
	if (!p)
		return;
	search_in(c, p);
	p->searched = 0; /* again at the next update: an extended QP may not have its functions yet */
	c->begun_ns += now_ns() - began;
}

void calls_update(struct calls *c, const __u32 *pids, size_t count)
{
	if (!c->has_cost)
		return;
	c->begun_ns = 0;
	processes_begin(c->processes);
	hooks_reap();
	update_processes(c, pids, count);
	if (!c->shown.stopped) {
		search_due(c);
		update_cost(c);
	}
	read_past(c);
	read_records(c);
	update_users(c);
	read_cqs(c);
	read_srqs(c);
	if (c->bpf->bss->verbs_calls_full)
		notes_add(c->notes, "some calls are not counted: there are more than %d QPs, or one process calls with more "
			  "than %d that the kernel did not name", VERBS_QPS, VERBS_STRANGERS);
	if (c->bpf->bss->verbs_past_full)
		notes_add(c->notes, "calls of some QPs were forgotten: their numbers became other QPs' too fast");
}

static bool is_of(const struct record *r, const char *device, __u64 born)
{
	return (!device || !strncmp(r->calls.device, device, sizeof(r->calls.device) - 1)) && (!born || r->calls.born == born);
}

static int by_qp(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->key.pid != y->key.pid)
		return x->key.pid < y->key.pid ? -1 : 1;
	return x->key.qpn < y->key.qpn ? -1 : x->key.qpn > y->key.qpn;
}

const struct verbs_calls *calls_find(const struct calls *c, __u32 pid, __u32 qpn, const char *device, __u64 born)
{
	struct record key = { .key = { .pid = pid, .qpn = qpn } };
	const struct record *r = c->record_count ? bsearch(&key, c->records, c->record_count, sizeof(key), by_qp) : NULL;
	const struct record *end = c->records + c->record_count, *newest = NULL;

	while (r && r > c->records && !by_qp(r - 1, &key))
		r--;
	for (; r && r < end && !by_qp(r, &key); r++) {
		if (is_of(r, device, born))
			newest = r;
	}
	if (newest || !born)
		return newest ? &newest->calls : NULL;
	for (size_t i = c->past_count; i > 0; i--) {
		if (!by_qp(&c->past[i - 1], &key) && is_of(&c->past[i - 1], device, born))
			return &c->past[i - 1].calls;
	}
	return NULL;
}

void calls_gone(struct calls *c, __u32 pid, __u32 qpn, const char *device, __u64 born, __u64 gone)
{
	struct record key = { .key = { .pid = pid, .qpn = qpn } };
	const struct record *r = c->record_count ? bsearch(&key, c->records, c->record_count, sizeof(key), by_qp) : NULL;
	const struct record *end = c->records + c->record_count;

	while (r && r > c->records && !by_qp(r - 1, &key))
		r--;
	for (; r && r < end && !by_qp(r, &key); r++) {
		/* without the time of a birth, calls tell whether it is another QP of this number */
		if (is_of(r, device, born) && (born || (r->calls.since < gone && r->calls.last_post < gone)))
			forget(c, r, true);
	}
}

static int by_process(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return x->key.pid < y->key.pid ? -1 : x->key.pid > y->key.pid;
}

enum verbs_blind calls_blind(const struct calls *c, __u32 pid)
{
	const struct record key = { .key = { .pid = pid } };
	const struct watched *p = find_process(c, pid);

	if (!c->has_cost)
		return VERBS_REFUSED;
	if (c->shown.stopped)
		return VERBS_STOPPED;
	if (p && p->blind != VERBS_NO_PROVIDER)
		return p->blind;
	/* its calls have come, wherever they were found */
	return c->record_count && bsearch(&key, c->records, c->record_count, sizeof(key), by_process) ? VERBS_SEEN : VERBS_NO_PROVIDER;
}

size_t calls_cqs(const struct calls *c, const struct verbs_cq **list)
{
	*list = c->cqs;
	return c->cq_count;
}

size_t calls_srqs(const struct calls *c, const struct verbs_srq **list)
{
	*list = c->srqs;
	return c->srq_count;
}

const struct verbs_cost *calls_cost(const struct calls *c)
{
	return c->has_cost ? &c->shown : NULL;
}
