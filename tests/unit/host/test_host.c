// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * RDMA netlink messages become QPs, owners and pairs; counters become words. The messages are built by hand, as nldev.c does.
 */
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <rdma/rdma_netlink.h>

#include "lib/address.h"
#include "tests/unit/cmocka_includes.h"

#include "userspace/observe/host/hints.h"

/* from include/rdma/ib_verbs.h; userspace/observe/host/owners.c has its own copy */
#define TYPE_RC 2
#define STATE_RTS 3
#define STATE_ERR 6
#define REMEMBERED_NS (600 * 1000000000ull)

#define QPN 18
#define PEER_QPN 17

/* ---- messages ---- */

static struct host_qp taken[8];
static size_t taken_count;

static void take(void *context, const struct host_qp *qp)
{
	(void)context;
	taken[taken_count++] = *qp;
}

static void put_qp(struct nl_msg *m, __u32 qpn, bool connected)
{
	struct nlattr *entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, qpn);
	if (connected) {
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_RQPN, PEER_QPN);
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_RQ_PSN, 0x123456);
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, 4711);
	} else {
		nla_put_string(m, RDMA_NLDEV_ATTR_RES_KERN_NAME, "ib_core");
	}
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_SQ_PSN, 5);
	nla_put_u8(m, RDMA_NLDEV_ATTR_RES_TYPE, connected ? TYPE_RC : 1);
	nla_put_u8(m, RDMA_NLDEV_ATTR_RES_STATE, STATE_RTS);
	nla_nest_end(m, entry);
}

static struct nl_msg *answer(void)
{
	struct nl_msg *m = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET), 0);
	struct nlattr *table;

	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
	table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP);
	put_qp(m, QPN, true);
	put_qp(m, 1, false);
	nla_nest_end(m, table);
	return m;
}

static void test_messages(void **state)
{
	struct nl_msg *m = answer();

	(void)state;
	taken_count = 0;
	rdma_parse_qps(nlmsg_hdr(m), take, NULL);
	assert_int_equal(taken_count, 2);
	assert_int_equal(taken[0].qpn, QPN);
	assert_int_equal(taken[0].peer_qpn, PEER_QPN);
	assert_int_equal(taken[0].rq_psn, 0x123456);
	assert_int_equal(taken[0].sq_psn, 5);
	assert_int_equal(taken[0].pid, 4711);
	assert_string_equal(host_type_name(taken[0].type), "RC");
	assert_string_equal(host_state_name(taken[0].state), "RTS");
	assert_int_equal(taken[1].rq_psn, HOST_NO_PSN);
	assert_int_equal(taken[1].peer_qpn, 0);
	assert_string_equal(taken[1].program, "ib_core");
	nlmsg_free(m);
}

/* Messages cut at any place, in memory of exactly that size, are read without harm. */
static void test_cut_messages(void **state)
{
	struct nl_msg *m = answer();
	__u32 whole = nlmsg_hdr(m)->nlmsg_len;

	(void)state;
	for (__u32 length = sizeof(struct nlmsghdr); length < whole; length++) {
		struct nlmsghdr *cut = malloc(length);

		memcpy(cut, nlmsg_hdr(m), length);
		cut->nlmsg_len = length;
		taken_count = 0;
		rdma_parse_qps(cut, take, NULL);
		assert_in_range(taken_count, 0, 2);
		free(cut);
	}
	nlmsg_free(m);
}

/* ---- memory regions ---- */

static struct host_mr mrs[8];
static size_t mr_count;

static void take_mr(void *context, const struct host_mr *mr)
{
	(void)context;
	mrs[mr_count++] = *mr;
}

static void put_mr(struct nl_msg *m, bool keys)
{
	struct nlattr *entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_MR_ENTRY);

	nla_put_u64(m, RDMA_NLDEV_ATTR_RES_MRLEN, 1ull << 40);
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, 4711);
	if (keys) {
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_RKEY, 0xfedcba98);
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_LKEY, 7);
		nla_put_u64(m, RDMA_NLDEV_ATTR_RES_IOVA, 0x7f0000001000);
	}
	nla_nest_end(m, entry);
}

