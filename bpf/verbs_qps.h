/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * QPs as the kernel knows them: at functions of ib_core and ib_uverbs, none of which is in a data path. The map `verbs_qps` is
 * complete with nobody reading; `verbs_changes` tells what changed. Each program works without the others: user space switches off
 * those whose function this kernel does not have.
 */
#ifndef BPF_VERBS_QPS_H
#define BPF_VERBS_QPS_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/map.h"
#include "bpf/verbs_abi.h"
#include "bpf/verbs_kernel.h"

#define VERBS_CHANGES (1 << 21) /* bytes: some 5000 changes that nobody has read yet */

/* Kept while its QP exists. The calls look it up when they meet a QP; without the kernel's half it is empty. */
MAP(verbs_births, HASH, struct verbs_birth_key, struct verbs_birth, VERBS_QPS, BPF_F_NO_PREALLOC);
MAP(verbs_qps, HASH, struct verbs_qp_key, struct verbs_kernel_qp, VERBS_QPS, BPF_F_NO_PREALLOC);
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, VERBS_CHANGES);
} verbs_changes SEC(".maps");

struct verbs_dying {
	struct verbs_qp_key key;
	struct verbs_birth_key birth_key;
	__u64 born; /* of struct verbs_kernel_qp */
};

/* Those that are being destroyed, by the address of their struct ib_qp: the kernel may still refuse it (EBUSY). */
MAP(verbs_dying, HASH, __u64, struct verbs_dying, 4096, BPF_F_NO_PREALLOC);

/* Set before loading: our process, as its own PID namespace calls it, and its namespaces. */
const volatile __u64 verbs_pid_device, verbs_pid_inode;
const volatile __u32 verbs_self, verbs_net_inode;

__u64 verbs_lost;   /* changes for which the ring had no room */
__u64 verbs_full;   /* QPs for which the map had no room */
__u32 verbs_round;  /* of our queries; user space counts it up */

static const struct verbs_kernel_qp verbs_unknown_qp;

/* device: of VERBS_COMM bytes, all zero behind its end. NULL: unknown to the kernel's half. */
static __always_inline const struct verbs_birth *verbs_birth_of(const char *device, __u32 pid, __u32 qpn)
{
	struct verbs_birth_key key = { .pid = pid, .qpn = qpn };

	__builtin_memcpy(key.device, device, sizeof(key.device));
	return bpf_map_lookup_elem(&verbs_births, &key);
}

/* ---- what a QP is ---- */

static __always_inline void verbs_read_key(struct verbs_qp_key *key, const struct ib_qp *qp)
{
	*key = (struct verbs_qp_key){ .device = (__u64)BPF_CORE_READ(qp, device), .qpn = BPF_CORE_READ(qp, qp_num) };
}

static __always_inline void verbs_birth_key_of(struct verbs_birth_key *key, const struct verbs_kernel_qp *v, __u32 qpn)
{
	*key = (struct verbs_birth_key){ .pid = v->pid, .qpn = qpn };
	__builtin_memcpy(key->device, v->device, sizeof(key->device) - 1);
}

/* Its entry, made if there is none. NULL: the map is full. */
static __always_inline struct verbs_kernel_qp *verbs_known_qp(const struct verbs_qp_key *key, const struct ib_qp *qp)
{
	struct verbs_kernel_qp *v = bpf_map_lookup_elem(&verbs_qps, key);
	const struct ib_device *device;
	const struct task_struct *task;

	if (v)
		return v;
	bpf_map_update_elem(&verbs_qps, key, &verbs_unknown_qp, BPF_NOEXIST);
	v = bpf_map_lookup_elem(&verbs_qps, key);
	if (!v) {
		__sync_fetch_and_add(&verbs_full, 1);
		return NULL;
	}
	device = BPF_CORE_READ(qp, device);
	bpf_core_read_str(v->device, sizeof(v->device), &device->name);
	v->attributes.type = BPF_CORE_READ(qp, qp_type);
	v->attributes.is_user = !!BPF_CORE_READ(qp, uobject);
	v->attributes.has_srq = !!BPF_CORE_READ(qp, srq);
	task = BPF_CORE_READ(qp, res.task);
	if (task && v->attributes.is_user)
		v->pid = BPF_CORE_READ(task, tgid);
	return v;
}

