// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/rdma_end.h"

#define WRITE_REGION	(4u << 20)	/* bytes, of a QP */
#define WRITE_MEMORY	(256u << 20)	/* bytes, of all QPs */
#define MAX_WRITE_SLOTS	64
#define MAX_SAMPLES	(1 << 24)
#define MAX_WINDOW	65536
#define MAX_RATE	1e18
#define MAX_SECONDS	1e9

/* ---- services and operations ---- */

/* In the order of enum rdma_service, which begins with 1. */
const char *const rdma_service_names[] = { "rc", "uc", "ud", "xrc", NULL };

/* In the order of enum rdma_operation, which begins with RDMA_USUAL. */
const char *const rdma_operation_names[] = { "write-imm", "write", "send", "send-imm", "read", "fetch-add", "compare-swap",
					       NULL };

/* From 1. 0: it is none of the names. */
static int place_of(const char *name, const char *const *names)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(name, names[i]))
			return i + 1;
	return 0;
}

const char *rdma_service_name(enum rdma_service service)
{
	return rdma_service_names[service ? service - 1 : 0];
}

const char *rdma_operation_name(enum rdma_operation operation)
{
	return rdma_operation_names[operation - 1];
}

enum rdma_operation rdma_operation_named(const char *name)
{
	return place_of(name, rdma_operation_names);
}

enum rdma_operation rdma_usual_operation(enum rdma_service service)
{
	return service == RDMA_UD ? RDMA_SEND : RDMA_WRITE_IMM;
}

bool rdma_service_knows(enum rdma_service service, enum rdma_operation operation)
{
	if (operation == RDMA_USUAL)
		return false;
	if (service == RDMA_UD)
		return operation == RDMA_SEND;
	return service != RDMA_UC || operation < RDMA_READ;
}

/* ---- slots ---- */

unsigned int rdma_write_slots(uint64_t size, unsigned int flows)
{
	uint64_t share = WRITE_MEMORY / flows, slots = (share < WRITE_REGION ? share : WRITE_REGION) / size;

	return slots < 1 ? 1 : slots > MAX_WRITE_SLOTS ? MAX_WRITE_SLOTS : slots;
}

static unsigned int slots_of(const struct rdma_end *receiver)
{
	return receiver->slots ? receiver->slots : rdma_write_slots(receiver->size, receiver->flows);
}

uint64_t rdma_slot(const struct rdma_end *receiver, uint64_t message)
{
	unsigned int slots = slots_of(receiver), every = receiver->sample_every;

	if (every && message % every == 0)
		return slots + message / every % receiver->sample_slots;
	return message % slots;
}

uint64_t rdma_slots(const struct rdma_end *receiver)
{
	return slots_of(receiver) + (uint64_t)receiver->sample_slots;
}

uint32_t rdma_rkey(const struct rdma_end *receiver, unsigned int flow, uint64_t slot)
{
	unsigned int regions = receiver->regions;

	if (!regions)
		return receiver->qp[flow].rkey;
	return receiver->rkeys[(size_t)flow * regions + slot / rdma_slots_per_region(rdma_slots(receiver), regions)];
}

/* ---- writing ---- */

json_t *rdma_gid_json(const uint8_t gid[16])
{
	char text[33];

	for (int i = 0; i < 16; i++)
		sprintf(text + 2 * i, "%02x", gid[i]);
	return json_string(text);
}

/* What an older version neither sends nor reads. */
static void add_operation(json_t *object, const struct rdma_end *end)
{
	const struct rdma_reads *r = &end->reads;

	json_object_set_new(object, "operation", json_string(rdma_operation_name(end->operation)));
	json_object_set_new(object, "filler", json_boolean(end->filler));
	if (end->first_flow)
		json_set_count(object, "first_flow", end->first_flow);
	if (end->ping_pong)
		json_object_set_new(object, "ping_pong", json_true());
	if (end->solicited)
		json_object_set_new(object, "solicited", json_true());
	if (end->slots)
		json_set_count(object, "write_slots", end->slots);
	if (end->sample_every)
		json_object_set_new(object, "samples", json_pack("{s:I, s:I}", "every", (json_int_t)end->sample_every,
								 "slots", (json_int_t)end->sample_slots));
	if (end->ring)
		json_object_set_new(object, "ring", json_pack("{s:I, s:I}", "burst", (json_int_t)end->burst,
							      "capacity", (json_int_t)end->capacity));
	if (rdma_fetches(end->operation))
		json_object_set_new(object, "reads", json_pack("{s:f, s:b, s:f, s:I, s:i, s:i}",
			"rate", r->rate.per_second, "rate_of_packets", r->rate.unit == RATE_PACKETS,
			"duration", r->duration, "messages", (json_int_t)r->messages, "window", (int)r->window,
			"limit", (int)r->limit));
}

