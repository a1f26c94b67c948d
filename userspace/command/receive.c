// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/cause.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/shell.h"
#include "userspace/command/receive.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/observe/model/refusal.h"
#include "userspace/render/output/view.h"
#include "userspace/render/prometheus/text.h"
#include "userspace/traffic/receive/programs.h"
#include "userspace/traffic/receive/qps.h"
#include "userspace/traffic/receive/report.h"
#include "userspace/traffic/receive/server.h"
#include "userspace/traffic/receive/transmit.h"

struct command_receiver {
	const struct receive_options *options;
	struct receive_setup setup;
	struct receive_bpf *bpf;
	struct receive_maps maps;
	struct receive_server *server;
	struct receive_report report;
	struct control_listener listener; /* with --control */
	int over;     /* an eventfd */
};

/* ---- what the monitor calls ---- */

static bool arm_by_hand(struct command_receiver *r)
{
	const struct receive_options *o = r->options;

	for (__u32 i = 0; i < r->setup.settings.qps; i++) {
		struct roce_responder q = receive_responder(&r->setup, i, o->peer, r->setup.service, o->peer_qpn + i, o->peer_psn,
							    r->setup.path_mtu, o->receive_bytes);

		if (receive_qp_arm(&r->maps.qps[i], &q, receive_receives(&r->setup, o->receive_bytes)))
			continue;
		return complain("receive: a QP cannot be armed");
	}
	return true;
}

static bool differ(const struct command_receiver *r, const char *option)
{
	return complain("receive: --pin %s: it was begun with another %s: leave that out, or end it with `rocescope receive "
			"--unpin %s`", r->options->pin, option, shell_word(r->options->pin).text);
}

/* By --control, QPs of a pinned receiver that an earlier command armed take packets until then from --peer only. */
static bool serve_again(struct command_receiver *r)
{
	for (__u32 i = 0; i < r->maps.qp_count; i++)
		if (r->options->has_peer && memcmp(r->maps.qps[i].responder.peer, r->options->peer, sizeof(r->options->peer)))
			receive_qp_reset(&r->maps.qps[i]);
	return true;
}

/*
 * A pinned receiver: what whoever armed its QPs said, for what we tell. false: this command is told otherwise, which is reported.
 */
static bool recall(struct command_receiver *r)
{
	const struct roce_responder *first = &r->maps.qps[0].responder;
	const struct receive_options *o = r->options;
	enum rdma_service service = first->service == SERVICE_RC ? RDMA_RC : RDMA_UC;

	for (__u32 i = 0; i < r->maps.qp_count; i++)
		receive_qp_recover(&r->maps.qps[i]);
	if (o->control)
		return serve_again(r);
	if (first->state == RESPONDER_RESET && o->has_peer)
		return arm_by_hand(r);
	if (first->state == RESPONDER_RESET)
		return complain("receive: --pin %s: its QPs have no sender: --peer IP, or --control", o->pin);
	if (o->has_peer && memcmp(first->peer, o->peer, sizeof(o->peer)))
		return differ(r, "--peer");
	if (o->service && o->service != service)
		return differ(r, "--service");
	if (o->path_mtu && o->path_mtu != first->path_mtu)
		return differ(r, "--path-mtu");
	r->setup.service = service;
	r->setup.path_mtu = first->path_mtu;
	return true;
}

/* The memory is there, and no packet has come yet, or it is that of a pinned receiver. */
static bool on_loaded(void *context, __attribute__((unused)) const struct live *l)
{
	struct command_receiver *r = context;

	if (!r->setup.resumed && !receive_programs_fill(r->bpf, &r->setup))
		return false;
	if (!receive_programs_map(r->bpf, &r->maps))
		return false;
	if (r->setup.resumed ? !recall(r) : !r->options->control && !arm_by_hand(r))
		return false;
	return receive_tell(&r->setup, &r->maps);
}

static bool open_programs(void *context, bool events, struct taken_programs *to)
{
	struct command_receiver *r = context;

	r->bpf = receive_programs_open(&r->setup, events, to);
	to->live.loaded = on_loaded;
	to->live.context = r;
	return r->bpf;
}

