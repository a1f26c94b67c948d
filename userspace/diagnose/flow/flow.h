/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Flows of --udp: whether their datagrams are what --udp tells, by the first ones of each flow, and what the engine has counted
 * of all of them.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_FLOW_H
#define USERSPACE_DIAGNOSE_FLOW_FLOW_H

#include "userspace/diagnose/finding/index.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/flow/flow_sample.h"
#include "userspace/observe/model/snapshot.h"

struct flow {
	struct roce_key key; /* first member: the key of the index */
	struct flow_sample sample;
	struct symptoms symptoms;
	const struct roce_counters *counters; /* of all its datagrams; NULL: not known */
	__u64 latest; /* the number of the datagram before */
	__u64 value;  /* of its field, if `met` */
	__u64 ones;   /* bits of the field that were ever 1 */
	bool met;
	__u32 wraps, wrap_bits; /* times the number went from all ones of so many bits to 0 */
};

/* A port of --udp. */
struct flow_port {
	__u64 datagrams;
	__u64 foreign;	/* of these, without a number */
	struct flow any; /* all datagrams of the first sender */
	struct flow swapped; /* the same of datagrams to the port with its bytes in the other order */
};

struct flows {
	const struct roce_ports *ports; /* NULL: none */
	struct flow_port port[ROCE_UDP_PORTS];
	struct index list; /* struct flow */
	size_t sampled;	   /* flows with a sample */
	__u64 datagrams;
	__u64 left_out; /* datagrams of flows for which there was no room */
};

void flows_init(struct flows *f);

/* Takes a datagram: a frame of kind ROCE_UDP. */
void flows_take(struct flows *f, const struct doctor_packet *p);

/* Takes a frame of kind ROCE_OTHER, which may be a datagram to a port with its bytes swapped. */
void flows_take_other(struct flows *f, const struct doctor_packet *p);

/* Whether no datagram has come to one of the ports. */
bool flows_lack_port(const struct flows *f);

/* Takes the counters of all flows. s must outlive `f`. */
void flows_count(struct flows *f, const struct snapshot *s);

/*
 * Completes the symptoms of flows and ports. instead: what came otherwise, in words. selection: the datagrams do not follow one
 * another.
 */
void flows_conclude(struct flows *f, struct symptoms *hints, const char *instead, bool selection);

void flows_free(struct flows *f);

#endif
