// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "lib/complain.h"
#include "lib/number.h"
#include "lib/stop.h"
#include "userspace/command/commands.h"
#include "userspace/command/verbs_why.h"
#include "userspace/diagnose/path/path.h"
#include "userspace/diagnose/qp_error/load.h"
#include "userspace/diagnose/qp_error/why_view.h"
#include "userspace/diagnose/qp_error/wire.h"
#include "userspace/observe/host/places.h"
#include "userspace/observe/verbs/qp_rows.h"
#include "userspace/render/output/view.h"

#define FDS 64
#define TOLD (2 * VERBS_QPS) /* slots */
#define TELLS 64	     /* most verdicts of one reading: each costs some time */
#define WAYS 16		     /* most peers that are probed: each takes up to ten seconds */

const struct option_entry verbs_why_entries[] = {
	{ "peer", "FILE", "why: what `verbs -j` has written on the peer's host", OPTION_TEXT(struct why_options, peer) },
	{ "wire", "FILE", "why: a capture between the two, or what `monitor -j` has written", OPTION_TEXT(struct why_options, wire) },
	{ "path", "FILE", "why: what `path -j IFACE PEER` has written, instead of probing", OPTION_TEXT(struct why_options, path) },
	{ "from", "FILE", "why: what `verbs -j` has written, instead of this machine", OPTION_TEXT(struct why_options, from) },
	{ 0 },
};

struct why {
	const struct why_run *run;
	struct why_host own;
	struct loaded_host loaded, peer; /* of --from and --peer */
	struct verbs *verbs;		 /* NULL: --from */
	struct verbs_resources resources;
	struct why_way file_way;	 /* of --path */
	struct why_way way[WAYS];
	__u8 way_to[WAYS][16]; /* by way[i].interface */
	size_t ways, asked, told;
	__u32 number; /* QPN or PID; 0: all */
	bool faulty;
};

/* ---- evidence ---- */

static struct why_host live_host(const struct verbs *v, const struct verbs_resources *r)
{
	struct why_host h = { .now = now_ns(), .offset = realtime_offset_ns() };

	h.qp_count = verbs_qps(v, &h.qps);
	h.counter_count = verbs_counters(v, &h.counters);
	h.mrs = r->mrs;
	h.mr_count = r->mr_count;
	return h;
}

/* Whether the other end is a QP of the same machine: addresses say so. */
static bool is_its_own_peer(const struct why_host *h, const struct verbs_qp *q)
{
	const struct verbs_qp *other = why_other_end(h, q);

	return other && other->attributes.known & q->attributes.known & VERBS_KNOWS_PATH &&
	       !memcmp(other->attributes.sgid, q->attributes.dgid, 16);
}

static enum why_yes known(bool known, bool value)
{
	return !known ? WHY_UNKNOWN : value ? WHY_YES : WHY_NO;
}

static void probe(struct why_way *w, const char *interface, const __u8 to[16])
{
	struct path_peer peer;
	struct path_facts f;
	struct place_route route;
	bool found = path_peer_find(&peer, address_text(to).text, if_nametoindex(interface));

	path_read(&f, interface, found ? &peer : NULL);
	places_route(&route, to);
	*w = (struct why_way){ .is_now = true, .carrier = known(true, f.up && f.carrier), .route = known(true, route.leaves_by),
			       .neighbour = known(f.probe.nobody, false), .has_source = route.has_source };
	w->echoes = known(found && !f.probe.nobody && !stop, f.probe.answered); /* stop: it was not waited for */
	memcpy(w->source, route.source, sizeof(w->source));
	snprintf(w->interface, sizeof(w->interface), "%s", interface);
	if (f.probe.known) {
		w->passes = f.probe.passes;
		w->fails = f.probe.fails;
	}
}

/* Whether --path is of this QP's interface and peer, as far as both are known. */
static bool fits_file_way(const struct why *w, const struct verbs_qp *q)
{
	const struct why_way *f = &w->file_way;

	return (!f->interface[0] || !q->interface[0] || !strcmp(f->interface, q->interface)) &&
	       (!f->has_peer || !(q->attributes.known & VERBS_KNOWS_PATH) || !memcmp(f->peer, q->attributes.dgid, 16));
}