static json_t *qp_json(const struct rdma_end *end, unsigned int flow)
{
	const struct rdma_qp_address *qp = &end->qp[flow];
	json_t *object = json_pack("{s:I, s:I, s:I, s:I}", "qpn", (json_int_t)qp->qpn, "psn", (json_int_t)qp->psn,
				   "rkey", (json_int_t)qp->rkey, "address", (json_int_t)qp->address);
	json_t *rkeys = end->regions ? json_array() : NULL;

	for (unsigned int i = 0; i < end->regions; i++)
		json_array_append_new(rkeys, json_integer(end->rkeys[(size_t)flow * end->regions + i]));
	if (rkeys)
		json_object_set_new(object, "rkeys", rkeys);
	if (end->service == RDMA_XRC)
		json_set_count(object, "srq", qp->srqn);
	return object;
}

json_t *rdma_end_json(const struct rdma_end *end)
{
	json_t *qps = json_array(), *object;

	for (unsigned int i = 0; i < end->flows; i++)
		json_array_append_new(qps, qp_json(end, i));
	object = json_pack("{s:s, s:I, s:i, s:o, s:i, s:o}", "transport", rdma_service_name(end->service),
		"size", (json_int_t)end->size, "path_mtu", (int)end->path_mtu, "gid", rdma_gid_json(end->gid),
		"lid", (int)end->lid, "qps", qps);
	if (object && end->operation != RDMA_USUAL)
		add_operation(object, end);
	return object;
}

json_t *rdma_totals_json(const struct rdma_totals *totals, unsigned int flows, uint64_t ns)
{
	json_t *end = json_array();

	for (unsigned int i = 0; i < flows; i++)
		json_array_append_new(end, json_pack("{s:I, s:I, s:I}", "packets", (json_int_t)totals[i].packets,
			"messages", (json_int_t)totals[i].messages, "completed", (json_int_t)totals[i].completed));
	return json_pack("{s:o, s:I}", "end", end, "ns", (json_int_t)ns);
}

/* ---- parsing ---- */

static json_t *member(const struct json_members *m, const char *key)
{
	return json_object_get(m->object, key);
}

bool rdma_gid_parse(const json_t *value, uint8_t gid[16])
{
	const char *text = json_string_value(value);
	bool right = text && strlen(text) == 32 && strspn(text, "0123456789abcdefABCDEF") == 32;

	for (int i = 0; i < 16 && right; i++)
		sscanf(text + 2 * i, "%2hhx", &gid[i]);
	return right;
}

static bool take_gid(const struct json_members *r, uint8_t gid[16])
{
	return rdma_gid_parse(member(r, "gid"), gid) || json_wrong(r, "gid", "no 32 hexadecimal digits");
}

static bool take_basics(const struct json_members *r, struct rdma_end *end)
{
	const char *transport = json_string_value(member(r, "transport"));
	json_int_t size, path_mtu, lid;

	end->service = transport ? place_of(transport, rdma_service_names) : 0;
	if (!end->service)
		return json_wrong(r, "transport", "none of rc, uc, ud, xrc");
	if (!json_take(r, "size", 1, UINT32_MAX, &size) || !json_take(r, "path_mtu", 256, 4096, &path_mtu) ||
	    !take_gid(r, end->gid) || !json_take(r, "lid", 0, UINT16_MAX, &lid))
		return false;
	if (path_mtu & (path_mtu - 1))
		return json_wrong(r, "path_mtu", "not 256, 512, 1024, 2048 or 4096");
	end->size = size;
	end->path_mtu = path_mtu;
	end->lid = lid;
	return true;
}

