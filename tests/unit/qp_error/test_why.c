// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which cause is found in what is known of a QP. The first ten are faults that others made with ConnectX-5 and ConnectX-6, and whose
 * completion statuses, vendor errors and counters they published; what a program's requests tell beside them is ours.
 */
#include <stdio.h>
#include <string.h>

#include "roce/packet/base.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/diagnose/qp_error/why.h"

#define NOW 100000000000ull
enum { RTS = 3, ERR = 6, WRITE = 0, SEND = 2, READ = 4, RC = 2 };
enum { RKEY = 0x1200, OTHER_RKEY = 0x1301 };

/* A requester with QPN 17, its peer with QPN 18, and what is known of their hosts. */
struct scene {
	struct verbs_qp own, peer;
	const struct verbs_qp *own_list[1], *peer_list[1], *two[2];
	struct host_mr mr;
	struct host_counter counter, counters[2];
	struct why_way way;
	struct why_wire wire;
	struct why_evidence e;
};

static void join(struct verbs_qp *q, __u32 qpn, __u32 peer, __u8 own_address, __u8 peer_address)
{
	static const __u8 prefix[16] = { [10] = 0xff, 0xff, 10, 9, 0 };

	q->qp = (struct host_qp){ .device = "mlx5_0", .port = 1, .qpn = qpn, .peer_qpn = peer, .type = RC, .state = RTS, .pid = 100 + qpn,
				  .program = "python3", .rq_psn = 5, .sq_psn = 9 };
	q->born = NOW - 50000000000ull;
	q->attributes = (struct verbs_attributes){
		.known = VERBS_KNOWS_PATH | VERBS_KNOWS_MTU | VERBS_KNOWS_TIMEOUT | VERBS_KNOWS_RESPONDER | VERBS_KNOWS_ACCESS |
			 VERBS_KNOWS_CAPABILITIES | VERBS_KNOWS_RQ_PSN | VERBS_KNOWS_SQ_PSN,
		.path_mtu = 1024, .access = 0xf, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .gid_type = 2, .max_send_wr = 16 };
	memcpy(q->attributes.sgid, prefix, 16);
	memcpy(q->attributes.dgid, prefix, 16);
	q->attributes.sgid[15] = own_address;
	q->attributes.dgid[15] = peer_address;
}

/* Requests have succeeded before. */
static void begin(struct scene *s)
{
	struct verbs_calls *c = &s->own.calls;

	memset(s, 0, sizeof(*s));
	join(&s->own, 17, 18, 1, 2);
	join(&s->peer, 18, 17, 2, 1);
	s->own.has_calls = true;
	c->born = s->own.born;
	c->whole = 1;
	c->count[VERBS_wrs] = 5;
	c->status[0] = 3;
	c->error_request.opcode = VERBS_OPCODES;
	c->good_request = (struct verbs_request){ .remote_addr = 0x10000, .bytes = 512, .rkey = RKEY, .opcode = WRITE };
	c->good_low = 0x10000;
	c->good_high = 0x10200;
	s->own_list[0] = &s->own;
	s->peer_list[0] = &s->peer;
	s->e = (struct why_evidence){ .qp = &s->own, .own = { .qps = s->own_list, .qp_count = 1, .driver = "mlx5", .now = NOW } };
}

static void end_by(struct scene *s, __u32 status, __u32 vendor, struct verbs_request request)
{
	struct verbs_calls *c = &s->own.calls;

	s->own.qp.state = ERR;
	c->error_time = NOW - 1000000000;
	c->error_status = status;
	c->error_vendor = vendor;
	c->error_request = request;
	c->status[status]++;
	c->status[5] += 2;
}

static struct verbs_request request(__u32 opcode, __u32 rkey, __u64 address, __u64 bytes)
{
	return (struct verbs_request){ .opcode = opcode, .rkey = rkey, .remote_addr = address, .bytes = bytes };
}

static void never_worked(struct scene *s)
{
	struct verbs_calls *c = &s->own.calls;

	c->status[0] = 0;
	c->good_request.opcode = VERBS_OPCODES;
	c->good_low = c->good_high = 0;
}

/* The peer is known, by a file of its host. */
static void know_peer(struct scene *s)
{
	s->e.peer = (struct why_host){ .since = NOW - 60000000000ull, .qps = s->peer_list, .qp_count = 1, .mrs = &s->mr, .mr_count = 1, .driver = "mlx5", .now = NOW };
	s->mr = (struct host_mr){ .device = "mlx5_0", .length = 4096, .rkey = RKEY, .has_keys = true, .iova = 0x10000, .has_iova = true };
	s->e.peer_known = true;
}