/* The way to a QP's peer, probed once for each interface and address. NULL: it cannot be known. */
static const struct why_way *way_of(struct why *w, const struct verbs_qp *q)
{
	if (w->run->options->path)
		return fits_file_way(w, q) ? &w->file_way : NULL;
	if (!w->verbs || !(q->attributes.known & VERBS_KNOWS_PATH) || !q->interface[0] || !if_nametoindex(q->interface))
		return NULL;
	for (size_t i = 0; i < w->ways; i++)
		if (!memcmp(w->way_to[i], q->attributes.dgid, 16) && !strcmp(w->way[i].interface, q->interface))
			return &w->way[i];
	if (w->ways == WAYS)
		return NULL;
	memcpy(w->way_to[w->ways], q->attributes.dgid, 16);
	probe(&w->way[w->ways], q->interface, q->attributes.dgid);
	return &w->way[w->ways++];
}

/* ---- one QP ---- */

static bool read_wire(struct why_evidence *e, const char *file, struct why_wire wire[2])
{
	struct wire_ends out = wire_ends_of(e->qp), in = { .qpn = out.peer_qpn, .peer_qpn = out.qpn };

	memcpy(in.source, out.destination, sizeof(in.source));
	memcpy(in.destination, out.source, sizeof(in.destination));
	if (!wire_read(file, &out, &wire[0]) || !wire_read(file, &in, &wire[1]))
		return false;
	e->wire = &wire[0];
	e->asked = &wire[1];
	return true;
}

static int print(const struct why *w, const struct why_verdict *v, const struct verbs_qp *q)
{
	struct view_time time = view_time(w->own.now + (w->verbs ? realtime_offset_ns() : 0));

	return w->run->json ? why_json(stdout, v, q, time.text) : why_lines(stdout, v);
}

static const char *driver_of(const struct why *w, const struct verbs_qp *q)
{
	return w->verbs ? verbs_resources_driver(&w->resources, q->qp.device) : load_driver(&w->loaded, q->qp.device);
}

/* It was destroyed without an error, by its program as far as was seen. */
static bool has_ended_well(const struct verbs_qp *q, const struct why_verdict *v)
{
	return q->gone && !v->in_error && (v->cause == WHY_own_end || v->cause == WHY_unknown);
}

static bool judge(struct why *w, const struct verbs_qp *q)
{
	struct why_evidence e = { .qp = q, .own = w->own };
	struct why_wire wire[2];
	struct why_verdict v;

	e.own.driver = driver_of(w, q);
	if (w->run->options->peer) {
		e.peer = w->peer.host;
		e.peer.driver = w->peer.device_count ? load_driver(&w->peer, w->peer.devices[0].name) : NULL;
		e.peer_known = true;
	} else if (is_its_own_peer(&w->own, q)) {
		e.peer = e.own;
		e.peer_known = true;
	}
	why_judge(&v, &e);
	/* a capture may be long: it is not read for QPs that are well */
	if (v.nothing_wrong && !w->number)
		return true;
	if (w->run->options->wire) {
		if (!read_wire(&e, w->run->options->wire, wire))
			return false;
		why_judge(&v, &e);
	}
	if (v.confidence != WHY_CERTAIN) {
		e.way = way_of(w, q);
		why_judge(&v, &e);
	}
	w->faulty |= !v.nothing_wrong && !has_ended_well(q, &v);
	w->told++;
	return !print(w, &v, q) || complain("verbs: standard output: %s", strerror(errno));
}

/* ---- all that are asked for ---- */

static bool is_asked(const struct why *w, const struct verbs_qp *q)
{
	return w->number ? q->qp.qpn == w->number || q->qp.pid == w->number : q->qp.qpn > 1;
}

static bool judge_all(struct why *w)
{
	for (size_t i = 0; i < w->own.qp_count; i++) {
		if (!is_asked(w, w->own.qps[i]))
			continue;
		w->asked++;
		if (!judge(w, w->own.qps[i]))
			return false;
	}
	if (w->number && !w->asked)
		return complain("verbs: no QP and no process with QPs has the number %u", w->number);
	if (!w->told && !w->run->json)
		printf("none of %zu QPs is in error or stalls\n", w->asked);
	return !fflush(stdout) || complain("verbs: standard output: %s", strerror(errno));
}

static void watch(struct verbs *v, double seconds)
{
	__u64 end = now_ns() + seconds_to_ns(seconds);
	struct pollfd fds[FDS];
	int of[FDS];
	size_t count = verbs_fds(v, of, FDS);

	for (size_t i = 0; i < count; i++)
		fds[i] = (struct pollfd){ .fd = of[i], .events = POLLIN };
	while (!stop && now_ns() < end) {
		poll(fds, count, 100);
		verbs_read(v);
	}
}

