/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pairs in the kernel. The program learns them from CM packets. User space adds others: before it attaches (--expect), and
 * while it watches (userspace/observe/host/pairs.c).
 */
#ifndef BPF_PAIRS_H
#define BPF_PAIRS_H

#include <bpf/bpf_helpers.h>

#include "bpf/scratch.h"
#include "roce/observe.h"

/* Streams keep the pair they found. A pair evicted here is missing only for streams that begin later. */
MAP(pairs, LRU_HASH, struct roce_pair_key, struct roce_pair, PAIRS_MAX, 0);

/* REQs whose REP may come, or be repeated. */
MAP(pair_requests, LRU_HASH, struct roce_pair_key, struct roce_pair, 1024, 0);

/*
 * Generations of the pairs, see pair_generation in struct roce_stream. Not static: user space maps them, because it adds pairs
 * too.
 */
volatile __u32 pairs_generation[PAIR_GENERATIONS] = { [0 ... PAIR_GENERATIONS - 1] = 1 };

/* Ignores a repeated REP. */
static __always_inline void pairs_put(const struct roce_pair_key *key, const struct roce_pair *pair)
{
	const struct roce_pair *known = bpf_map_lookup_elem(&pairs, key);

	if (known && known->from == pair->from && known->connection == pair->connection)
		return;
	bpf_map_update_elem(&pairs, key, pair, BPF_ANY);
	__sync_fetch_and_add(&pairs_generation[pair_generation_of(key->number)], 1);
}

/*
 * Parses the packet in the scratch, for which roce_is_management() holds: before its ICRC is computed, which overwrites it. This
 * function and those below are global, so that the verifier checks them once and not on every path.
 */
__noinline int pairs_parse(void)
{
	__u32 zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);
	struct roce_cm cm;

	if (!s || !roce_cm_parse(s->work.frame, s->length, &s->packet, &cm))
		return 0;
	s->cm = cm;
	s->managed = true;
	return 0;
}

/* Learns from what pairs_parse() has parsed. Its ICRC is good. */
__noinline int pairs_learn(void)
{
	__u32 zero = 0;
	const struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);
	const struct roce_pair *request;
	struct roce_pair_key key;
	struct roce_pair pair;
	struct roce_cm cm;

	if (!s)
		return 0;
	cm = s->cm;
	if (cm.attribute == CM_REQUEST) {
		pair_request(&s->packet, &cm, &key, &pair);
		bpf_map_update_elem(&pair_requests, &key, &pair, BPF_ANY);
		return 0;
	}
	pair_request_key(&s->packet, &cm, &key);
	request = bpf_map_lookup_elem(&pair_requests, &key);
	if (!request)
		return 0;
	pair_forth(&s->packet, &cm, request, &key, &pair);
	pairs_put(&key, &pair);
	pair_back(&s->packet, &cm, request, &key, &pair);
	pairs_put(&key, &pair);
	return 0;
}

/* Makes the scratch's stream look up its pair. */
__noinline int pairs_find(void)
{
	__u32 zero = 0, generation, place;
	const struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);
	struct guard g = guard_begin();
	struct roce_pair *pair;
	struct roce_pair_key key;
	struct stream_value *v;

	if (!s)
		return 0;
	generation = pairs_generation[pair_generation_of(s->packet.dqpn)]; /* first: pairs learnt later are looked up later */
	place = s->place - 1;
	v = bpf_map_lookup_elem(&streams, &place);
	roce_pair_key(&s->packet, &key);
	pair = bpf_map_lookup_elem(&pairs, &key);
	if (!v || !guard_take(v, &g))
		return 0;
	if (table_same_key(&v->key, &s->key))
		roce_adopt(&v->stream, &s->packet, pair, generation);
	guard_release(v, &g);
	/* use it once: the stream may be evicted, and return in the middle */
	if (pair && !(s->packet.op & OP_RESPONSE))
		pair->first_psn = PAIR_NO_PSN;
	return 0;
}

/* Asks the peer stream, without its guard. */
__noinline int pairs_ask(void)
{
	__u32 zero = 0, place;
	struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);
	const struct stream_value *v, *peer;
	struct roce_key key;

	if (!s)
		return 0;
	place = s->place - 1;
	v = bpf_map_lookup_elem(&streams, &place);
	if (!v)
		return 0;
	roce_peer_key(&v->stream, &s->packet, &key);
	place = table_find(&key) - 1;
	peer = bpf_map_lookup_elem(&streams, &place);
	if (peer && table_same_key(&peer->key, &key))
		roce_ask(&v->stream, &peer->stream, &s->packet, &s->peer_info);
	return 0;
}

#endif
