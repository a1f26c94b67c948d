// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lines of the control connection, and of --tell, of any bytes: what is taken is in its ranges, and is written and read back the
 * same; what is refused has a reason that a terminal can show. Input: a line.
 */
#include <stdbool.h>

#include "lib/rdma_end.h"
#include "tests/fuzz/must.h"
#include "userspace/observe/model/endpoint.h"

static void check_words(const char *why)
{
	must(*why && strlen(why) < CONTROL_WHY);
	for (; *why; why++)
		must((unsigned char)*why >= 0x20 && *why != 0x7f && !(*why == '\xc2' && (unsigned char)why[1] < 0xa0));
}

static void check_ranges(const struct rdma_end *end)
{
	must(rdma_service_knows(end->service, end->operation));
	must(end->size && end->size <= UINT32_MAX && end->flows && end->flows <= RDMA_FLOWS_MAX);
	must(end->path_mtu >= 256 && end->path_mtu <= 4096 && !(end->path_mtu & (end->path_mtu - 1)));
	must(!end->sample_every == !end->sample_slots);
	must(end->operation != RDMA_READ || (end->reads.window && end->reads.limit && end->reads.duration >= 0));
	for (unsigned int i = 0; i < end->flows; i++)
		must(end->qp[i].qpn <= 0xffffff && end->qp[i].psn <= 0xffffff);
}

static void check_end(const struct rdma_end *end)
{
	json_t *message = rdma_end_json(end), *again;
	char *text = json_dumps(message, JSON_COMPACT), why[CONTROL_WHY];
	struct rdma_end back;

	check_ranges(end);
	json_decref(message);
	message = control_parse(text, strlen(text), why);
	must(message && rdma_end_parse(message, &back, why));
	again = rdma_end_json(&back);
	must(json_equal(message, again));
	rdma_end_free(&back);
	json_decref(again);
	json_decref(message);
	free(text);
}

static void check_told(const json_t *message)
{
	char why[CONTROL_WHY];
	struct endpoint t;

	if (!endpoint_parse(message, &t, why)) {
		check_words(why);
		return;
	}
	check_ranges(&t.end);
	must(t.regions && (t.regions <= RECEIVE_REGIONS || t.regions <= t.end.flows));
	must(t.receive_bytes <= RESPONDER_DMA_MAX || t.receive_bytes == ENDPOINT_UNKNOWN);
	for (__u32 i = 0; i < t.regions; i++) {
		const struct roce_region *r = &t.region[i];

		must(r->bytes && r->index < t.regions && r->va <= UINT64_MAX - (r->bytes - 1));
		must(endpoint_region(&t, r->rkey) == r);
	}
	for (unsigned int i = 0; i < t.end.flows; i++)
		must(endpoint_qp(&t, t.end.qp[i].qpn)->qpn == t.end.qp[i].qpn);
	endpoint_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[CONTROL_WHY] = "";
	json_t *message = control_parse((const char *)data, size, why);
	struct rdma_totals totals[2];
	struct rdma_end end;
	uint64_t ns;

	if (!message) {
		check_words(why);
		return 0;
	}
	must(json_is_object(message));
	if (control_refused(message, why) && *why)
		check_words(why);
	if (rdma_end_parse(message, &end, why)) {
		check_end(&end);
		rdma_end_free(&end);
	} else {
		check_words(why);
	}
	check_told(message);
	if (rdma_totals_parse(message, totals, 2, &ns, why))
		must(totals[0].completed <= totals[0].packets && totals[1].completed <= totals[1].packets && ns <= INT64_MAX);
	else
		check_words(why);
	json_decref(message);
	return 0;
}
