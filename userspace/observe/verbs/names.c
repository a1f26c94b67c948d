// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <string.h>

#include "lib/clock.h"
#include "userspace/observe/verbs/verbs.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *name_of(const char *const *names, size_t count, __u32 i)
{
	return i < count && names[i] ? names[i] : "?";
}

/* enum ib_event_type: libibverbs has the same numbers. */
static const char *async_name(__u32 event)
{
	static const char *const names[] = {
		[IBV_EVENT_QP_FATAL] = "QP_FATAL", [IBV_EVENT_QP_REQ_ERR] = "QP_REQ_ERR",
		[IBV_EVENT_QP_ACCESS_ERR] = "QP_ACCESS_ERR", [IBV_EVENT_COMM_EST] = "COMM_EST",
		[IBV_EVENT_SQ_DRAINED] = "SQ_DRAINED", [IBV_EVENT_PATH_MIG] = "PATH_MIG",
		[IBV_EVENT_PATH_MIG_ERR] = "PATH_MIG_ERR", [IBV_EVENT_QP_LAST_WQE_REACHED] = "QP_LAST_WQE_REACHED",
	};

	return name_of(names, ARRAY_SIZE(names), event);
}

const char *verbs_step_name(const struct verbs_step *s)
{
	switch (s->kind) {
	case VERBS_CREATED:
		return "created";
	case VERBS_DESTROYED:
		return "destroyed";
	case VERBS_ASYNC:
		return async_name(s->async_event);
	case VERBS_MODIFIED:
		if (s->error)
			return "refused";
		return s->by_netlink || s->mask & IBV_QP_STATE ? host_state_name(s->state) : "modified";
	}
	return "?";
}

const char *verbs_status_name(__u32 status)
{
	static const char *const names[] = {
		[IBV_WC_SUCCESS] = "SUCCESS", [IBV_WC_LOC_LEN_ERR] = "LOC_LEN_ERR", [IBV_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
		[IBV_WC_LOC_EEC_OP_ERR] = "LOC_EEC_OP_ERR", [IBV_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
		[IBV_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR", [IBV_WC_MW_BIND_ERR] = "MW_BIND_ERR",
		[IBV_WC_BAD_RESP_ERR] = "BAD_RESP_ERR", [IBV_WC_LOC_ACCESS_ERR] = "LOC_ACCESS_ERR",
		[IBV_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR", [IBV_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
		[IBV_WC_REM_OP_ERR] = "REM_OP_ERR", [IBV_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
		[IBV_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR", [IBV_WC_LOC_RDD_VIOL_ERR] = "LOC_RDD_VIOL_ERR",
		[IBV_WC_REM_INV_RD_REQ_ERR] = "REM_INV_RD_REQ_ERR", [IBV_WC_REM_ABORT_ERR] = "REM_ABORT_ERR",
		[IBV_WC_INV_EECN_ERR] = "INV_EECN_ERR", [IBV_WC_INV_EEC_STATE_ERR] = "INV_EEC_STATE_ERR",
		[IBV_WC_FATAL_ERR] = "FATAL_ERR", [IBV_WC_RESP_TIMEOUT_ERR] = "RESP_TIMEOUT_ERR",
		[IBV_WC_GENERAL_ERR] = "GENERAL_ERR", [IBV_WC_TM_ERR] = "TM_ERR",
		[IBV_WC_TM_RNDV_INCOMPLETE] = "TM_RNDV_INCOMPLETE",
	};

	return name_of(names, ARRAY_SIZE(names), status);
}

const char *verbs_opcode_name(__u32 opcode)
{
	static const char *const names[] = {
		[IBV_WR_RDMA_WRITE] = "RDMA_WRITE", [IBV_WR_RDMA_WRITE_WITH_IMM] = "RDMA_WRITE_WITH_IMM", [IBV_WR_SEND] = "SEND",
		[IBV_WR_SEND_WITH_IMM] = "SEND_WITH_IMM", [IBV_WR_RDMA_READ] = "RDMA_READ",
		[IBV_WR_ATOMIC_CMP_AND_SWP] = "ATOMIC_CMP_AND_SWP", [IBV_WR_ATOMIC_FETCH_AND_ADD] = "ATOMIC_FETCH_AND_ADD",
		[IBV_WR_LOCAL_INV] = "LOCAL_INV", [IBV_WR_BIND_MW] = "BIND_MW", [IBV_WR_SEND_WITH_INV] = "SEND_WITH_INV",
		[IBV_WR_TSO] = "TSO", [IBV_WR_DRIVER1] = "DRIVER1", [14] = "FLUSH", [15] = "ATOMIC_WRITE",
	};

	return name_of(names, ARRAY_SIZE(names), opcode);
}

static const char *const gid_types[] = {
	[IB_UVERBS_GID_TYPE_IB] = "IB", [IB_UVERBS_GID_TYPE_ROCE_V1] = "RoCEv1", [IB_UVERBS_GID_TYPE_ROCE_V2] = "RoCEv2",
};

const char *verbs_gid_type_name(__u8 type)
{
	return name_of(gid_types, ARRAY_SIZE(gid_types), type);
}

__u8 verbs_gid_type_of(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(gid_types); i++)
		if (!strcmp(name, gid_types[i]))
			return i;
	return 0;
}

/* ---- times ---- */

/*
 * IBTA 9.7.6.1.3: Ttr = 4.096 us * 2^timeout; a requester has to notice between Ttr and four times that. What is reported of drivers
 * (never measured here but rxe): NVIDIA's adapters wait no shorter than a floor of their own, and with adaptive retransmission longer
 * from try to try.
 */
__u64 verbs_timeout_ns(const struct verbs_attributes *a)
{
	return a->timeout ? 4096ull << (a->timeout & 31) : 0;
}

/*
 * The first try and `retry_cnt` others, each after the shortest time. rxe with retry_cnt 7 never gives up (rxe_comp.c,
 * COMPST_ERROR_RETRY), although the specification gives 7 no such meaning: it has that of rnr_retry only.
 */
__u64 verbs_gives_up_ns(const struct verbs_attributes *a)
{
	return verbs_timeout_ns(a) * (a->retry_cnt + 1);
}

__u64 verbs_rnr_ns(__u8 timer)
{
	static const __u32 tens_of_us[32] = { 65536, 1,	  2,	3,    4,    6,	  8,	12,   16,   24,	  32,	48,   64,   96,	  128,	 192,
					      256,   384, 512,	768,  1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152 };

	return tens_of_us[timer & 31] * 10 * NSEC_PER_USEC;
}
