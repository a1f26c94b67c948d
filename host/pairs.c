// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "host/pairs.h"
#include "userspace/live.h"

/* The place of a static variable in a section of the programs' data, which is mapped into our memory; NULL: there is none. */
static void *find_variable(const struct bpf_object *object, const char *section, const char *name, size_t size)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, section);
	const struct btf *btf = bpf_object__btf(object);
	int id = btf ? btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC) : -1;
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, id) : NULL;
	size_t room = 0;
	char *bytes = map ? (char *)bpf_map__initial_value((struct bpf_map *)map, &room) : NULL;

	for (int i = 0; bytes && type && i < btf_vlen(type); i++) {
		const struct btf_var_secinfo *v = btf_var_secinfos(type) + i;
		const struct btf_type *variable = btf__type_by_id(btf, v->type);

		if (!strcmp(btf__name_by_offset(btf, variable->name_off), name) && v->size == size && v->offset + size <= room)
			return bytes + v->offset;
	}
	return NULL;
}

void pairs_find_map(struct pair_teller *t, const struct live *l)
{
	*t = (struct pair_teller){ .map = live_map(l, "pairs") };
	t->generation = find_variable(l->programs.object, ".data", "pairs_generation", sizeof(*t->generation));
	if (!t->generation)
		t->map = -1;
}

/* What CM or --expect said stays, if it is the same: it has the beginning of the sequence and the path MTU too. */
void pairs_tell(struct pair_teller *t, const struct owner_pair *p)
{
	struct roce_pair known;

	if (t->map < 0 || (!bpf_map_lookup_elem(t->map, &p->key, &known) && known.peer_qpn == p->pair.peer_qpn))
		return;
	t->news |= !bpf_map_update_elem(t->map, &p->key, &p->pair, BPF_ANY);
}

void pairs_told(struct pair_teller *t)
{
	if (t->news)
		__sync_fetch_and_add(t->generation, 1);
	t->news = false;
}