static __always_inline void verbs_take_capabilities(struct verbs_attributes *a, const struct ib_qp_init_attr *init)
{
	a->sq_sig_all = BPF_CORE_READ(init, sq_sig_type) == IB_SIGNAL_ALL_WR;
	a->known |= VERBS_KNOWS_CAPABILITIES;
}

static __always_inline void verbs_take_asked(struct verbs_attributes *a, const struct ib_qp_cap *cap)
{
	a->asked_send_wr = BPF_CORE_READ(cap, max_send_wr);
	a->asked_recv_wr = BPF_CORE_READ(cap, max_recv_wr);
	a->asked_inline = BPF_CORE_READ(cap, max_inline_data);
	a->known |= VERBS_KNOWS_ASKED;
}

/*
 * Where the queues are made in user space drivers leave it to the library to say how long they are, and tell 0: mlx5 does so of the
 * send queue alone.
 */
static __always_inline void verbs_take_limits(struct verbs_attributes *a, const struct ib_qp_cap *cap)
{
	a->max_send_wr = BPF_CORE_READ(cap, max_send_wr);
	a->max_recv_wr = BPF_CORE_READ(cap, max_recv_wr);
	a->max_inline = BPF_CORE_READ(cap, max_inline_data);
	if (a->max_send_wr)
		a->known |= VERBS_KNOWS_LIMITS;
}

static __always_inline void verbs_take_interface(struct verbs_attributes *a, const struct net_device *d)
{
	a->ifindex = 0;
	a->interface[0] = 0;
	if (!d)
		return;
	bpf_core_read_str(a->interface, sizeof(a->interface), &d->name);
	if (!bpf_core_field_exists(d->nd_net.net) || BPF_CORE_READ(d, nd_net.net, ns.inum) == verbs_net_inode)
		a->ifindex = BPF_CORE_READ(d, ifindex);
}

/* The address vector's own sgid_attr is set only while the driver is called; the QP's stays. */
static __always_inline void verbs_take_path(struct verbs_attributes *a, const struct ib_qp *qp, const struct ib_qp_attr *from)
{
	const struct ib_gid_attr *gid = BPF_CORE_READ(qp, av_sgid_attr);

	a->sl = BPF_CORE_READ(from, ah_attr.sl);
	a->tclass = BPF_CORE_READ(from, ah_attr.grh.traffic_class);
	a->flow_label = BPF_CORE_READ(from, ah_attr.grh.flow_label);
	a->hop_limit = BPF_CORE_READ(from, ah_attr.grh.hop_limit);
	a->sgid_index = BPF_CORE_READ(from, ah_attr.grh.sgid_index);
	bpf_core_read(a->dgid, sizeof(a->dgid), &from->ah_attr.grh.dgid);
	if (gid) {
		bpf_core_read(a->sgid, sizeof(a->sgid), &gid->gid);
		a->gid_type = BPF_CORE_READ(gid, gid_type);
		verbs_take_interface(a, BPF_CORE_READ(gid, ndev));
	}
	a->known |= VERBS_KNOWS_PATH;
}

static __always_inline void verbs_take_requester(struct verbs_attributes *a, const struct ib_qp_attr *from, __u32 mask)
{
	if (mask & IB_QP_TIMEOUT) {
		a->timeout = BPF_CORE_READ(from, timeout);
		a->known |= VERBS_KNOWS_TIMEOUT;
	}
	if (mask & IB_QP_RETRY_CNT)
		a->retry_cnt = BPF_CORE_READ(from, retry_cnt);
	if (mask & IB_QP_RNR_RETRY)
		a->rnr_retry = BPF_CORE_READ(from, rnr_retry);
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		a->max_rd_atomic = BPF_CORE_READ(from, max_rd_atomic);
	if (mask & IB_QP_SQ_PSN) {
		a->sq_psn_first = BPF_CORE_READ(from, sq_psn) & 0xffffff;
		a->known |= VERBS_KNOWS_SQ_PSN;
	}
}