static void count(struct scene *s, const char *name)
{
	s->counter = (struct host_counter){ .where = "mlx5_0", .value = 1 };
	snprintf(s->counter.name, sizeof(s->counter.name), "%s", name);
	s->e.own.counters = &s->counter;
	s->e.own.counter_count = 1;
}

static void look(struct scene *s, enum why_yes echoes)
{
	s->way = (struct why_way){ .is_now = true, .interface = "eth0", .carrier = WHY_YES, .route = WHY_YES, .echoes = echoes, .has_source = true,
				   .passes = echoes == WHY_YES ? 4200 : 0 };
	memcpy(s->way.source, s->own.attributes.sgid, 16);
	s->e.way = &s->way;
}

static void stall(struct scene *s)
{
	struct verbs_calls *c = &s->own.calls;

	c->tail = 2;
	c->oldest_post = NOW - 8000000000ull;
}

/* ---- the ten of ConnectX ---- */

static void sge_too_long(struct scene *s)
{
	end_by(s, 4, 0x53, request(WRITE, RKEY, 0x10000, 8192));
}

static void wrong_lkey(struct scene *s)
{
	end_by(s, 4, 0x52, request(WRITE, RKEY, 0x10000, 64));
}

static void no_local_write(struct scene *s)
{
	end_by(s, 4, 0x33, request(READ, RKEY, 0x10000, 64));
}

static void flushed(struct scene *s)
{
	end_by(s, 5, 0xf5, request(WRITE, RKEY, 0x10000, 64));
	s->own.history[0] = (struct verbs_step){ .time = NOW - 2000000000, .kind = VERBS_MODIFIED, .state_before = RTS, .state = ERR,
						   .mask = 1, .pid = 117 };
	s->own.steps = 1;
}

static void no_remote_write(struct scene *s)
{
	end_by(s, 9, 0x8a, request(WRITE, RKEY, 0x10000, 64));
	s->own.calls.good_request.opcode = READ;
	count(s, "req_remote_invalid_request");
}

static void invalid_rkey(struct scene *s)
{
	end_by(s, 10, 0x88, request(WRITE, OTHER_RKEY, 0x10000, 64));
	count(s, "req_remote_access_errors");
}

static void no_receive_buffer(struct scene *s)
{
	end_by(s, 13, 0x87, request(SEND, 0, 0, 64));
	count(s, "rnr_nak_retry_err");
}

static void server_in_error(struct scene *s)
{
	end_by(s, 12, 0x81, request(WRITE, RKEY, 0x10000, 64));
	count(s, "req_transport_retries_exceeded");
	look(s, WHY_YES);
}

static void server_killed(struct scene *s)
{
	server_in_error(s);
	know_peer(s);
	s->peer.gone = NOW - 3000000000ull;
	s->peer.killed = true;
}

static void address_out_of_range(struct scene *s)
{
	end_by(s, 10, 0x88, request(WRITE, RKEY, 0x20000, 64));
	count(s, "req_remote_access_errors");
}

/* ---- with the peer ---- */

static void rkey_of_nobody(struct scene *s)
{
	invalid_rkey(s);
	never_worked(s);
	know_peer(s);
}

static void rkey_on_a_cut_list(struct scene *s)
{
	rkey_of_nobody(s);
	s->e.peer.mrs_cut = true;
}

/* The peer's process has ended since, and its regions with it. */
static void rkey_of_one_that_left(struct scene *s)
{
	rkey_of_nobody(s);
	s->peer.gone = NOW - 1;
}

static void rkey_of_another_process(struct scene *s)
{
	end_by(s, 10, 0x88, request(WRITE, RKEY, 0x10000, 64));
	never_worked(s);
	know_peer(s);
	s->mr.pid = 999;
}

static void beyond_region(struct scene *s)
{
	end_by(s, 10, 0x88, request(WRITE, RKEY, 0x10f00, 512));
	know_peer(s);
	never_worked(s);
}

static void beyond_length(struct scene *s)
{
	beyond_region(s);
	s->mr.has_iova = false;
	s->own.calls.error_request.bytes = 8192;
}

static void memory_read_only(struct scene *s)
{
	end_by(s, 10, 0x88, request(WRITE, RKEY, 0x10000, 64));
	never_worked(s);
	know_peer(s);
}

