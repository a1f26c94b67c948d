/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What bpf/verbs_qps.h uses of the kernel's own structures (include/rdma/ib_verbs.h, restrack.h, linux/sched.h, netdevice.h): their
 * names. CO-RE puts in the offsets of the running kernel. An enum of the kernel must be an enum here too: an integer does not match.
 */
#ifndef BPF_VERBS_KERNEL_H
#define BPF_VERBS_KERNEL_H

#include <linux/types.h>

enum ib_sig_type { IB_SIGNAL_ALL_WR, IB_SIGNAL_REQ_WR };
enum ib_mtu { IB_MTU_256 = 1, IB_MTU_512, IB_MTU_1024, IB_MTU_2048, IB_MTU_4096 };
enum ib_qp_type { IB_QPT_SMI, IB_QPT_GSI, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD };
enum ib_qp_state { IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD, IB_QPS_SQE, IB_QPS_ERR };
enum ib_gid_type { IB_GID_TYPE_IB, IB_GID_TYPE_ROCE, IB_GID_TYPE_ROCE_UDP_ENCAP };
enum ib_event_type { IB_EVENT_CQ_ERR };

enum ib_qp_attr_mask {
	IB_QP_STATE = 1 << 0,
	IB_QP_ACCESS_FLAGS = 1 << 3,
	IB_QP_PORT = 1 << 5,
	IB_QP_AV = 1 << 7,
	IB_QP_PATH_MTU = 1 << 8,
	IB_QP_TIMEOUT = 1 << 9,
	IB_QP_RETRY_CNT = 1 << 10,
	IB_QP_RNR_RETRY = 1 << 11,
	IB_QP_RQ_PSN = 1 << 12,
	IB_QP_MAX_QP_RD_ATOMIC = 1 << 13,
	IB_QP_MIN_RNR_TIMER = 1 << 15,
	IB_QP_SQ_PSN = 1 << 16,
	IB_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	IB_QP_CAP = 1 << 19,
	IB_QP_DEST_QPN = 1 << 20,
};

#define PF_EXITING 0x00000004

struct ib_pd;
struct ib_udata;
struct ib_uqp_object;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	char name[16];
	int ifindex;
	possible_net_t nd_net;
};

struct task_struct {
	unsigned int flags;
	int exit_code;
	int tgid;
};

struct ib_device {
	char name[64];
};

struct rdma_restrack_entry {
	struct task_struct *task;
};

union ib_gid {
	__u8 raw[16];
};

struct ib_gid_attr {
	struct net_device *ndev;
	union ib_gid gid;
	enum ib_gid_type gid_type;
};

struct ib_qp {
	struct ib_device *device;
	void *srq;
	struct ib_qp *real_qp;
	struct ib_uqp_object *uobject;
	const struct ib_gid_attr *av_sgid_attr;
	__u32 qp_num;
	enum ib_qp_type qp_type;
	struct rdma_restrack_entry res;
};

struct ib_qp_cap {
	__u32 max_send_wr, max_recv_wr, max_inline_data;
};

struct ib_global_route {
	union ib_gid dgid;
	__u32 flow_label;
	__u8 sgid_index, hop_limit, traffic_class;
};

struct roce_ah_attr {
	__u8 dmac[6];
};

struct rdma_ah_attr {
	struct ib_global_route grh;
	__u8 sl;
	struct roce_ah_attr roce;
};

struct ib_qp_attr {
	enum ib_qp_state qp_state;
	enum ib_mtu path_mtu;
	__u32 rq_psn, sq_psn, dest_qp_num;
	int qp_access_flags;
	struct ib_qp_cap cap;
	struct rdma_ah_attr ah_attr;
	__u8 max_rd_atomic, max_dest_rd_atomic, min_rnr_timer;
	__u32 port_num;
	__u8 timeout, retry_cnt, rnr_retry;
};

struct ib_qp_init_attr {
	struct ib_qp_cap cap;
	enum ib_sig_type sq_sig_type;
	enum ib_qp_type qp_type;
};

struct ib_event {
	union {
		struct ib_qp *qp;
	} element;
	enum ib_event_type event;
};

#pragma clang attribute pop

#endif
