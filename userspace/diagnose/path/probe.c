// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <time.h>
#include <linux/errqueue.h> /* needs time.h */
#include <netdb.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/bytes.h"
#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/stop.h"
#include "userspace/diagnose/path/probe.h"

#define SMALL 100 /* bytes of an IP packet that passes everywhere */
#define TRIES 3   /* a packet that is answered in none of them does not pass: one may be lost */
#define TRIES_MOST (2 * TRIES) /* those in which the small packet is lost as well do not count */
#define ANSWER_NS (400 * NSEC_PER_MSEC) /* how long the answer to a small packet is waited for */
#define GRACE_NS (10 * NSEC_PER_MSEC)   /* after it those to the large ones, which left before, are late */
#define PROBE_NS (10 * NSEC_PER_SEC)	/* most time of all of it */
#define SILENCE_NS (1500 * NSEC_PER_MSEC) /* after it progress is shown */
#define NOBODY_NS (3500 * NSEC_PER_MSEC) /* after it Linux gives ARP and neighbour discovery up: three times a second */
#define RTT_NS (200 * NSEC_PER_MSEC) /* how long better round trips are sought */
#define RTT_TRIES 5
#define PARTS 8	     /* sizes that are tried at once */
#define PROBES_MOST 512
#define LARGEST 65535

struct prober {
	int fd;
	bool six, raw;
	uint16_t id;	 /* raw only: a ping socket has its own */
	uint64_t begin;
	bool said;	   /* progress was shown */
	int error;	   /* of the first echo that could not be sent; 0: all could */
	unsigned int sent; /* the sequence number of the next echo */
	struct {
		unsigned int size;
		uint64_t when;
		bool answered;
	} echo[PROBES_MOST];
	uint64_t rtt_ns;
	unsigned int told; /* the least MTU that a router told; 0: none */
	bool nobody;	   /* a router, or this machine, told that the peer cannot be reached */
	char teller[INET6_ADDRSTRLEN];
};

bool path_peer_find(struct path_peer *p, const char *name, unsigned int ifindex)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *found;

	if (getaddrinfo(name, NULL, &hints, &found))
		return false;
	*p = (struct path_peer){ .length = found->ai_addrlen };
	memcpy(&p->address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	if (p->address.ss_family == AF_INET6) {
		struct sockaddr_in6 *six = (void *)&p->address;

		if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr))
			six->sin6_scope_id = ifindex;
	}
	return p->address.ss_family == AF_INET || p->address.ss_family == AF_INET6;
}

/* ---- the socket ---- */

static void set(int fd, int level, int option, int value)
{
	setsockopt(fd, level, option, &value, sizeof(value));
}