static void qp_read_only(struct scene *s)
{
	no_remote_write(s);
	know_peer(s);
	s->peer.attributes.access = 5;
}

static void no_answer(struct scene *s)
{
	end_by(s, 12, 0x81, request(WRITE, RKEY, 0x10000, 64));
	never_worked(s);
	look(s, WHY_YES);
	know_peer(s);
}

static void another_qpn(struct scene *s)
{
	no_answer(s);
	s->own.qp.peer_qpn = 99;
}

/* The peer answered, and its program has cleaned up since. */
static void refused_by_one_that_left(struct scene *s)
{
	invalid_rkey(s);
	know_peer(s);
	s->e.peer.qp_count = 0;
}

/* Requests have worked, and then no answer came: the peer may have ended before, or after. */
static void silent_and_left(struct scene *s)
{
	end_by(s, 12, 0x81, request(WRITE, RKEY, 0x10000, 64));
	know_peer(s);
	s->e.peer.qp_count = 0;
}

/* Nothing is known of the requests of either. */
static void blind_and_left(struct scene *s)
{
	s->own.has_calls = false;
	s->own.qp.state = ERR;
	know_peer(s);
	s->peer.gone = NOW - 3000000000ull;
}

/* That the peer's host answers pings says nothing of what failed. */
static void blind_and_answered(struct scene *s)
{
	s->own.has_calls = false;
	s->own.qp.state = ERR;
	look(s, WHY_YES);
}

/* The QP of that number is another one's, and its PSN and access tell nothing of this one. */
static void of_another(struct scene *s)
{
	no_answer(s);
	s->peer.qp.peer_qpn = 40;
	s->peer.attributes.rq_psn_first = 0x1000;
}

static void other_psn(struct scene *s)
{
	no_answer(s);
	s->own.attributes.sq_psn_first = 0x1000;
}

static void other_gid(struct scene *s)
{
	no_answer(s);
	s->own.attributes.sgid[15] = 77;
}

static void other_gid_type(struct scene *s)
{
	no_answer(s);
	s->peer.attributes.gid_type = 1;
}

static void other_mtu(struct scene *s)
{
	no_answer(s);
	s->own.attributes.path_mtu = 4096;
	s->own.calls.error_request.bytes = 8192;
}

/* Different path MTUs, and nothing is wrong. */
static void other_mtu_and_well(struct scene *s)
{
	know_peer(s);
	s->own.attributes.path_mtu = 4096;
}

/* The same, and a fault that has nothing to do with them. */
static void other_mtu_and_rkey(struct scene *s)
{
	rkey_of_nobody(s);
	s->own.attributes.path_mtu = 4096;
	s->own.calls.error_request.bytes = 8192;
}

static void peer_in_error(struct scene *s)
{
	server_in_error(s);
	know_peer(s);
	s->peer.qp.state = ERR;
}

/* ---- from one end ---- */

static void source_is_another(struct scene *s)
{
	no_answer(s);
	s->e.peer_known = false;
	s->e.peer = (struct why_host){ 0 };
	s->way.source[15] = 77;
}

static void silent_from_birth(struct scene *s)
{
	source_is_another(s);
	s->way.source[15] = s->own.attributes.sgid[15];
}

static void asked_for_another_psn(struct scene *s)
{
	silent_from_birth(s);
	count(s, "packet_seq_err");
}

/* Only this QP uses the device, and packets came to it. */
static void answered_in_vain(struct scene *s)
{
	silent_from_birth(s);
	s->counters[0] = (struct host_counter){ .where = "mlx5_0", .name = "sent_pkts", .value = 9 };
	s->counters[1] = (struct host_counter){ .where = "mlx5_0", .name = "rcvd_pkts", .value = 1 };
	s->e.own.counters = s->counters;
	s->e.own.counter_count = 2;
}

/* A WRITE of one packet was allowed, and one of several is not. */
static void first_large_invalid(struct scene *s)
{
	end_by(s, 9, 0x8a, request(WRITE, RKEY, 0x10000, 4096));
}

static void no_echo(struct scene *s)
{
	server_in_error(s);
	look(s, WHY_NO);
}

static void no_carrier_later(struct scene *s)
{
	no_echo(s);
	s->way.carrier = WHY_NO;
}

static void no_carrier_now(struct scene *s)
{
	stall(s);
	look(s, WHY_NO);
	s->way.carrier = WHY_NO;
}