static bool take_slots(const struct json_members *r, struct rdma_end *end)
{
	struct json_members samples = { .object = member(r, "samples"), .of = "samples: ", .why = r->why };
	json_int_t every, slots = 0;

	if (!json_may_take(r, "write_slots", 1, MAX_WRITE_SLOTS, &slots))
		return false;
	end->slots = slots;
	if (!samples.object)
		return true;
	if (!json_take(&samples, "every", 1, UINT32_MAX, &every) || !json_take(&samples, "slots", 1, MAX_SAMPLES, &slots))
		return false;
	end->sample_every = every;
	end->sample_slots = slots;
	return true;
}

/* Each end says its own of both. */
static bool take_ring(const struct json_members *r, struct rdma_end *end)
{
	struct json_members ring = { .object = member(r, "ring"), .of = "ring: ", .why = r->why };
	json_int_t burst = 0, capacity = 0;

	if (ring.object && !json_is_object(ring.object))
		return json_wrong(r, "ring", "no object");
	if (!json_may_take(&ring, "burst", 0, RDMA_BURST_MAX, &burst) || !json_may_take(&ring, "capacity", 0, INT64_MAX, &capacity))
		return false;
	end->ring = ring.object;
	end->burst = burst;
	end->capacity = capacity;
	return true;
}

static bool take_reads(const struct json_members *r, struct rdma_reads *to)
{
	struct json_members reads = { .object = member(r, "reads"), .of = "reads: ", .why = r->why };
	json_int_t messages, window, limit;
	bool of_packets;

	if (!json_take_real(&reads, "rate", MAX_RATE, &to->rate.per_second) || !json_take_flag(&reads, "rate_of_packets", &of_packets) ||
	    !json_take_real(&reads, "duration", MAX_SECONDS, &to->duration) ||
	    !json_take(&reads, "messages", 0, INT64_MAX, &messages) || !json_take(&reads, "window", 1, MAX_WINDOW, &window) ||
	    !json_take(&reads, "limit", 1, UINT8_MAX, &limit))
		return false;
	to->rate.unit = of_packets ? RATE_PACKETS : RATE_BITS;
	to->messages = messages;
	to->window = window;
	to->limit = limit;
	return true;
}

/* An older version says nothing of all this. */
static bool take_operation(const struct json_members *r, struct rdma_end *end)
{
	const json_t *value = member(r, "operation");

	end->operation = !value ? rdma_usual_operation(end->service) :
			 json_is_string(value) ? rdma_operation_named(json_string_value(value)) : RDMA_USUAL;
	if (!rdma_service_knows(end->service, end->operation))
		return json_wrong(r, "operation", "none that the service knows");
	return json_take_flag(r, "filler", &end->filler) && json_take_flag(r, "ping_pong", &end->ping_pong) &&
	       json_take_flag(r, "solicited", &end->solicited) && take_slots(r, end) && take_ring(r, end) &&
	       (!rdma_fetches(end->operation) || take_reads(r, &end->reads));
}

static bool take_qp(struct json_members *r, enum rdma_service service, struct rdma_qp_address *qp)
{
	json_int_t qpn, psn, rkey, address, srqn = 0;

	if (!json_take(r, "qpn", 0, 0xffffff, &qpn) || !json_take(r, "psn", 0, 0xffffff, &psn) ||
	    !json_take(r, "rkey", 0, UINT32_MAX, &rkey) || !json_take(r, "address", INT64_MIN, INT64_MAX, &address) ||
	    (service == RDMA_XRC && !json_take(r, "srq", 0, 0xffffff, &srqn)))
		return false;
	*qp = (struct rdma_qp_address){ .qpn = qpn, .psn = psn, .rkey = rkey, .address = address, .srqn = srqn };
	return true;
}

/* All QPs have as many regions. */
static bool take_rkeys(const struct json_members *qp, struct rdma_end *end, unsigned int flow)
{
	const json_t *rkeys = member(qp, "rkeys");

	if (json_array_size(rkeys) != end->regions || (rkeys && !end->regions))
		return json_wrong(qp, "rkeys", "no array of 1 to 64 numbers, as many for each QP");
	for (unsigned int i = 0; i < end->regions; i++) {
		const json_t *value = json_array_get(rkeys, i);
		json_int_t rkey = json_integer_value(value);

		if (!json_is_integer(value) || rkey < 0 || rkey > UINT32_MAX)
			return json_wrong(qp, "rkeys", "no array of whole numbers from 0 to 4294967295");
		end->rkeys[(size_t)flow * end->regions + i] = rkey;
	}
	return true;
}

