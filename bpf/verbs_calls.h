/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What programs post and poll: probes at the provider's functions, where ibv_post_send() and the like arrive.
 *
 * One program is at all entries and one at all returns; the cookie says which function it is. These programs are preempted, so
 * that nothing is on a CPU's own memory: what an entry leaves for its return is the thread's. Offsets of structs are those of
 * <infiniband/verbs.h>, which programs have compiled in; userspace/observe/verbs/layout.c asserts them.
 */
#ifndef BPF_VERBS_CALLS_H
#define BPF_VERBS_CALLS_H

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/map.h"
#include "bpf/verbs_abi.h"
#include "bpf/verbs_layout.h"
#include "bpf/verbs_qps.h"

/* What a thread's call left at its entry. */
struct verbs_inside {
	__u64 object; /* QP, SRQ or CQ; 0: no call is under way */
	__u64 first;  /* WR or ibv_wc */
	__u64 bad;    /* struct ibv_send_wr ** */
	__u64 from, to; /* numbers of its WRs */
	__u64 room;   /* entries of ibv_wc */
	__u64 most;   /* outstanding_most before */
};

/* Of a thread that polls an extended CQ: what it has read of the present completion. */
struct verbs_reading {
	__u64 cq;
	__u32 has; /* enum verbs_has */
	__u32 opcode, vendor_err, byte_len, qpn, reserved;
};

enum verbs_has { VERBS_HAS_COMPLETION = 1, VERBS_HAS_OPCODE = 2, VERBS_HAS_QPN = 4 };

#define VERBS_THREADS 16384 /* more: those that called least recently are forgotten in the middle of a call */

MAP(verbs_calls, HASH, struct verbs_call_key, struct verbs_calls, VERBS_QPS, BPF_F_NO_PREALLOC);
MAP(verbs_past, HASH, struct verbs_past_key, struct verbs_calls, 4096, BPF_F_NO_PREALLOC);
MAP(verbs_wrs, HASH, struct verbs_block_key, struct verbs_block, VERBS_BLOCKS, BPF_F_NO_PREALLOC);
MAP(verbs_cqs, HASH, struct verbs_queue_key, struct verbs_cq_calls, VERBS_QPS, BPF_F_NO_PREALLOC);
MAP(verbs_cq_users, HASH, struct verbs_queue_key, __u32, VERBS_QPS, BPF_F_NO_PREALLOC);
MAP(verbs_srqs, HASH, struct verbs_queue_key, struct verbs_srq_calls, VERBS_QPS, BPF_F_NO_PREALLOC);
MAP(verbs_strangers, LRU_HASH, __u32, struct verbs_strangers, 4096, 0);
MAP(verbs_insides, LRU_HASH, __u64, struct verbs_inside, VERBS_THREADS, 0);
MAP(verbs_readings, LRU_HASH, __u64, struct verbs_reading, 1024, 0);
MAP(verbs_attached, HASH, __u32, __u64, 4096, 0); /* of processes with probes of their own: since when, ns */
MAP(verbs_costs, PERCPU_ARRAY, __u32, __u64, VERBS_COSTS, 0);

__u64 verbs_attached_all; /* since when probes are at each process's calls, ns; 0: they are not */
__u64 verbs_ids;
__u64 verbs_calls_full; /* calls for whose QP there was no room */
__u64 verbs_past_full;	/* QPs whose calls were not kept when their number became another one's */
__u64 verbs_strangers_all;

/*
 * A 0 that the verifier does not know, for numbers that another function reads through a pointer, above all a loop's. It would
 * follow a count from a known one up to its end. And Linux 6.1 does not notice that such a number decides a branch: if it has
 * seen a known number there, it removes the branches that this number did not take, although other numbers take them.
 */
static volatile __u64 verbs_zero;

#define verbs_hide(number) ((number) + verbs_zero)

static const struct verbs_calls verbs_no_calls = {
	.error_request.opcode = VERBS_OPCODES,
	.good_request.opcode = VERBS_OPCODES,
};
static const struct verbs_block verbs_no_block;
static const struct verbs_cq_calls verbs_no_cq;
static const struct verbs_srq_calls verbs_no_srq;
static const struct verbs_inside verbs_no_inside;
static const struct verbs_reading verbs_no_reading;
static const struct verbs_strangers verbs_no_strangers;

#define VERBS_QUIET 1000000000ull /* ns without posts and completions, after which a queue with no known WR is empty */
#define VERBS_AHEAD 64		  /* signalled WRs that are compared with a completion */
#define VERBS_FAILED_AHEAD 512	  /* the same of a completion that is an error, which may be that of an unsignalled WR */

/* enum ibv_send_flags */
enum { VERBS_SEND_FENCE = 1, VERBS_SEND_SIGNALED = 2, VERBS_SEND_SOLICITED = 4, VERBS_SEND_INLINE = 8 };

/* A constant 0 may not be added: LLVM makes an atomic OR of it. */
#define verbs_add(field, n) __sync_fetch_and_add(&(field), (n))
#define verbs_count(calls, counter, n) verbs_add((calls)->count[VERBS_##counter], (n))

static __always_inline void verbs_most(__u64 *most, __u64 value)
{
	if (value > *most)
		*most = value;
}

static __always_inline void verbs_cost(__u32 what)
{
	__u64 *count = bpf_map_lookup_elem(&verbs_costs, &what);

	if (count)
		verbs_add(*count, 1);
}

/* false: not in memory, or no address of the program. */
#define verbs_user(to, from) (!bpf_probe_read_user((to), sizeof(*(to)), (const void *)(from)))

/* ---- what one process may fill ---- */

/* NULL: it has no entry, and make is false. */
static __always_inline struct verbs_strangers *verbs_strangers_of(__u32 pid, bool make)
{
	struct verbs_strangers *s = bpf_map_lookup_elem(&verbs_strangers, &pid);

	if (s || !make)
		return s;
	bpf_map_update_elem(&verbs_strangers, &pid, &verbs_no_strangers, BPF_NOEXIST);
	return bpf_map_lookup_elem(&verbs_strangers, &pid);
}

/* Whether the process may have one more entry of which no QP is known. */
static __noinline int verbs_may_add(__u32 pid)
{
	struct verbs_strangers *s = verbs_strangers_of(pid, true);

	return s && s->entries < VERBS_STRANGERS && verbs_strangers_all < VERBS_STRANGERS_ALL;
}

static __noinline int verbs_added(__u32 pid)
{
	struct verbs_strangers *s = verbs_strangers_of(pid, true);

	if (s)
		verbs_add(s->entries, 1);
	verbs_add(verbs_strangers_all, 1);
	return 0;
}

static __noinline int verbs_removed(__u32 pid)
{
	struct verbs_strangers *s = verbs_strangers_of(pid, false);

	if (s && s->entries)
		verbs_add(s->entries, -1);
	verbs_add(verbs_strangers_all, -1);
	return 0;
}

/* ---- the QP of a call ---- */

static __noinline int verbs_name_device(struct verbs_birth_key *birth, __u64 context)
{
	__u64 device = 0;

	if (!birth || !verbs_user(&device, context + VERBS_CONTEXT_DEVICE) || !device)
		return 0;
	/* what is behind the end of the name must be zero: struct verbs_birth_key */
	bpf_probe_read_user_str(birth->device, sizeof(birth->device), (const void *)(device + VERBS_DEVICE_NAME));
	return 0;
}

static __always_inline __u64 verbs_attached_since(__u32 pid)
{
	__u64 *own = bpf_map_lookup_elem(&verbs_attached, &pid);

	return own ? *own : verbs_attached_all;
}

