/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the ICRC of a frame is, if it is not where the lengths say: the CRC is tried over what is really there, up to each byte near
 * the end. The one rule for `doctor`, with and without --bring-up.
 */
#ifndef USERSPACE_DIAGNOSE_ICRC_ICRC_PLACE_H
#define USERSPACE_DIAGNOSE_ICRC_ICRC_PLACE_H

#include "userspace/diagnose/finding/symptom.h"
#include "userspace/observe/model/observer.h"

/* What stands in the place of an ICRC that may not be there. */
enum icrc_blank {
	BLANK_NOT,
	/*
	 * Zeroes, or the bytes of the word before, and no more behind them than Ethernet's least length explains: an ICRC that is sent as
	 * 0, or payload where lengths do not count it, explains them as well.
	 */
	BLANK_DOUBTED,
	BLANK_WORD, /* these, up to the end of a frame that is longer than its lengths say */
};

struct icrc_place {
	/*
	 * icrc_not_appended, icrc_uncounted, icrc_behind_end, icrc_before_end, pad_missing; malformed_ip_length: the frame ends early,
	 * and none of these explains it. FINDING_KINDS: nothing was found.
	 */
	enum finding_kind kind;
	enum icrc_blank blank; /* with FINDING_KINDS */
	__u32 at;     /* offset of the ICRC in the frame; where it is not known, of the frame's end */
	__u32 beyond; /* bytes that no length counts, in front of it; icrc_before_end: that lengths count, behind it */
	bool covered; /* icrc_behind_end: these bytes go into the CRC as well */
};

/* f: a frame that ends early (near_roce_ends_early()), or is malformed, or a whole packet with a wrong ICRC. */
struct icrc_place icrc_place_find(const struct observer_frame *f, const struct roce_packet *p);

/* Whether the pad is missing of a packet whose lengths fit without it. */
bool icrc_place_lacks_pad(const struct roce_packet *p);

/* Whether the DMA length of an RDMA WRITE Only, or the path MTU, shows that so many bytes are missing at the end of the payload. */
bool icrc_place_payload_lacks(const struct roce_packet *p, __u32 bytes);

/* What is expected and found of one frame. */
void icrc_place_say(const struct icrc_place *at, const struct roce_packet *p, struct evidence *e);

/* ---- the wrong ICRCs of a stream ---- */

/* All zero at first. */
struct icrc_places {
	struct symptoms symptoms;
	__u64 doubted;	    /* packets of BLANK_DOUBTED */
	__u32 least, most;  /* bytes that are beyond the lengths */
	__u32 words;	    /* bit set: all frames end, or all ICRCs begin, where such a word of a bus does (icrc_place.c) */
	bool covered;	    /* they go into the CRC, in all packets */
};

/* Takes a packet whose ICRC is wrong. Returns what was found; it counts in p->symptoms unless it is blank. */
struct icrc_place icrc_places_take(struct icrc_places *p, __u64 number, const struct observer_frame *f, const struct roce_packet *packet);

/*
 * Adds its symptoms. unappended: packets of the sender have no ICRC. Returns whether the packets of BLANK_DOUBTED have none,
 * because others of the sender or of the stream have none.
 */
bool icrc_places_conclude(const struct icrc_places *p, struct symptoms *symptoms, bool unappended);

#endif
