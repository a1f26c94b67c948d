/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of interfaces, whatever they are: by packet sockets (libpcap) those that reach the kernel, and from the program of `rocescope
 * receive` on the same interface those that it takes or drops, which no socket sees. It is for low rates, not for counting: frames that
 * come faster than they are read are missed, and counted.
 */
#ifndef USERSPACE_OBSERVE_LIVE_SNIFF_H
#define USERSPACE_OBSERVE_LIVE_SNIFF_H

#include "bpf/receive_abi.h"
#include "lib/interfaces.h"
#include "userspace/observe/model/observer.h"

#define SNIFFED_MOST 256 /* frames of one reading */

struct sniffed {
	struct observer_frame frame;
	__u64 time; /* ns, CLOCK_REALTIME */
	const struct receive_shown *shown; /* what the receiver made of it; NULL: it is from a socket */
	union {
		struct receive_shown of_receiver;
		__u8 of_socket[FRAME_MAX];
	};
};

/* The receiver on the interface. */
struct sniffer_receiver {
	__u32 program; /* its id; 0: there is none that shows packets */
	struct receive_settings setup;
	struct roce_region *region;
	__u32 regions;
	struct receive_showing *showing; /* mapped */
	struct ring_buffer *ring;
};

/* The caller sets the members before `socket`; the rest is zero at first. */
struct sniffer {
	const char *const *interfaces; /* they outlive it */
	size_t count;
	/*
	 * One interface, promiscuous, in both directions, without TCP, with a large buffer and what a receiver shows. Otherwise what comes,
	 * and interfaces stay as they are.
	 */
	bool all;
	bool other_udp; /* see sniffer_other_udp() */

	struct pcap *socket[INTERFACES_MOST]; /* NULL: it cannot be opened (CAP_NET_RAW), or the interface is down */
	char why[256]; /* why not everything is seen, in words; "": it is */
	bool down; /* that is because an interface is */
	struct sniffer_receiver receiver;
	__u64 realtime_offset; /* ns */
	__u64 missed; /* frames, of sockets and receivers that are closed */
	struct sniffed *frames; /* of this reading, as they were read */
	struct sniffed *order[SNIFFED_MOST]; /* and in the order of time */
	size_t read; /* how many there are */
};

/* false: there is not enough memory. Call sniffer_close() in any case. */
bool sniffer_open(struct sniffer *s);

/* Looks whether interfaces can be opened now, and whether a receiver has come or gone. Once a second, and at the beginning. */
void sniffer_check(struct sniffer *s);

/* From now on only UDP that is not RoCEv2: what goes to the wrong port. May be called again. */
void sniffer_other_udp(struct sniffer *s);

/* Waits for frames, but no longer than so many ms, and reads them into s->order. A signal ends the wait. */
void sniffer_read(struct sniffer *s, int ms);

/* Frames that came faster than they were read. */
__u64 sniffer_missed(const struct sniffer *s);

/* May be called again. */
void sniffer_close(struct sniffer *s);

/* ---- sniff_receiver.c ---- */

/* Looks whether there is a receiver, and has it show its packets for a while. */
void sniffer_receiver_check(struct sniffer *s);

/* Adds what it has shown to s->frames. There is one. */
void sniffer_receiver_read(struct sniffer *s);
void sniffer_receiver_close(struct sniffer *s);

#endif