static void test_mrs(void **state)
{
	struct nl_msg *m = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_MR_GET), 0);
	struct nlattr *table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_MR);

	(void)state;
	put_mr(m, true);
	put_mr(m, false); /* without CAP_NET_ADMIN */
	nla_nest_end(m, nla_nest_start(m, RDMA_NLDEV_ATTR_RES_MR_ENTRY)); /* without its length it is none */
	nla_nest_end(m, table);
	mr_count = 0;
	rdma_parse_mrs(nlmsg_hdr(m), take_mr, NULL);
	assert_int_equal(mr_count, 2);
	assert_true(mrs[0].has_keys && mrs[0].has_iova && !mrs[1].has_keys && !mrs[1].has_iova);
	assert_int_equal(mrs[0].rkey, 0xfedcba98);
	assert_int_equal(mrs[0].lkey, 7);
	assert_int_equal(mrs[0].iova, 0x7f0000001000);
	assert_int_equal(mrs[1].length, 1ull << 40);
	assert_int_equal(mrs[1].pid, 4711);
	nlmsg_free(m);
}

static struct nl_msg *port(__u64 sent)
{
	struct nl_msg *m = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET), 0);
	struct nlattr *table = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);

	for (__u64 i = 0; i < 30; i++) {
		struct nlattr *entry = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		char name[16];

		snprintf(name, sizeof(name), "counter_%llu", i);
		nla_put_string(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
		nla_put_u64(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, sent + i);
		nla_nest_end(m, entry);
	}
	nla_nest_end(m, table);
	return m;
}

/* The ports of a device are summed. */
static void test_ports(void **state)
{
	struct nl_msg *first = port(100), *second = port(5000);
	struct rdma_counters c = { 0 };

	(void)state;
	rdma_add_counters(nlmsg_hdr(first), &c);
	rdma_add_counters(nlmsg_hdr(second), &c);
	assert_int_equal(c.count, 30);
	for (size_t i = 0; i < c.count; i++)
		assert_int_equal(c.items[i].value, 5100 + 2 * i);
	assert_string_equal(c.items[29].name, "counter_29");
	free(c.items);
	nlmsg_free(first);
	nlmsg_free(second);
}

/* ---- owners ---- */

static const struct rdma_host_device device = { .name = "rxe0", .software = true, .driver = "rxe", .interface = { 2 } };
static struct place_link link = { .name = "eth0", .index = 2, .mac = { 2, 0, 0, 0, 0, 1 }, .up = true, .devices = 1 };
static struct place_address here = { .interface = 2, .devices = 1 };
static const struct places places = { .links = &link, .link_count = 1, .addresses = &here, .address_count = 1 };

/* The only address here is 10.9.0.1 (tests link no rtnetlink). */
bool places_has(const struct places *p, const __u8 address[16], __u64 *devices)
{
	*devices = 1;
	return !memcmp(p->addresses[0].address, address, 16);
}

const struct place_link *places_link(const struct places *p, unsigned int index)
{
	return index == 2 ? &p->links[0] : NULL;
}

static struct host_qp qp_of(__u32 qpn, __u32 peer_qpn, __u32 rq_psn)
{
	return (struct host_qp){ .device = "rxe0", .qpn = qpn, .peer_qpn = peer_qpn, .rq_psn = rq_psn, .type = TYPE_RC,
				 .state = STATE_RTS, .pid = 1, .program = "prog" };
}

static struct snapshot_stream stream_of(const char *src, const char *dst, __u32 qpn, __u32 last_psn, __u64 last_seen)
{
	struct snapshot_stream s = { .key = { .kind = KEY_CONNECTED, .qpn = qpn },
				     .stream = { .trusted = 1, .met = 1, .last.psn = last_psn, .last_seen = last_seen } };

	address_parse(src, s.key.src);
	address_parse(dst, s.key.dst);
	s.stream.last.dst_mac[0] = 2;
	s.stream.last.dst_mac[5] = 1;
	return s;
}

static struct known_qps known;

static void update(const struct host_qp *qps, size_t count, __u64 time)
{
	assert_true(known_qps_update(&known, qps, count, &device, 1, time));
}

static struct host_qp found;

