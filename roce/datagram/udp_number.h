/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers that a datagram does not carry whole: what came before says the rest. Each function completes p->number. */
#ifndef ROCE_DATAGRAM_UDP_NUMBER_H
#define ROCE_DATAGRAM_UDP_NUMBER_H

#include "roce/stream/stream.h"

#define UDP_LEAP 65535 /* as PSN_GAP_MAX: what is farther away was not lost between */

/* p->number: that of the frame in its second. */
roce_inline void udp_number_second(struct udp_second *t, struct roce_packet *p)
{
	__s64 ahead = roce_distance(t->second, p->udp.second, UDP_SECOND_BITS);
	__u64 frame = p->number;

	if (!t->met) {
		*t = (struct udp_second){ .second = p->udp.second, .frame = frame, .frames = p->udp.frames, .met = true };
		ahead = 0;
	}
	if (ahead > 0) {
		if (!p->udp.frames && t->frame >= t->frames)
			t->frames = t->frame + 1;
		t->base += ahead * t->frames;
		t->second = p->udp.second;
		t->frame = 0;
	}
	if (ahead >= 0 && frame > t->frame && frame - t->frame <= UDP_LEAP) /* else a stray */
		t->frame = frame;
	p->number = t->base + (ahead < 0 ? ahead * t->frames : 0) + frame;
}

/* a / b, rounded, where a has a sign; b > 0. BPF divides without signs. */
roce_inline __u64 udp_quotient(__u64 a, __u64 b)
{
	return (__s64)a < 0 ? -((-a + b / 2) / b) : (a + b / 2) / b;
}

/* p->number: UDP_TIME_BITS bits. */
roce_inline void udp_number_time(struct udp_time *t, struct roce_packet *p)
{
	__s64 near = roce_distance(t->number, p->number, UDP_TIME_BITS), later = p->udp.time - t->time;
	__u64 d = near;

	if (!t->met) {
		*t = (struct udp_time){ .time = p->udp.time, .number = p->number, .second = p->udp.second, .met = true };
		return;
	}
	if (p->udp.second != t->second)
		later = 0;
	if (later > 0 && near == 1 && (!t->period || later < (__s64)t->period))
		t->period = later;
	if (later && t->period) {
		d = udp_quotient(later, t->period);
		d += roce_distance(d, near, UDP_TIME_BITS); /* the nearest one with these four bits */
	}
	p->number = t->number + d;
	if ((__s64)d <= 0 && (__s64)d >= -UDP_LEAP)
		return;
	t->time = p->udp.time;
	t->number = p->number;
	t->second = p->udp.second;
}

#endif