static __noinline struct verbs_calls *verbs_begin(const struct verbs_call_key *key)
{
	struct verbs_birth_key birth_key = { .pid = key->pid, .qpn = key->qpn };
	const struct verbs_birth *birth;
	struct verbs_calls *calls;
	bool made;
	__u64 since;

	verbs_name_device(&birth_key, key->context);
	birth = bpf_map_lookup_elem(&verbs_births, &birth_key);
	made = (birth || verbs_may_add(key->pid)) && !bpf_map_update_elem(&verbs_calls, key, &verbs_no_calls, BPF_NOEXIST);
	calls = bpf_map_lookup_elem(&verbs_calls, key);
	if (!calls)
		verbs_add(verbs_calls_full, 1);
	if (!calls || !made)
		return calls;
	calls->id = verbs_add(verbs_ids, 1) + 1;
	calls->since = bpf_ktime_get_ns();
	__builtin_memcpy(calls->device, birth_key.device, sizeof(calls->device));
	if (!birth) {
		calls->stranger = 1;
		verbs_added(key->pid);
		return calls;
	}
	calls->born = birth->born;
	calls->sig_all = birth->sig_all;
	since = verbs_attached_since(key->pid);
	calls->whole = calls->paired = since && birth->born > since;
	return calls;
}

/* The number is another QP's by now. qp: address of struct ibv_qp; 0: unknown */
static __always_inline bool verbs_is_another(struct verbs_calls *calls, const struct verbs_call_key *key, __u64 qp)
{
	const struct verbs_birth *birth = verbs_birth_of(calls->device, key->pid, key->qpn);

	if (birth && birth->born != calls->born && birth->born > calls->since)
		return true;
	if (birth) {
		/* of a QP that is older than us this may have come later */
		if (!calls->sig_all)
			calls->sig_all = birth->sig_all;
		return false;
	}
	return qp && calls->qp && calls->qp != qp;
}

static __noinline struct verbs_calls *verbs_calls_of(const struct verbs_call_key *key, __u64 qp)
{
	struct verbs_calls *calls = bpf_map_lookup_elem(&verbs_calls, key);
	struct verbs_past_key past = { .key = *key };

	if (calls && !verbs_is_another(calls, key, qp))
		return calls;
	if (calls) {
		past.since = calls->since;
		if (bpf_map_update_elem(&verbs_past, &past, calls, BPF_ANY))
			verbs_add(verbs_past_full, 1);
		if (calls->stranger)
			verbs_removed(key->pid);
		bpf_map_delete_elem(&verbs_calls, key);
	}
	return verbs_begin(key);
}

/* known: it is of a QP of which the kernel's half has a birth. NULL: there is no room. */
static __noinline struct verbs_cq_calls *verbs_cq_at(__u64 cq, __u32 pid, __u32 known)
{
	struct verbs_queue_key key = { .address = cq, .pid = pid };
	struct verbs_cq_calls *calls = bpf_map_lookup_elem(&verbs_cqs, &key);
	bool made;

	if (calls || (!known && !verbs_may_add(pid)))
		return calls;
	made = !bpf_map_update_elem(&verbs_cqs, &key, &verbs_no_cq, BPF_NOEXIST);
	calls = bpf_map_lookup_elem(&verbs_cqs, &key);
	if (!calls || !made)
		return calls;
	calls->since = bpf_ktime_get_ns();
	if (!known) {
		calls->stranger = 1;
		verbs_added(pid);
	}
	return calls;
}

static __always_inline void verbs_cq_used(__u64 cq, const struct verbs_call_key *key, bool known)
{
	struct verbs_queue_key queue = { .address = cq, .pid = key->pid };
	__u32 qpn = key->qpn, *user;

	if (!verbs_cq_at(cq, key->pid, known) || !bpf_map_update_elem(&verbs_cq_users, &queue, &qpn, BPF_NOEXIST))
		return;
	user = bpf_map_lookup_elem(&verbs_cq_users, &queue);
	if (user && *user != qpn)
		*user = VERBS_SEVERAL;
}

/* The only QP that uses the CQ; 0: none was seen, or there are several. */
static __always_inline __u32 verbs_cq_user(__u64 cq, __u32 pid)
{
	struct verbs_queue_key queue = { .address = cq, .pid = pid };
	__u32 *user = bpf_map_lookup_elem(&verbs_cq_users, &queue);

	return user && *user != VERBS_SEVERAL ? *user : 0;
}

/* Of a call with struct ibv_qp or ibv_qp_ex. NULL: it is not in memory. */
static __noinline struct verbs_calls *verbs_calls_at(__u64 qp, struct verbs_call_key *key)
{
	struct verbs_user_qp user = { 0 };
	struct verbs_calls *calls;

	if (!verbs_user(&user, qp))
		return NULL;
	key->context = user.context;
	key->pid = bpf_get_current_pid_tgid() >> 32;
	key->qpn = user.qp_num;
	calls = verbs_calls_of(key, qp);
	if (!calls || calls->qp == qp)
		return calls;
	calls->qp = qp;
	calls->type = user.qp_type;
	calls->send_cq = user.send_cq;
	calls->recv_cq = user.recv_cq;
	/* before RTS nothing can have been sent, so that the first request will be seen */
	if (user.state < VERBS_QPS_RTS && !calls->count[VERBS_wrs] && !calls->count[VERBS_completions])
		calls->whole = calls->paired = 1;
	verbs_cq_used(user.send_cq, key, !calls->stranger);
	verbs_cq_used(user.recv_cq, key, !calls->stranger);
	return calls;
}

static __noinline int verbs_thread(struct verbs_calls *calls, __u32 thread)
{
	if (!calls || calls->thread[0] == thread)
		return 0;
	for (int i = 0; i < 8; i++) {
		__u32 known = calls->thread[i];

		if (!known)
			known = __sync_val_compare_and_swap(&calls->thread[i], 0, thread);
		if (known == thread)
			return 0;
		if (!known) {
			__sync_fetch_and_add(&calls->threads, 1);
			return 0;
		}
	}
	return 0;
}

/* ---- the WRs that wait ---- */

static __always_inline struct verbs_block *verbs_block_find(__u64 id, __u64 number)
{
	struct verbs_block_key key = { .id = id, .block = number / VERBS_BLOCK };

	return bpf_map_lookup_elem(&verbs_wrs, &key);
}

static __always_inline struct verbs_wr *verbs_wr_find(__u64 id, __u64 number)
{
	struct verbs_block *block = verbs_block_find(id, number);

	return block ? &block->wr[number % VERBS_BLOCK] : NULL;
}

/* NULL: too many wait. */
static __noinline struct verbs_block *verbs_block_make(__u64 id, __u64 number)
{
	struct verbs_block_key key = { .id = id, .block = number / VERBS_BLOCK };
	struct verbs_block *block = bpf_map_lookup_elem(&verbs_wrs, &key);
	struct verbs_strangers *s;

	if (block)
		return block;
	s = verbs_strangers_of(bpf_get_current_pid_tgid() >> 32, true);
	if (!s || s->blocks >= VERBS_BLOCKS_OF_ONE)
		return NULL;
	if (!bpf_map_update_elem(&verbs_wrs, &key, &verbs_no_block, BPF_NOEXIST))
		verbs_add(s->blocks, 1);
	return bpf_map_lookup_elem(&verbs_wrs, &key);
}