/* DF is set, and the kernel's own memory of path MTUs is not asked: IP_PMTUDISC_PROBE, ip(7). Errors of routers are read. */
static void set_options(const struct prober *p)
{
	if (p->six) {
		set(p->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
		set(p->fd, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
		set(p->fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
	} else {
		set(p->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
		set(p->fd, IPPROTO_IP, IP_RECVERR, 1);
	}
	/* echoes and answers have to fit in, however small the buffers of others are */
	set(p->fd, SOL_SOCKET, SO_SNDBUF, 1 << 20);
	set(p->fd, SOL_SOCKET, SO_SNDBUFFORCE, 1 << 20);
	set(p->fd, SOL_SOCKET, SO_RCVBUF, 1 << 20);
	set(p->fd, SOL_SOCKET, SO_RCVBUFFORCE, 1 << 20);
}

/* A ping socket (net.ipv4.ping_group_range) or else a raw one (root). NULL, or why there is none, with errno. */
static const char *open_socket(struct prober *p, const char *interface, const struct path_peer *peer)
{
	int protocol;

	p->six = peer->address.ss_family == AF_INET6;
	protocol = p->six ? (int)IPPROTO_ICMPV6 : (int)IPPROTO_ICMP;
	p->fd = socket(peer->address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
	if (p->fd < 0) {
		p->fd = socket(peer->address.ss_family, SOCK_RAW | SOCK_CLOEXEC, protocol);
		p->raw = true;
		p->id = getpid();
	}
	if (p->fd < 0)
		return "a ping needs root, or net.ipv4.ping_group_range";
	set_options(p);
	if (setsockopt(p->fd, SOL_SOCKET, SO_BINDTODEVICE, interface, strlen(interface) + 1))
		return "pings cannot be bound to the interface";
	return connect(p->fd, (const void *)&peer->address, peer->length) ? "pings cannot be sent" : NULL;
}

/* ---- echoes ---- */

static void name_teller(struct prober *p, const struct sockaddr *from)
{
	__u8 address[16];

	if (address_from_socket(address, from))
		strcpy(p->teller, address_text(address).text);
}

/* A router's 'packet too big' or 'fragmentation needed', or that nobody is there, which this machine says of a neighbour. */
static void read_errors(struct prober *p)
{
	char control[512], data[64];
	struct iovec part = { data, sizeof(data) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control };

	while (m.msg_controllen = sizeof(control), recvmsg(p->fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0)
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
			const struct sock_extended_err *e = (const void *)CMSG_DATA(c);
			const struct sockaddr *from = SO_EE_OFFENDER(e);

			if (c->cmsg_type != IP_RECVERR && c->cmsg_type != IPV6_RECVERR)
				continue;
			if (e->ee_errno == EHOSTUNREACH && !p->nobody) {
				p->nobody = true;
				name_teller(p, from);
			}
			if (e->ee_errno != EMSGSIZE || e->ee_origin == SO_EE_ORIGIN_LOCAL || e->ee_info < SMALL || (p->told && e->ee_info >= p->told))
				continue;
			p->told = e->ee_info;
			name_teller(p, from);
		}
}

static bool is_answer(const struct prober *p, const __u8 *packet, ssize_t length, unsigned int *sequence)
{
	const struct icmphdr *h;

	if (p->raw && !p->six) { /* with its IP header */
		unsigned int header = (packet[0] & 15) * 4;

		packet += header;
		length -= header;
	}
	h = (const void *)packet;
	if (length < (ssize_t)sizeof(*h) || h->type != (p->six ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) ||
	    (p->raw && h->un.echo.id != p->id))
		return false;
	*sequence = ntohs(h->un.echo.sequence);
	return *sequence < p->sent;
}

static void read_answers(struct prober *p)
{
	__u8 packet[128]; /* the heads are enough */
	unsigned int sequence;
	ssize_t length;
	uint64_t took;

	/* not for ever: others may send as well */
	for (int i = 0; i < PROBES_MOST; i++) {
		length = recv(p->fd, packet, sizeof(packet), MSG_DONTWAIT);
		if (length < 0 && errno != EMSGSIZE)
			break;
		if (length < 0) { /* an error that came for an earlier echo ends a call once */
			read_errors(p);
			continue;
		}
		if (!is_answer(p, packet, length, &sequence) || p->echo[sequence].answered)
			continue;
		p->echo[sequence].answered = true;
		took = now_ns() - p->echo[sequence].when;
		if (p->echo[sequence].size == SMALL && (!p->rtt_ns || took < p->rtt_ns))
			p->rtt_ns = took;
	}
	read_errors(p);
}

/* Sends an echo in an IP packet of that many bytes; again if the error of an earlier one ends the call. Returns its number. */
static unsigned int send_echo(struct prober *p, unsigned int size)
{
	static __u8 packet[LARGEST];
	unsigned int length = size - (p->six ? 40 : 20), sequence = p->sent;
	struct icmphdr h = {
		.type = p->six ? ICMP6_ECHO_REQUEST : ICMP_ECHO, .un.echo = { .id = p->id, .sequence = htons(sequence) },
	};

	memset(packet, 0, length);
	memcpy(packet, &h, sizeof(h));
	h.checksum = htons(~sum_fold(sum_add(0, packet, length))); /* of ICMPv6 the kernel computes it */
	memcpy(packet, &h, sizeof(h));
	p->echo[sequence].size = size;
	p->echo[sequence].when = now_ns();
	p->echo[sequence].answered = false;
	p->sent++;
	for (int i = 0; send(p->fd, packet, length, MSG_DONTWAIT) < 0; i++) {
		if (i == 2) {
			p->error = p->error ?: errno;
			break;
		}
		read_errors(p);
	}
	return sequence;
}

/* Waits until the echo is answered, the time is over, or a signal came. */
static bool await(struct prober *p, unsigned int sequence, uint64_t end)
{
	struct pollfd poller = { .fd = p->fd, .events = POLLIN };
	uint64_t now;

	for (;;) {
		read_answers(p);
		now = now_ns();
		if (p->echo[sequence].answered || now >= end || stop)
			return p->echo[sequence].answered;
		poll(&poller, 1, (end - now) / NSEC_PER_MSEC + 1);
	}
}

/* Whether there is still time. */
static bool goes_on(struct prober *p)
{
	uint64_t took = now_ns() - p->begin;

	if (took > SILENCE_NS && !p->said)
		p->said = fprintf(stderr, "rocescope: path: seeks the largest packet that passes\n");
	return took < PROBE_NS && !stop;
}

/*
 * Tries these sizes, ascending. Behind them leaves a small packet: once it is answered, what is not answered soon was lost.
 * best: the largest that was answered; 0: none. false: whether the larger ones pass is not known, as too many small packets
 * were lost, too.
 */
static bool try_sizes(struct prober *p, const unsigned int *sizes, size_t count, unsigned int *best)
{
	unsigned int first = p->sent, last = sizes[count - 1], marker, heard = 0;
	uint64_t grace;

	*best = 0;
	for (int i = 0; heard < TRIES && *best < last && i < (p->rtt_ns ? TRIES_MOST : TRIES); i++) {
		if (p->sent + count + 1 > PROBES_MOST || !goes_on(p))
			break;
		for (size_t s = 0; s < count; s++)
			if (sizes[s] > *best)
				send_echo(p, sizes[s]);
		marker = send_echo(p, SMALL);
		if (await(p, marker, now_ns() + ANSWER_NS)) {
			heard++;
			grace = p->rtt_ns > GRACE_NS ? p->rtt_ns : GRACE_NS;
			await(p, marker - 1, now_ns() + grace); /* the largest */
		}
		for (unsigned int s = first; s < marker; s++)
			if (p->echo[s].answered && p->echo[s].size > *best && p->echo[s].size != SMALL)
				*best = p->echo[s].size;
	}
	return *best == last || (heard == TRIES && !p->error);
}

/* Narrows what passes and what does not, until they are neighbours. false: that was not reached. */
static bool search(struct prober *p, struct path_probe *to)
{
	unsigned int sizes[PARTS], best, asked = 0;
	size_t count;

	while (to->passes + 1 < to->fails) {
		unsigned int distance = to->fails - to->passes;

		count = 0;
		if (p->told != asked && p->told > to->passes && p->told < to->fails) {
			asked = sizes[count++] = p->told;
			if (asked + 1 < to->fails)
				sizes[count++] = asked + 1;
		}
		for (unsigned int i = 1; !count && i <= PARTS; i++)
			sizes[i - 1] = to->passes + (uint64_t)distance * i / (PARTS + 1);
		if (!count)
			count = PARTS;
		if (!try_sizes(p, sizes, count, &best))
			return false;
		for (size_t i = count; i--;)
			if (sizes[i] > best && sizes[i] > to->passes)
				to->fails = sizes[i];
		if (best > to->passes)
			to->passes = best;
	}
	return true;
}

/* The first round trip is longer: neighbours had to be found. */
static void measure_rtt(struct prober *p)
{
	uint64_t end = now_ns() + RTT_NS;

	for (int i = 0; i < RTT_TRIES && now_ns() < end && !stop; i++)
		await(p, send_echo(p, SMALL), end);
}

/* Waits until it is given up to find the peer's neighbour, or a router says that it is not there. */
static void await_nobody(struct prober *p)
{
	struct pollfd poller = { .fd = p->fd, .events = 0 }; /* POLLERR comes always */

	while (!p->nobody && !p->rtt_ns && !stop && now_ns() < p->begin + NOBODY_NS) {
		poll(&poller, 1, ANSWER_NS / NSEC_PER_MSEC);
		read_answers(p);
	}
}

static void say_unknown(const struct prober *p, char why[PATH_WHY])
{
	snprintf(why, PATH_WHY, "%s", stop ? "interrupted" : p->nobody ? "nobody is there" : p->error ? cause_of_interface(p->error).text :
		 !p->rtt_ns ? "the peer answers no ping within 400 ms" :
			      "too many pings were lost, small ones as well, or the time was too short");
}

/* Whether the teller is this machine. */
static bool is_own(const struct prober *p)
{
	struct sockaddr_storage own = { 0 };
	socklen_t length = sizeof(own);
	__u8 address[16];

	getsockname(p->fd, (struct sockaddr *)&own, &length);
	return address_from_socket(address, (const struct sockaddr *)&own) && !strcmp(address_text(address).text, p->teller);
}

static void run(struct prober *p, struct path_probe *to, unsigned int mtu)
{
	unsigned int whole = mtu < LARGEST ? mtu : LARGEST, best;
	bool known = try_sizes(p, &whole, 1, &best);

	if (!p->rtt_ns)
		await_nobody(p);
	to->answered = p->rtt_ns;
	to->nobody = p->nobody && !to->answered;
	if (to->answered)
		measure_rtt(p);
	to->rtt_ns = p->rtt_ns;
	to->passes = best ?: SMALL;
	to->fails = best ? 0 : whole;
	to->known = to->answered && known && (best || search(p, to));
	if (!to->known)
		say_unknown(p, to->why);
	if (to->nobody && !is_own(p))
		memcpy(to->teller, p->teller, sizeof(to->teller));
	to->told = to->known && to->fails && p->told && p->told < to->fails;
	if (to->told)
		memcpy(to->teller, p->teller, sizeof(to->teller));
}

void path_probe(struct path_probe *to, const char *interface, const struct path_peer *peer, unsigned int mtu)
{
	struct prober p = { .fd = -1, .begin = now_ns() };
	const char *why = open_socket(&p, interface, peer);

	*to = (struct path_probe){ 0 };
	if (why)
		snprintf(to->why, sizeof(to->why), "%s: %s", why, cause(errno).text);
	else
		run(&p, to, mtu);
	if (p.fd >= 0)
		close(p.fd);
}
