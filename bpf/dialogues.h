/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests and responses that both pass here. A stream of requests has its dialogue at the same place of another map, under the
 * stream's guard. A dialogue needs a clock of nanosecond precision, which is costly, so it is kept only where both directions
 * are seen.
 */
#ifndef BPF_DIALOGUES_H
#define BPF_DIALOGUES_H

#include <bpf/bpf_helpers.h>

#include "bpf/scratch.h"
#include "roce/dialogue/follow_dialogue.h"
#include "roce/observe.h"

/* As many entries as `streams` if there are dialogues. */
MAP(dialogues, ARRAY, __u32, struct roce_dialogue, 1, BPF_F_MMAPABLE);

/* Finds the stream of requests to which the packet belongs, or which it answers: its key and place. false: unknown. */
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
	*place = table_find(key) - 1;
	return true;
}

/*
 * Call after roce_observe(), for the packet in the scratch, unless its ICRC is bad. Global, so that the verifier checks it
 * once, and hardly at all where there are no dialogues.
 */
__noinline int dialogues_see(void)
{
	struct guard g = guard_begin();
	__u32 zero = 0, place;
	struct roce_dialogue *d;
	struct stream_value *v;
	struct roce_key key;
	struct scratch *s;

	if (!settings.dialogues)
		return 0;
	s = bpf_map_lookup_elem(&scratches, &zero);
	if (!s || s->icrc == ICRC_BAD || !dialogue_wants(&s->packet) || !dialogues_find(s, &key, &place))
		return 0;
	v = bpf_map_lookup_elem(&streams, &place);
	d = bpf_map_lookup_elem(&dialogues, &place);
	if (!v || !d)
		return 0;
	if (!guard_take(v, &g))
		return 0;
	if (table_same_key(&v->key, &key)) {
		__u64 now = bpf_ktime_get_ns(); /* under the guard, so that two CPUs' packets have their times in order */

		if (s->packet.op & OP_RESPONSE)
			dialogue_response(d, &v->stream, &s->packet, now);
		else
			dialogue_request(d, &v->stream, &s->packet, (__s64)s->again > 0, now);
	}
	guard_release(v, &g);
	return 0;
}

#endif