static struct host_owner owner_of(const struct snapshot_stream *s)
{
	struct owner_facts f = { .places = &places, .qps = &known, .rdma = true };
	struct host_owner o;

	owner_find(&f, s, &o, &found);
	return o;
}

static int setup(void **state)
{
	(void)state;
	known_qps_free(&known);
	address_parse("10.9.0.1", here.address);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	known_qps_free(&known);
	return 0;
}

static void test_owners(void **state)
{
	struct snapshot_stream in = stream_of("10.9.0.2", "10.9.0.1", QPN, 99, 50), none = in, other = in;
	struct snapshot_stream out = stream_of("10.9.0.1", "10.9.0.2", PEER_QPN, 7, 50);
	struct host_qp qps[] = { qp_of(QPN, PEER_QPN, 100), qp_of(QPN + 1, PEER_QPN + 1, 0) };
	struct host_owner o;

	(void)state;
	update(qps, 2, 100);
	o = owner_of(&in);
	assert_true(o.local && !o.outward && o.qp && o.qp->qpn == QPN && !o.words[0]);
	o = owner_of(&out);
	assert_true(o.local && o.outward && o.qp && o.qp->qpn == QPN && !o.words[0]);
	none.key.qpn = 77;
	o = owner_of(&none);
	assert_true(o.local && !o.qp && o.refused);
	assert_string_equal(o.words, "no such QP here");
	address_parse("10.9.0.3", other.key.dst);
	o = owner_of(&other);
	assert_false(o.local || o.qp);
	assert_int_equal(o.astray, HOST_ADDRESS); /* stream_of() gives it our MAC */
	other.stream.last.dst_mac[5] ^= 0x40;
	assert_int_equal(owner_of(&other).astray, HOST_MEANT); /* neither is ours */
	other = in;
	other.stream.last.dst_mac[5] ^= 0x40;
	assert_int_equal(owner_of(&other).astray, HOST_MAC);
	assert_int_equal(owner_of(&out).astray, HOST_MEANT);

	/* two QPs whose peers have the same number: only the pair distinguishes them */
	qps[1].peer_qpn = PEER_QPN;
	update(qps, 2, 200);
	o = owner_of(&out);
	assert_true(o.local && !o.qp);
	out.stream.pair = (struct roce_pair){ .from = PAIR_NETLINK, .peer_qpn = QPN + 1 };
	o = owner_of(&out);
	assert_int_equal(o.qp->qpn, QPN + 1);
}

static void test_pairs(void **state)
{
	struct snapshot_stream in = stream_of("10.9.0.2", "10.9.0.1", QPN, 99, 50);
	struct host_qp qp = qp_of(QPN, PEER_QPN, 100);
	struct owner_pair pairs[2];
	struct host_owner o;

	(void)state;
	update(&qp, 1, 100);
	o = owner_of(&in);
	assert_int_equal(owner_pairs(&in, &o, pairs), 2);
	assert_int_equal(pairs[0].key.number, QPN);
	assert_int_equal(pairs[0].pair.peer_qpn, PEER_QPN);
	assert_memory_equal(pairs[0].key.src, in.key.src, 16);
	assert_int_equal(pairs[1].key.number, PEER_QPN);
	assert_int_equal(pairs[1].pair.peer_qpn, QPN);
	assert_memory_equal(pairs[1].key.src, in.key.dst, 16);
	assert_int_equal(pairs[1].pair.from, PAIR_NETLINK);
	assert_int_equal(pairs[1].pair.first_psn, PAIR_NO_PSN);
	/* an untrusted stream, or a QP that no longer exists, changes nothing */
	in.stream.trusted = 0;
	assert_int_equal(owner_pairs(&in, &o, pairs), 0);
	in.stream.trusted = 1;
	update(NULL, 0, 200);
	o = owner_of(&in);
	assert_true(o.qp);
	assert_int_equal(owner_pairs(&in, &o, pairs), 0);
}

