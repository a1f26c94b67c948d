// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The stream table of user space compared with a list. Input: number of streams it has room for (1 byte), then steps: what (1),
 * and a key or a run of keys.
 */
#include "tests/fuzz/must.h"
#include "userspace/observe/model/table.h"

#define MODEL_MAX 256

/* The keys in the order in which they came. A stream stores its key's index. */
static struct {
	struct roce_key key[MODEL_MAX];
	size_t count;
} model;

/* memcmp() is traced by libFuzzer, which is too slow for so many calls. */
static bool equal(const struct roce_key *a, const struct roce_key *b)
{
	__u64 differ = 0;

	for (size_t i = 0; i < sizeof(*a); i += 8)
		differ |= roce_load(__u64, (const __u8 *)a + i) ^ roce_load(__u64, (const __u8 *)b + i);
	return !differ;
}

static size_t model_find(const struct roce_key *key)
{
	size_t i = 0;

	while (i < model.count && !equal(&model.key[i], key))
		i++;
	return i;
}

/* place: the key's index in the model; model.count: it is new. */
static void find_at(struct table *t, const struct roce_key *key, size_t place)
{
	static const struct roce_stream unused;
	struct roce_stream *s = table_find(t, key);

	if (place == t->max) {
		must(!s);
		return;
	}
	must(s);
	if (place == model.count) {
		must(!memcmp(s, &unused, sizeof(*s)));
		model.key[model.count++] = *key;
		s->used = true;
		s->ud.dqpn = place;
		s->last_seen = ~0ull; /* the stream's memory is complete */
	}
	must(s->used && s->ud.dqpn == place);
	must(t->count == model.count && t->count <= t->max);
}

static void find(struct table *t, const struct roce_key *key)
{
	find_at(t, key, model_find(key));
}

static void check_all(struct snapshot_stream *streams, size_t count)
{
	must(count == model.count);
	for (size_t i = 0; i < count; i++)
		must(equal(&streams[i].key, &model.key[i]) && streams[i].stream.ud.dqpn == i);
}

/* Checks all streams again, then empties the table and continues to use it. */
static void take(struct table *t)
{
	size_t count;
	struct snapshot_stream *streams = table_take(t, &count);

	check_all(streams, count);
	free(streams);
	must(!t->count);
	model.count = 0;
}

/* A key that shares most bytes with others: neighbours differ in one field only. */
static struct roce_key near_key(struct input *in)
{
	struct roce_key key = { 0 };
	uint8_t *bytes = (uint8_t *)&key;

	for (int i = input_byte(in) % 4; i >= 0; i--) {
		size_t where = input_byte(in) % sizeof(key);

		bytes[where] = input_byte(in);
	}
	return key;
}

static struct roce_key any_key(struct input *in)
{
	struct roce_key key = { 0 };
	size_t n = in->left < sizeof(key) ? in->left : sizeof(key);

	memcpy(&key, in->at, n);
	in->at += n;
	in->left -= n;
	return key;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct table t = { .max = input_byte(&in) };
	struct roce_key key;

	model.count = 0;
	while (in.left) {
		switch (input_byte(&in) % 5) {
		case 0:
			key = any_key(&in);
			find(&t, &key);
			break;
		case 1:
			key = near_key(&in);
			find(&t, &key);
			break;
		case 2: /* consecutive QPNs, as NICs assign them */
			key = (struct roce_key){ .qpn = input_number(&in, 2) };
			for (int n = input_byte(&in) % 64; n; n--, key.qpn++)
				find(&t, &key);
			break;
		case 3: /* all keys so far */
			for (size_t i = 0; i < model.count; i++)
				find_at(&t, &model.key[i], i);
			break;
		case 4:
			take(&t);
			break;
		}
	}
	check_all(t.streams, t.count);
	table_free(&t);
	must(!t.count && !t.streams && !t.slots);
	return 0;
}
