// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cause.h"
#include "lib/exit.h"
#include "userspace/observe/model/endpoint.h"

#define PKEY_DEFAULT 0xffff /* of the default partition, IBTA 10.9.3 */

/* ---- QPs ---- */

static int compare_qps(const void *a, const void *b)
{
	const struct rdma_qp_address *x = a, *y = b;

	return (x->qpn > y->qpn) - (x->qpn < y->qpn);
}

static void take_qps(struct endpoint *e)
{
	struct rdma_end *end = &e->end;

	qsort(end->qp, end->flows, sizeof(*end->qp), compare_qps);
	memcpy(e->settings.own, end->gid, sizeof(e->settings.own));
	e->settings.first_qpn = end->qp[0].qpn;
	e->settings.qps = end->flows;
	for (unsigned int i = 1; i < end->flows; i++)
		if (end->qp[i].qpn != end->qp[i - 1].qpn + 1)
			e->settings.qps = 0;
}

const struct rdma_qp_address *endpoint_qp(const struct endpoint *e, __u32 qpn)
{
	const struct rdma_qp_address wanted = { .qpn = qpn };

	return bsearch(&wanted, e->end.qp, e->end.flows, sizeof(wanted), compare_qps);
}

/* ---- regions ---- */

static int compare_regions(const void *a, const void *b)
{
	const struct roce_region *x = a, *y = b;

	return (x->rkey > y->rkey) - (x->rkey < y->rkey);
}

const struct roce_region *endpoint_region(const struct endpoint *e, __u32 rkey)
{
	const struct roce_region wanted = { .rkey = rkey };

	return bsearch(&wanted, e->region, e->regions, sizeof(wanted), compare_regions);
}

static bool make_room(struct endpoint *e, __u32 regions, char *why)
{
	e->region = calloc(regions, sizeof(*e->region));
	e->regions = regions;
	return e->region || control_fail(why, "no memory");
}

static bool fits(const struct roce_region *r, char *why)
{
	return r->bytes - 1 <= UINT64_MAX - r->va || control_fail(why, "a region of rkey %#x ends beyond the last address", r->rkey);
}

static bool take_region(const json_t *object, struct roce_region *r, char *why)
{
	const struct json_members m = { .object = object, .why = why };
	json_int_t rkey, va, bytes;

	if (!json_take(&m, "rkey", 0, UINT32_MAX, &rkey) || !json_take(&m, "address", INT64_MIN, INT64_MAX, &va) ||
	    !json_take(&m, "bytes", 1, INT64_MAX, &bytes))
		return false;
	r->rkey = rkey;
	r->va = va;
	r->bytes = bytes;
	return fits(r, why);
}

static bool take_regions(const json_t *regions, struct endpoint *e, char *why)
{
	size_t count = json_array_size(regions);

	if (!count || count > RECEIVE_REGIONS)
		return control_fail(why, "\"regions\" is no array of 1 to %u regions", RECEIVE_REGIONS);
	if (!make_room(e, count, why))
		return false;
	for (__u32 i = 0; i < e->regions; i++) {
		e->region[i].index = i;
		if (!take_region(json_array_get(regions, i), &e->region[i], why))
			return false;
	}
	qsort(e->region, e->regions, sizeof(*e->region), compare_regions);
	for (__u32 i = 1; i < e->regions; i++)
		if (e->region[i].rkey == e->region[i - 1].rkey)
			return control_fail(why, "\"regions\" has rkey %#x twice", e->region[i].rkey);
	return true;
}

static void unite(struct roce_region *r, const struct roce_region *with)
{
	__u64 last = r->va + (r->bytes - 1), other = with->va + (with->bytes - 1);

	if (with->va < r->va)
		r->va = with->va;
	r->bytes = (other > last ? other : last) - r->va;
	if (r->bytes != UINT64_MAX)
		r->bytes++;
}