/* The next WR of the QP gets this number. A queue that has been silent and has no WR is empty: from here on pairs are right. */
static __always_inline __u64 verbs_number(struct verbs_calls *calls, __u64 now)
{
	__u64 number = verbs_add(calls->tail, 1);

	if (number != calls->head)
		return number;
	calls->oldest_post = now;
	if (!calls->paired && now > calls->last_post + VERBS_QUIET && now > calls->last_completion + VERBS_QUIET &&
	    now > calls->since + VERBS_QUIET)
		calls->paired = 1;
	return number;
}

static __always_inline void verbs_remember(struct verbs_calls *calls, __u64 number, const struct verbs_wr *wr)
{
	struct verbs_block *block = number - calls->head < VERBS_WAITING ? verbs_block_make(calls->id, number) : NULL;

	if (block)
		block->wr[number % VERBS_BLOCK] = *wr;
}

#define VERBS_BLOCKS_OF_QP (VERBS_WAITING / VERBS_BLOCK)

struct verbs_release {
	struct verbs_block_key key;
};

static long verbs_release_block(__u32 i, struct verbs_release *r)
{
	struct verbs_strangers *s;

	(void)i;
	if (!bpf_map_delete_elem(&verbs_wrs, &r->key)) {
		s = verbs_strangers_of(bpf_get_current_pid_tgid() >> 32, false);
		if (s && s->blocks)
			verbs_add(s->blocks, -1);
	}
	r->key.block++;
	return 0;
}

/* Everything before `to` is completed. `from`: what head was; whoever moves it on gives the blocks back. */
static __noinline int verbs_move_head(struct verbs_calls *calls, __u64 from, __u64 to)
{
	struct verbs_wr *oldest;
	struct verbs_release r;
	__u64 blocks;

	if (!calls || to <= from || __sync_val_compare_and_swap(&calls->head, from, to) != from)
		return 0;
	blocks = to / VERBS_BLOCK - from / VERBS_BLOCK;
	r.key.id = calls->id;
	r.key.block = from / VERBS_BLOCK;
	if (blocks == 1)
		verbs_release_block(0, &r);
	else if (blocks)
		bpf_loop(blocks < VERBS_BLOCKS_OF_QP ? blocks : VERBS_BLOCKS_OF_QP, verbs_release_block, &r, 0);
	oldest = to < calls->tail ? verbs_wr_find(calls->id, to) : NULL;
	calls->oldest_post = oldest ? oldest->time : 0;
	return 0;
}

struct verbs_step_over {
	__u64 id, at, end;
};

static long verbs_step_over_one(__u32 i, struct verbs_step_over *s)
{
	struct verbs_wr *wr = s->at < s->end ? verbs_wr_find(s->id, s->at) : NULL;

	(void)i;
	if (!wr || wr->time)
		return 1;
	s->at++;
	return 0;
}

/* What was completed before those in front of it is now in front itself. */
static __always_inline void verbs_step_over(struct verbs_calls *calls)
{
	__u64 head = calls->head;
	struct verbs_step_over s = { .id = calls->id, .at = head, .end = calls->tail };

	bpf_loop(VERBS_FAILED_AHEAD, verbs_step_over_one, &s, 0);
	verbs_move_head(calls, head, s.at);
}

/* ---- requests ---- */

struct verbs_sum {
	__u64 list, bytes;
};

static long verbs_sum_one(__u32 i, struct verbs_sum *s)
{
	__u32 length = 0;

	(void)i;
	if (!verbs_user(&length, s->list + VERBS_SGE_LENGTH))
		return 1;
	s->bytes += length;
	s->list += sizeof(struct verbs_user_sge);
	return 0;
}

/* Bytes of the elements, at most VERBS_SGES of them. */
static __noinline __u64 verbs_sum(__u64 list, __u32 n)
{
	struct verbs_sum s = { .list = list, .bytes = verbs_zero };
	__u32 length = 0;

	if (n == 1)
		return verbs_user(&length, list + VERBS_SGE_LENGTH) ? length : 0;
	bpf_loop(n < VERBS_SGES ? n : VERBS_SGES, verbs_sum_one, &s, 0);
	return s.bytes;
}

/* Elements that are read of a WR with `n`. */
static __always_inline __u32 verbs_sges(__u32 n)
{
	return n < VERBS_SGES ? n : VERBS_SGES;
}

/* One call's list. Counts are added up here and go to the QP in one step. */
struct verbs_list {
	struct verbs_calls *calls;
	__u64 wr, now;
	__u64 wrs, sges;
	__u32 inlined, signalled, fenced, solicited;
	__u64 opcode, of_opcode, bytes; /* of the WRs before that have the same opcode */
	__u64 from, to; /* their numbers, among which may be other threads' */
	__u32 thread, unreadable;
	__u64 steps; /* elements that are still read */
};

static __always_inline void verbs_list_opcode(struct verbs_list *l)
{
	__u32 opcode = l->opcode % VERBS_OPCODES;

	verbs_add(l->calls->wrs[opcode], l->of_opcode);
	if (l->bytes)
		verbs_add(l->calls->bytes[opcode], l->bytes);
	l->of_opcode = l->bytes = verbs_zero;
}

static __always_inline bool verbs_is_rdma(__u32 opcode)
{
	return opcode <= VERBS_WR_WRITE_WITH_IMM || (opcode >= VERBS_WR_READ && opcode <= VERBS_WR_FETCH_ADD) ||
	       opcode == VERBS_WR_ATOMIC_WRITE;
}

static __always_inline __u64 verbs_flags(struct verbs_list *l, __u32 flags)
{
	l->fenced += !!(flags & VERBS_SEND_FENCE);
	l->solicited += !!(flags & VERBS_SEND_SOLICITED);
	l->inlined += !!(flags & VERBS_SEND_INLINE);
	if (l->calls->sig_all == 1)
		flags |= VERBS_SEND_SIGNALED;
	l->signalled += !!(flags & VERBS_SEND_SIGNALED);
	return flags & (VERBS_SEND_FENCE | VERBS_SEND_SIGNALED | VERBS_SEND_SOLICITED | VERBS_SEND_INLINE);
}

static long verbs_list_one(__u32 i, struct verbs_list *l)
{
	struct verbs_user_wr user;
	struct verbs_calls *calls = l->calls;
	struct verbs_wr wr;
	bool atomic;

	if (!calls)
		return 1;
	if (!verbs_user(&user, l->wr)) {
		l->unreadable = 1;
		l->wr = 0;
		return 1;
	}
	if (verbs_sges(user.num_sge) > l->steps)
		return 1;
	l->steps -= verbs_sges(user.num_sge);
	atomic = user.opcode == VERBS_WR_CMP_SWAP || user.opcode == VERBS_WR_FETCH_ADD;
	wr = (struct verbs_wr){
		.time = l->now,
		.wr_id = user.wr_id,
		.at = l->wr,
		.bytes = verbs_sum(user.sg_list, user.num_sge),
		.opcode = user.opcode % VERBS_OPCODES,
		.flags = verbs_flags(l, user.send_flags),
		.sges = verbs_sges(user.num_sge),
		.thread = l->thread,
	};
	if (verbs_is_rdma(user.opcode)) {
		wr.remote_addr = user.remote_addr;
		wr.rkey = atomic ? user.atomic_rkey : user.rkey;
	}
	if (user.wr_id != calls->last_wr_id)
		wr.flags |= VERBS_WR_OWN_ID;
	calls->last_wr_id = user.wr_id;
	if (l->of_opcode && wr.opcode != l->opcode)
		verbs_list_opcode(l);
	l->opcode = wr.opcode;
	l->of_opcode++;
	l->bytes += wr.bytes;
	l->sges += wr.sges;
	l->to = verbs_number(calls, l->now);
	if (!i)
		l->from = l->to;
	l->wrs++;
	verbs_remember(calls, l->to, &wr);
	l->wr = user.next;
	return !l->wr;
}