static void large_ones_vanish(struct scene *s)
{
	server_in_error(s);
	s->own.calls.error_request.bytes = 4096;
	s->way.passes = 500;
	s->way.fails = 501;
}

static void waits_for_receive(struct scene *s)
{
	stall(s);
	count(s, "rnr_nak_retry_err");
}

static void waits_for_nothing_known(struct scene *s)
{
	stall(s);
}

/* ---- the responder alone ---- */

static void responder(struct scene *s)
{
	never_worked(s);
	memset(&s->own.calls, 0, sizeof(s->own.calls));
	s->own.calls.error_request.opcode = s->own.calls.good_request.opcode = VERBS_OPCODES;
	s->own.calls.born = s->own.born;
	s->own.calls.whole = 1;
}

static void refuses(struct scene *s)
{
	responder(s);
	s->own.qp.state = ERR;
	s->own.history[0] = (struct verbs_step){ .time = s->own.born, .kind = VERBS_MODIFIED, .state = RTS };
	s->own.steps = 1;
}

static void refuses_writes(struct scene *s)
{
	refuses(s);
	s->own.attributes.access = 1;
}

/* SoftRoCE of Linux 6.12 tells no error of a wrong lkey. */
static void flushes_its_own(struct scene *s)
{
	refuses(s);
	s->own.calls.count[VERBS_wrs] = s->own.calls.count[VERBS_completions] = s->own.calls.status[5] = 2;
}

static void has_no_receive(struct scene *s)
{
	responder(s);
	s->own.calls.count[VERBS_recv_wrs] = s->own.calls.count[VERBS_recv_completions] = 2;
	count(s, "out_of_buffer");
}

/* It takes WRITEs, and needs no receive; another QP of the device may have had none. */
static void needs_no_receive(struct scene *s)
{
	has_no_receive(s);
	s->own.calls.count[VERBS_recv_wrs] = s->own.calls.count[VERBS_recv_completions] = 0;
	s->peer_list[0] = &s->peer;
	s->two[0] = &s->own;
	s->two[1] = &s->peer;
	s->peer.qp.qpn = 40;
	s->e.own.qps = s->two;
	s->e.own.qp_count = 2;
}

/* A WRITE waits; the peer has used all of its receives, and its device has said so of some QP. */
static void write_needs_no_receive(struct scene *s)
{
	stall(s);
	know_peer(s);
	s->own.calls.wrs[WRITE] = 5;
	s->peer.has_calls = true;
	s->peer.calls.born = s->peer.born;
	s->peer.calls.error_request.opcode = s->peer.calls.good_request.opcode = VERBS_OPCODES;
	s->peer.calls.count[VERBS_recv_wrs] = s->peer.calls.count[VERBS_recv_completions] = 2;
	count(s, "out_of_buffer");
	s->e.peer.counters = &s->counter;
	s->e.peer.counter_count = 1;
	s->e.own.counter_count = 0;
}

static void send_needs_a_receive(struct scene *s)
{
	write_needs_no_receive(s);
	s->peer.calls.whole = 1;
	s->own.calls.wrs[SEND] = 1;
}

static void is_killed(struct scene *s)
{
	responder(s);
	s->own.gone = NOW - 1;
	s->own.killed = true;
}

static void ends(struct scene *s, bool by_netlink, __u8 before)
{
	s->own.gone = NOW - 1;
	s->own.qp.state = HOST_QP_GONE;
	s->own.history[0] = (struct verbs_step){ .time = NOW - 1, .kind = VERBS_DESTROYED, .by_netlink = by_netlink,
						 .state_before = before, .state = HOST_QP_GONE };
	s->own.steps = 1;
}

static void is_destroyed(struct scene *s)
{
	ends(s, false, RTS);
}

static void is_missed(struct scene *s)
{
	ends(s, true, RTS);
}

/* Its device brought it to ERR before. */
static void is_destroyed_in_error(struct scene *s)
{
	ends(s, false, ERR);
}

static void hears_other_psns(struct scene *s)
{
	responder(s);
	s->own.qp.rq_psn = s->own.attributes.rq_psn_first = 5;
	count(s, "out_of_sequence");
}

static void hears_nothing(struct scene *s)
{
	responder(s);
	s->own.qp.rq_psn = s->own.attributes.rq_psn_first = 5;
}

static void is_well(struct scene *s)
{
	s->own.attributes.rq_psn_first = 1;
}

/* ---- the wire ---- */

