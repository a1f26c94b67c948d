// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/address.h"
#include "lib/cause.h"
#include "lib/complain.h"
#include "lib/json.h"
#include "lib/shown.h"
#include "roce/packet/base.h"
#include "userspace/diagnose/qp_error/load.h"
#include "userspace/observe/verbs/qp_rows.h"
#include "userspace/observe/verbs/qps.h"

/* enum ib_access_flags, from bit 0 on, as verbs_json() names them. */
static const char *const access_names[] = { "local_write", "remote_write", "remote_read", "remote_atomic", "mw_bind", "zero_based",
					    "on_demand", "hugetlb" };

/* ---- values: what is absent, null or of another type is 0 ---- */

static bool has(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return v && !json_is_null(v);
}

static __u64 number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_string(v))
		return strtoull(json_string_value(v), NULL, 0);
	return json_is_integer(v) && json_integer_value(v) > 0 ? json_integer_value(v) : 0;
}

/* Files may come from others: what a terminal would obey is replaced. */
static void text(char *to, size_t size, const json_t *o, const char *key)
{
	const char *found = json_string_value(json_object_get(o, key));

	snprintf(to, size, "%s", found ? found : "");
	shown(to);
}

/* "2026-11-28T19:00:00.123456789Z": ns since 1970. */
static __u64 when(const json_t *o, const char *key)
{
	const char *found = json_string_value(json_object_get(o, key)), *rest;
	struct tm t = { 0 };
	unsigned long ns = 0;

	rest = found ? strptime(found, "%Y-%m-%dT%H:%M:%S", &t) : NULL;
	if (!rest)
		return 0;
	if (*rest == '.') {
		unsigned long unit = 100000000;

		for (rest++; *rest >= '0' && *rest <= '9' && unit; rest++, unit /= 10)
			ns += (*rest - '0') * unit;
	}
	return (__u64)timegm(&t) * 1000000000 + ns;
}

static void address(__u8 to[16], const json_t *o, const char *key)
{
	const char *found = json_string_value(json_object_get(o, key));
	struct in_addr ipv4;

	if (found && inet_pton(AF_INET, found, &ipv4) == 1)
		address_from_ipv4(to, &ipv4);
	else if (!found || inet_pton(AF_INET6, found, to) != 1)
		memset(to, 0, 16);
}

/* The index of a member's text among the names that `name` gives for 0, 1, ...; `otherwise`: it is none. */
static unsigned int named(const json_t *o, const char *key, const char *(*name)(__u8), unsigned int otherwise)
{
	const char *found = json_string_value(json_object_get(o, key));

	for (unsigned int i = 0; found && i < 256; i++)
		if (!strcmp(found, name(i)) && strcmp(found, "?"))
			return i;
	return otherwise;
}

static const char *opcode_name(__u8 opcode)
{
	return verbs_opcode_name(opcode);
}

/* ---- a QP ---- */

static void take_path(struct verbs_attributes *a, const json_t *o)
{
	if (!has(o, "sgid") || !has(o, "dgid"))
		return;
	a->known |= VERBS_KNOWS_PATH;
	address(a->sgid, o, "sgid");
	address(a->dgid, o, "dgid");
	a->sgid_index = number(o, "sgid_index");
	a->gid_type = verbs_gid_type_of(json_string_value(json_object_get(o, "gid_type")));
	a->tclass = number(o, "traffic_class");
	a->flow_label = number(o, "flow_label");
	a->hop_limit = number(o, "hop_limit");
	a->sl = number(o, "sl");
}

static __u32 take_access(const json_t *names)
{
	const json_t *name;
	__u32 flags = 0;
	size_t i;

	json_array_foreach(names, i, name)
		for (size_t k = 0; k < ROCE_ARRAY_SIZE(access_names); k++)
			if (json_is_string(name) && !strcmp(json_string_value(name), access_names[k]))
				flags |= 1u << k;
	return flags;
}

static void know(struct verbs_attributes *a, const json_t *o, const char *key, enum verbs_known what)
{
	if (has(o, key))
		a->known |= what;
}

