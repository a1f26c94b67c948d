// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * write_receiver recvmmsg|recvmmsg-crc|af-xdp IFACE CPU ADDRESS PEER QPN RKEY VA MIB [FILE]
 *
 * Places the RDMA WRITEs of one UC queue pair into MIB of memory, as programs without an RNIC do. `rocescope receive` is
 * compared with it.
 *
 * recvmmsg      a UDP socket, no ICRC
 * recvmmsg-crc  the same, and ISA-L's CRC over each packet. The ICRC covers the IP header's Identification and flags, and a UDP
 *               socket shows neither: they are taken to be 0 and don't-fragment, as `rocescope send` sends them
 * af-xdp        whole frames from an AF_XDP socket of queue 0 in copy mode, and ISA-L's CRC over each packet
 *
 * Ends at a signal, prints what it counted, and writes the memory into FILE. It trusts its arguments, because only the bench
 * calls it.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <isa-l/crc.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench/pin.h"
#include "bpf/redirect.skel.h"
#include "lib/stop.h"
#include "roce/datagram/datagram.h"
#include "roce/icrc/icrc.h"
#include "userspace/traffic/streams/xdp_socket.h"

#define BATCH 64
#define WAKE_MS 100	   /* how often to look for a signal that came before the wait */
#define BUFFER_BYTES 4096  /* of a datagram; live frames are shorter */
#define SOCKET_BYTES (4 << 20)
#define SOCKET_CHUNKS 1024 /* of the AF_XDP socket. More are no longer in the cache when their turn comes again */
#define UC_WRITE_FIRST 0x26 /* IBTA 9.2, table 38 */
#define UC_WRITE_ONLY_IMM 0x2b
#define CRC_RESIDUE (~ICRC_REGISTER) /* as ISA-L's functions take and give a register */

struct bench_receiver {
	/* the queue pair and its region */
	__u8 *memory;
	__u64 bytes, va;
	__u32 qpn, rkey;
	struct in_addr peer;
	/* state */
	__u32 psn; /* expected */
	__u64 at;  /* in the memory, of the open message's next byte */
	__u64 left; /* bytes of the open message to come */
	bool open;
	/* packets by their end */
	__u64 packets, icrc_bad, refused;
	__u64 placed, messages, psn_mismatches;
};

static bool icrc_right(const __u8 *masked, __u32 bytes)
{
	return crc32_gzip_refl(CRC_RESIDUE, masked, bytes) == CRC_RESIDUE;
}

/* Begins the message of a First or Only. */
static bool begin(struct bench_receiver *r, const struct roce_packet *p)
{
	__u64 at = p->va - r->va;

	r->open = p->rkey == r->rkey && at <= r->bytes && p->dma_length <= r->bytes - at;
	r->at = at;
	r->left = p->dma_length;
	return r->open;
}

/*
 * The rules of a UC responder (IBTA 9.8.3; kernel: rxe check_psn()): after a mismatch a message's rest is dropped, and the next
 * First or Only is accepted whatever its PSN.
 */
static bool place(struct bench_receiver *r, const struct roce_packet *p, const __u8 *payload)
{
	bool expected = p->number == r->psn;

	r->psn_mismatches += !expected;
	r->psn = (p->number + 1) & 0xffffff;
	if (p->op & OP_FIRST ? !begin(r, p) : !expected || !r->open) {
		r->open = false;
		return false;
	}
	if (p->op & OP_LAST ? p->payload_bytes != r->left : p->payload_bytes >= r->left) {
		r->open = false;
		return false;
	}
	memcpy(r->memory + r->at, payload, p->payload_bytes);
	r->at += p->payload_bytes;
	r->left -= p->payload_bytes;
	r->placed += p->payload_bytes;
	if (p->op & OP_LAST) {
		r->messages++;
		r->open = false;
	}
	return true;
}

/* whole: the parsed bytes; masked, covered: what the ICRC covers, NULL: it is not verified. */
static void take(struct bench_receiver *r, const struct roce_packet *p, const __u8 *whole, const __u8 *masked, __u32 covered)
{
	if (masked && !icrc_right(masked, covered))
		r->icrc_bad++;
	else if (p->opcode >= UC_WRITE_FIRST && p->opcode <= UC_WRITE_ONLY_IMM && p->dqpn == r->qpn &&
		 place(r, p, whole + p->icrc_offset - p->pad - p->payload_bytes))
		r->packets++;
	else
		r->refused++;
}

static void print(const struct bench_receiver *r, __u64 dropped)
{
	printf("{\"packets\": %llu, \"bytes\": %llu, \"messages\": %llu, \"icrc_bad\": %llu, \"psn_mismatches\": %llu, "
	       "\"refused\": %llu, \"dropped\": %llu}\n",
	       r->packets, r->placed, r->messages, r->icrc_bad, r->psn_mismatches, r->refused, dropped);
}

