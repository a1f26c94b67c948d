/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds what a sender does wrong. The doctor takes packets together with the engine's verdicts (all packets of a capture; live,
 * those that the kernel program selected) and concludes with a list of findings. Its number of streams and its memory for each
 * stream are bounded.
 */
#ifndef USERSPACE_DIAGNOSE_DOCTOR_DOCTOR_H
#define USERSPACE_DIAGNOSE_DOCTOR_DOCTOR_H

#include "userspace/diagnose/finding/finding.h"
#include "userspace/diagnose/finding/packet.h"
#include "userspace/observe/host/host.h"
#include "userspace/observe/model/endpoint.h"
#include "userspace/observe/model/expect.h"
#include "userspace/observe/model/other_frames.h"

struct doctor;

/* NULL: no memory. */
struct doctor *doctor_new(void);

/* Adds connections that are known before the first packet, which must outlive the doctor. false: too many. */
bool doctor_expect(struct doctor *d, const struct expected *e);

/* Says what the receiver is: packets that go to it are judged as it would. endpoint (NULL: not known) must outlive the doctor. */
void doctor_receiver(struct doctor *d, const struct endpoint *endpoint);

/* Looks at datagrams to these ports as well (--udp). ports must outlive the doctor. */
void doctor_udp(struct doctor *d, const struct roce_ports *ports);

/* Whether frames of kind ROCE_OTHER are of interest: hardly a RoCE packet has come, or no datagram to a port of --udp. */
bool doctor_wants_others(const struct doctor *d);

/* Takes a packet. The packets of a stream must come in order. Keeps no pointer to its arguments. */
void doctor_take(struct doctor *d, const struct doctor_packet *taken);

/* Says that the packets are a selection: packets missing between them are not taken for loss. */
void doctor_selection(struct doctor *d);

/* What was counted of the flows of --udp, after the last packet. s: finished; it must outlive the doctor. */
void doctor_flows(struct doctor *d, const struct snapshot *s);

/*
 * What this machine knows of the streams at its interfaces, after the last packet of a live run. s: finished, with owners and
 * s->host (host_update()).
 */
void doctor_machine(struct doctor *d, const struct snapshot *s);

/* Remembers a packet of which only the headers were captured. It is not judged; the ICRC of the next packet may need it. */
void doctor_remember(struct doctor *d, const struct observer_frame *frame, const struct roce_packet *p);

/*
 * Writes the findings, most important first, to *f; free them with findings_free(). totals: counters of all packets seen. No
 * packet may be taken afterwards. false: no memory; the findings in *f are right, but some are missing.
 */
bool doctor_conclude(struct doctor *d, const struct roce_totals *totals, struct findings *f);

#define DOCTOR_STRAYS 16 /* RoCE packets, fewer than these may be strays */

/* How much was checked. */
struct doctor_checked {
	__u64 packets, streams;
	__u64 icrcs;	 /* ICRCs verified */
	__u64 sequences; /* streams whose PSNs could be followed */
	__u64 messages;	 /* messages whose beginning and end were seen */
	__u64 answers;	 /* ACKs, NAKs and responses of receivers, */
	__u64 compared;	 /* ... and those that were compared with the requests which they answer */
	__u64 starts;	 /* streams whose first PSN was known beforehand */
	__u64 datagrams, flows; /* of --udp */
	const struct endpoint *receiver; /* NULL: not known */
	__u64 received;	 /* requests that went to it */
	/* what came, if there was neither a RoCE packet nor a datagram of --udp: "12 frames: 10 UDP (most to port 46866), 2 ARP" */
	char instead[OTHER_FRAMES_TEXT];
};
struct doctor_checked doctor_checked(const struct doctor *d);

enum losses_by { LOSSES_BY_DSCP, LOSSES_BY_VLAN, LOSSES_BY_PORT, LOSSES_BY };

/* Their names in JSON. port: UDP source port. */
extern const char *const losses_by_names[LOSSES_BY];

#define LOSSES_NO_VLAN 4096 /* as the value of VLAN: no tag */
#define LOSSES_ROWS 16

/* Streams with one value: what they have sent, and what of it is missing. */
struct losses_row {
	__u32 value;
	__u64 streams, packets, lost, gaps;
	double expected; /* gaps, if values lost alike, but for what the other tables say */
};

/* values 0: losses do not differ by more than chance. */
struct doctor_losses {
	struct losses_row row[LOSSES_ROWS]; /* those with the greatest part lost first */
	size_t rows, values; /* values: there are so many, of which these are shown */
};

/* Call after doctor_conclude(). */
void doctor_losses(const struct doctor *d, struct doctor_losses tables[LOSSES_BY]);

#define DOCTOR_PRIORITIES 8 /* IEEE 802.1Q */
#define DOCTOR_DSCPS 64

/*
 * The priorities that were paused, and the DSCPs that lose: each may be the other's cause. Which priority a DSCP has is the switch's
 * and the NIC's setting, so that they belong together is an assumption (DOCTOR_PRIORITY()).
 */
struct doctor_pauses {
	bool known; /* of both there are some */
	__u64 all; /* PAUSE frames that were seen: all priorities were paused */
	__u64 frames[DOCTOR_PRIORITIES]; /* of PFC, which were seen, that paused this priority */
	__u64 host[DOCTOR_PRIORITIES][PRIORITY_COUNTS]; /* at an interface: what its NIC has counted */
	struct losses_row dscp[DOCTOR_DSCPS]; /* `expected` is 0 */
};

/* The usual default of switches and NICs. */
#define DOCTOR_PRIORITY(dscp) ((dscp) / 8)

/* Whether the priority was paused, as far as is known. */
static inline bool doctor_is_paused(const struct doctor_pauses *p, unsigned int priority)
{
	return p->all || p->frames[priority] || p->host[priority][PRIORITY_RX_PAUSE] || p->host[priority][PRIORITY_TX_PAUSE];
}

/* Call after doctor_conclude(). totals: counters of all packets seen. */
void doctor_pauses(const struct doctor *d, const struct roce_totals *totals, struct doctor_pauses *p);

void doctor_free(struct doctor *d);

#endif
