// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include <bpf/btf.h>

#include "bpf/abi.h"
#include "userspace/live/layout.h"

/* FNV-1a */
static __u64 add(__u64 hash, const void *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ ((const __u8 *)bytes)[i]) * 0x100000001b3;
	return hash;
}

static __u64 add_number(__u64 hash, __u64 n)
{
	return add(hash, &n, sizeof(n));
}

static __u64 add_words(__u64 hash, const char *words)
{
	return add(hash, words, strlen(words) + 1);
}

static __u64 add_type(__u64 hash, const struct btf *btf, __u32 id);

static __u64 add_members(__u64 hash, const struct btf *btf, const struct btf_type *type)
{
	const struct btf_member *member = btf_members(type);

	for (__u32 i = 0; i < btf_vlen(type); i++) {
		hash = add_words(hash, btf__name_by_offset(btf, member[i].name_off));
		hash = add_number(hash, member[i].offset);
		hash = add_type(hash, btf, member[i].type);
	}
	return hash;
}

static __u64 add_values(__u64 hash, const struct btf *btf, const struct btf_type *type)
{
	const struct btf_enum *value = btf_enum(type);

	for (__u32 i = 0; i < btf_vlen(type); i++) {
		hash = add_words(hash, btf__name_by_offset(btf, value[i].name_off));
		hash = add_number(hash, value[i].val);
	}
	return hash;
}

/* Variables: .data and .bss are maps as well. */
static __u64 add_variables(__u64 hash, const struct btf *btf, const struct btf_type *type)
{
	const struct btf_var_secinfo *variable = btf_var_secinfos(type);

	for (__u32 i = 0; i < btf_vlen(type); i++) {
		const struct btf_type *var = btf__type_by_id(btf, variable[i].type);

		hash = add_words(hash, btf__name_by_offset(btf, var->name_off));
		hash = add_number(hash, variable[i].offset);
		hash = add_type(hash, btf, var->type);
	}
	return hash;
}

/* Names of types are left out, and typedefs and qualifiers with them: they say nothing of bytes. */
static __u64 add_type(__u64 hash, const struct btf *btf, __u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	if (!type)
		return hash;
	hash = add_number(hash, btf_kind(type));
	switch (btf_kind(type)) {
	case BTF_KIND_INT:
	case BTF_KIND_ENUM64:
		return add_number(hash, type->size);
	case BTF_KIND_ENUM:
		return add_values(add_number(hash, type->size), btf, type);
	case BTF_KIND_ARRAY:
		return add_type(add_number(hash, btf_array(type)->nelems), btf, btf_array(type)->type);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return add_members(add_number(hash, type->size), btf, type);
	case BTF_KIND_DATASEC:
		return add_variables(add_number(hash, type->size), btf, type);
	}
	return hash;
}

static __u64 add_names(__u64 hash)
{
#define COUNTER(name, unit, kind, scope, words) hash = add_words(hash, #name);
#include "roce/counters.def"
#undef COUNTER
#define LINT(name, ...) hash = add_words(hash, #name);
#include "roce/lint.def"
#undef LINT
	return hash;
}

__u64 layout_of_map(const struct bpf_object *object, const struct bpf_map *map)
{
	const struct btf *btf = bpf_object__btf(object);
	__u64 hash = add_number(0xcbf29ce484222325, ABI_MEANING);

	hash = add_number(hash, bpf_map__type(map));
	hash = add_number(hash, bpf_map__key_size(map));
	hash = add_number(hash, bpf_map__value_size(map));
	hash = add_type(hash, btf, bpf_map__btf_key_type_id(map));
	hash = add_type(hash, btf, bpf_map__btf_value_type_id(map));
	return add_names(hash);
}