/* ---- a UDP socket ---- */

/* The headers before a datagram, as the ICRC has them: variable fields are ones. */
struct covered {
	struct {
		__u8 version, tos;
		__be16 length, id, fragment;
		__u8 ttl, protocol;
		__be16 checksum;
		__be32 src, dst;
	} ip;
	struct {
		__be16 src, dst, length, checksum;
	} udp;
	__u8 datagram[BUFFER_BYTES];
};
_Static_assert(offsetof(struct covered, datagram) == WIRE_IPV4_LEN + WIRE_UDP_LEN, "no gaps");
_Static_assert(BUFFER_BYTES >= ROCE_WINDOW_BYTES, "a window");

struct datagrams {
	struct mmsghdr message[BATCH];
	struct iovec iov[BATCH];
	struct sockaddr_in from[BATCH];
	struct covered covered[BATCH];
};

static void cover(struct covered *c, const struct sockaddr_in *from, __u32 bytes)
{
	c->ip.length = htons(WIRE_IPV4_LEN + WIRE_UDP_LEN + bytes);
	c->ip.src = from->sin_addr.s_addr;
	c->udp.src = from->sin_port;
	c->udp.length = htons(WIRE_UDP_LEN + bytes);
	c->datagram[offsetof(struct wire_bth, resv8a)] = 0xff;
}

static void take_datagram(struct bench_receiver *r, struct covered *c, const struct sockaddr_in *from, __u32 bytes, bool crc)
{
	struct roce_cursor cursor = { .window = c->datagram, .end = bytes };
	struct roce_packet p = { .frame_bytes = bytes };

	cursor.available = bytes < ROCE_WINDOW ? bytes : ROCE_WINDOW;
	if (from->sin_addr.s_addr == r->peer.s_addr)
		parse_roce(&cursor, &p, bytes);
	if (p.kind != ROCE_PACKET) {
		r->refused++;
		return;
	}
	if (crc)
		cover(c, from, bytes);
	take(r, &p, c->datagram, crc ? (__u8 *)c : NULL, offsetof(struct covered, datagram) + bytes);
}

static int open_socket(struct in_addr address)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(WIRE_ROCEV2_PORT), .sin_addr = address };
	struct timeval wake = { .tv_usec = WAKE_MS * 1000 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), bytes = SOCKET_BYTES;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wake, sizeof(wake)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) || bind(fd, (void *)&to, sizeof(to)))
		err(1, "UDP port %u", WIRE_ROCEV2_PORT);
	return fd;
}

static struct datagrams *make_datagrams(struct in_addr address)
{
	struct datagrams *d = calloc(1, sizeof(*d));

	if (!d)
		err(1, "no memory");
	for (int i = 0; i < BATCH; i++) {
		struct covered *c = &d->covered[i];

		c->ip.version = 0x45;
		c->ip.tos = c->ip.ttl = 0xff;
		c->ip.fragment = htons(0x4000);
		c->ip.protocol = WIRE_PROTO_UDP;
		c->ip.checksum = c->udp.checksum = 0xffff;
		c->ip.dst = address.s_addr;
		c->udp.dst = htons(WIRE_ROCEV2_PORT);
		d->iov[i] = (struct iovec){ c->datagram, BUFFER_BYTES };
		d->message[i].msg_hdr = (struct msghdr){ .msg_name = &d->from[i], .msg_namelen = sizeof(d->from[i]),
							 .msg_iov = &d->iov[i], .msg_iovlen = 1 };
	}
	return d;
}

static void by_recvmmsg(struct bench_receiver *r, struct in_addr address, bool crc)
{
	struct datagrams *d = make_datagrams(address);
	__u32 info[SK_MEMINFO_VARS] = { 0 };
	socklen_t length = sizeof(info);
	int fd = open_socket(address), n = 0;

	fprintf(stderr, "bench: watching\n");
	while (n > 0 || !stop) {
		n = recvmmsg(fd, d->message, BATCH, stop ? MSG_DONTWAIT : MSG_WAITFORONE, NULL);
		for (int i = 0; i < n; i++)
			take_datagram(r, &d->covered[i], &d->from[i], d->message[i].msg_len, crc);
	}
	getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &length);
	print(r, info[SK_MEMINFO_DROPS]);
}

/* ---- AF_XDP ---- */

