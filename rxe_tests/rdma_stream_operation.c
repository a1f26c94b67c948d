// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "rxe_tests/rdma_stream.h"

#define WRITE_REGION	(4u << 20)
#define MAX_WRITE_SLOTS	64
#define MAX_BUFFERS	(64u << 20)	/* bytes */

/* In the order of enum rdma_operation, which begins with RDMA_USUAL. */
const char *const rdma_operation_names[] = { "write-imm", "write", "send", "send-imm", "read", NULL };

const char *rdma_operation_name(enum rdma_operation operation)
{
	return rdma_operation_names[operation - 1];
}

enum rdma_operation rdma_operation_named(const char *name)
{
	for (int i = 0; rdma_operation_names[i]; i++)
		if (!strcmp(name, rdma_operation_names[i]))
			return i + 1;
	return RDMA_USUAL;
}

enum rdma_operation rdma_usual_operation(enum ibv_qp_type service)
{
	return service == IBV_QPT_UD ? RDMA_SEND : RDMA_WRITE_IMM;
}

bool rdma_service_knows(enum ibv_qp_type service, enum rdma_operation operation)
{
	if (operation == RDMA_USUAL)
		return false;
	if (service == IBV_QPT_UD)
		return operation == RDMA_SEND;
	return service == IBV_QPT_RC || operation != RDMA_READ;
}

unsigned int rdma_write_slots(uint64_t size)
{
	uint64_t slots = WRITE_REGION / size;

	return slots < 1 ? 1 : slots > MAX_WRITE_SLOTS ? MAX_WRITE_SLOTS : slots;
}

uint64_t rdma_slot(const struct rdma_end *receiver, uint64_t message)
{
	unsigned int slots = rdma_write_slots(receiver->size), every = receiver->sample_every;

	if (every && message % every == 0)
		return slots + message / every % receiver->sample_slots;
	return message % slots;
}

uint64_t rdma_slots(const struct rdma_end *receiver)
{
	return rdma_write_slots(receiver->size) + receiver->sample_slots;
}

unsigned int rdma_buffers(uint64_t size, unsigned int wanted)
{
	uint64_t room = MAX_BUFFERS / size;

	return wanted < room ? wanted : room < 2 ? 2 : room;
}