static __always_inline struct verbs_list verbs_list(__u64 wr)
{
	__u64 zero = verbs_zero;

	return (struct verbs_list){
		.wr = wr + zero, .now = bpf_ktime_get_ns(), .wrs = zero, .sges = zero, .inlined = zero, .signalled = zero,
		.fenced = zero, .solicited = zero, .opcode = zero, .of_opcode = zero, .bytes = zero,
		.thread = bpf_get_current_pid_tgid(), .unreadable = zero, .steps = VERBS_STEPS + zero,
	};
}

static __noinline int verbs_list_count(struct verbs_list *l)
{
	struct verbs_calls *calls = l->calls;

	if (!calls)
		return 0;
	if (l->of_opcode)
		verbs_list_opcode(l);
	verbs_count(calls, wrs, l->wrs);
	verbs_count(calls, sges, l->sges);
	if (l->inlined)
		verbs_count(calls, inlined, l->inlined);
	if (l->signalled)
		verbs_count(calls, signalled, l->signalled);
	if (l->fenced)
		verbs_count(calls, fenced, l->fenced);
	if (l->solicited)
		verbs_count(calls, solicited, l->solicited);
	if (l->unreadable)
		verbs_count(calls, unreadable, 1);
	if (l->wr)
		verbs_count(calls, lists_cut, 1);
	verbs_most(&calls->list_most, l->wrs);
	return 0;
}

static __always_inline void verbs_posted(struct verbs_calls *calls, __u64 now, __u32 thread)
{
	verbs_count(calls, posts, 1);
	if (!calls->first_post)
		calls->first_post = now;
	calls->last_post = now;
	if (calls->tail > calls->head)
		verbs_most(&calls->outstanding_most, calls->tail - calls->head);
	verbs_thread(calls, thread);
}

/* ---- what an entry leaves for its return ---- */

static __always_inline __u64 verbs_inside_key(__u32 at)
{
	return bpf_get_current_pid_tgid() ^ (__u64)at << 24; /* threads have fewer bits: PID_MAX_LIMIT is 2^22 */
}

static __always_inline struct verbs_inside *verbs_enter(__u32 at, __u64 object)
{
	__u64 key = verbs_inside_key(at);
	struct verbs_inside *inside = bpf_map_lookup_elem(&verbs_insides, &key);

	if (!inside) {
		bpf_map_update_elem(&verbs_insides, &key, &verbs_no_inside, BPF_ANY);
		inside = bpf_map_lookup_elem(&verbs_insides, &key);
	}
	if (inside)
		inside->object = object;
	return inside;
}

/* NULL: its entry was not seen. */
static __always_inline struct verbs_inside *verbs_leave(__u32 at)
{
	__u64 key = verbs_inside_key(at);
	struct verbs_inside *inside = bpf_map_lookup_elem(&verbs_insides, &key);

	return inside && inside->object ? inside : NULL;
}

/* The same of a call that was refused, which ends here. NULL: it was not, or its entry was not seen. */
static __always_inline struct verbs_inside *verbs_leave_refused(__u32 at, int rc, __u64 *object)
{
	struct verbs_inside *inside = verbs_leave(at);

	if (!inside)
		return NULL;
	*object = inside->object;
	inside->object = 0;
	return rc ? inside : NULL;
}

static __noinline int verbs_post_send(__u64 qp, __u64 wr, __u64 bad)
{
	struct verbs_list l = verbs_list(wr);
	struct verbs_inside *inside;
	struct verbs_call_key key;
	__u64 most;

	l.calls = verbs_calls_at(qp, &key);
	if (!l.calls)
		return 0;
	most = l.calls->outstanding_most;
	if (wr) {
		bpf_loop(VERBS_LIST, verbs_list_one, &l, 0);
		verbs_list_count(&l);
	}
	if (!l.calls)
		return 0;
	verbs_posted(l.calls, l.now, l.thread);
	inside = verbs_enter(VERBS_AT_POST_SEND, qp);
	if (!inside)
		return 0;
	inside->first = wr;
	inside->bad = bad;
	inside->from = l.from;
	inside->to = l.wrs ? l.to + 1 : l.from;
	inside->most = most;
	return 0;
}

/* ---- requests that the provider refused ---- */

struct verbs_take_back {
	struct verbs_calls *calls;
	__u64 at, end, bad; /* bad: address of the first WR that was refused; 0: all of them were */
	__u64 first;	    /* number of the first that is taken back; ~0: none yet */
	__u64 wrs;
	__u32 thread, others;
};

static long verbs_take_back_one(__u32 i, struct verbs_take_back *t)
{
	struct verbs_calls *calls = t->calls;
	struct verbs_wr *wr;
	__u32 opcode;

	(void)i;
	if (!calls || t->at >= t->end)
		return 1;
	wr = verbs_wr_find(calls->id, t->at);
	if (wr && wr->time && wr->thread != t->thread)
		t->others = 1;
	if (!wr || !wr->time || wr->thread != t->thread || (t->bad && t->first == ~0ull && wr->at != t->bad)) {
		t->at++;
		return 0;
	}
	if (t->first == ~0ull)
		t->first = t->at;
	opcode = wr->opcode % VERBS_OPCODES;
	verbs_add(calls->wrs[opcode], -1);
	verbs_add(calls->bytes[opcode], -wr->bytes);
	verbs_count(calls, wrs, -1);
	verbs_count(calls, sges, -(__u64)wr->sges);
	if (wr->flags & VERBS_SEND_SIGNALED)
		verbs_count(calls, signalled, -1);
	if (wr->flags & VERBS_SEND_INLINE)
		verbs_count(calls, inlined, -1);
	if (wr->flags & VERBS_SEND_FENCE)
		verbs_count(calls, fenced, -1);
	if (wr->flags & VERBS_SEND_SOLICITED)
		verbs_count(calls, solicited, -1);
	wr->time = 0;
	t->wrs++;
	t->at++;
	return 0;
}

/* Takes a thread's WRs among the numbers from..to - 1 out again, those behind `bad` if it is among them. Returns how many. */
static __noinline __u64 verbs_take_back(struct verbs_calls *calls, __u64 from, __u64 to, __u64 bad)
{
	struct verbs_take_back t = {
		.calls = calls, .at = from, .end = to, .bad = verbs_hide(bad), .first = ~verbs_zero, .wrs = verbs_zero,
		.others = verbs_zero,
		.thread = bpf_get_current_pid_tgid(),
	};

	if (!calls)
		return 0;
	bpf_loop(VERBS_LIST, verbs_take_back_one, &t, 0);
	if (t.first == ~0ull && bad) {
		/* the provider names none of the list: nothing of it was taken */
		t.bad = verbs_zero;
		t.at = from;
		bpf_loop(VERBS_LIST, verbs_take_back_one, &t, 0);
	}
	if (t.first == ~0ull)
		return 0;
	/* Their numbers are free again, unless another thread has posted meanwhile: then they are stepped over. */
	if (!t.others)
		__sync_val_compare_and_swap(&calls->tail, to, t.first);
	if (calls->tail <= calls->head)
		calls->oldest_post = 0;
	return t.wrs;
}