static void take_frame(struct bench_receiver *r, __u8 *frame, __u32 bytes)
{
	struct roce_packet p;

	roce_parse(frame, bytes, bytes, NULL, &p);
	if (p.kind != ROCE_PACKET || p.ip_version != 4 || memcmp(p.src + 12, &r->peer, 4)) {
		r->refused++;
		return;
	}
	icrc_mask(frame, &p);
	take(r, &p, frame, frame + p.l3_offset, icrc_end(&p) - p.l3_offset);
}

/* The kernel may fill these chunks. There is always room: the ring has an entry for each chunk. */
static void give(struct xdp_socket *x, __u32 count, const __u64 *chunk)
{
	__u32 at = 0;

	xsk_ring_prod__reserve(&x->fill, count, &at);
	for (__u32 i = 0; i < count; i++)
		*xsk_ring_prod__fill_addr(&x->fill, at + i) = chunk[i];
	xsk_ring_prod__submit(&x->fill, count);
}

static __u32 take_frames(struct bench_receiver *r, struct xdp_socket *x)
{
	__u32 at = 0, count = xsk_ring_cons__peek(&x->rx, BATCH, &at);
	__u64 chunk[BATCH];

	for (__u32 i = 0; i < count; i++) {
		const struct xdp_desc *d = xsk_ring_cons__rx_desc(&x->rx, at + i);

		take_frame(r, x->area + d->addr, d->len);
		chunk[i] = d->addr / XDP_CHUNK_BYTES * XDP_CHUNK_BYTES;
	}
	xsk_ring_cons__release(&x->rx, count);
	give(x, count, chunk);
	return count;
}

static void open_xdp(struct xdp_socket *x, const char *interface)
{
	struct xdp_socket_plan plan = { .interface = interface, .chunks = SOCKET_CHUNKS, .receive = SOCKET_CHUNKS / 2 };
	int error = xdp_socket_open(x, &plan);

	if (error)
		errx(1, "%s: %s", interface, xdp_socket_error(error));
	for (__u64 i = 0; i < SOCKET_CHUNKS; i++)
		give(x, 1, &(__u64){ i * XDP_CHUNK_BYTES });
}

static void attach(const struct xdp_socket *x, const char *interface)
{
	struct redirect_bpf *bpf = redirect_bpf__open();
	__u32 queue = 0;
	int fd = xsk_socket__fd(x->socket);

	if (!bpf)
		err(1, "BPF");
	bpf->rodata->port = WIRE_ROCEV2_PORT;
	if (redirect_bpf__load(bpf) || bpf_map_update_elem(bpf_map__fd(bpf->maps.xsks_map), &queue, &fd, BPF_ANY) ||
	    !bpf_program__attach_xdp(bpf->progs.redirect_row, if_nametoindex(interface)))
		err(1, "%s", interface);
}

static void by_xdp(struct bench_receiver *r, const char *interface)
{
	struct xdp_socket x;
	struct xdp_statistics s;
	struct pollfd wait = { .events = POLLIN };

	open_xdp(&x, interface);
	attach(&x, interface);
	wait.fd = xsk_socket__fd(x.socket);
	fprintf(stderr, "bench: watching\n");
	while (true) {
		if (take_frames(r, &x))
			continue;
		if (stop)
			break;
		poll(&wait, 1, WAKE_MS);
	}
	s = xdp_socket_statistics(&x);
	print(r, s.rx_dropped + s.rx_ring_full);
}

static void write_memory(const struct bench_receiver *r, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, r->memory, r->bytes) != (ssize_t)r->bytes || close(fd))
		err(1, "%s", path);
}

int main(int argc, char **argv)
{
	struct bench_receiver r = { 0 };
	struct in_addr address;

	if (argc < 10)
		return fprintf(stderr, "usage: write_receiver recvmmsg|recvmmsg-crc|af-xdp IFACE CPU ADDRESS PEER "
				       "QPN RKEY VA MIB [FILE]\n"), 2;
	if (!pin(atoi(argv[3])))
		err(1, "CPU %s", argv[3]);
	inet_aton(argv[4], &address);
	inet_aton(argv[5], &r.peer);
	r.qpn = strtoul(argv[6], NULL, 0);
	r.rkey = strtoul(argv[7], NULL, 0);
	r.va = strtoull(argv[8], NULL, 0);
	r.bytes = strtoull(argv[9], NULL, 0) << 20;
	r.memory = mmap(NULL, r.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (r.memory == MAP_FAILED)
		err(1, "no memory");
	stop_on_signals();
	if (!strcmp(argv[1], "af-xdp"))
		by_xdp(&r, argv[2]);
	else
		by_recvmmsg(&r, address, !strcmp(argv[1], "recvmmsg-crc"));
	if (argc > 10)
		write_memory(&r, argv[10]);
	return 0;
}