/* RC without answers is of no use; to who may be of UC it is worth a warning. */
static bool can_answer(const struct command_receiver *r, bool native)
{
	char why[TRANSMIT_TEXT];

	if (!native || r->setup.service == RDMA_UC || transmit_probe(r->options->interface, why))
		return true;
	if (r->setup.service == RDMA_RC)
		complain("receive: %s", why);
	else
		complain("receive: senders by RC are refused: %s", why);
	return r->setup.service != RDMA_RC;
}

static void say_begun(const struct command_receiver *r)
{
	const struct receive_settings *s = &r->setup.settings;

	complain("receive: %s at %s, %u QP%s from QPN %s on, %llu MiB in %u region%s, path MTU %u",
		 r->setup.service ? rdma_service_name(r->setup.service) : "rc and uc", address_text(s->own).text, s->qps,
		 s->qps > 1 ? "s" : "", qpn_text(s->first_qpn).text, s->memory >> 20, r->setup.regions,
		 r->setup.regions > 1 ? "s" : "", r->setup.path_mtu);
}

static bool begin(void *context, const struct live *l)
{
	struct command_receiver *r = context;
	struct receive_server_options server = {
		.setup = &r->setup, .maps = &r->maps, .native = strcmp(l->interface[0].mode, "generic"),
		.posts = r->options->receives && !r->options->pin, .over = r->over,
		.listener = r->options->control ? &r->listener : NULL,
	};

	if (!can_answer(r, server.native))
		return false;
	r->report.transmit_errors = transmit_errors(r->options->interface);
	if (server.posts || server.listener) {
		r->server = receive_server_start(&server);
		if (!r->server)
			return false;
	}
	r->report.server = r->server;
	say_begun(r);
	return true;
}

static bool end(void *context)
{
	struct command_receiver *r = context;

	receive_server_stop(r->server);
	return receive_dump(r->options, &r->maps);
}

static json_t *json(void *context)
{
	struct command_receiver *r = context;

	return receive_report_json(&r->report);
}

static int lines(void *context, FILE *out, const struct snapshot *now, bool last)
{
	struct command_receiver *r = context;
	struct view_page page;

	page_open(&page, out);
	if (last)
		receive_report_summary(&r->report, page.out, now->seconds);
	else
		receive_report_line(&r->report, page.out, now->seconds);
	page_close(&page);
	return ferror(out) ? -1 : 0;
}

static bool faulty(void *context, const struct faults *f)
{
	struct command_receiver *r = context;
	struct receive_totals t;
	__u64 refused = 0;

	receive_totals_read(&r->report, &t);
	for (int i = REFUSAL_NONE + 1; i < ROCE_REFUSALS; i++)
		refused += t.refused[i];
	return (f->refused && refused) || (f->incomplete && t.incomplete);
}

/* ---- metrics ---- */

static void count(FILE *out, const char *name, const char *help, __u64 n)
{
	text_family(out, name, "counter", help);
	text_count(out, name, "", n);
}

/* n: counters from..end of what the label names. */
static void count_each(FILE *out, const char *name, const char *help, const char *label, const char *const names[],
		       const __u64 n[], int from, int end)
{
	text_family(out, name, "counter", help);
	for (int i = from; i < end; i++) {
		struct text_labels l = { "" };

		text_label(&l, label, names[i]);
		text_count(out, name, l.text, n[i]);
	}
}

static int metrics(void *context, FILE *out)
{
	struct command_receiver *r = context;
	struct receive_totals t;

	receive_totals_read(&r->report, &t);
	count(out, "receive_packets_total", "packets taken into memory", t.packets);
	count(out, "receive_payload_bytes_total", "bytes of payload taken into memory", t.bytes);
	count(out, "receive_messages_total", "messages that ended whole", t.messages);
	count(out, "receive_incomplete_total", "messages that ended with a part missing", t.incomplete);
	count(out, "receive_passed_total", "packets for QPNs of others, left to whoever owns the port", t.passed);
	count(out, "receive_unsent_total", "answers that could not be made", t.unsent);
	count(out, "receive_transmit_errors_total", "frames that the device could not send", t.transmit_errors);
	count(out, "receive_records_lost_total", "completions that were overwritten before they were read", t.records_lost);
	count_each(out, "receive_refused_total", "packets that were not taken, by the reason", "reason", refusal_names, t.refused,
		   REFUSAL_NONE + 1, ROCE_REFUSALS);
	count_each(out, "receive_answers_total", "acknowledgements and the like that were sent, by kind", "kind",
		   receive_answer_names, t.answers, 0, RECEIVE_ANSWERS);
	return ferror(out) ? -1 : 0;
}