static void test_gone(void **state)
{
	struct snapshot_stream in = stream_of("10.9.0.2", "10.9.0.1", QPN, 99, 150);
	struct host_qp qp = qp_of(QPN, PEER_QPN, 100);
	struct host_owner o;

	(void)state;
	update(&qp, 1, 100);
	update(NULL, 0, 200);
	o = owner_of(&in);
	assert_string_equal(o.words, "the QP has gone");
	assert_string_equal(o.qp->program, "prog");
	assert_string_equal(host_state_name(o.qp->state), "GONE");
	in.stream.last_seen = 250;
	o = owner_of(&in);
	assert_string_equal(o.words, "the QP has gone, and packets still come");
	update(NULL, 0, 200 + REMEMBERED_NS);
	o = owner_of(&in);
	assert_false(o.qp);
	in.stream.last_seen = 150;
	o = owner_of(&in);
	assert_string_equal(o.words, "no such QP here any more");
	/* the number is reused */
	qp.pid = 2;
	update(&qp, 1, 201 + REMEMBERED_NS);
	o = owner_of(&in);
	assert_true(o.qp && o.qp->pid == 2 && !o.words[0]);
}

static void test_psn(void **state)
{
	struct snapshot_stream in = stream_of("10.9.0.2", "10.9.0.1", QPN, 0x200000, 50);
	struct host_qp qp = qp_of(QPN, PEER_QPN, 0);
	struct host_owner o;

	(void)state;
	update(&qp, 1, 100);
	o = owner_of(&in);
	assert_string_equal(o.words, "PSN on the wire 0x200000, the QP expects 0x0");
	/* close: the QP may not have processed the packet yet ... */
	in.stream.last.psn = 20;
	o = owner_of(&in);
	assert_string_equal(o.words, "");
	/* ... until it has not moved while packets came */
	in.stream.last_seen = 150;
	update(&qp, 1, 200);
	o = owner_of(&in);
	assert_string_equal(o.words, "PSN on the wire 0x14, the QP expects 0x0");
	/* no packets since */
	update(&qp, 1, 300);
	o = owner_of(&in);
	assert_string_equal(o.words, "");
	/* it moves; after 2^24 it is 0 again */
	in.stream = (struct roce_stream){ .met = 1, .trusted = 1, .last.psn = 0xffffff, .last_seen = 350 };
	update(&qp, 1, 400);
	o = owner_of(&in);
	assert_string_equal(o.words, "");
	qp.state = STATE_ERR;
	in.stream.last_seen = 450;
	update(&qp, 1, 500);
	o = owner_of(&in);
	assert_string_equal(o.words, "the QP is in state ERR and takes nothing");
	assert_true(o.refused);
}

/* ---- counters ---- */

static void test_book(void **state)
{
	struct book b = { 0 };

	(void)state;
	for (__u64 n = 1000; n <= 1010; n += 10) {
		book_add(&b, "eth0", "     rx_out_of_buffer", n);
		book_add(&b, "eth0", "rx_queue_0_packets", n * 300);
		book_add(&b, "eth0", "rx_queue_1_packets", n);
		book_add(&b, "eth0", "rx_queue_0_xdp_drops", n * 5);
		book_add(&b, "eth0", "tx_dropped", n);
		book_add(&b, "mlx5_0", "out_of_sequence", n / 2);
	}
	book_add(&b, "mlx5_0", "out_of_sequence", 0); /* was reset */
	book_add(&b, "mlx5_0", "out_of_sequence", 2);
	book_close(&b);
	assert_int_equal(b.moved_count, 3);
	assert_string_equal(b.moved[0].name, "rx_out_of_buffer");
	assert_int_equal(b.moved[0].value, 10);
	assert_true(b.moved[0].dropped);
	assert_string_equal(b.moved[1].name, "tx_dropped");
	assert_false(b.moved[1].dropped);
	assert_string_equal(b.moved[2].name, "out_of_sequence");
	assert_int_equal(b.moved[2].value, 5 + 2);
	assert_int_equal(book_queues(&b, "eth0").count, 2);
	assert_int_equal(book_queues(&b, "eth0").packets, 3010);
	assert_int_equal(book_queues(&b, "eth0").most, 3000);
	assert_true(book_counts_losses(&b, "eth0"));
	assert_false(book_counts_losses(&b, "mlx5_0"));
	book_free(&b);
}

