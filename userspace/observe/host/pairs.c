// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "userspace/observe/host/pairs.h"
#include "userspace/observe/live/live.h"

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

void pairs_begin(struct pair_writer *w, const struct live *l)
{
	size_t offset = find_variable(l->programs.object, ".data", "pairs_generation");

	*w = (struct pair_writer){ .map = live_map(l, "pairs"), .data = MAP_FAILED };
	if (offset == SIZE_MAX)
		return;
	/* libbpf maps it only if a skeleton is loaded */
	w->bytes = offset + PAIR_GENERATIONS * sizeof(*w->generations);
	w->data = mmap(NULL, w->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, live_map(l, ".data"), 0);
	if (w->data != MAP_FAILED)
		w->generations = (__u32 *)((char *)w->data + offset);
}

void pairs_end(struct pair_writer *w)
{
	if (w->data != MAP_FAILED)
		munmap(w->data, w->bytes);
}

/* An equal pair from CM or --expect stays: it also has the first PSN and the path MTU. */
void pairs_write(struct pair_writer *w, const struct owner_pair *p)
{
	struct roce_pair known;

	if (!w->generations || (!bpf_map_lookup_elem(w->map, &p->key, &known) && known.peer_qpn == p->pair.peer_qpn))
		return;
	if (!bpf_map_update_elem(w->map, &p->key, &p->pair, BPF_ANY))
		__sync_fetch_and_add(&w->generations[pair_generation_of(p->key.number)], 1);
}