/* rdma_stream tells each QP's share of one region. */
static bool take_shares(const struct json_members *m, struct endpoint *e)
{
	const struct rdma_end *end = &e->end;
	json_int_t slots = rdma_slots(end);
	__u32 count = 0;

	if (!json_may_take(m, "slots", 1, UINT32_MAX, &slots) || !make_room(e, end->flows, m->why))
		return false;
	for (__u32 i = 0; i < end->flows; i++) {
		e->region[i] = (struct roce_region){ .rkey = end->qp[i].rkey, .va = end->qp[i].address,
						     .bytes = slots * end->size };
		if (!fits(&e->region[i], m->why))
			return false;
	}
	qsort(e->region, e->regions, sizeof(*e->region), compare_regions);
	for (__u32 i = 1; i < e->regions; i++) {
		if (e->region[i].rkey == e->region[count].rkey)
			unite(&e->region[count], &e->region[i]);
		else
			e->region[++count] = e->region[i];
		e->region[count].index = count;
	}
	e->regions = count + 1;
	return true;
}

/* ---- the whole ---- */

static bool take_rest(const json_t *message, struct endpoint *e, char *why)
{
	const json_t *regions = json_object_get(message, "regions"), *peer = json_object_get(message, "peer");
	const struct json_members m = { .object = message, .why = why };
	json_int_t pkey = PKEY_DEFAULT, receive = ENDPOINT_UNKNOWN, receives = ENDPOINT_UNKNOWN;

	if (e->end.service == RDMA_XRC)
		return json_wrong(&m, "transport", "none of rc, uc, ud");
	if (!json_may_take(&m, "pkey", 0, UINT16_MAX, &pkey) ||
	    !json_may_take(&m, "receive_bytes", 0, RESPONDER_DMA_MAX, &receive) ||
	    !json_may_take(&m, "receives", 0, ENDPOINT_UNKNOWN - 1, &receives))
		return false;
	e->pkey = pkey;
	e->receive_bytes = receive;
	e->receives = receives;
	e->reads = e->end.operation == RDMA_READ || json_is_true(json_object_get(message, "read"));
	e->has_peer = peer;
	if (peer && !rdma_gid_parse(peer, e->peer))
		return json_wrong(&m, "peer", "no 32 hexadecimal digits");
	take_qps(e);
	return regions ? take_regions(regions, e, why) : take_shares(&m, e);
}

bool endpoint_parse(const json_t *message, struct endpoint *e, char *why)
{
	*e = (struct endpoint){ 0 };
	if (rdma_end_parse(message, &e->end, why) && take_rest(message, e, why))
		return true;
	endpoint_free(e);
	return false;
}

void endpoint_free(struct endpoint *e)
{
	rdma_end_free(&e->end);
	free(e->region);
	*e = (struct endpoint){ 0 };
}

static int say(const char *path, const char *why, int status)
{
	fprintf(stderr, "rocescope: --receiver %s: %s\n", path, why);
	return status;
}

/* A program may write more behind its first line. */
static int parse_line(const char *path, const char *text, size_t length, struct endpoint *e)
{
	const char *end = memchr(text, '\n', length);
	char why[CONTROL_WHY];
	json_t *message = control_parse(text, end ? (size_t)(end - text) : length, why);
	bool taken = message && endpoint_parse(message, e, why);

	json_decref(message);
	return taken ? EXIT_RAN : say(path, why, EXIT_USAGE);
}

int endpoint_read(const char *path, struct endpoint *e)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(CONTROL_LINE_MAX) : NULL;
	size_t length;
	int status;

	*e = (struct endpoint){ 0 };
	errno = f && !text ? ENOMEM : errno;
	length = text ? fread(text, 1, CONTROL_LINE_MAX, f) : 0;
	status = !text || ferror(f) ? say(path, cause(errno).text, EXIT_COULD_NOT) : parse_line(path, text, length, e);
	free(text);
	if (f)
		fclose(f);
	return status;
}
