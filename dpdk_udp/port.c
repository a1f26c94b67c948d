// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <stdlib.h>
#include <string.h>

#include "dpdk_udp/dpdk_stream.h"
#include "lib/clock.h"
#include "userspace/traffic/streams/filler.h"

#define DESCRIPTORS	1024	/* per ring; a driver may allow fewer */
#define POOL_MBUFS	4095	/* for both rings, bursts under way, and the cache; 2^n - 1 uses a mempool best */
#define POOL_CACHE	256
#define LINK_NS		(5 * NSEC_PER_SEC)
#define JUMBO_ROOM	9728	/* a frame with an MTU of 9600 */
/* A page without the heads of object and mbuf, and an odd number of cache lines: a mempool makes an even one larger. */
#define CHUNK_ROOM	(4096 - 2 * RTE_CACHE_LINE_SIZE - sizeof(struct rte_mbuf))

static void fail(const char *what, int error)
{
	errx(1, "%s: %s", what, rte_strerror(-error));
}

static bool driver_is(uint16_t id, const char *name)
{
	struct rte_eth_dev_info info;

	return !rte_eth_dev_info_get(id, &info) && !strcmp(info.driver_name, name);
}

/*
 * An mbuf has room for the largest frame that a driver may receive, not only for the MTU's: net_af_packet needs its framesz=
 * (2048 by default). It is not larger than needed, and never where an mbuf is an AF_XDP chunk, which has a page at most.
 */
static uint16_t mbuf_room(uint16_t id, uint64_t mtu)
{
	if (mtu <= RTE_ETHER_MTU)
		return RTE_MBUF_DEFAULT_BUF_SIZE;
	return driver_is(id, "net_af_xdp") ? CHUNK_ROOM : RTE_PKTMBUF_HEADROOM + JUMBO_ROOM;
}

static struct rte_mempool *make_pool(uint16_t room)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("frames", POOL_MBUFS, POOL_CACHE, 0, room,
							   rte_socket_id());

	if (!pool)
		errx(1, "no memory for %d frames: %s (EAL -m?)", POOL_MBUFS, rte_strerror(rte_errno));
	return pool;
}

/*
 * net_af_packet reports a frame limit of 1518 bytes, whatever its framesz= is. The MTU of its interface is the kernel's.
 * rte_eth_dev_set_mtu() is not called, because it would change the kernel's interface for good.
 */
static void configure(uint16_t id, const struct dpdk_options *o, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = { .rxmode.mtu = driver_is(id, "net_af_packet") ? 0 : o->mtu };
	uint16_t receive = DESCRIPTORS, transmit = DESCRIPTORS;
	int error;

	error = rte_eth_dev_configure(id, 1, 1, &conf);
	if (error)
		errx(1, "the port does not take an MTU of %llu: %s", (unsigned long long)o->mtu,
		     rte_strerror(-error));
	error = rte_eth_dev_adjust_nb_rx_tx_desc(id, &receive, &transmit);
	if (error)
		fail("descriptors", error);
	error = rte_eth_rx_queue_setup(id, 0, receive, rte_eth_dev_socket_id(id), NULL, pool);
	if (error)
		fail("receive queue", error);
	error = rte_eth_tx_queue_setup(id, 0, transmit, rte_eth_dev_socket_id(id), NULL);
	if (error)
		fail("transmit queue", error);
}

char *dpdk_pattern(void)
{
	size_t bytes = filler_room(UINT16_MAX);		/* the length of an mbuf's buffer has 16 bits */
	char *pattern = malloc(bytes);

	if (!pattern)
		err(1, "no memory");
	filler_make(pattern, bytes);
	return pattern;
}

static void say_port(uint16_t id)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct rte_eth_dev_info info;
	struct rte_ether_addr address;

	if (rte_eth_dev_info_get(id, &info) || rte_eth_macaddr_get(id, &address))
		return;
	rte_ether_format_addr(mac, sizeof(mac), &address);
	fprintf(stderr, "port %u: %s, MAC %s\n", id, info.driver_name, mac);
}

/* A real NIC's driver waits for it itself. The kernel takes a while to say that an interface which came up just now is running. */
static void await_link(uint16_t id)
{
	uint64_t limit = now_ns() + LINK_NS;
	struct rte_eth_link link = {};

	while (!rte_eth_link_get(id, &link) && !link.link_status) {
		if (now_ns() > limit)
			errx(1, "port %u has no link", id);
		sleep_until_ns(now_ns() + 10 * NSEC_PER_MSEC);
	}
}

void dpdk_port_start(struct dpdk_port *port, const struct dpdk_options *o)
{
	int error;

	port->id = rte_eth_find_next(0);
	if (port->id >= RTE_MAX_ETHPORTS)
		errx(1, "no DPDK port: bind a NIC (dpdk-devbind.py) or give -- --vdev=net_af_packet0,iface=NAME");
	port->pool = make_pool(mbuf_room(port->id, o->mtu));
	configure(port->id, o, port->pool);
	error = rte_eth_dev_start(port->id);
	if (error)
		fail("the port does not start", error);
	await_link(port->id);
	say_port(port->id);
}

void dpdk_port_stop(struct dpdk_port *port)
{
	rte_eth_dev_stop(port->id);
	rte_eth_dev_close(port->id);
}