static void on_the_wire(struct scene *s, __u8 syndrome, __u32 packet, bool worked)
{
	s->own.has_calls = false;
	s->own.qp.state = ERR;
	s->wire.requests = s->wire.answers = s->wire.acknowledged = 3;
	s->wire.has_first = s->wire.has_nak = true;
	s->wire.naks[syndrome & 7] = 1;
	s->wire.nak = (struct why_nak){ .syndrome = syndrome, .has_packet = true, .has_reth = true, .packet = packet, .rkey = RKEY,
					.length = 4096, .rkey_worked = worked };
	s->e.wire = &s->wire;
}

static void first_refused(struct scene *s)
{
	on_the_wire(s, 0x62, 0, false);
}

static void second_refused(struct scene *s)
{
	on_the_wire(s, 0x62, 1, false);
}

static void first_refused_of_known(struct scene *s)
{
	on_the_wire(s, 0x62, 0, true);
}

static void write_invalid(struct scene *s)
{
	on_the_wire(s, 0x61, 0, false);
}

static void first_psn_refused(struct scene *s)
{
	on_the_wire(s, 0x60, 0, false);
	s->wire.has_nak = false;
	s->wire.acknowledged = 0;
	s->wire.has_first_nak = true;
	s->wire.first_psn = s->own.attributes.sq_psn_first = 0x1000;
}

/* The capture begins later than the QP. */
static void later_psn_refused(struct scene *s)
{
	first_psn_refused(s);
	s->own.attributes.sq_psn_first = 0x900;
}

/* ---- what is not certain ---- */

/* Its host was looked at only afterwards: the QP may have been there. */
static void another_qpn_looked_at_later(struct scene *s)
{
	another_qpn(s);
	s->e.peer.since = NOW;
}

static void another_qpn_in_a_selection(struct scene *s)
{
	another_qpn(s);
	s->e.peer.partial = true;
}

/* Nothing came through, and the peer's program gave up before, or after, this QP did, which tries for 0.54 s. */
static void peer_ended_while_it_tried(struct scene *s)
{
	server_killed(s);
	s->peer.gone = s->own.calls.error_time - 200000000;
}

static void peer_ended_afterwards(struct scene *s)
{
	server_killed(s);
	s->peer.gone = s->own.calls.error_time + 200000000;
}

/* The clocks of both hosts differ by what is known. */
static void peer_ended_by_another_clock(struct scene *s)
{
	server_killed(s);
	s->e.own.offset = 5000000000000ull;
	s->peer.gone += 5000000000000ull;
	s->e.peer.now += 5000000000000ull;
}

static void peer_ended_while_it_stalls(struct scene *s)
{
	server_killed(s);
	s->own.qp.state = RTS;
	s->own.calls.error_time = s->own.calls.error_status = 0;
	stall(s);
	s->peer.gone = NOW - 1000000;
}

/* GID and PSN are both wrong. */
static void two_mistakes(struct scene *s)
{
	other_psn(s);
	s->peer.attributes.dgid[15] = 77;
}

/* It may have worked before its calls were counted. */
static void other_gid_counted_late(struct scene *s)
{
	other_gid(s);
	s->own.calls.whole = 0;
}

static void other_mtu_that_worked(struct scene *s)
{
	other_mtu(s);
	s->own.calls.status[0] = 3;
	s->own.calls.good_request = request(WRITE, RKEY, 0x10000, 8192);
	s->own.calls.good_low = 0x10000;
	s->own.calls.good_high = 0x12000;
}

/* Programs move a QP to ERR, or destroy it, when they are told of an error, too: nobody has seen completions. */
static void ended_unseen(struct scene *s)
{
	s->own.has_calls = false;
	s->own.qp.state = ERR;
	s->own.history[0] = (struct verbs_step){ .time = NOW, .kind = VERBS_MODIFIED, .state_before = RTS, .state = ERR, .pid = 117 };
	s->own.steps = 1;
}

static void destroyed_unseen(struct scene *s)
{
	is_destroyed(s);
	s->own.has_calls = false;
}

static void written_where_it_may_not(struct scene *s)
{
	end_by(s, 8, 0, (struct verbs_request){ .opcode = VERBS_OPCODES });
	s->own.calls.error_is_receive = 1;
}

/* The end of the request is beyond 2^64. */
static void beyond_all(struct scene *s)
{
	beyond_region(s);
	s->own.calls.error_request = request(WRITE, RKEY, ~0ull - 100, 512);
}

