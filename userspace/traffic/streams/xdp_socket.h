/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* AF_XDP sockets, each with memory of its own (kernel: Documentation/networking/af_xdp.rst). They attach no XDP program. */
#ifndef USERSPACE_TRAFFIC_STREAMS_XDP_SOCKET_H
#define USERSPACE_TRAFFIC_STREAMS_XDP_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include <xdp/xsk.h>

#define XDP_CHUNK_BYTES 4096
#define XDP_CHUNK_HEADROOM 256	/* that the kernel leaves free in a chunk that receives (XDP_PACKET_HEADROOM) */

/* In a descriptor: the frame continues in the next one. Linux 6.6, XDP_PKT_CONTD of include/uapi/linux/if_xdp.h. */
#define XDP_CONTINUES (1 << 0)

struct xdp_socket {
	uint8_t *area;		/* `chunks` of XDP_CHUNK_BYTES */
	uint32_t chunks;
	struct xsk_umem *umem;
	struct xsk_socket *socket;
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons completion, rx;
	bool zerocopy;
};

/* Numbers of descriptors and chunks are powers of two. */
struct xdp_socket_plan {
	const char *interface;
	uint32_t queue;
	uint32_t chunks;
	uint32_t receive, transmit; /* descriptors; 0: not that way */
	bool several;		    /* frames may take several chunks (Linux 6.6) */
};

/*
 * Opens a socket, with zero-copy where the driver has it. All memory is zero, and the fill ring empty. Returns 0 or an errno,
 * which xdp_socket_error() puts into words; EINVAL: there is no such queue, or, of a plan with `several`, Linux is older
 * than 6.6.
 */
int xdp_socket_open(struct xdp_socket *x, const struct xdp_socket_plan *plan);
void xdp_socket_close(struct xdp_socket *x);

/* Why a call failed, and what to do. */
const char *xdp_socket_error(int error);

/* Has the kernel look at the transmit ring. Returns 0 or an errno. */
int xdp_socket_kick(struct xdp_socket *x);

/* All zero if the kernel gives none. */
struct xdp_statistics xdp_socket_statistics(const struct xdp_socket *x);

#endif
