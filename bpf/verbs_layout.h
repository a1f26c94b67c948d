/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What of <infiniband/verbs.h> is read in a program's memory. Its inline functions have these places compiled into programs, so
 * that they are ABI; they are the same on all 64-bit machines. userspace/observe/verbs/layout.c compares them with the header.
 */
#ifndef BPF_VERBS_LAYOUT_H
#define BPF_VERBS_LAYOUT_H

#include <linux/types.h>

#define VERBS_CONTEXT_DEVICE 0 /* struct ibv_context */
#define VERBS_DEVICE_NAME 24   /* struct ibv_device */

/* The beginning of struct ibv_qp. */
struct verbs_user_qp {
	__u64 context, qp_context, pd, send_cq, recv_cq, srq;
	__u32 handle, qp_num, state, qp_type;
};

#define VERBS_QPS_RTS 3 /* enum ibv_qp_state */

/* struct ibv_qp_ex, from wr_id on. */
#define VERBS_QP_EX_WR_ID 168
struct verbs_user_qp_ex {
	__u64 wr_id;
	__u32 wr_flags, reserved;
};

/* The beginning of struct ibv_send_wr. */
struct verbs_user_wr {
	__u64 wr_id, next, sg_list;
	__u32 num_sge, opcode, send_flags, imm_data;
	__u64 remote_addr;
	__u32 rkey, reserved; /* wr.rdma; of wr.atomic compare_add */
	__u64 swap;
	__u32 atomic_rkey, pad;
};

enum { /* enum ibv_wr_opcode */
	VERBS_WR_WRITE = 0,
	VERBS_WR_WRITE_WITH_IMM = 1,
	VERBS_WR_READ = 4,
	VERBS_WR_CMP_SWAP = 5,
	VERBS_WR_FETCH_ADD = 6,
	VERBS_WR_ATOMIC_WRITE = 15,
};

/* The beginning of struct ibv_recv_wr. */
struct verbs_user_recv_wr {
	__u64 wr_id, next, sg_list;
	__u32 num_sge, reserved;
};

struct verbs_user_sge {
	__u64 addr;
	__u32 length, lkey;
};

#define VERBS_SGE_LENGTH 8
#define VERBS_DATA_BUF_LENGTH 8 /* struct ibv_data_buf */
#define VERBS_DATA_BUF_SIZE 16

/* The beginning of struct ibv_wc. */
struct verbs_user_wc {
	__u64 wr_id;
	__u32 status, opcode, vendor_err, byte_len, imm_data, qp_num;
};

#define VERBS_WC_SIZE 48
#define VERBS_WC_RECV 128	/* enum ibv_wc_opcode: the bit that receives have */
#define VERBS_WC_WR_FLUSH_ERR 5 /* enum ibv_wc_status */

/* struct ibv_cq_ex, from status on. */
#define VERBS_CQ_EX_STATUS 132
struct verbs_user_cq_ex {
	__u32 status, wr_id_low, wr_id_high; /* little-endian machines */
};

#define VERBS_ENOENT 2

#endif