static void take_attributes(struct verbs_attributes *a, const json_t *o)
{
	take_path(a, o);
	know(a, o, "path_mtu", VERBS_KNOWS_MTU);
	know(a, o, "timeout", VERBS_KNOWS_TIMEOUT);
	know(a, o, "min_rnr_timer", VERBS_KNOWS_RESPONDER);
	know(a, o, "rq_psn_first", VERBS_KNOWS_RQ_PSN);
	know(a, o, "sq_psn_first", VERBS_KNOWS_SQ_PSN);
	know(a, o, "access", VERBS_KNOWS_ACCESS);
	know(a, o, "max_send_wr", VERBS_KNOWS_LIMITS);
	know(a, o, "asked_send_wr", VERBS_KNOWS_ASKED);
	know(a, o, "sq_sig_all", VERBS_KNOWS_CAPABILITIES);
	a->path_mtu = number(o, "path_mtu");
	a->timeout = number(o, "timeout");
	a->retry_cnt = number(o, "retry_cnt");
	a->rnr_retry = number(o, "rnr_retry");
	a->max_rd_atomic = number(o, "max_rd_atomic");
	a->sq_psn_first = number(o, "sq_psn_first");
	a->min_rnr_timer = number(o, "min_rnr_timer");
	a->max_dest_rd_atomic = number(o, "max_dest_rd_atomic");
	a->rq_psn_first = number(o, "rq_psn_first");
	a->access = take_access(json_object_get(o, "access"));
	a->max_send_wr = number(o, "max_send_wr");
	a->max_recv_wr = number(o, "max_recv_wr");
	a->max_inline = number(o, "max_inline");
	a->asked_send_wr = number(o, "asked_send_wr");
	a->asked_recv_wr = number(o, "asked_recv_wr");
	a->asked_inline = number(o, "asked_inline");
	a->sq_sig_all = json_is_true(json_object_get(o, "sq_sig_all"));
	a->has_srq = json_is_true(json_object_get(o, "srq"));
}

static __u8 step_kind(const char *name, bool is_change, bool is_async)
{
	if (is_async)
		return VERBS_ASYNC;
	if (is_change)
		return VERBS_MODIFIED;
	return name && !strcmp(name, "created") ? VERBS_CREATED : VERBS_DESTROYED;
}

static void take_step(struct verbs_step *s, const json_t *o)
{
	const json_t *error = json_object_get(o, "error");

	s->time = when(o, "time");
	s->kind = step_kind(json_string_value(json_object_get(o, "kind")), has(o, "state"), has(o, "async_event"));
	s->state_before = named(o, "state_before", host_state_name, 0);
	s->state = named(o, "state", host_state_name, 0);
	s->error = json_is_integer(error) ? json_integer_value(error) : 0;
	s->async_event = number(o, "async_event");
	s->pid = number(o, "pid");
	s->signal = number(o, "signal");
	s->by_netlink = json_is_true(json_object_get(o, "noticed"));
}

static void take_history(struct verbs_qp *q, const json_t *o)
{
	const json_t *steps = json_object_get(o, "history"), *step;
	size_t i;

	json_array_foreach(steps, i, step)
		if (q->steps < VERBS_HISTORY)
			take_step(&q->history[q->steps++], step);
	q->steps_forgotten = number(o, "history_forgotten");
}

/* ---- its calls ---- */

static void take_request(struct verbs_request *r, const json_t *o)
{
	*r = (struct verbs_request){ .opcode = VERBS_OPCODES };
	if (!json_is_object(o))
		return;
	r->opcode = named(o, "opcode", opcode_name, VERBS_OPCODES);
	r->wr_id = number(o, "wr_id");
	r->bytes = number(o, "bytes");
	r->remote_addr = number(o, "remote_address");
	r->rkey = number(o, "rkey");
}

static void take_statuses(struct verbs_calls *c, const json_t *o)
{
	for (__u32 i = 0; i < VERBS_STATUSES; i++) {
		char other[16];
		const char *name = verbs_status_name(i);

		snprintf(other, sizeof(other), "status_%u", i);
		c->status[i] = number(o, strcmp(name, "?") ? name : other);
	}
}

static void take_error(struct verbs_calls *c, const json_t *o)
{
	take_request(&c->error_request, json_object_get(o, "request"));
	c->error_time = when(o, "time");
	c->error_status = number(o, "status_number");
	c->error_vendor = number(o, "vendor_error");
	c->error_is_receive = json_is_true(json_object_get(o, "receive"));
	c->error_flushes_before = number(o, "flushes_before");
}

static void take_work(struct verbs_calls *c, const json_t *o)
{
	const json_t *received = json_object_get(o, "received"), *opcodes = json_object_get(o, "opcodes");

	for (int i = 0; i < VERBS_COUNTERS; i++)
		c->count[i] = number(o, verbs_counter_names[i]);
	for (int i = 0; i < VERBS_OPCODES; i++) {
		c->wrs[i] = number(json_object_get(opcodes, verbs_opcode_name(i)), "wrs");
		c->bytes[i] = number(json_object_get(opcodes, verbs_opcode_name(i)), "bytes");
	}
	c->received[0] = number(received, "RECV");
	c->received[1] = number(received, "RECV_RDMA_WITH_IMM");
	c->received_bytes[0] = number(received, "bytes");
	take_statuses(c, json_object_get(o, "statuses"));
	c->latency_count = number(json_object_get(o, "latency"), "count");
}