/* ---- the beginning ---- */

/* Whether options that are told are those with which the pinned receiver was begun. */
static bool is_as_told(const struct command_receiver *r)
{
	const struct receive_settings *s = &r->setup.settings;
	const struct receive_options *o = r->options;

	if (o->has_memory && s->memory != receive_setup_memory(o))
		return differ(r, "--memory");
	if (o->has_regions && r->setup.regions != o->regions)
		return differ(r, "--regions");
	if (o->has_qps && s->qps != o->qps)
		return differ(r, "--qps");
	if (o->has_qpn && s->first_qpn != o->first_qpn)
		return differ(r, "--qpn");
	if (o->has_rkey && r->setup.region[0].rkey != o->rkey)
		return differ(r, "--rkey");
	if (o->has_va && r->setup.region[0].va != o->va)
		return differ(r, "--va");
	if (o->has_block && s->block != o->block)
		return differ(r, "--block");
	if (o->has_address && memcmp(s->own, o->address, sizeof(s->own)))
		return differ(r, "--address");
	return (s->each >= o->each || differ(r, "--each")) && (s->notify >= o->notify || differ(r, "--cnp"));
}

static bool say_pin(const struct command_receiver *r, const char *map, int error)
{
	return complain("receive: --pin %s: the map %s: %s", r->options->pin, map,
			error == -EPROTO ? "a build with another layout made it" : cause(-error).text);
}

static bool resume(struct command_receiver *r, const struct receive_maps *m)
{
	struct roce_region *region = calloc(RECEIVE_REGIONS, sizeof(*region));
	int regions = region ? receive_maps_regions(m, region, RECEIVE_REGIONS) : -ENOMEM;

	if (regions <= 0) {
		free(region);
		return say_pin(r, "regions", regions ?: -EPROTO);
	}
	receive_setup_resume(&r->setup, r->options, m->setup, region, regions);
	return is_as_told(r);
}

/* From a pinned receiver, or anew. */
static bool set_up(struct command_receiver *r)
{
	struct receive_maps pinned;
	int error;
	bool good;

	if (!r->options->pin || !pin_is_of(r->options->pin, &receive_kind))
		return receive_setup_make(&r->setup, r->options);
	error = receive_maps_of_pin(&pinned, r->options->pin);
	if (error)
		return say_pin(r, pinned.wrong, error);
	good = resume(r, &pinned);
	receive_maps_close(&pinned);
	return good;
}

/* Returns the exit status. */
static int listen_and_run(struct command_receiver *r, struct monitor_options *o)
{
	int status;

	if (!r->options->control)
		return monitor_run(o);
	if (!receive_listen(&r->setup, &r->listener))
		return EXIT_COULD_NOT;
	status = monitor_run(o);
	receive_server_stop(r->server);
	control_listener_close(&r->listener);
	return status;
}

int receive_run(struct receive_command *c)
{
	struct command_receiver r = { .options = &c->receive, .maps = { .regions = -1 },
			      .over = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	struct monitor_added added = {
		.context = &r, .over = r.over, .alone = !c->watch, .files = c->receive.dump, .open = open_programs,
		.begin = begin, .end = end, .faulty = faulty, .json = json, .lines = lines, .metrics = metrics,
	};
	int status = EXIT_COULD_NOT;

	c->monitor.added = &added;
	r.report.setup = &r.setup;
	r.report.maps = &r.maps;
	if (set_up(&r))
		status = listen_and_run(&r, &c->monitor);
	receive_server_free(r.server);
	receive_maps_close(&r.maps);
	receive_programs_close(r.bpf);
	receive_setup_free(&r.setup);
	close(r.over);
	return status;
}