static bool make_rkeys(const json_t *qps, struct rdma_end *end)
{
	size_t regions = json_array_size(json_object_get(json_array_get(qps, 0), "rkeys"));

	end->regions = regions <= RDMA_REGIONS_MAX ? regions : 0;
	end->rkeys = calloc(end->flows, (end->regions ? end->regions : 1) * sizeof(*end->rkeys));
	return end->rkeys;
}

static bool take_qps(const struct json_members *r, struct rdma_end *end)
{
	const json_t *qps = member(r, "qps");
	struct json_members each = { .why = r->why };
	json_int_t first_flow = 0;

	end->flows = json_array_size(qps);
	if (!end->flows || json_array_size(qps) > RDMA_FLOWS_MAX)
		return json_wrong(r, "qps", "no array of 1 to 65535 QPs");
	if (!json_may_take(r, "first_flow", 0, RDMA_FLOWS_MAX - end->flows, &first_flow))
		return false;
	end->first_flow = first_flow;
	end->qp = calloc(end->flows, sizeof(*end->qp));
	if (!end->qp || !make_rkeys(qps, end)) {
		strcpy(r->why, "no memory");
		return false;
	}
	for (unsigned int i = 0; i < end->flows; i++) {
		each.object = json_array_get(qps, i);
		snprintf(each.of, sizeof(each.of), "QP %u: ", i);
		if (!take_qp(&each, end->service, &end->qp[i]) || !take_rkeys(&each, end, i))
			return false;
		end->qp[i].flow = first_flow + i;
	}
	return true;
}

bool rdma_end_parse(const json_t *message, struct rdma_end *end, char *why)
{
	struct json_members r = { .object = message, .why = why };

	*end = (struct rdma_end){ 0 };
	if (take_basics(&r, end) && take_operation(&r, end) && take_qps(&r, end))
		return true;
	rdma_end_free(end);
	return false;
}

void rdma_end_free(struct rdma_end *end)
{
	free(end->qp);
	free(end->rkeys);
	*end = (struct rdma_end){ 0 };
}

struct control *rdma_end_meet(struct control_listener *l, double seconds, struct rdma_end *end, json_t **message)
{
	uint64_t begin = now_ns();
	double left = seconds;
	char why[CONTROL_WHY];
	struct control *c;

	while ((c = control_meet_within(l, left > 0 ? left : 0, message))) {
		if (!control_refused(*message, why) && rdma_end_parse(*message, end, why))
			return c;
		control_turn_away_stranger(l, c, why);
		json_decref(*message);
		left = seconds - (now_ns() - begin) / 1e9;
	}
	*message = NULL;
	return NULL;
}

static bool take_totals(struct json_members *r, struct rdma_totals *totals)
{
	json_int_t packets, messages, completed = 0;

	if (!json_take(r, "packets", 0, INT64_MAX, &packets) || !json_take(r, "messages", 0, INT64_MAX, &messages) ||
	    !json_may_take(r, "completed", 0, packets, &completed))
		return false;
	*totals = (struct rdma_totals){ packets, messages, completed };
	return true;
}

bool rdma_totals_parse(const json_t *message, struct rdma_totals *totals, unsigned int flows, uint64_t *ns, char *why)
{
	struct json_members r = { .object = message, .why = why }, each = { .why = why };
	const json_t *end = member(&r, "end");
	json_int_t time = 0;
	bool right = true;

	if (!json_is_array(end) || json_array_size(end) != flows)
		return json_wrong(&r, "end", "no array with the totals of each QP");
	if (!json_may_take(&r, "ns", 0, INT64_MAX, &time))
		return false;
	for (unsigned int i = 0; i < flows && right; i++) {
		each.object = json_array_get(end, i);
		snprintf(each.of, sizeof(each.of), "QP %u: ", i);
		right = take_totals(&each, &totals[i]);
	}
	*ns = time;
	return right;
}