static void receives_counted_late(struct scene *s)
{
	send_needs_a_receive(s);
	s->peer.calls.whole = 0;
}

/* What a file says of the path may be old. */
static void no_carrier_by_file(struct scene *s)
{
	no_carrier_now(s);
	s->way.is_now = false;
}

/* The 57th packet of the first message was lost. */
static void first_nak_is_of_a_loss(struct scene *s)
{
	first_psn_refused(s);
	s->wire.first_nak_inside = true;
}

static const struct {
	const char *name;
	void (*make)(struct scene *s);
	enum why_cause cause;
	enum why_confidence confidence;
} cases[] = {
	{ "ConnectX: SGE longer than its region", sge_too_long, WHY_local_protection, WHY_CERTAIN },
	{ "ConnectX: wrong lkey", wrong_lkey, WHY_local_protection, WHY_CERTAIN },
	{ "ConnectX: no LOCAL_WRITE", no_local_write, WHY_local_protection, WHY_CERTAIN },
	{ "ConnectX: flushed", flushed, WHY_own_end, WHY_CERTAIN },
	{ "ConnectX: no REMOTE_WRITE", no_remote_write, WHY_no_access, WHY_PROBABLE },
	{ "ConnectX: wrong rkey", invalid_rkey, WHY_wrong_rkey, WHY_PROBABLE },
	{ "ConnectX: no receive", no_receive_buffer, WHY_no_receive, WHY_CERTAIN },
	{ "ConnectX: the server's QP in error", server_in_error, WHY_peer_gone, WHY_POSSIBLE },
	{ "ConnectX: the server killed, both ends", server_killed, WHY_peer_gone, WHY_CERTAIN },
	{ "ConnectX: address out of range", address_out_of_range, WHY_out_of_bounds, WHY_PROBABLE },
	{ "both: the peer has no such rkey", rkey_of_nobody, WHY_wrong_rkey, WHY_PROBABLE },
	{ "both: no such rkey on a list that is cut", rkey_on_a_cut_list, WHY_wrong_rkey, WHY_PROBABLE },
	{ "both: no such rkey any more", rkey_of_one_that_left, WHY_wrong_rkey, WHY_PROBABLE },
	{ "both: the rkey is another process's", rkey_of_another_process, WHY_wrong_rkey, WHY_PROBABLE },
	{ "both: beyond the region", beyond_region, WHY_out_of_bounds, WHY_CERTAIN },
	{ "both: longer than the region", beyond_length, WHY_out_of_bounds, WHY_CERTAIN },
	{ "both: the memory may be read only", memory_read_only, WHY_no_access, WHY_PROBABLE },
	{ "both: the QP may be read only", qp_read_only, WHY_no_access, WHY_CERTAIN },
	{ "both: another QPN", another_qpn, WHY_no_such_qp, WHY_CERTAIN },
	{ "both: the peer refused, and has left since", refused_by_one_that_left, WHY_wrong_rkey, WHY_PROBABLE },
	{ "both: no answer, and the peer has no such QP any more", silent_and_left, WHY_peer_gone, WHY_PROBABLE },
	{ "both: in error, without calls, and the peer has left", blind_and_left, WHY_peer_gone, WHY_PROBABLE },
	{ "requester: in error, without calls, and the peer's host answers", blind_and_answered, WHY_refused, WHY_POSSIBLE },
	{ "both: the peer's QP is another one's", of_another, WHY_no_such_qp, WHY_PROBABLE },
	{ "both: another PSN", other_psn, WHY_psn_mismatch, WHY_CERTAIN },
	{ "both: another GID", other_gid, WHY_gid_mismatch, WHY_CERTAIN },
	{ "both: RoCEv1 and RoCEv2", other_gid_type, WHY_gid_mismatch, WHY_CERTAIN },
	{ "both: another path MTU", other_mtu, WHY_mtu_mismatch, WHY_CERTAIN },
	{ "both: another path MTU, and no fault", other_mtu_and_well, WHY_unknown, WHY_POSSIBLE },
	{ "both: another path MTU, and a wrong rkey", other_mtu_and_rkey, WHY_wrong_rkey, WHY_PROBABLE },
	{ "both: the peer's QP in error", peer_in_error, WHY_peer_gone, WHY_PROBABLE },
	{ "requester: another source than this host's", source_is_another, WHY_gid_mismatch, WHY_PROBABLE },
	{ "requester: no answer ever", silent_from_birth, WHY_no_such_qp, WHY_POSSIBLE },
	{ "requester: NAKs for another PSN", asked_for_another_psn, WHY_psn_mismatch, WHY_PROBABLE },
	{ "requester: answers, and none completes anything", answered_in_vain, WHY_psn_mismatch, WHY_PROBABLE },
	{ "requester: the first WRITE of several packets is invalid", first_large_invalid, WHY_mtu_mismatch, WHY_PROBABLE },
	{ "requester: no echo", no_echo, WHY_path_gone, WHY_PROBABLE },
	{ "requester: no carrier when it was looked at", no_carrier_later, WHY_path_gone, WHY_PROBABLE },
	{ "requester: no carrier while it stalls", no_carrier_now, WHY_path_gone, WHY_CERTAIN },
	{ "requester: large packets vanish", large_ones_vanish, WHY_mtu_mismatch, WHY_PROBABLE },
	{ "requester: RNR for ever", waits_for_receive, WHY_no_receive, WHY_PROBABLE },
	{ "requester: stalls", waits_for_nothing_known, WHY_peer_gone, WHY_POSSIBLE },
	{ "responder: refuses", refuses, WHY_refused, WHY_POSSIBLE },
	{ "flushes its own requests without an error", flushes_its_own, WHY_local_protection, WHY_POSSIBLE },
	{ "responder: refuses, and allows no WRITE", refuses_writes, WHY_no_access, WHY_PROBABLE },
	{ "responder: no receive", has_no_receive, WHY_no_receive, WHY_PROBABLE },
	{ "responder: it needs no receive", needs_no_receive, WHY_unknown, WHY_POSSIBLE },
	{ "both: a WRITE needs no receive", write_needs_no_receive, WHY_path_gone, WHY_POSSIBLE },
	{ "both: a SEND waits for a receive", send_needs_a_receive, WHY_no_receive, WHY_CERTAIN },
	{ "responder: killed", is_killed, WHY_killed, WHY_CERTAIN },
	{ "destroyed by its program", is_destroyed, WHY_own_end, WHY_CERTAIN },
	{ "gone, and nobody saw how", is_missed, WHY_unknown, WHY_POSSIBLE },
	{ "in error, and then destroyed by its program", is_destroyed_in_error, WHY_refused, WHY_POSSIBLE },
	{ "responder: other PSNs", hears_other_psns, WHY_psn_mismatch, WHY_PROBABLE },
	{ "responder: nothing comes", hears_nothing, WHY_no_such_qp, WHY_POSSIBLE },
	{ "nothing is wrong", is_well, WHY_unknown, WHY_POSSIBLE },
	{ "wire: the first packet, rkey never worked", first_refused, WHY_wrong_rkey, WHY_PROBABLE },
	{ "wire: the second packet", second_refused, WHY_out_of_bounds, WHY_CERTAIN },
	{ "wire: the first packet, rkey worked", first_refused_of_known, WHY_out_of_bounds, WHY_PROBABLE },
	{ "wire: invalid WRITE", write_invalid, WHY_no_access, WHY_PROBABLE },
	{ "wire: another PSN asked for", first_psn_refused, WHY_psn_mismatch, WHY_CERTAIN },
	{ "the peer's host was looked at later: no such QP", another_qpn_looked_at_later, WHY_no_such_qp, WHY_PROBABLE },
	{ "the peer's host was looked at in part: no such QP", another_qpn_in_a_selection, WHY_no_such_qp, WHY_PROBABLE },
	{ "both: the peer ended while it tried", peer_ended_while_it_tried, WHY_peer_gone, WHY_PROBABLE },
	{ "both: the peer ended afterwards", peer_ended_afterwards, WHY_peer_gone, WHY_POSSIBLE },
	{ "both: the peer ended, by another clock", peer_ended_by_another_clock, WHY_peer_gone, WHY_CERTAIN },
	{ "both: the peer ended while it stalls", peer_ended_while_it_stalls, WHY_peer_gone, WHY_PROBABLE },
	{ "both: another PSN and another GID", two_mistakes, WHY_psn_mismatch, WHY_POSSIBLE },
	{ "both: another GID, counted late", other_gid_counted_late, WHY_gid_mismatch, WHY_PROBABLE },
	{ "both: another path MTU, with which it has worked", other_mtu_that_worked, WHY_loss, WHY_POSSIBLE },
	{ "ended by its program, and completions were not seen", ended_unseen, WHY_own_end, WHY_PROBABLE },
	{ "destroyed by its program, and completions were not seen", destroyed_unseen, WHY_own_end, WHY_PROBABLE },
	{ "responder: written where it may not be", written_where_it_may_not, WHY_wrong_rkey, WHY_POSSIBLE },
	{ "both: beyond the end of all memory", beyond_all, WHY_out_of_bounds, WHY_CERTAIN },
	{ "both: receives that were counted late", receives_counted_late, WHY_no_receive, WHY_POSSIBLE },
	{ "requester: no carrier, says a file", no_carrier_by_file, WHY_path_gone, WHY_PROBABLE },
	{ "wire: a PSN asked for that was sent", first_nak_is_of_a_loss, WHY_refused, WHY_POSSIBLE },
	{ "wire: another PSN asked for, in a late capture", later_psn_refused, WHY_psn_mismatch, WHY_POSSIBLE },
};