/* bad: address of the first that was refused; 0: all were */
static __noinline int verbs_refused(struct verbs_calls *calls, const struct verbs_inside *inside, __u64 bad)
{
	__u64 wrs;

	if (!calls || !inside)
		return 0;
	verbs_count(calls, posts_refused, 1);
	wrs = verbs_take_back(calls, inside->from, inside->to, bad);
	if (wrs)
		verbs_count(calls, wrs_refused, wrs);
	calls->outstanding_most = inside->most;
	if (calls->tail > calls->head)
		verbs_most(&calls->outstanding_most, calls->tail - calls->head);
	return 0;
}

static __noinline int verbs_post_send_done(int rc)
{
	struct verbs_call_key key;
	__u64 bad = 0, qp = 0;
	struct verbs_inside *inside = verbs_leave_refused(VERBS_AT_POST_SEND, rc, &qp);
	struct verbs_calls *calls = inside ? verbs_calls_at(qp, &key) : NULL;

	if (!inside || !calls)
		return 0;
	verbs_user(&bad, inside->bad);
	return verbs_refused(calls, inside, bad == inside->first ? 0 : bad);
}

/* ---- receives ---- */

struct verbs_receives {
	__u64 wr, wrs, bytes;
	__u64 steps; /* as of struct verbs_list */
	__u32 unreadable, reserved;
};

static long verbs_receives_one(__u32 i, struct verbs_receives *r)
{
	struct verbs_user_recv_wr user;

	(void)i;
	if (!verbs_user(&user, r->wr)) {
		r->unreadable = 1;
		r->wr = 0;
		return 1;
	}
	if (verbs_sges(user.num_sge) > r->steps)
		return 1;
	r->steps -= verbs_sges(user.num_sge);
	r->wrs++;
	r->bytes += verbs_sum(user.sg_list, user.num_sge);
	r->wr = user.next;
	return !r->wr;
}

static __always_inline void verbs_receives_walk(struct verbs_receives *r)
{
	r->steps = verbs_hide(VERBS_STEPS);
	if (r->wr)
		bpf_loop(VERBS_LIST, verbs_receives_one, r, 0);
}

static __noinline int verbs_post_recv(__u64 qp, __u64 wr, __u64 bad)
{
	struct verbs_receives r = { .wr = wr, .wrs = verbs_zero, .bytes = verbs_zero, .unreadable = verbs_zero };
	struct verbs_call_key key;
	struct verbs_calls *calls = verbs_calls_at(qp, &key);
	struct verbs_inside *inside;

	if (!calls)
		return 0;
	verbs_receives_walk(&r);
	verbs_count(calls, recv_posts, 1);
	if (r.wrs)
		verbs_count(calls, recv_wrs, r.wrs);
	if (r.bytes)
		verbs_count(calls, recv_bytes, r.bytes);
	if (r.unreadable)
		verbs_count(calls, unreadable, 1);
	if (r.wr)
		verbs_count(calls, lists_cut, 1);
	inside = verbs_enter(VERBS_AT_POST_RECV, qp);
	if (!inside)
		return 0;
	inside->bad = bad;
	inside->from = r.wrs;
	return 0;
}

/* What of a list was refused: from *bad to its end, and not more than was posted. */
static __always_inline void verbs_receives_refused(struct verbs_receives *r, __u64 bad, __u64 posted)
{
	verbs_user(&r->wr, bad);
	verbs_receives_walk(r);
	if (r->wrs > posted)
		r->wrs = posted;
}

static __noinline int verbs_post_recv_done(int rc)
{
	struct verbs_receives r = { .wrs = verbs_zero, .bytes = verbs_zero, .unreadable = verbs_zero };
	struct verbs_call_key key;
	__u64 qp = 0;
	struct verbs_inside *inside = verbs_leave_refused(VERBS_AT_POST_RECV, rc, &qp);
	struct verbs_calls *calls = inside ? verbs_calls_at(qp, &key) : NULL;

	if (!inside || !calls)
		return 0;
	verbs_receives_refused(&r, inside->bad, inside->from);
	if (!r.wrs)
		return 0;
	verbs_count(calls, recv_refused, r.wrs);
	verbs_count(calls, recv_wrs, -r.wrs);
	verbs_count(calls, recv_bytes, -r.bytes);
	return 0;
}

static __always_inline struct verbs_srq_calls *verbs_srq_of(__u64 srq)
{
	struct verbs_queue_key key = { .address = srq, .pid = bpf_get_current_pid_tgid() >> 32 };
	struct verbs_srq_calls *calls = bpf_map_lookup_elem(&verbs_srqs, &key);
	bool made;

	if (calls || !verbs_may_add(key.pid))
		return calls;
	made = !bpf_map_update_elem(&verbs_srqs, &key, &verbs_no_srq, BPF_NOEXIST);
	calls = bpf_map_lookup_elem(&verbs_srqs, &key);
	if (calls && made) {
		calls->since = bpf_ktime_get_ns();
		calls->stranger = 1;
		verbs_added(key.pid);
	}
	return calls;
}

static __noinline int verbs_post_srq_recv(__u64 srq, __u64 wr, __u64 bad)
{
	struct verbs_receives r = { .wr = wr, .wrs = verbs_zero, .bytes = verbs_zero, .unreadable = verbs_zero };
	struct verbs_srq_calls *calls = verbs_srq_of(srq);
	struct verbs_inside *inside;

	if (!calls)
		return 0;
	verbs_receives_walk(&r);
	verbs_add(calls->posts, 1);
	verbs_add(calls->wrs, r.wrs);
	verbs_add(calls->bytes, r.bytes);
	inside = verbs_enter(VERBS_AT_POST_SRQ_RECV, srq);
	if (!inside)
		return 0;
	inside->bad = bad;
	inside->from = r.wrs;
	return 0;
}

static __noinline int verbs_post_srq_recv_done(int rc)
{
	struct verbs_receives r = { .wrs = verbs_zero, .bytes = verbs_zero, .unreadable = verbs_zero };
	__u64 srq = 0;
	struct verbs_inside *inside = verbs_leave_refused(VERBS_AT_POST_SRQ_RECV, rc, &srq);
	struct verbs_srq_calls *calls = inside ? verbs_srq_of(srq) : NULL;

	if (!inside || !calls)
		return 0;
	verbs_receives_refused(&r, inside->bad, inside->from);
	verbs_add(calls->refused, r.wrs);
	verbs_add(calls->wrs, -r.wrs);
	verbs_add(calls->bytes, -r.bytes);
	return 0;
}

/* ---- completions ---- */

/* Looks for the WR of a completion among those that wait. */
struct verbs_seek {
	__u64 id, at, end, wr_id;
	__u64 first; /* number of the first that may be it; ~0: none */
	__u64 found; /* number; ~0: none */
	__u64 steps; /* that may still be made */
	__u32 any;   /* unsignalled ones as well */
	__u32 tries, most;
};

static long verbs_seek_one(__u32 i, struct verbs_seek *s)
{
	struct verbs_wr *wr;

	(void)i;
	if (s->at >= s->end || !s->steps)
		return 1;
	s->steps--;
	wr = verbs_wr_find(s->id, s->at);
	if (!wr) {
		s->at = (s->at / VERBS_BLOCK + 1) * VERBS_BLOCK;
		return 0;
	}
	if (wr->time && (s->any || wr->flags & VERBS_SEND_SIGNALED)) {
		if (s->first == ~0ull)
			s->first = s->at;
		if (wr->wr_id == s->wr_id) {
			s->found = s->at;
			return 1;
		}
		if (++s->tries >= s->most)
			return 1;
	}
	s->at++;
	return 0;
}

