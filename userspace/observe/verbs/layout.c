// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* bpf/verbs_layout.h, which kernel programs include, against <infiniband/verbs.h>, which they cannot. */
#include <stddef.h>

#include <infiniband/verbs.h>

#include "bpf/verbs_layout.h"

#define SAME(ours, member, theirs, name) \
	_Static_assert(offsetof(struct ours, member) == offsetof(struct theirs, name), #theirs "." #name)

_Static_assert(offsetof(struct ibv_context, device) == VERBS_CONTEXT_DEVICE, "ibv_context");
_Static_assert(offsetof(struct ibv_device, name) == VERBS_DEVICE_NAME, "ibv_device");

SAME(verbs_user_qp, context, ibv_qp, context);
SAME(verbs_user_qp, send_cq, ibv_qp, send_cq);
SAME(verbs_user_qp, recv_cq, ibv_qp, recv_cq);
SAME(verbs_user_qp, qp_num, ibv_qp, qp_num);
SAME(verbs_user_qp, state, ibv_qp, state);
SAME(verbs_user_qp, qp_type, ibv_qp, qp_type);
_Static_assert(IBV_QPS_RTS == VERBS_QPS_RTS, "ibv_qp_state");

_Static_assert(offsetof(struct ibv_qp_ex, wr_id) == VERBS_QP_EX_WR_ID, "ibv_qp_ex.wr_id");
_Static_assert(offsetof(struct ibv_qp_ex, wr_flags) == VERBS_QP_EX_WR_ID + offsetof(struct verbs_user_qp_ex, wr_flags),
	       "ibv_qp_ex.wr_flags");

SAME(verbs_user_wr, wr_id, ibv_send_wr, wr_id);
SAME(verbs_user_wr, next, ibv_send_wr, next);
SAME(verbs_user_wr, sg_list, ibv_send_wr, sg_list);
SAME(verbs_user_wr, num_sge, ibv_send_wr, num_sge);
SAME(verbs_user_wr, opcode, ibv_send_wr, opcode);
SAME(verbs_user_wr, send_flags, ibv_send_wr, send_flags);
SAME(verbs_user_wr, remote_addr, ibv_send_wr, wr.rdma.remote_addr);
SAME(verbs_user_wr, remote_addr, ibv_send_wr, wr.atomic.remote_addr);
SAME(verbs_user_wr, rkey, ibv_send_wr, wr.rdma.rkey);
SAME(verbs_user_wr, atomic_rkey, ibv_send_wr, wr.atomic.rkey);
_Static_assert((int)IBV_WR_RDMA_WRITE == VERBS_WR_WRITE && (int)IBV_WR_RDMA_WRITE_WITH_IMM == VERBS_WR_WRITE_WITH_IMM &&
		       (int)IBV_WR_RDMA_READ == VERBS_WR_READ && (int)IBV_WR_ATOMIC_CMP_AND_SWP == VERBS_WR_CMP_SWAP &&
		       (int)IBV_WR_ATOMIC_FETCH_AND_ADD == VERBS_WR_FETCH_ADD,
	       "ibv_wr_opcode");

SAME(verbs_user_recv_wr, next, ibv_recv_wr, next);
SAME(verbs_user_recv_wr, sg_list, ibv_recv_wr, sg_list);
SAME(verbs_user_recv_wr, num_sge, ibv_recv_wr, num_sge);
SAME(verbs_user_sge, length, ibv_sge, length);
_Static_assert(sizeof(struct verbs_user_sge) == sizeof(struct ibv_sge), "ibv_sge");
_Static_assert(offsetof(struct ibv_sge, length) == VERBS_SGE_LENGTH, "ibv_sge.length");
_Static_assert(sizeof(struct ibv_data_buf) == VERBS_DATA_BUF_SIZE, "ibv_data_buf");
_Static_assert(offsetof(struct ibv_data_buf, length) == VERBS_DATA_BUF_LENGTH, "ibv_data_buf.length");

SAME(verbs_user_wc, wr_id, ibv_wc, wr_id);
SAME(verbs_user_wc, status, ibv_wc, status);
SAME(verbs_user_wc, opcode, ibv_wc, opcode);
SAME(verbs_user_wc, vendor_err, ibv_wc, vendor_err);
SAME(verbs_user_wc, byte_len, ibv_wc, byte_len);
SAME(verbs_user_wc, qp_num, ibv_wc, qp_num);
_Static_assert(sizeof(struct ibv_wc) == VERBS_WC_SIZE, "ibv_wc");
_Static_assert((int)IBV_WC_RECV == VERBS_WC_RECV && (int)IBV_WC_WR_FLUSH_ERR == VERBS_WC_WR_FLUSH_ERR, "ibv_wc");

_Static_assert(offsetof(struct ibv_cq, context) == 0 && offsetof(struct ibv_srq, context) == 0, "where the context is");
_Static_assert(offsetof(struct ibv_cq_ex, context) == 0, "where the context is");
_Static_assert(offsetof(struct ibv_cq_ex, status) == VERBS_CQ_EX_STATUS, "ibv_cq_ex.status");
_Static_assert(offsetof(struct ibv_cq_ex, wr_id) == VERBS_CQ_EX_STATUS + offsetof(struct verbs_user_cq_ex, wr_id_low),
	       "ibv_cq_ex.wr_id");