static void print_verdict(const char *name, const struct why_verdict *v)
{
	print_message("%s: %s (%s)\n  %s\n", name, why_cause_name(v->cause), why_confidence_name(v->confidence), v->sentence);
	for (size_t i = 0; i < v->line_count; i++)
		print_message("    %s: %s\n", v->lines[i].source, v->lines[i].text);
	for (int c = 0; c < WHY_CAUSES; c++)
		if (v->weight[c])
			print_message("    %s %d\n", why_cause_name(c), v->weight[c]);
}

static void test_causes(void **state)
{
	unsigned int wrong = 0;

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(cases); i++) {
		struct why_verdict v;
		struct scene s;

		begin(&s);
		cases[i].make(&s);
		why_judge(&v, &s.e);
		if (v.cause == cases[i].cause && v.confidence == cases[i].confidence)
			continue;
		wrong++;
		print_verdict(cases[i].name, &v);
		print_message("  wanted: %s (%s)\n", why_cause_name(cases[i].cause), why_confidence_name(cases[i].confidence));
	}
	assert_int_equal(wrong, 0);
}

/* The sentence names the QP, its program, and what is wrong. */
static void test_words(void **state)
{
	struct why_verdict v;
	struct scene s;

	(void)state;
	begin(&s);
	rkey_of_nobody(&s);
	why_judge(&v, &s.e);
	assert_string_equal(v.sentence, "QP 17 of mlx5_0 (python3, PID 117) is in error: probably, the peer has no memory region with rkey 0x1301");
	assert_string_equal(v.lines[0].source, "calls");
	begin(&s);
	is_well(&s);
	why_judge(&v, &s.e);
	assert_true(v.nothing_wrong);
	assert_string_equal(v.sentence, "QP 17 of mlx5_0 (python3, PID 117) is well, as far as is known here");
}

