// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCAP_DONT_INCLUDE_PCAP_BPF_H /* its struct bpf_insn is not the kernel's */
struct bpf_program { /* as there */
	unsigned int bf_len;
	struct bpf_insn *bf_insns;
};
#include <pcap/pcap.h>
#include <pcap/dlt.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "userspace/observe/live/sniff.h"

#define BUFFER (1 << 20) /* bytes, of a socket */
#define BUFFER_OF_ALL (16 << 20)
#define RING_MS 20 /* the receiver wakes nobody */

/* ---- a socket ---- */

static bool set_filter(const struct sniffer *s, struct pcap *p)
{
	const char *wanted = s->all ? "not tcp" : s->other_udp ? "udp and not dst port 4791" : "";
	struct bpf_program filter;
	bool set;

	if (pcap_compile(p, &filter, wanted, 1, PCAP_NETMASK_UNKNOWN))
		return false;
	set = !pcap_setfilter(p, &filter);
	pcap_freecode(&filter);
	return set;
}

static void open_socket(struct sniffer *s, size_t i)
{
	char error[PCAP_ERRBUF_SIZE];
	struct pcap *p = pcap_create(s->interfaces[i], error);
	int status;

	if (!p) {
		snprintf(s->why, sizeof(s->why), "%s", error);
		return;
	}
	pcap_set_snaplen(p, FRAME_MAX);
	pcap_set_promisc(p, s->all); /* frames for other MAC addresses are worth to be seen */
	pcap_set_immediate_mode(p, 1);
	pcap_set_buffer_size(p, s->all ? BUFFER_OF_ALL : BUFFER);
	pcap_set_tstamp_precision(p, PCAP_TSTAMP_PRECISION_NANO);
	status = pcap_activate(p);
	s->down |= status == PCAP_ERROR_IFACE_NOT_UP;
	if (status < 0) {
		snprintf(s->why, sizeof(s->why), "%s", status == PCAP_ERROR_PERM_DENIED ? cause_of_interface(EPERM).text :
			 status == PCAP_ERROR_IFACE_NOT_UP ? "it is down" : pcap_geterr(p));
	} else if (pcap_datalink(p) != DLT_EN10MB) {
		snprintf(s->why, sizeof(s->why), "it is no Ethernet interface");
	} else if ((!s->all && pcap_setdirection(p, PCAP_D_IN)) || !set_filter(s, p) || pcap_setnonblock(p, 1, error)) {
		snprintf(s->why, sizeof(s->why), "%s", pcap_geterr(p));
	} else {
		s->socket[i] = p;
		return;
	}
	pcap_close(p);
}

static __u64 socket_missed(struct pcap *socket)
{
	struct pcap_stat stat;

	return socket && !pcap_stats(socket, &stat) ? stat.ps_drop : 0;
}

static void close_socket(struct sniffer *s, size_t i)
{
	if (!s->socket[i])
		return;
	s->missed += socket_missed(s->socket[i]);
	pcap_close(s->socket[i]);
	s->socket[i] = NULL;
}

static void on_frame(u_char *context, const struct pcap_pkthdr *h, const u_char *bytes)
{
	struct sniffer *s = (void *)context;
	struct sniffed *f = &s->frames[s->read++];

	f->frame = (struct observer_frame){ .bytes = f->of_socket, .captured = h->caplen < FRAME_MAX ? h->caplen : FRAME_MAX,
					    .wire = h->len };
	f->time = h->ts.tv_sec * NSEC_PER_SEC + h->ts.tv_usec; /* ns, as was asked for */
	f->shown = NULL;
	memcpy(f->of_socket, bytes, f->frame.captured);
}

/* ---- what others call ---- */

bool sniffer_open(struct sniffer *s)
{
	s->realtime_offset = realtime_offset_ns();
	s->frames = calloc(SNIFFED_MOST, sizeof(*s->frames));
	if (s->frames)
		sniffer_check(s);
	return s->frames;
}

void sniffer_check(struct sniffer *s)
{
	s->why[0] = 0;
	s->down = false;
	for (size_t i = 0; i < s->count; i++)
		if (!s->socket[i])
			open_socket(s, i);
	if (s->all && s->socket[0])
		sniffer_receiver_check(s);
}

void sniffer_other_udp(struct sniffer *s)
{
	if (s->other_udp)
		return;
	s->other_udp = true;
	for (size_t i = 0; i < s->count; i++)
		if (s->socket[i] && !set_filter(s, s->socket[i]))
			close_socket(s, i); /* copies of every packet would cost too much */
}

static int compare_times(const void *a, const void *b)
{
	const struct sniffed *const *x = a, *const *y = b;

	return ((*x)->time > (*y)->time) - ((*x)->time < (*y)->time);
}

void sniffer_read(struct sniffer *s, int ms)
{
	struct pollfd fds[INTERFACES_MOST];

	s->read = 0;
	for (size_t i = 0; i < s->count; i++)
		fds[i] = (struct pollfd){ .fd = s->socket[i] ? pcap_get_selectable_fd(s->socket[i]) : -1, .events = POLLIN };
	if (s->receiver.ring && ms > RING_MS)
		ms = RING_MS;
	if (ms)
		poll(fds, s->count, ms);
	if (s->receiver.ring)
		sniffer_receiver_read(s);
	for (size_t i = 0; i < s->count && s->read < SNIFFED_MOST; i++)
		if (s->socket[i] && pcap_dispatch(s->socket[i], (SNIFFED_MOST - s->read - 1) / (s->count - i) + 1, on_frame, (void *)s) < 0)
			close_socket(s, i); /* the interface went down */
	for (size_t i = 0; i < s->read; i++)
		s->order[i] = &s->frames[i];
	qsort(s->order, s->read, sizeof(*s->order), compare_times);
}

__u64 sniffer_missed(const struct sniffer *s)
{
	__u64 missed = s->missed + (s->receiver.showing ? s->receiver.showing->lost : 0);

	for (size_t i = 0; i < s->count; i++)
		missed += socket_missed(s->socket[i]);
	return missed;
}

void sniffer_close(struct sniffer *s)
{
	for (size_t i = 0; i < s->count; i++)
		close_socket(s, i);
	sniffer_receiver_close(s);
	free(s->frames);
	s->frames = NULL;
}
