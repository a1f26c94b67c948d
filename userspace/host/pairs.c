// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "userspace/host/pairs.h"
#include "userspace/live/live.h"

/* Offset of a static variable in its section. SIZE_MAX: no such variable. */
static size_t find_variable(const struct bpf_object *object, const char *section, const char *name)
{
	const struct btf *btf = bpf_object__btf(object);
	int id = btf ? btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC) : -1;
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; type && i < btf_vlen(type); i++) {
		const struct btf_var_secinfo *v = btf_var_secinfos(type) + i;

		if (!strcmp(btf__name_by_offset(btf, btf__type_by_id(btf, v->type)->name_off), name))
			return v->offset;
	}
	return SIZE_MAX;
}

void pairs_begin(struct pair_teller *t, const struct live *l)
{
	size_t offset = find_variable(l->programs.object, ".data", "pairs_generation");

	*t = (struct pair_teller){ .map = live_map(l, "pairs"), .data = MAP_FAILED };
	if (offset == SIZE_MAX)
		return;
	/* libbpf maps it only if a skeleton is loaded */
	t->bytes = offset + sizeof(*t->generation);
	t->data = mmap(NULL, t->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, live_map(l, ".data"), 0);
	if (t->data != MAP_FAILED)
		t->generation = (__u32 *)((char *)t->data + offset);
}

void pairs_end(struct pair_teller *t)
{
	if (t->data != MAP_FAILED)
		munmap(t->data, t->bytes);
}

/* An equal pair from CM or --expect stays: it also has the first PSN and the path MTU. */
void pairs_tell(struct pair_teller *t, const struct owner_pair *p)
{
	struct roce_pair known;

	if (!t->generation || (!bpf_map_lookup_elem(t->map, &p->key, &known) && known.peer_qpn == p->pair.peer_qpn))
		return;
	t->news |= !bpf_map_update_elem(t->map, &p->key, &p->pair, BPF_ANY);
}

void pairs_told(struct pair_teller *t)
{
	if (t->news)
		__sync_fetch_and_add(t->generation, 1);
	t->news = false;
}
