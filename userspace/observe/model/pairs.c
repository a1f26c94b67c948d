// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "roce/observe.h"
#include "roce/packet/cm.h"
#include "userspace/observe/model/pairs.h"

#define ROOM_FIRST 64
#define ROOM_MAX (1 << 21) /* entries, of which at most half are used */

/* Multiply and fold, as in userspace/observe/model/table.c. */
static __u64 hash(const struct roce_pair_key *key)
{
	__u64 words[(sizeof(*key) + 7) / 8] = { 0 }, h = 0;

	memcpy(words, key, sizeof(*key));
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(words); i++) {
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h;
}

/* The entry of this key, or the free entry for it. NULL: the table is empty. */
static struct pairs_entry *find(const struct pairs_table *t, const struct roce_pair_key *key)
{
	for (size_t i = hash(key); t->room; i++) {
		struct pairs_entry *e = &t->entries[i & (t->room - 1)];

		if (!e->pair.from || !memcmp(&e->key, key, sizeof(*key)))
			return e;
	}
	return NULL;
}

static bool grow(struct pairs_table *t)
{
	struct pairs_table larger = { .room = t->room ? t->room * 2 : ROOM_FIRST, .count = t->count };

	if (larger.room > ROOM_MAX)
		return false;
	larger.entries = calloc(larger.room, sizeof(*larger.entries));
	if (!larger.entries)
		return false;
	for (size_t i = 0; i < t->room; i++)
		if (t->entries[i].pair.from)
			*find(&larger, &t->entries[i].key) = t->entries[i];
	free(t->entries);
	*t = larger;
	return true;
}

static bool put(struct pairs_table *t, const struct roce_pair_key *key, const struct roce_pair *pair)
{
	struct pairs_entry *e = find(t, key);

	if (!e || !e->pair.from) {
		if (t->count * 2 >= t->room && !grow(t))
			return false;
		e = find(t, key);
		t->count++;
	}
	e->key = *key;
	e->pair = *pair;
	return true;
}

/* Ignores a repeated REP. */
bool pairs_put(struct pairs *p, const struct roce_pair_key *key, const struct roce_pair *pair)
{
	const struct pairs_entry *known = find(&p->known, key);

	if (known && known->pair.from == pair->from && known->pair.connection == pair->connection)
		return true;
	if (!put(&p->known, key, pair))
		return false;
	p->news++;
	return true;
}

void pairs_learn(struct pairs *p, const struct roce_packet *packet, const __u8 *window, __u32 available)
{
	const struct pairs_entry *request;
	struct roce_pair_key key;
	struct roce_pair pair;
	struct roce_cm cm;

	if (!roce_cm_parse(window, available, packet, &cm))
		return;
	if (cm.attribute == CM_REQUEST) {
		pair_request(packet, &cm, &key, &pair);
		put(&p->requests, &key, &pair);
		return;
	}
	pair_request_key(packet, &cm, &key);
	request = find(&p->requests, &key);
	if (!request || !request->pair.from)
		return;
	pair_forth(packet, &cm, &request->pair, &key, &pair);
	pairs_put(p, &key, &pair);
	pair_back(packet, &cm, &request->pair, &key, &pair);
	pairs_put(p, &key, &pair);
}

const struct roce_pair *pairs_get(const struct pairs *p, const struct roce_pair_key *key)
{
	const struct pairs_entry *e = find(&p->known, key);

	return e && e->pair.from ? &e->pair : NULL;
}

void pairs_find(const struct pairs *p, struct roce_stream *s, const struct roce_packet *packet)
{
	struct roce_pair_key key;

	if (!roce_wants_pair(s, packet, p->news + 1))
		return;
	roce_pair_key(packet, &key);
	roce_adopt(s, packet, pairs_get(p, &key), p->news + 1);
}

void pairs_free(struct pairs *p)
{
	free(p->known.entries);
	free(p->requests.entries);
	*p = (struct pairs){ 0 };
}
