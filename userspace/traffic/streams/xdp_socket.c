// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "userspace/traffic/streams/xdp_socket.h"

#define USE_SG (1 << 4)		/* XDP_USE_SG of Linux 6.6, which Debian 12's headers do not have */
#define LEAST_RING 64		/* both rings of the memory must exist */
#define OPEN_NS NSEC_PER_SEC	/* a closed socket holds its queue a little longer (xp_release_deferred()) */

const char *xdp_socket_error(int error)
{
	static struct cause other; /* of the last call */

	other = cause_of_interface(error);
	return error == EAFNOSUPPORT ? "this kernel has none (CONFIG_XDP_SOCKETS)" :
	       error == EBUSY ? "the queue is another AF_XDP socket's" : other.text;
}

static int make_umem(struct xdp_socket *x, const struct xdp_socket_plan *plan)
{
	const struct xsk_umem_config config = {
		.fill_size = plan->receive ? plan->chunks : LEAST_RING, .comp_size = plan->transmit ? plan->chunks : LEAST_RING,
		.frame_size = XDP_CHUNK_BYTES,
	};
	size_t bytes = (size_t)plan->chunks * XDP_CHUNK_BYTES;

	x->chunks = plan->chunks;
	x->area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (x->area == MAP_FAILED)
		return errno;
	return -xsk_umem__create(&x->umem, x->area, bytes, &x->fill, &x->completion, &config);
}

static int make_socket(struct xdp_socket *x, const struct xdp_socket_plan *plan)
{
	const struct xsk_socket_config config = {
		.rx_size = plan->receive, .tx_size = plan->transmit, .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_USE_NEED_WAKEUP | (plan->several ? USE_SG : 0),
	};

	return -xsk_socket__create(&x->socket, plan->interface, plan->queue, x->umem, plan->receive ? &x->rx : NULL,
				   plan->transmit ? &x->tx : NULL, &config);
}

static bool is_zerocopy(const struct xdp_socket *x)
{
	struct xdp_options options = { 0 };
	socklen_t size = sizeof(options);

	return !getsockopt(xsk_socket__fd(x->socket), SOL_XDP, XDP_OPTIONS, &options, &size) &&
	       options.flags & XDP_OPTIONS_ZEROCOPY;
}

static int try_open(struct xdp_socket *x, const struct xdp_socket_plan *plan)
{
	int error = make_umem(x, plan);

	if (!error)
		error = make_socket(x, plan);
	if (error)
		xdp_socket_close(x);
	return error;
}

int xdp_socket_open(struct xdp_socket *x, const struct xdp_socket_plan *plan)
{
	uint64_t end = now_ns() + OPEN_NS;
	int error;

	*x = (struct xdp_socket){ 0 };
	while ((error = try_open(x, plan)) == EBUSY && now_ns() < end)
		sleep_until_ns(now_ns() + OPEN_NS / 50);
	if (!error)
		x->zerocopy = is_zerocopy(x);
	return error;
}

void xdp_socket_close(struct xdp_socket *x)
{
	if (x->socket)
		xsk_socket__delete(x->socket);
	if (x->umem)
		xsk_umem__delete(x->umem);
	if (x->area && x->area != MAP_FAILED)
		munmap(x->area, (size_t)x->chunks * XDP_CHUNK_BYTES);
	*x = (struct xdp_socket){ 0 };
}

int xdp_socket_kick(struct xdp_socket *x)
{
	return sendto(xsk_socket__fd(x->socket), NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 ? errno : 0;
}

struct xdp_statistics xdp_socket_statistics(const struct xdp_socket *x)
{
	struct xdp_statistics s = { 0 };
	socklen_t size = sizeof(s);

	if (getsockopt(xsk_socket__fd(x->socket), SOL_XDP, XDP_STATISTICS, &s, &size))
		return (struct xdp_statistics){ 0 };
	return s;
}
