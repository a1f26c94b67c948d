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
#include "userspace/diagnose/bring_up/listen.h"

#define BUFFER (16 << 20) /* bytes, of the socket */
#define RING_MS 20 /* the receiver wakes nobody */

/* ---- the socket ---- */

/* false: it cannot be opened now; l->why says why. */
static bool open_socket(struct listen *l)
{
	char error[PCAP_ERRBUF_SIZE];
	struct bpf_program filter;
	pcap_t *p = pcap_create(l->interface, error);
	int status;

	if (!p) {
		snprintf(l->why, sizeof(l->why), "%s", error);
		return false;
	}
	pcap_set_snaplen(p, FRAME_MAX);
	pcap_set_promisc(p, 1); /* frames for other MAC addresses are worth to be seen */
	pcap_set_immediate_mode(p, 1);
	pcap_set_buffer_size(p, BUFFER);
	pcap_set_tstamp_precision(p, PCAP_TSTAMP_PRECISION_NANO);
	status = pcap_activate(p);
	if (status < 0) {
		snprintf(l->why, sizeof(l->why), "%s", status == PCAP_ERROR_PERM_DENIED ? cause_of_interface(EPERM).text :
			 status == PCAP_ERROR_IFACE_NOT_UP ? "it is down" : pcap_geterr(p));
	} else if (pcap_datalink(p) != DLT_EN10MB) {
		snprintf(l->why, sizeof(l->why), "it is no Ethernet interface");
	} else if (pcap_compile(p, &filter, "not tcp", 1, PCAP_NETMASK_UNKNOWN) || pcap_setfilter(p, &filter) ||
		   pcap_setnonblock(p, 1, error)) {
		snprintf(l->why, sizeof(l->why), "%s", pcap_geterr(p));
	} else {
		pcap_freecode(&filter);
		l->socket = p;
		l->why[0] = 0;
		return true;
	}
	pcap_close(p);
	return false;
}

static __u64 socket_dropped(const struct listen *l)
{
	struct pcap_stat s;

	return l->socket && !pcap_stats(l->socket, &s) ? s.ps_drop : 0;
}

static void close_socket(struct listen *l)
{
	if (!l->socket)
		return;
	l->dropped += socket_dropped(l);
	pcap_close(l->socket);
	l->socket = NULL;
}

static void on_frame(u_char *context, const struct pcap_pkthdr *h, const u_char *bytes)
{
	struct listen *l = (void *)context;
	struct listen_frame *f = &l->frames[l->count++];

	f->time = h->ts.tv_sec * NSEC_PER_SEC + h->ts.tv_usec; /* ns, as was asked for */
	f->shown = false;
	f->captured = h->caplen < FRAME_MAX ? h->caplen : FRAME_MAX;
	f->length = h->len;
	f->bytes = f->of_socket;
	memcpy(f->of_socket, bytes, f->captured);
}

/* ---- what others call ---- */

bool listen_begin(struct listen *l, const char *interface, unsigned int ifindex)
{
	*l = (struct listen){ .interface = interface, .ifindex = ifindex, .realtime_offset = realtime_offset_ns() };
	l->frames = calloc(LISTEN_FRAMES, sizeof(*l->frames));
	if (!l->frames) {
		fputs("rocescope: there is not enough memory\n", stderr);
		return false;
	}
	listen_look(l);
	if (l->socket || !strcmp(l->why, "it is down"))
		return true;
	fprintf(stderr, "rocescope: doctor: %s cannot be listened to: %s\n", interface, l->why);
	return false;
}

void listen_look(struct listen *l)
{
	if (!l->socket && !open_socket(l))
		return;
	l->why[0] = 0;
	listen_receiver_look(l);
}

static int compare_times(const void *a, const void *b)
{
	const struct listen_frame *const *x = a, *const *y = b;

	return ((*x)->time > (*y)->time) - ((*x)->time < (*y)->time);
}

void listen_read(struct listen *l, int ms)
{
	struct pollfd p = { .fd = l->socket ? pcap_get_selectable_fd(l->socket) : -1, .events = POLLIN };

	l->count = 0;
	if (l->receiver.ring && ms > RING_MS)
		ms = RING_MS;
	poll(&p, 1, ms);
	if (l->receiver.ring)
		listen_receiver_read(l);
	if (l->socket && l->count < LISTEN_FRAMES &&
	    pcap_dispatch(l->socket, LISTEN_FRAMES - l->count, on_frame, (void *)l) < 0)
		close_socket(l); /* the interface went down */
	for (size_t i = 0; i < l->count; i++)
		l->order[i] = &l->frames[i];
	qsort(l->order, l->count, sizeof(*l->order), compare_times);
}

__u64 listen_dropped(const struct listen *l)
{
	return l->dropped + socket_dropped(l) + (l->receiver.showing ? l->receiver.showing->lost : 0);
}

void listen_end(struct listen *l)
{
	close_socket(l);
	listen_receiver_close(l);
	free(l->frames);
}