static __always_inline void verbs_seek(struct verbs_seek *s, bool any)
{
	s->first = s->found = ~verbs_zero;
	s->tries = verbs_zero;
	s->any = verbs_hide(any);
	s->most = verbs_hide(any ? VERBS_FAILED_AHEAD : VERBS_AHEAD);
	bpf_loop(VERBS_WAITING, verbs_seek_one, s, 0);
}

static __always_inline void verbs_latency(struct verbs_calls *calls, __u64 ns)
{
	__u32 bucket = 0;

	verbs_add(calls->latency_count, 1);
	verbs_add(calls->latency_sum, ns);
	verbs_most(&calls->latency_most, ns);
	for (__u32 bits = 32; bits; bits /= 2) {
		if (ns >> bits) {
			ns >>= bits;
			bucket += bits;
		}
	}
	if (bucket >= VERBS_LATENCY)
		bucket = VERBS_LATENCY - 1;
	verbs_add(calls->latency[bucket], 1);
}

static __always_inline void verbs_request_of(struct verbs_request *to, const struct verbs_wr *wr)
{
	to->wr_id = wr->wr_id;
	to->remote_addr = wr->remote_addr;
	to->bytes = wr->bytes;
	to->rkey = wr->rkey;
	to->opcode = wr->opcode;
}

static __always_inline void verbs_succeeded(struct verbs_calls *calls, const struct verbs_wr *wr, __u64 now)
{
	__u64 end = wr->remote_addr + wr->bytes;

	if (calls->paired && wr->flags & VERBS_SEND_SIGNALED && now > wr->time)
		verbs_latency(calls, now - wr->time);
	if (!verbs_is_rdma(wr->opcode))
		return;
	if (calls->good_request.opcode >= VERBS_OPCODES || calls->good_request.rkey != wr->rkey) {
		calls->good_low = wr->remote_addr;
		calls->good_high = end;
	}
	verbs_request_of(&calls->good_request, wr);
	if (wr->remote_addr < calls->good_low)
		calls->good_low = wr->remote_addr;
	if (end > calls->good_high)
		calls->good_high = end;
}

/* What a completion says. receive: 1, 0, or VERBS_UNKNOWN. opcode: VERBS_UNKNOWN if it was not read. */
struct verbs_completion {
	__u64 wr_id, now;
	__u32 status, opcode, vendor_err, byte_len, receive, error;
	__u64 steps; /* of seeking, for this one and those behind it in the same poll */
};

#define VERBS_UNKNOWN 0xffffffffu

/*
 * The WR with this number does not wait any more. Requests of a QP are completed in order (IBTA 10.8.5): those before it
 * neither, unless another thread has their completion.
 */
static __noinline int verbs_match_done(struct verbs_calls *calls, const struct verbs_seek *s, __u64 head, __u64 number)
{
	struct verbs_wr *wr = calls ? verbs_wr_find(calls->id, number) : NULL;

	if (!calls || !s || !wr)
		return 0;
	wr->time = 0;
	if (number == s->first) {
		verbs_move_head(calls, head, number + 1);
		verbs_step_over(calls);
	}
	return 1;
}

/* Finds the WR and takes it from those that wait. false: it is none of them. */
static __noinline int verbs_match(struct verbs_calls *calls, struct verbs_completion *c)
{
	struct verbs_seek s;
	struct verbs_wr *wr;
	__u64 head;

	if (!calls || !c)
		return 0;
	head = calls->head;
	s.id = calls->id;
	s.at = head;
	s.end = calls->tail;
	s.wr_id = c->wr_id;
	s.steps = c->steps;
	verbs_seek(&s, c->status);
	if (s.first == ~0ull && !calls->sig_all && !calls->count[VERBS_signalled]) {
		/* nothing says that WRs are signalled, and they are completed */
		s.at = head;
		verbs_seek(&s, true);
		if (s.found != ~0ull && s.found == s.first)
			calls->sig_all = 1;
	}
	c->steps = s.steps;
	if (s.found == ~0ull && !s.steps)
		return 0;
	if (s.found == ~0ull && calls->paired && !c->status && s.first != ~0ull) {
		/*
		 * Threads post and poll at the same time, so that two completions may be taken for each other's. Each takes one
		 * WR from those that wait, so that their number is right.
		 */
		verbs_count(calls, mismatched, 1);
		return verbs_match_done(calls, &s, head, s.first);
	}
	wr = s.found != ~0ull ? verbs_wr_find(calls->id, s.found) : NULL;
	if (!wr)
		return 0;
	verbs_count(calls, matched, 1);
	/* a wr_id that only this WR has proves the pair */
	if (!calls->paired && wr->flags & VERBS_WR_OWN_ID && !c->status)
		calls->paired = 1;
	if (!c->status)
		verbs_succeeded(calls, wr, c->now);
	else if (c->error)
		verbs_request_of(&calls->error_request, wr);
	if (s.found != s.first && !c->status)
		verbs_count(calls, mismatched, 1);
	/* Of requests that come to nothing each has a completion; of others those before it may be unsignalled. */
	if (c->status && c->status != VERBS_WC_WR_FLUSH_ERR)
		s.first = s.found;
	return verbs_match_done(calls, &s, head, s.found);
}

/*
 * The first completion that is an error, and the first that is no flush: what comes before it may be flushes of another thread.
 */
static __always_inline bool verbs_is_error(const struct verbs_calls *calls, __u32 status)
{
	if (!status || !calls->error_status)
		return status;
	return calls->error_status == VERBS_WC_WR_FLUSH_ERR && status != VERBS_WC_WR_FLUSH_ERR;
}

static __always_inline void verbs_error(struct verbs_calls *calls, const struct verbs_completion *c)
{
	calls->error_status = c->status;
	calls->error_vendor = c->vendor_err;
	calls->error_time = c->now;
	calls->error_flushes_before = calls->status[VERBS_WC_WR_FLUSH_ERR];
	calls->error_request.opcode = VERBS_OPCODES;
}

static __noinline int verbs_completed(struct verbs_calls *calls, struct verbs_completion *c)
{
	bool matched = false;
	__u32 with_imm;

	if (!calls || !c)
		return 0;
	c->error = verbs_is_error(calls, c->status);
	if (c->error)
		verbs_error(calls, c);
	verbs_add(calls->status[c->status % VERBS_STATUSES], 1);
	if (c->receive != 1)
		matched = verbs_match(calls, c);
	if (c->receive == VERBS_UNKNOWN)
		c->receive = !matched && calls->count[VERBS_recv_wrs] != calls->count[VERBS_recv_completions];
	calls->last_completion = c->now;
	if (c->error)
		calls->error_is_receive = c->receive;
	if (!c->receive) {
		verbs_count(calls, completions, 1);
		if (!matched)
			verbs_count(calls, unmatched, 1);
		if (!c->status && c->opcode != VERBS_UNKNOWN)
			verbs_add(calls->done[c->opcode % VERBS_WC_OPCODES], 1);
		return 0;
	}
	verbs_count(calls, recv_completions, 1);
	if (c->status || c->opcode == VERBS_UNKNOWN)
		return 0;
	with_imm = c->opcode & 1;
	verbs_add(calls->received[with_imm], 1);
	verbs_add(calls->received_bytes[with_imm], c->byte_len);
	return 0;
}

/*
 * Whether it is of a receive. The opcode of a completion that failed is not valid (IBTA 11.4.2.1): then the CQ says so, if
 * requests have another one.
 */