static bool read_own(struct why *w)
{
	if (w->run->options->from) {
		if (!load_host(&w->loaded, w->run->options->from))
			return false;
		w->own = w->loaded.host;
		return true;
	}
	w->verbs = verbs_open(&w->run->verbs);
	if (!w->verbs)
		return false;
	verbs_update(w->verbs);
	if (w->run->seconds > 0) {
		stop_on_signals();
		complain("verbs: watching for %g s", w->run->seconds);
		watch(w->verbs, w->run->seconds);
		stop = 0; /* it ended the watching only: the path is still to be probed */
		verbs_update(w->verbs);
	}
	verbs_resources_read(&w->resources);
	w->own = live_host(w->verbs, &w->resources);
	return true;
}

static bool take_number(struct why *w, char *const words[], size_t count)
{
	uint64_t number = 0;

	if (count > 1 || (count && (!parse_number(words[0], UINT32_MAX, &number) || !number)))
		return false;
	w->number = number;
	return true;
}

int verbs_why(const struct why_run *r, char *const words[], size_t count)
{
	struct why *w = calloc(1, sizeof(*w));
	int status;
	bool good;

	if (!w) {
		complain("there is not enough memory");
		return EXIT_COULD_NOT;
	}
	w->run = r;
	if (!take_number(w, words, count))
		usage_error("verbs: why takes one number, of a QP or of a process");
	good = read_own(w) && (!r->options->peer || load_host(&w->peer, r->options->peer)) &&
	       (!r->options->path || load_way(&w->file_way, r->options->path)) && judge_all(w);
	status = !good ? EXIT_COULD_NOT : r->exit_code && w->faulty ? EXIT_FAULTS : EXIT_RAN;
	verbs_close(w->verbs);
	verbs_resources_close(&w->resources);
	load_free(&w->loaded);
	load_free(&w->peer);
	free(w);
	return status;
}

/* ---- while it runs ---- */

void why_now(struct why_verdict *verdict, const struct verbs *v, struct verbs_resources *resources, bool read, const struct verbs_qp *q)
{
	struct why_evidence e = { .qp = q };

	if (read)
		verbs_resources_read(resources);
	e.own = live_host(v, resources);
	e.own.driver = verbs_resources_driver(resources, q->qp.device);
	e.peer_known = is_its_own_peer(&e.own, q);
	if (e.peer_known)
		e.peer = e.own;
	why_judge(verdict, &e);
}

/* Whether a QP's condition was not told before. A full table begins anew, and tells some again. */
static bool is_new(struct why_watch *w, __u64 key)
{
	size_t slot = (key * 0x9e3779b97f4a7c15ull) >> 47;

	if (!w->told)
		w->told = calloc(TOLD, sizeof(*w->told));
	if (!w->told)
		return false;
	if (w->count == TOLD / 2) {
		memset(w->told, 0, TOLD * sizeof(*w->told));
		w->count = 0;
	}
	for (; w->told[slot]; slot = (slot + 1) % TOLD)
		if (w->told[slot] == key)
			return false;
	w->told[slot] = key;
	w->count++;
	return true;
}

/* Of a QP in one condition; never 0. */
static __u64 key_of(const struct verbs_qp *q, enum qp_condition c)
{
	__u64 key = q->first_seen ^ q->born * 31;

	for (const char *at = q->qp.device; *at; at++)
		key = key * 131 + *at;
	return (key * 0x100000001b3ull + q->qp.qpn) << 2 | (c + 1);
}

int why_watch_update(struct why_watch *w, const struct verbs *v, const struct filter *filter, FILE *out, bool json)
{
	const struct verbs_qp *const *list;
	size_t count = verbs_qps(v, &list), told = 0;
	__u64 now = now_ns();

	for (size_t i = 0; i < count && told < TELLS; i++) {
		enum qp_condition c = qp_condition(list[i], false, now);
		struct qp_row row = qp_row(list[i], now);
		struct why_verdict verdict;

		if (c > QP_STALLED || !qp_filter_wants(filter, &row) || !is_new(w, key_of(list[i], c)))
			continue;
		why_now(&verdict, v, &w->resources, !told++, list[i]);
		if (json ? why_json(out, &verdict, list[i], view_time(now + realtime_offset_ns()).text) : why_sentence(out, &verdict))
			return -1;
	}
	return told && fflush(out) ? -1 : 0;
}

void why_watch_free(struct why_watch *w)
{
	free(w->told);
	verbs_resources_close(&w->resources);
	*w = (struct why_watch){ 0 };
}