static __always_inline void verbs_take_responder(struct verbs_attributes *a, const struct ib_qp_attr *from, __u32 mask)
{
	if (mask & IB_QP_MIN_RNR_TIMER) {
		a->min_rnr_timer = BPF_CORE_READ(from, min_rnr_timer);
		a->known |= VERBS_KNOWS_RESPONDER;
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		a->max_dest_rd_atomic = BPF_CORE_READ(from, max_dest_rd_atomic);
	if (mask & IB_QP_RQ_PSN) {
		a->rq_psn_first = BPF_CORE_READ(from, rq_psn) & 0xffffff;
		a->known |= VERBS_KNOWS_RQ_PSN;
	}
	if (mask & IB_QP_ACCESS_FLAGS) {
		a->access = BPF_CORE_READ(from, qp_access_flags);
		a->known |= VERBS_KNOWS_ACCESS;
	}
}

/* mask: which members of `from` are meant. */
static __always_inline void verbs_take(struct verbs_attributes *a, const struct ib_qp *qp, const struct ib_qp_attr *from, __u32 mask)
{
	__u32 mtu = BPF_CORE_READ(from, path_mtu);

	if (mask & IB_QP_AV)
		verbs_take_path(a, qp, from);
	if (mask & IB_QP_PATH_MTU && mtu >= IB_MTU_256 && mtu <= IB_MTU_4096) {
		a->path_mtu = 128u << (mtu & 7);
		a->known |= VERBS_KNOWS_MTU;
	}
	if (mask & IB_QP_DEST_QPN)
		a->peer_qpn = BPF_CORE_READ(from, dest_qp_num);
	if (mask & IB_QP_PORT)
		a->port = BPF_CORE_READ_BITFIELD_PROBED(from, port_num);
	verbs_take_requester(a, from, mask);
	verbs_take_responder(a, from, mask);
}

/* RESET forgets everything but what the QP was created with. */
static __always_inline void verbs_forget(struct verbs_attributes *a)
{
	struct verbs_attributes kept = {
		.known = a->known & (VERBS_KNOWS_CAPABILITIES | VERBS_KNOWS_LIMITS | VERBS_KNOWS_ASKED), .type = a->type,
		.max_send_wr = a->max_send_wr, .max_recv_wr = a->max_recv_wr, .max_inline = a->max_inline,
		.asked_send_wr = a->asked_send_wr, .asked_recv_wr = a->asked_recv_wr, .asked_inline = a->asked_inline,
		.sq_sig_all = a->sq_sig_all, .has_srq = a->has_srq, .is_user = a->is_user,
	};

	*a = kept;
}

static __always_inline void verbs_set_state(struct verbs_kernel_qp *v, __u32 state)
{
	if (v->attributes.state == state)
		return;
	v->attributes.state = state;
	v->state_since = bpf_ktime_get_ns();
}

/* ---- what changes ---- */

static __always_inline struct verbs_change *verbs_tell(enum verbs_change_kind kind, const struct verbs_kernel_qp *v, __u32 qpn,
						       __u32 state_before)
{
	struct verbs_change *c = bpf_ringbuf_reserve(&verbs_changes, sizeof(*c), 0);
	__u64 caller = bpf_get_current_pid_tgid();

	if (!c) {
		__sync_fetch_and_add(&verbs_lost, 1);
		return NULL;
	}
	__builtin_memset(c, 0, sizeof(*c));
	c->time = bpf_ktime_get_ns();
	c->born = v->born;
	c->lost = verbs_lost;
	c->kind = kind;
	c->pid = caller >> 32;
	c->tid = caller;
	c->owner = v->pid;
	c->qpn = qpn;
	c->state_before = state_before;
	bpf_get_current_comm(c->comm, sizeof(c->comm));
	__builtin_memcpy(c->device, v->device, sizeof(c->device));
	return c;
}

static __always_inline void verbs_submit(struct verbs_change *c, const struct verbs_kernel_qp *v)
{
	c->attributes = v->attributes;
	bpf_ringbuf_submit(c, 0);
}

/* caller: who a QP of the kernel itself is for; NULL: it is a process's. */
static __always_inline void verbs_created(const struct ib_qp *qp, const struct ib_qp_init_attr *init, const char *caller)
{
	struct verbs_birth birth = { .born = bpf_ktime_get_ns() };
	struct verbs_birth_key birth_key;
	struct verbs_kernel_qp *v;
	struct verbs_qp_key key;
	struct verbs_change *c;

	if ((__u64)qp >= -4095ull || !qp) /* IS_ERR() */
		return;
	verbs_read_key(&key, qp);
	bpf_map_delete_elem(&verbs_qps, &key); /* one that was destroyed where no program of ours is */
	v = verbs_known_qp(&key, qp);
	if (!v)
		return;
	v->born = v->state_since = birth.born;
	v->query = verbs_round ?: 1;
	verbs_take_capabilities(&v->attributes, init);
	verbs_take_asked(&v->attributes, &init->cap);
	birth.sig_all = v->attributes.sq_sig_all ? 1 : 2;
	verbs_birth_key_of(&birth_key, v, key.qpn);
	if (v->pid)
		bpf_map_update_elem(&verbs_births, &birth_key, &birth, BPF_ANY);
	c = verbs_tell(VERBS_CREATED, v, key.qpn, IB_QPS_RESET);
	if (!c)
		return;
	if (!v->pid && caller)
		bpf_probe_read_kernel_str(c->comm, sizeof(c->comm), caller);
	verbs_submit(c, v);
}

static __always_inline void verbs_take_modification(struct verbs_kernel_qp *v, const struct ib_qp *qp, const struct ib_qp_attr *from,
						    __u32 mask)
{
	struct verbs_attributes *a = &v->attributes;
	__u32 state = BPF_CORE_READ(from, qp_state);

	if (mask & IB_QP_STATE && state == IB_QPS_RESET)
		verbs_forget(a);
	verbs_take(a, qp, from, mask);
	if (mask & IB_QP_AV) {
		bpf_core_read(a->dmac, sizeof(a->dmac), &from->ah_attr.roce.dmac);
		a->known |= VERBS_KNOWS_DMAC;
	}
	if (mask & IB_QP_CAP) /* the next query tells what became of it */
		a->known &= ~VERBS_KNOWS_LIMITS;
	if (mask & IB_QP_STATE)
		verbs_set_state(v, state);
}

static __always_inline void verbs_modified(const struct ib_qp *qp, const struct ib_qp_attr *from, __u32 mask, int error)
{
	struct verbs_kernel_qp *v;
	struct verbs_qp_key key;
	struct verbs_change *c;
	__u32 before;

	qp = BPF_CORE_READ(qp, real_qp); /* an XRC QP may be opened several times */
	verbs_read_key(&key, qp);
	v = verbs_known_qp(&key, qp);
	if (!v)
		return;
	before = v->attributes.state;
	if (!error)
		verbs_take_modification(v, qp, from, mask);
	c = verbs_tell(VERBS_MODIFIED, v, key.qpn, before); /* only now: 6.1 does not see that a check of it was done before */
	if (!c)
		return;
	c->mask = mask;
	c->error = error;
	verbs_submit(c, v);
}

SEC("fexit/ib_create_qp_user")
int BPF_PROG(verbs_create_user, struct ib_device *device, struct ib_pd *pd, struct ib_qp_init_attr *init, struct ib_udata *udata,
	     struct ib_uqp_object *object, const char *caller, struct ib_qp *qp)
{
	verbs_created(qp, init, caller);
	return 0;
}

SEC("fexit/ib_create_qp_kernel")
int BPF_PROG(verbs_create_kernel, struct ib_pd *pd, struct ib_qp_init_attr *init, const char *caller, struct ib_qp *qp)
{
	verbs_created(qp, init, caller);
	return 0;
}

SEC("fexit/ib_modify_qp_with_udata")
int BPF_PROG(verbs_modify_user, struct ib_qp *qp, struct ib_qp_attr *from, int mask, struct ib_udata *udata, int error)
{
	verbs_modified(qp, from, mask, error);
	return 0;
}

SEC("fexit/ib_modify_qp")
int BPF_PROG(verbs_modify_kernel, struct ib_qp *qp, struct ib_qp_attr *from, int mask, int error)
{
	verbs_modified(qp, from, mask, error);
	return 0;
}

/* Also when a process is killed: the kernel then destroys what was its own. */
SEC("fentry/ib_destroy_qp_user")
int BPF_PROG(verbs_destroy_begin, struct ib_qp *qp)
{
	struct verbs_dying dying = { 0 };
	const struct verbs_kernel_qp *v;
	__u64 address = (__u64)qp;

	if (BPF_CORE_READ(qp, real_qp) != qp)
		return 0;
	verbs_read_key(&dying.key, qp);
	v = bpf_map_lookup_elem(&verbs_qps, &dying.key);
	if (!v)
		return 0;
	dying.born = v->born;
	verbs_birth_key_of(&dying.birth_key, v, dying.key.qpn);
	bpf_map_update_elem(&verbs_dying, &address, &dying, BPF_ANY);
	return 0;
}

static __always_inline void verbs_tell_destroyed(const struct verbs_kernel_qp *v, __u32 qpn)
{
	const struct task_struct *task = (const struct task_struct *)bpf_get_current_task();
	struct verbs_change *c = verbs_tell(VERBS_DESTROYED, v, qpn, v->attributes.state);

	if (!c)
		return;
	c->exiting = !!(BPF_CORE_READ(task, flags) & PF_EXITING);
	if (c->exiting)
		c->signal = BPF_CORE_READ(task, exit_code) & 0x7f;
	verbs_submit(c, v);
}

/*
 * The driver has given the number back, and another CPU may have made a QP of it since: what is in the maps may be that one's. It
 * has another time of birth. When it was made, that also told that the old one is gone.
 */
static __always_inline void verbs_destroyed(const struct verbs_dying *dying)
{
	const struct verbs_birth *birth = bpf_map_lookup_elem(&verbs_births, &dying->birth_key);
	struct verbs_kernel_qp *v = bpf_map_lookup_elem(&verbs_qps, &dying->key);

	if (birth && birth->born == dying->born)
		bpf_map_delete_elem(&verbs_births, &dying->birth_key);
	if (!v || v->born != dying->born)
		return;
	verbs_tell_destroyed(v, dying->key.qpn);
	bpf_map_delete_elem(&verbs_qps, &dying->key);
}

SEC("fexit/ib_destroy_qp_user")
int BPF_PROG(verbs_destroy_end, struct ib_qp *qp, struct ib_udata *udata, int error)
{
	__u64 address = (__u64)qp;
	const struct verbs_dying *found = bpf_map_lookup_elem(&verbs_dying, &address);
	struct verbs_dying dying;

	if (!found)
		return 0;
	dying = *found;
	bpf_map_delete_elem(&verbs_dying, &address);
	if (!error)
		verbs_destroyed(&dying);
	return 0;
}

/* event: of libibverbs' ibv_get_async_event(), as the driver reports it, before anybody has asked. */
SEC("fentry/ib_uverbs_qp_event_handler")
int BPF_PROG(verbs_async, struct ib_event *event)
{
	struct ib_qp *qp = BPF_CORE_READ(event, element.qp);
	struct verbs_kernel_qp *v;
	struct verbs_qp_key key;
	struct verbs_change *c;

	qp = BPF_CORE_READ(qp, real_qp);
	verbs_read_key(&key, qp);
	v = verbs_known_qp(&key, qp);
	c = v ? verbs_tell(VERBS_ASYNC, v, key.qpn, v->attributes.state) : NULL;
	if (!c)
		return 0;
	c->async_event = BPF_CORE_READ(event, event);
	c->pid = c->tid = 0; /* whoever was interrupted */
	c->comm[0] = 0;
	verbs_submit(c, v);
	return 0;
}

/* ---- QPs that are older than us ---- */

static __always_inline bool verbs_is_self(void)
{
	struct bpf_pidns_info info;

	return !bpf_get_ns_current_pid_tgid(verbs_pid_device, verbs_pid_inode, &info, sizeof(info)) && info.tgid == verbs_self;
}

/* What a query tells of a QP in this state, as the mask of a modification. Drivers fill in all members, used or not. */
static __always_inline __u32 verbs_told(const struct ib_qp *qp, const struct ib_qp_attr *from)
{
	__u32 state = BPF_CORE_READ(from, qp_state), type = BPF_CORE_READ(qp, qp_type), mask = 0;

	if (state == IB_QPS_RESET)
		return 0;
	mask |= IB_QP_PORT | IB_QP_ACCESS_FLAGS;
	if (!BPF_CORE_READ(qp, av_sgid_attr)) /* not yet RTR, or UD */
		return mask;
	mask |= IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN;
	if (type == IB_QPT_UC)
		return mask;
	mask |= IB_QP_MIN_RNR_TIMER | IB_QP_MAX_DEST_RD_ATOMIC;
	if (state == IB_QPS_INIT || state == IB_QPS_RTR)
		return mask;
	if (state == IB_QPS_ERR && !BPF_CORE_READ(from, timeout) && !BPF_CORE_READ(from, retry_cnt)) /* it never was RTS */
		return mask;
	return mask | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
}

/* What a modification has told is better: there, dmac and the PSNs are in it. */
static __always_inline __u32 verbs_not_known(const struct verbs_attributes *a)
{
	__u32 known = a->known, mask = 0;

	mask |= known & VERBS_KNOWS_PATH ? 0 : IB_QP_AV | IB_QP_DEST_QPN;
	mask |= known & VERBS_KNOWS_MTU ? 0 : IB_QP_PATH_MTU;
	mask |= known & VERBS_KNOWS_TIMEOUT ? 0 : IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
	mask |= known & VERBS_KNOWS_RESPONDER ? 0 : IB_QP_MIN_RNR_TIMER | IB_QP_MAX_DEST_RD_ATOMIC;
	mask |= known & VERBS_KNOWS_ACCESS ? 0 : IB_QP_ACCESS_FLAGS;
	return mask | (a->port ? 0 : IB_QP_PORT);
}

/* RDMA netlink makes the kernel query each QP that it lists (nldev.c, fill_res_qp_entry()). */
SEC("fexit/ib_query_qp")
int BPF_PROG(verbs_query, struct ib_qp *qp, struct ib_qp_attr *from, int mask, struct ib_qp_init_attr *init, int error)
{
	struct verbs_birth_key birth_key;
	struct verbs_birth birth = { 0 };
	struct verbs_kernel_qp *v;
	struct verbs_qp_key key;

	if (error || !verbs_is_self())
		return 0;
	qp = BPF_CORE_READ(qp, real_qp);
	verbs_read_key(&key, qp);
	v = verbs_known_qp(&key, qp);
	if (!v)
		return 0;
	verbs_take(&v->attributes, qp, from, verbs_told(qp, from) & verbs_not_known(&v->attributes));
	if (!v->query) /* since when it has been in its state, nobody knows */
		v->attributes.state = BPF_CORE_READ(from, qp_state);
	verbs_set_state(v, BPF_CORE_READ(from, qp_state));
	v->query = verbs_round;
	if (!(v->attributes.known & VERBS_KNOWS_LIMITS))
		verbs_take_limits(&v->attributes, &from->cap);
	if (v->attributes.known & VERBS_KNOWS_CAPABILITIES)
		return 0;
	verbs_take_capabilities(&v->attributes, init);
	birth.sig_all = v->attributes.sq_sig_all ? 1 : 2;
	verbs_birth_key_of(&birth_key, v, key.qpn);
	if (v->pid)
		bpf_map_update_elem(&verbs_births, &birth_key, &birth, BPF_NOEXIST);
	return 0;
}

#endif