static void take_calls(struct verbs_calls *c, const json_t *o, __u64 now, __u64 born)
{
	take_work(c, o);
	take_error(c, json_object_get(o, "error"));
	take_request(&c->good_request, json_object_get(o, "newest_good"));
	c->good_low = number(o, "reached_from");
	c->good_high = number(o, "reached_to");
	c->since = when(o, "since");
	c->whole = json_is_true(json_object_get(o, "from_birth"));
	c->born = c->whole ? born : 0;
	c->first_post = when(o, "first_post");
	c->last_post = when(o, "last_post");
	c->last_completion = when(o, "last_completion");
	c->outstanding_most = number(o, "outstanding_most");
	c->tail = number(o, "outstanding");
	if (has(o, "oldest_waits_ns"))
		c->oldest_post = now - number(o, "oldest_waits_ns");
}

static void take_qp(struct verbs_qp *q, const json_t *o, __u64 now)
{
	const json_t *calls = json_object_get(o, "calls");

	*q = (struct verbs_qp){ 0 };
	text(q->qp.device, sizeof(q->qp.device), o, "device");
	text(q->qp.program, sizeof(q->qp.program), o, "program");
	text(q->container, sizeof(q->container), o, "container");
	text(q->interface, sizeof(q->interface), o, "interface");
	q->qp.port = number(o, "port");
	q->qp.qpn = number(o, "qpn");
	q->qp.peer_qpn = number(o, "peer_qpn");
	q->qp.pid = number(o, "pid");
	q->qp.type = named(o, "type", host_type_name, 0xfe);
	q->qp.state = named(o, "state", host_state_name, 0xfe);
	q->qp.sq_psn = has(o, "sq_psn") ? number(o, "sq_psn") : HOST_NO_PSN;
	q->qp.rq_psn = has(o, "rq_psn") ? number(o, "rq_psn") : HOST_NO_PSN;
	q->state_since = when(o, "state_since");
	q->first_seen = when(o, "first_seen");
	q->born = when(o, "created");
	q->gone = when(o, "destroyed");
	q->killed = json_is_true(json_object_get(o, "killed"));
	take_attributes(&q->attributes, json_object_get(o, "attributes"));
	q->has_calls = json_is_object(calls);
	if (q->has_calls)
		take_calls(&q->calls, calls, now, q->born);
	take_history(q, o);
}

/* ---- the rest of a host ---- */

static void take_mr(struct host_mr *m, const json_t *o)
{
	*m = (struct host_mr){ .length = number(o, "length"), .pid = number(o, "pid"), .has_keys = has(o, "rkey"), .has_iova = has(o, "iova") };
	text(m->device, sizeof(m->device), o, "device");
	m->rkey = number(o, "rkey");
	m->lkey = number(o, "lkey");
	m->iova = number(o, "iova");
}

static void take_counter(struct host_counter *c, const json_t *o)
{
	*c = (struct host_counter){ .value = number(o, "value"), .dropped = json_is_true(json_object_get(o, "dropped")) };
	text(c->where, sizeof(c->where), o, "where");
	text(c->name, sizeof(c->name), o, "name");
}

static void take_devices(struct loaded_host *h, const json_t *devices)
{
	const json_t *o;
	size_t i;

	json_array_foreach(devices, i, o) {
		struct loaded_device *d = &h->devices[h->device_count];

		if (h->device_count == ROCE_ARRAY_SIZE(h->devices))
			break;
		h->device_count++;
		text(d->name, sizeof(d->name), o, "name");
		text(d->driver, sizeof(d->driver), o, "driver");
	}
}

static size_t size_of(const json_t *o, const char *key)
{
	size_t count = json_array_size(json_object_get(o, key));

	return count < LOAD_QPS ? count : LOAD_QPS;
}

/* Each device has a QP of the kernel's own: one without any was not asked for, or hides them. */
static bool has_qps(const struct loaded_host *h, size_t count, const char *device)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(h->qps[i].qp.device, device))
			return true;
	return false;
}

static bool has_all_devices(const struct loaded_host *h, size_t count)
{
	for (size_t i = 0; i < h->device_count; i++)
		if (!has_qps(h, count, h->devices[i].name))
			return false;
	return h->device_count && h->device_count < ROCE_ARRAY_SIZE(h->devices);
}

/* From when on each QP that went is in the file: that of a host that has watched for so many seconds. 0: not known. */
static __u64 since(const struct loaded_host *h, size_t count, double seconds)
{
	__u64 now = h->host.now, watched = seconds > 0 ? seconds * 1e9 : 0;
	size_t gone = 0;

	for (size_t i = 0; i < count; i++)
		gone += !!h->qps[i].gone;
	if (watched > QPS_GONE_NS)
		watched = QPS_GONE_NS;
	return gone < QPS_GONE && now > watched ? now - watched : 0;
}