static __always_inline __u32 verbs_is_receive(const struct verbs_calls *calls, __u64 cq, __u32 status, __u32 opcode)
{
	if (!status && opcode != VERBS_UNKNOWN)
		return !!(opcode & VERBS_WC_RECV);
	if (!calls->qp || calls->send_cq == calls->recv_cq)
		return VERBS_UNKNOWN;
	return calls->recv_cq == cq;
}

static __always_inline struct verbs_cq_calls *verbs_cq_of(__u64 cq)
{
	return verbs_cq_at(cq, bpf_get_current_pid_tgid() >> 32, false);
}

static __always_inline int verbs_poll(__u64 cq, int room, __u64 wc)
{
	struct verbs_inside *inside = verbs_enter(VERBS_AT_POLL_CQ, cq);

	if (!inside)
		return 0;
	inside->first = wc;
	inside->room = room > 0 ? room : 0;
	return 0;
}

struct verbs_reap {
	struct verbs_calls *calls;
	struct verbs_call_key key;
	__u64 wc, cq, now;
	__u64 steps; /* of seeking, for the whole poll */
};

static long verbs_reap_one(__u32 i, struct verbs_reap *r)
{
	struct verbs_user_wc wc;
	struct verbs_completion c;

	(void)i;
	if (!verbs_user(&wc, r->wc))
		return 1;
	r->wc += VERBS_WC_SIZE;
	if (!r->calls || r->key.qpn != wc.qp_num) {
		r->key.qpn = wc.qp_num;
		r->calls = verbs_calls_of(&r->key, 0);
		if (!r->calls)
			return 0;
	}
	c.wr_id = wc.wr_id;
	c.now = r->now;
	c.status = wc.status;
	c.opcode = wc.opcode;
	c.vendor_err = wc.vendor_err;
	c.byte_len = wc.byte_len;
	c.receive = verbs_hide(verbs_is_receive(r->calls, r->cq, wc.status, wc.opcode));
	c.steps = r->steps;
	verbs_completed(r->calls, &c);
	r->steps = c.steps;
	return 0;
}

static __noinline int verbs_polled(int rc)
{
	struct verbs_inside *inside = verbs_leave(VERBS_AT_POLL_CQ);
	struct verbs_reap r = { 0 };
	struct verbs_cq_calls *cq;
	__u64 n = rc;

	if (!inside)
		return 0;
	r.cq = inside->object;
	inside->object = 0;
	cq = verbs_cq_of(r.cq);
	if (cq)
		verbs_add(cq->polls, 1);
	if (rc <= 0) {
		if (!rc)
			verbs_cost(VERBS_EMPTY);
		if (cq)
			verbs_add(*(rc ? &cq->failed : &cq->empty), 1);
		return 0;
	}
	if (n > inside->room)
		n = inside->room;
	if (cq) {
		verbs_add(cq->completions, n);
		verbs_most(&cq->batch_most, n);
	}
	r.wc = inside->first;
	if (!verbs_user(&r.key.context, r.cq))
		return 0;
	r.key.pid = bpf_get_current_pid_tgid() >> 32;
	r.now = bpf_ktime_get_ns();
	r.steps = verbs_hide(VERBS_STEPS);
	bpf_loop(n < VERBS_LIST ? n : VERBS_LIST, verbs_reap_one, &r, 0);
	return 0;
}

static __always_inline int verbs_notify(__u64 address)
{
	struct verbs_cq_calls *cq = verbs_cq_of(address);

	if (cq)
		verbs_add(cq->notified, 1);
	return 0;
}

/* ---- extended QPs: struct ibv_qp_ex, whose functions each post a part ---- */

static __always_inline int verbs_wr_start(__u64 qp)
{
	struct verbs_call_key key;
	struct verbs_calls *calls = verbs_calls_at(qp, &key);

	if (calls)
		calls->pending = 0;
	return 0;
}

static __noinline int verbs_wr(__u64 qp, __u32 opcode, __u64 rkey, __u64 remote_addr)
{
	struct verbs_list l = verbs_list(0);
	struct verbs_call_key key;
	struct verbs_user_qp_ex user = { 0 };
	struct verbs_wr wr;

	l.calls = verbs_calls_at(qp, &key);
	if (!l.calls)
		return 0;
	l.wrs = l.of_opcode = verbs_hide(1);
	l.opcode = opcode;
	verbs_user(&user, qp + VERBS_QP_EX_WR_ID);
	wr = (struct verbs_wr){
		.time = l.now,
		.wr_id = user.wr_id,
		.opcode = opcode % VERBS_OPCODES,
		.flags = verbs_flags(&l, user.wr_flags),
		.thread = bpf_get_current_pid_tgid(),
	};
	if (verbs_is_rdma(opcode)) {
		wr.rkey = rkey;
		wr.remote_addr = remote_addr;
	}
	if (user.wr_id != l.calls->last_wr_id)
		wr.flags |= VERBS_WR_OWN_ID;
	l.calls->last_wr_id = user.wr_id;
	l.calls->pending++;
	verbs_remember(l.calls, verbs_number(l.calls, l.now), &wr);
	verbs_list_count(&l);
	return 0;
}

/* More of the newest WR. */
static __noinline int verbs_wr_data(__u64 qp, __u64 sges, __u64 bytes, __u32 inlined)
{
	struct verbs_call_key key;
	struct verbs_calls *calls = verbs_calls_at(qp, &key);
	struct verbs_wr *wr = calls && calls->tail ? verbs_wr_find(calls->id, calls->tail - 1) : NULL;

	if (!calls || !wr)
		return 0;
	if (sges > VERBS_SGES)
		sges = VERBS_SGES;
	wr->sges += sges;
	wr->bytes += bytes;
	if (inlined && !(wr->flags & VERBS_SEND_INLINE)) {
		wr->flags |= VERBS_SEND_INLINE;
		verbs_count(calls, inlined, 1);
	}
	if (sges)
		verbs_count(calls, sges, sges);
	if (bytes)
		verbs_add(calls->bytes[wr->opcode % VERBS_OPCODES], bytes);
	return 0;
}

struct verbs_buffers {
	__u64 list, bytes, left;
};

static long verbs_buffers_one(__u32 i, struct verbs_buffers *b)
{
	__u64 length = 0;

	(void)i;
	if (!b->left || !verbs_user(&length, b->list + VERBS_DATA_BUF_LENGTH))
		return 1;
	b->bytes += length;
	b->list += VERBS_DATA_BUF_SIZE;
	b->left--;
	return 0;
}

static __noinline int verbs_wr_buffers(__u64 qp, __u64 n, __u64 list)
{
	struct verbs_buffers b = { .list = list, .left = n, .bytes = verbs_zero };

	bpf_loop(VERBS_SGES, verbs_buffers_one, &b, 0);
	return verbs_wr_data(qp, n, b.bytes, 1);
}

static __noinline int verbs_wr_complete(__u64 qp)
{
	struct verbs_call_key key;
	struct verbs_calls *calls = verbs_calls_at(qp, &key);
	struct verbs_inside *inside;
	__u64 most;

	if (!calls)
		return 0;
	most = calls->outstanding_most;
	verbs_posted(calls, bpf_ktime_get_ns(), bpf_get_current_pid_tgid());
	verbs_most(&calls->list_most, calls->pending);
	inside = verbs_enter(VERBS_AT_WR_COMPLETE, qp);
	if (!inside)
		return 0;
	inside->to = calls->tail;
	inside->from = calls->tail - calls->pending;
	inside->most = most;
	calls->pending = 0;
	return 0;
}

