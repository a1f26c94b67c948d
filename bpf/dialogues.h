/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests and answers that meet here. Each stream of requests has its dialogue at the same place of another map, guarded by
 * the stream's guard; that costs a clock which is right to the nanosecond, and is done only where both directions are seen.
 */
#ifndef BPF_DIALOGUES_H
#define BPF_DIALOGUES_H

#include <bpf/bpf_helpers.h>

#include "bpf/scratch.h"

/* As many as `streams` has, where there are dialogues. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct roce_dialogue);
} dialogues SEC(".maps");

/* The key and the place of the stream of requests that the packet belongs to, or answers. false: it is not known. */
static __always_inline bool dialogues_find(const struct scratch *s, struct roce_key *key, __u32 *place)
{
	const struct stream_value *v;

	*place = s->place - 1;
	if (!(s->packet.op & OP_RESPONSE)) {
		*key = s->key;
		return true;
	}
	v = bpf_map_lookup_elem(&streams, place);
	if (!v || !v->stream.pair.from)
		return false;
	roce_peer_key(&v->stream, &s->packet, key);
	*place = table_find(key, s->now >> TICK_SHIFT) - 1;
	return true;
}

/*
 * Behind roce_observe(): the packet in the scratch, whose ICRC is not bad. A global function, which the verifier looks at
 * once, and hardly where there are no dialogues.
 */
__noinline int dialogues_see(void)
{
	struct guard g = guard_of(false);
	__u32 zero = 0, place;
	struct roce_dialogue *d;
	struct stream_value *v;
	struct roce_key key;
	struct scratch *s;
	__u64 now;

	if (!settings.dialogues)
		return 0;
	s = bpf_map_lookup_elem(&scratches, &zero);
	if (!s || s->icrc == ICRC_BAD || !dialogue_wants(&s->packet) || !dialogues_find(s, &key, &place))
		return 0;
	v = bpf_map_lookup_elem(&streams, &place);
	d = bpf_map_lookup_elem(&dialogues, &place);
	if (!v || !d)
		return 0;
	now = bpf_ktime_get_ns();
	if (!guard_take(v, &g))
		return 0;
	if (table_same_key(&v->key, &key)) {
		if (s->packet.op & OP_RESPONSE)
			dialogue_response(d, &v->stream, &s->packet, now);
		else
			dialogue_request(d, &v->stream, &s->packet, now);
	}
	guard_release(v, &g);
	return 0;
}

#endif