/* Asked about the one that is asked: the words are its peer's, and say so. */
static void test_words_of_peer(void **state)
{
	struct why_verdict v;
	struct scene s;

	(void)state;
	begin(&s);
	rkey_of_nobody(&s);
	s.e = (struct why_evidence){ .qp = &s.peer, .own = s.e.peer, .peer = s.e.own, .peer_known = true };
	s.peer.qp.state = ERR;
	why_judge(&v, &s.e);
	assert_int_equal(v.cause, WHY_wrong_rkey);
	assert_non_null(strstr(v.sentence, "its peer's request failed; seen from there, the peer has no memory region with rkey 0x1301"));
}

/* What is missing to know more is asked for. */
static void test_next(void **state)
{
	struct why_verdict v;
	struct scene s;

	(void)state;
	begin(&s);
	silent_from_birth(&s);
	why_judge(&v, &s.e);
	assert_true(v.next_count >= 2 && v.alternatives);
	assert_non_null(strstr(v.next[0], "--peer"));
	assert_non_null(strstr(v.next[1], "--wire"));
	assert_non_null(strstr(v.next[1], "-i INTERFACE"));
	strcpy(s.own.interface, "eth0.5");
	why_judge(&v, &s.e);
	assert_non_null(strstr(v.next[1], "-i eth0.5 "));
	strcpy(s.own.interface, "a;reboot");
	why_judge(&v, &s.e);
	assert_non_null(strstr(v.next[1], "-i INTERFACE"));
}

/* A name stays what it is when another one is asked for. */
static void test_names(void **state)
{
	const char *one = why_cause_name(WHY_wrong_rkey), *other = why_cause_name(WHY_loss);

	(void)state;
	assert_string_equal(one, "wrong-rkey");
	assert_string_equal(other, "loss");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_words_of_peer),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