static __noinline int verbs_wr_complete_done(int rc)
{
	struct verbs_call_key key;
	__u64 qp = 0;
	struct verbs_inside *inside = verbs_leave_refused(VERBS_AT_WR_COMPLETE, rc, &qp);
	struct verbs_calls *calls = inside ? verbs_calls_at(qp, &key) : NULL;

	return inside && calls ? verbs_refused(calls, inside, 0) : 0;
}

static __noinline int verbs_wr_abort(__u64 qp)
{
	struct verbs_call_key key;
	struct verbs_calls *calls = verbs_calls_at(qp, &key);

	if (!calls)
		return 0;
	verbs_count(calls, aborts, 1);
	verbs_take_back(calls, calls->tail - calls->pending, calls->tail, 0);
	calls->pending = 0;
	return 0;
}

/* ---- extended CQs: status and wr_id are in struct ibv_cq_ex, the rest is returned by functions ---- */

static __always_inline struct verbs_reading *verbs_reading_of(bool make)
{
	__u64 key = bpf_get_current_pid_tgid();
	struct verbs_reading *r = bpf_map_lookup_elem(&verbs_readings, &key);

	if (r || !make)
		return r;
	bpf_map_update_elem(&verbs_readings, &key, &verbs_no_reading, BPF_ANY);
	return bpf_map_lookup_elem(&verbs_readings, &key);
}

/* The present completion is read to its end. If its QP was not asked for, the CQ's only one it is. */
static __noinline int verbs_read_done(void)
{
	struct verbs_reading *r = verbs_reading_of(false);
	struct verbs_user_cq_ex user = { 0 };
	struct verbs_call_key key = { 0 };
	struct verbs_completion c;
	struct verbs_calls *calls;

	if (!r || !(r->has & VERBS_HAS_COMPLETION))
		return 0;
	key.pid = bpf_get_current_pid_tgid() >> 32;
	key.qpn = r->has & VERBS_HAS_QPN ? r->qpn : verbs_cq_user(r->cq, key.pid);
	c.opcode = verbs_hide(r->has & VERBS_HAS_OPCODE ? r->opcode : VERBS_UNKNOWN);
	c.vendor_err = r->vendor_err;
	c.byte_len = r->byte_len;
	r->has = r->vendor_err = r->byte_len = 0;
	if (!key.qpn || !verbs_user(&user, r->cq + VERBS_CQ_EX_STATUS) ||
	    !verbs_user(&key.context, r->cq))
		return 0;
	c.wr_id = (__u64)user.wr_id_high << 32 | user.wr_id_low;
	c.now = bpf_ktime_get_ns();
	c.status = user.status;
	c.steps = verbs_hide(VERBS_STEPS);
	calls = verbs_calls_of(&key, 0);
	if (!calls)
		return 0;
	c.receive = verbs_hide(verbs_is_receive(calls, r->cq, c.status, c.opcode));
	return verbs_completed(calls, &c);
}

static __always_inline int verbs_read_begin(__u64 cq, bool first)
{
	struct verbs_reading *r = verbs_reading_of(true);

	if (!first)
		verbs_read_done();
	if (r) {
		r->cq = cq;
		r->has = 0;
	}
	return 0;
}

static __always_inline int verbs_read_begun(int rc, bool first)
{
	struct verbs_reading *r = verbs_reading_of(false);
	struct verbs_cq_calls *cq = r && r->cq ? verbs_cq_of(r->cq) : NULL;

	if (!cq)
		return 0;
	if (first)
		verbs_add(cq->polls, 1);
	if (rc) {
		if (first)
			verbs_add(*(rc == VERBS_ENOENT ? &cq->empty : &cq->failed), 1);
		if (first && rc == VERBS_ENOENT)
			verbs_cost(VERBS_EMPTY);
		return 0;
	}
	verbs_add(cq->completions, 1);
	r->has = VERBS_HAS_COMPLETION;
	return 0;
}

static __always_inline int verbs_read(__u32 at, __u32 value)
{
	struct verbs_reading *r = verbs_reading_of(false);

	if (!r || !(r->has & VERBS_HAS_COMPLETION))
		return 0;
	switch (at) {
	case VERBS_AT_READ_OPCODE:
		r->opcode = value;
		r->has |= VERBS_HAS_OPCODE;
		break;
	case VERBS_AT_READ_QP_NUM:
		r->qpn = value;
		r->has |= VERBS_HAS_QPN;
		break;
	case VERBS_AT_READ_BYTE_LEN:
		r->byte_len = value;
		break;
	default:
		r->vendor_err = value;
	}
	return 0;
}

/* ---- the two programs ---- */

SEC("uprobe")
int verbs_calling(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u64 a = PT_REGS_PARM1(ctx), b = PT_REGS_PARM2(ctx), c = PT_REGS_PARM3(ctx);

	verbs_cost(VERBS_ENTERED);
	switch (cookie & 0xff) {
	case VERBS_AT_POST_SEND:
		return verbs_post_send(a, b, c);
	case VERBS_AT_POST_RECV:
		return verbs_post_recv(a, b, c);
	case VERBS_AT_POST_SRQ_RECV:
		return verbs_post_srq_recv(a, b, c);
	case VERBS_AT_POLL_CQ:
		return verbs_poll(a, b, c);
	case VERBS_AT_REQ_NOTIFY_CQ:
		return verbs_notify(a);
	case VERBS_AT_WR_START:
		return verbs_wr_start(a);
	case VERBS_AT_WR:
		return verbs_wr(a, cookie >> 8, b, c);
	case VERBS_AT_WR_SET_SGE:
		return verbs_wr_data(a, 1, (__u32)PT_REGS_PARM4(ctx), 0);
	case VERBS_AT_WR_SET_SGE_LIST:
		return verbs_wr_data(a, b, verbs_sum(c, b), 0);
	case VERBS_AT_WR_SET_INLINE:
		return verbs_wr_data(a, 1, c, 1);
	case VERBS_AT_WR_SET_INLINE_LIST:
		return verbs_wr_buffers(a, b, c);
	case VERBS_AT_WR_COMPLETE:
		return verbs_wr_complete(a);
	case VERBS_AT_WR_ABORT:
		return verbs_wr_abort(a);
	case VERBS_AT_START_POLL:
		return verbs_read_begin(a, true);
	case VERBS_AT_NEXT_POLL:
		return verbs_read_begin(a, false);
	case VERBS_AT_END_POLL:
		return verbs_read_done();
	default:
		return 0;
	}
}

SEC("uretprobe")
int verbs_called(struct pt_regs *ctx)
{
	__u32 at = bpf_get_attach_cookie(ctx) & 0xff;
	__u64 rc = PT_REGS_RC(ctx);

	verbs_cost(VERBS_LEFT);
	switch (at) {
	case VERBS_AT_POST_SEND:
		return verbs_post_send_done(rc);
	case VERBS_AT_POST_RECV:
		return verbs_post_recv_done(rc);
	case VERBS_AT_POST_SRQ_RECV:
		return verbs_post_srq_recv_done(rc);
	case VERBS_AT_POLL_CQ:
		return verbs_polled(rc);
	case VERBS_AT_WR_COMPLETE:
		return verbs_wr_complete_done(rc);
	case VERBS_AT_START_POLL:
		return verbs_read_begun(rc, true);
	case VERBS_AT_NEXT_POLL:
		return verbs_read_begun(rc, false);
	case VERBS_AT_READ_OPCODE:
	case VERBS_AT_READ_QP_NUM:
	case VERBS_AT_READ_BYTE_LEN:
	case VERBS_AT_READ_VENDOR_ERR:
		return verbs_read(at, rc);
	default:
		return 0;
	}
}

#endif