static bool take_host(struct loaded_host *h, const json_t *o)
{
	size_t qps = size_of(o, "qps"), mrs = size_of(o, "mrs"), counters = size_of(o, "counters");
	struct why_host *to = &h->host;

	to->now = when(o, "time");
	h->qps = calloc(qps + 1, sizeof(*h->qps));
	h->list = calloc(qps + 1, sizeof(*h->list));
	h->mrs = calloc(mrs + 1, sizeof(*h->mrs));
	h->counters = calloc(counters + 1, sizeof(*h->counters));
	if (!h->qps || !h->list || !h->mrs || !h->counters)
		return false;
	for (size_t i = 0; i < qps; i++) {
		take_qp(&h->qps[i], json_array_get(json_object_get(o, "qps"), i), to->now);
		h->list[i] = &h->qps[i];
	}
	for (size_t i = 0; i < mrs; i++)
		take_mr(&h->mrs[i], json_array_get(json_object_get(o, "mrs"), i));
	for (size_t i = 0; i < counters; i++)
		take_counter(&h->counters[i], json_array_get(json_object_get(o, "counters"), i));
	take_devices(h, json_object_get(o, "devices"));
	to->since = since(h, qps, json_number_value(json_object_get(o, "seconds")));
	to->partial = has(o, "filter") || qps < json_array_size(json_object_get(o, "qps")) || !has_all_devices(h, qps);
	to->qps = h->list;
	to->mrs = h->mrs;
	to->counters = h->counters;
	/* last: without memory there are none */
	to->qp_count = qps;
	to->mr_count = mrs;
	to->mrs_cut = number(o, "mrs_of") > mrs;
	to->counter_count = counters;
	return true;
}

void load_free(struct loaded_host *h)
{
	free(h->qps);
	free(h->list);
	free(h->mrs);
	free(h->counters);
	*h = (struct loaded_host){ 0 };
}

bool load_text(struct loaded_host *h, const char *text)
{
	json_t *o = json_loads(text, 0, NULL);
	const char *schema = json_string_value(json_object_get(o, "schema"));
	bool good = schema && !strcmp(schema, "rocescope.verbs/1");

	if (good) {
		load_free(h);
		good = take_host(h, o);
	}
	json_decref(o);
	return good;
}

static FILE *open_file(const char *file)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "re") : stdin;

	if (!f)
		complain("verbs: %s: %s", file, cause(errno).text);
	return f;
}

bool load_host(struct loaded_host *h, const char *file)
{
	FILE *f = open_file(file);
	char *line = NULL;
	size_t room = 0;
	bool any = false;

	*h = (struct loaded_host){ 0 };
	if (!f)
		return false;
	while (getline(&line, &room, f) >= 0)
		any |= load_text(h, line);
	free(line);
	if (f != stdin)
		fclose(f);
	return any || complain("verbs: %s: no line of `rocescope verbs -j` is in it", file);
}

const char *load_driver(const struct loaded_host *h, const char *device)
{
	for (size_t i = 0; i < h->device_count; i++)
		if (!strcmp(h->devices[i].name, device) && h->devices[i].driver[0])
			return h->devices[i].driver;
	return NULL;
}

/* ---- the way ---- */

/* WHY_YES: the check was good; WHY_NO: it is a finding. */
static enum why_yes check(const json_t *path, const char *id)
{
	static const char *const lists[] = { "good", "findings" };
	const json_t *o;
	size_t i;

	for (int k = 0; k < 2; k++)
		json_array_foreach(json_object_get(path, lists[k]), i, o) {
			const char *name = json_string_value(json_object_get(o, "id"));

			if (name && !strcmp(name, id))
				return k ? WHY_NO : WHY_YES;
		}
	return WHY_UNKNOWN;
}

bool load_way(struct why_way *w, const char *file)
{
	FILE *f = open_file(file);
	json_t *o = f ? json_loadf(f, 0, NULL) : NULL;
	const char *schema = json_string_value(json_object_get(o, "schema"));
	bool good = schema && !strcmp(schema, "rocescope.path/1");

	*w = (struct why_way){ 0 };
	if (good) {
		text(w->interface, sizeof(w->interface), o, "interface");
		w->carrier = check(o, "link");
		w->echoes = has(o, "rtt_us") ? WHY_YES : has(o, "peer") ? WHY_NO : WHY_UNKNOWN;
		w->neighbour = check(o, "peer") == WHY_NO ? WHY_NO : WHY_UNKNOWN;
		w->passes = number(o, "largest_packet");
		w->fails = number(o, "smallest_lost");
		w->has_peer = has(o, "peer");
		address(w->peer, o, "peer");
		w->has_source = has(o, "source");
		address(w->source, o, "source");
	}
	json_decref(o);
	if (f && f != stdin)
		fclose(f);
	return good || (f && complain("verbs: %s: not what `rocescope path -j` has written", file));
}
