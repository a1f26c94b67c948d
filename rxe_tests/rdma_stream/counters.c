// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <dirent.h>
#include <string.h>

#include "rxe_tests/rdma_stream/rdma_stream.h"

static void read_counter(json_t *counters, const char *folder, const char *name)
{
	char path[512];
	unsigned long long value;
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return;
	file = fopen(path, "r");
	if (!file)
		return;
	if (fscanf(file, "%llu", &value) == 1)
		json_object_set_new(counters, name, json_integer(value));
	fclose(file);
}

json_t *rdma_counters(const struct rdma_device *d)
{
	json_t *counters = json_object();
	char folder[256];
	struct dirent *entry;
	DIR *dir;

	snprintf(folder, sizeof(folder), "/sys/class/infiniband/%s/ports/%d/hw_counters",
		 ibv_get_device_name(d->context->device), RDMA_PORT);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "lifespan"))
			read_counter(counters, folder, entry->d_name);
	if (dir)
		closedir(dir);
	return counters;
}

json_t *rdma_counters_since(const struct rdma_device *d, json_t *before)
{
	json_t *now = rdma_counters(d), *value;
	const char *name;
	void *next;

	json_object_foreach_safe(now, next, name, value)
		json_integer_set(value, json_integer_value(value) -
				 json_integer_value(json_object_get(before, name)));
	json_decref(before);
	return now;
}