/* Names of all drivers that have such counters, as their sources have them. */
static void test_priorities(void **state)
{
	static const struct {
		const char *name;
		int priority, count; /* -1: none */
	} named[] = {
		{ "rx_prio3_pause", 3, PRIORITY_RX_PAUSE }, { "tx_prio0_pause", 0, PRIORITY_TX_PAUSE },
		{ "rx_prio3_pause_duration", -1, 0 }, { "rx_prio3_pause_transition", -1, 0 }, { "rx_prio3_packets", -1, 0 },
		{ "rx_prio5_discards", 5, PRIORITY_DISCARDS }, { "rx_prio5_buf_discard", 5, PRIORITY_DISCARDS },
		{ "rx_prio5_cong_discard", 5, PRIORITY_DISCARDS }, { "rx_prio6_marked", 6, PRIORITY_MARKED },
		{ "rx_pause_prio_7", 7, PRIORITY_RX_PAUSE }, { "tx_pause_prio_7", 7, PRIORITY_TX_PAUSE },
		{ "rx_pause_duration_prio_7", -1, 0 }, { "rx_prio_7_packets", -1, 0 },
		{ "rx_priority_1_xoff.nic", 1, PRIORITY_RX_PAUSE }, { "rx_priority_1_xon.nic", -1, 0 },
		{ "port.tx_priority_1_xoff", 1, PRIORITY_TX_PAUSE }, { "port.rx_priority_1_xon_2_xoff", -1, 0 },
		{ "tx_pb_2_pxoff", 2, PRIORITY_TX_PAUSE }, { "rx_pb_2_pxon", -1, 0 },
		{ "rx_pfc_ena_frames_pri4", 4, PRIORITY_RX_PAUSE }, { "pfc_pri4_rx_transitions", -1, 0 },
		{ "mac_tx_pfc_pri4_pkt_num", 4, PRIORITY_TX_PAUSE }, { "mac_rx_pfc_pkt_num", -1, 0 },
		{ "rx_pause", -1, 0 }, { "rx_queue_3_packets", -1, 0 }, { "rx_prio12_pause", -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		struct book b = { 0 };

		for (__u64 n = 100; n <= 107; n += 7) {
			book_add(&b, "eth0", named[i].name, n);
			book_add(&b, "eth1", "rx_prio3_pause", 5); /* does not move */
		}
		book_close(&b);
		assert_int_equal(b.priority_count, named[i].priority >= 0);
		if (named[i].priority >= 0) {
			assert_string_equal(b.priorities[0].where, "eth0");
			assert_int_equal(b.priorities[0].priority, named[i].priority);
			assert_int_equal(b.priorities[0].count[named[i].count], 7);
			assert_int_equal(b.moved_count, 1); /* it is no queue's */
		}
		book_free(&b);
	}
}

/* ---- hints ---- */

static bool has_hint(const struct hint_facts *f, const char *words)
{
	struct hints h = { 0 };
	bool found = false;

	hints_make(&h, f);
	for (size_t i = 0; i < h.count; i++)
		found |= !!strstr(h.lines[i], words);
	hints_free(&h);
	return found;
}

static void test_hints(void **state)
{
	static const struct rdma_host_device nic = { .name = "mlx5_0", .driver = "mlx5", .interface = { 2 } };
	struct snapshot_stream in[] = { stream_of("10.9.0.2", "10.9.0.1", QPN, 1, 1),
					stream_of("10.9.0.2", "10.9.0.1", QPN + 1, 1, 1) };
	struct host_owner owner = { .local = true };
	struct snapshot s = { .seconds = 3 };
	/* a stream's source, one that has nothing to do with streams, and one that may be a router */
	static const char *const silent[] = { "10.9.0.2", "10.9.0.77", "10.9.0.254" };
	struct place_silent neighbours[] = { { .interface = 2 }, { .interface = 2 }, { .interface = 2 } };
	struct places with_silent = { .links = &link, .link_count = 1, .addresses = &here, .address_count = 1,
				      .silent = neighbours, .silent_count = 3 };
	struct hint_interface interface = { .name = "eth0", .index = 2 };
	struct book b = { 0 };
	struct hint_facts f = { .snapshot = &s, .places = &places, .qps = &known, .book = &b, .devices = &nic,
				.device_count = 1, .interfaces = &interface, .interface_count = 1 };

	(void)state;
	assert_true(has_hint(&f, "promisc on"));
	book_add(&b, "mlx5_0", "rx_write_requests", 1);
	assert_false(has_hint(&f, "mirror port of the switch"));
	book_add(&b, "mlx5_0", "rx_write_requests", 11);
	assert_true(has_hint(&f, "its counters move (rx_write_requests: 10)"));
	assert_true(has_hint(&f, "mirror port of the switch"));
	assert_true(has_hint(&f, "`rocescope verbs` shows these QPs"));
	f.devices = &device; /* rxe hides no packets from XDP */
	assert_false(has_hint(&f, "mirror port of the switch"));

	s.totals.value[COUNTER_roce_packets] = 10000;
	assert_false(has_hint(&f, "promisc on"));
	s.totals.value[COUNTER_psn_lost] = 5;
	assert_false(has_hint(&f, "lost before")); /* the driver reports nothing */
	book_add(&b, "eth0", "rx_dropped", 0);
	assert_true(has_hint(&f, "they were lost before"));
	book_add(&b, "eth0", "rx_dropped", 7);
	assert_true(has_hint(&f, "eth0 says that it dropped 7 frames (rx_dropped); 5 PSNs are lost"));
	s.totals.value[COUNTER_udp_lost] = 3;
	assert_true(has_hint(&f, "8 PSNs and numbers of --udp are lost"));
	s.totals.value[COUNTER_psn_lost] = 0;
	assert_true(has_hint(&f, "eth0 says that it dropped 7 frames (rx_dropped); 3 numbers of --udp are lost"));
	s.totals.value[COUNTER_psn_lost] = 5;
	s.totals.value[COUNTER_udp_lost] = 0;
	/* four of the five came, with a wrong ICRC */
	in[0].stream.trusted = 1;
	in[0].stream.counters.value[COUNTER_psn_skipped] = 5;
	in[0].stream.counters.value[COUNTER_icrc_bad] = 4;
	in[0].stream.counters.value[COUNTER_icrc_checked] = 5000;
	s.streams = in;
	s.stream_count = 1;
	assert_true(has_hint(&f, "1 other PSNs are lost"));
	assert_true(has_hint(&f, "4 of the 5 PSNs that are lost came here with a wrong ICRC"));
	assert_false(has_hint(&f, "most ICRCs"));
	in[0].stream.counters.value[COUNTER_icrc_checked] = 7;
	assert_true(has_hint(&f, "most ICRCs of 1 stream are wrong"));
	in[0].stream = (struct roce_stream){ .last = in[0].stream.last };
	s.stream_count = 0;

	for (__u64 n = 0; n <= 5000; n += 5000) {
		book_add(&b, "eth0", "rx_queue_0_packets", n);
		book_add(&b, "eth0", "rx_queue_1_packets", n / 100);
	}
	assert_true(has_hint(&f, "99 % of 5050 packets came by queue 0 of 2"));
	assert_false(has_hint(&f, "rx-flow-hash"));
	in[0].owner = in[1].owner = &owner;
	in[1].stream.last.udp_source_port = 1;
	s.streams = in;
	s.stream_count = 2;
	assert_true(has_hint(&f, "rx-flow-hash"));

	assert_false(has_hint(&f, "does not answer"));
	f.places = &with_silent;
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		address_parse(silent[i], neighbours[i].address);
	assert_true(has_hint(&f, "10.9.0.2 does not answer ARP on eth0: nothing can be sent to it, not even acknowledgements"));
	assert_true(has_hint(&f, "`ip neigh replace 10.9.0.2 lladdr MAC dev eth0`"));
	assert_false(has_hint(&f, "10.9.0.77"));
	assert_false(has_hint(&f, "10.9.0.254"));
	neighbours[2].leads = true;
	assert_true(has_hint(&f, "10.9.0.254 does not answer ARP on eth0: nothing can be sent to it, nor to what is behind it"));
	f.places = &places;

	assert_false(has_hint(&f, "not its own"));
	in[1].stream.last.dst_mac[5] = 9;
	owner = owner_of(&in[1]);
	in[0].owner = NULL;
	assert_true(has_hint(&f, "1 stream is addressed to this host's IP 10.9.0.1, but to MAC 02:00:00:00:00:09"));
	in[1].stream.last.dst_mac[0] = 1; /* a multicast group's */
	owner = owner_of(&in[1]);
	assert_false(has_hint(&f, "not its own"));
	f.device_count = 0;
	assert_true(has_hint(&f, "no RDMA device"));
	interface.lro = interface.vlan_stripped = true;
	assert_true(has_hint(&f, "LRO is on"));
	assert_false(has_hint(&f, "VLAN"));
	link.promiscuous = true;
	assert_true(has_hint(&f, "strips VLAN tags"));
	link.promiscuous = false;
	book_free(&b);
}

static struct snapshot_stream connected(const char *src, const char *dst, __u32 qpn, enum roce_side side)
{
	struct snapshot_stream s = { .key = { .kind = KEY_CONNECTED, .qpn = qpn, .side = side } };

	address_parse(src, s.key.src);
	address_parse(dst, s.key.dst);
	return s;
}

/* A look a second: 1000 packets of 1 Mbyte together, marks of them with CE. */
static void pass(struct marks *m, struct snapshot *s, __u64 packets, __u64 marks)
{
	__u64 *v = s->streams[0].stream.counters.value;

	v[COUNTER_roce_packets] += packets;
	v[COUNTER_bytes] += 1000 * packets;
	v[COUNTER_ecn_ce] += marks;
	s->seconds++;
	marks_update(m, s);
}

static void test_marks(void **state)
{
	struct snapshot_stream streams[] = { connected("10.9.0.1", "10.9.0.2", 17, SIDE_REQUEST),
					     connected("10.9.0.2", "10.9.0.1", 18, SIDE_RESPONSE) };
	struct snapshot s = { .streams = streams, .stream_count = 2 };
	struct places none = { 0 };
	struct book b = { 0 };
	struct marks m = { 0 };
	struct hint_facts f = { .snapshot = &s, .places = &none, .qps = &known, .book = &b, .marks = &m };
	__u64 *back = streams[1].stream.counters.value;

	(void)state;
	streams[0].stream.counters.value[COUNTER_ecn_ce] = 1;
	for (int i = 0; i < 4; i++)
		pass(&m, &s, 1000, 0);
	assert_false(has_hint(&f, "the network marks"));
	for (int i = 0; i < 3; i++) {
		assert_false(has_hint(&f, "the network marks"));
		pass(&m, &s, 1000, 100);
	}
	assert_true(has_hint(&f, "10.9.0.1 > 10.9.0.2 QPN 17 (0x11): the network marks, and the sender does not slow down: in the last interval "
				 "of 1000 packets 100 came marked CE, at 0.008 Gbit/s; 0.008 when the marks began"));
	assert_true(has_hint(&f, "No packet of the way back is seen here"));
	back[COUNTER_roce_packets] = 50;
	pass(&m, &s, 1000, 100);
	assert_true(has_hint(&f, "no CNP goes back, though 50 other packets do: the receiver sends none"));
	back[COUNTER_cnps] = 7;
	pass(&m, &s, 1000, 100);
	assert_true(has_hint(&f, "CNPs go back (7 to that host), and the sender does not slow down"));
	/* few marks and CNPs at a steady rate are what DCQCN keeps; and a sender may slow down */
	pass(&m, &s, 1000, 10);
	assert_false(has_hint(&f, "the network marks"));
	pass(&m, &s, 800, 400);
	assert_false(has_hint(&f, "the network marks"));
	pass(&m, &s, 1000, 0);
	assert_false(has_hint(&f, "the network marks"));
	/* another stream has more marks: it begins again */
	streams[0].key.qpn++;
	pass(&m, &s, 1000, 100);
	assert_int_equal(m.readings, 0);
	book_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_cut_messages), cmocka_unit_test(test_mrs), cmocka_unit_test(test_ports),
		cmocka_unit_test_setup_teardown(test_owners, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_psn, setup, teardown),
		cmocka_unit_test(test_book), cmocka_unit_test(test_priorities), cmocka_unit_test(test_marks),
		cmocka_unit_test_setup_teardown(test_hints, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
