// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The memory of messages: of this machine in pages of a chosen size, or of a CUDA device. The latter was never run. */
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rxe_tests/rdma_stream/rdma_stream.h"

#define MIB		(1ull << 20)
#define CUDA_PAGE	(64u << 10)	/* bytes: a multiple of the page of every machine, as dma-buf wants */
#define CUDA_DMA_BUF	1		/* CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD (cuda.h) */
#define THP		"/sys/kernel/mm/transparent_hugepage/enabled"

/* In the order of enum rdma_pages. */
const char *const rdma_pages_names[] = { "normal", "thp", "2m", "1g", "cuda", NULL };

/* ---- of this machine ---- */

static size_t round_up(size_t bytes, size_t page)
{
	return (bytes + page - 1) / page * page;
}

static void *map(size_t bytes, int flags)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void *map_normal(size_t bytes)
{
	void *at = map(bytes, MAP_POPULATE);

	if (at == MAP_FAILED)
		err(1, "buffers of %zu bytes", bytes);
	return at;
}

/* mmap(2): the flags have the page's size. Populated, so that no later access fails (SIGBUS). */
static void *map_huge(size_t bytes, size_t page, const char *name)
{
	size_t pages = round_up(bytes, page) / page;
	void *at = map(pages * page, MAP_HUGETLB | MAP_POPULATE | __builtin_ctzll(page) << MAP_HUGE_SHIFT);

	if (at == MAP_FAILED)
		errx(1, "--memory %s: %zu pages more are wanted than are free: add %zu to "
		     "/sys/kernel/mm/hugepages/hugepages-%zukB/nr_hugepages", name, pages, pages, page >> 10);
	return at;
}

static bool thp_is_off(void)
{
	char words[64] = "";
	FILE *file = fopen(THP, "r");
	bool off = !file || !fgets(words, sizeof(words), file) || strstr(words, "[never]");

	if (file)
		fclose(file);
	return off;
}

/* From a page's begin on, since only a whole page can be huge. Writing each page makes it so. */
static void *map_thp(size_t bytes)
{
	size_t room = round_up(bytes, 2 * MIB);
	char *at = map(room + 2 * MIB, 0);

	if (thp_is_off())
		errx(1, "--memory thp: transparent huge pages are off: 'echo madvise >%s'", THP);
	if (at == MAP_FAILED)
		err(1, "buffers of %zu bytes", bytes);
	at = (char *)round_up((uintptr_t)at, 2 * MIB);
	if (madvise(at, room, MADV_HUGEPAGE))
		err(1, "--memory thp");
	memset(at, 0, room);
	return at;
}

/* ---- of a CUDA device: the driver's library (CUDA Driver API), which is only there with a driver ---- */

static struct {
	int (*init)(unsigned int flags);
	int (*device)(int *device, int number);
	int (*retain)(void **context, int device);
	int (*enter)(void *context);
	int (*allocate)(uint64_t *at, size_t bytes);
	int (*set)(uint64_t at, unsigned char value, size_t bytes);
	int (*to_device)(uint64_t to, const void *from, size_t bytes);
	int (*to_host)(void *to, uint64_t from, size_t bytes);
	int (*handle)(void *handle, uint64_t at, size_t bytes, int type, unsigned long long flags);	/* CUDA 11.7 */
	void *context;
} cuda;

static void *symbol(void *library, const char *name)
{
	void *at = dlsym(library, name);

	if (!at)
		errx(1, "--memory cuda: not available: libcuda.so.1 has no %s", name);
	return at;
}

static void must(int status, const char *what)
{
	if (status)
		errx(1, "--memory cuda: %s failed with status %d", what, status);
}

static void open_cuda(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int device;

	if (!library)
		errx(1, "--memory cuda: not available: no libcuda.so.1 (it comes with the driver)");
	cuda.init = symbol(library, "cuInit");
	cuda.device = symbol(library, "cuDeviceGet");
	cuda.retain = symbol(library, "cuDevicePrimaryCtxRetain");
	cuda.enter = symbol(library, "cuCtxSetCurrent");
	cuda.allocate = symbol(library, "cuMemAlloc_v2");
	cuda.set = symbol(library, "cuMemsetD8_v2");
	cuda.to_device = symbol(library, "cuMemcpyHtoD_v2");
	cuda.to_host = symbol(library, "cuMemcpyDtoH_v2");
	cuda.handle = dlsym(library, "cuMemGetHandleForAddressRange");
	must(cuda.init(0), "cuInit");
	must(cuda.device(&device, 0), "cuDeviceGet");
	must(cuda.retain(&cuda.context, device), "cuDevicePrimaryCtxRetain");
	must(cuda.enter(cuda.context), "cuCtxSetCurrent");
}

/* By dma-buf, or else by the driver's peer memory (ibv_reg_mr() of an address of the device). */
static void *allocate_cuda(struct rdma_memory *m)
{
	uint64_t at;

	if (!cuda.context)
		open_cuda();
	m->bytes = round_up(m->bytes, CUDA_PAGE);
	must(cuda.allocate(&at, m->bytes), "cuMemAlloc");
	must(cuda.set(at, 0, m->bytes), "cuMemsetD8");
	if (!cuda.handle || cuda.handle(&m->dma_buf, at, m->bytes, CUDA_DMA_BUF, 0))
		m->dma_buf = -1;
	return (void *)(uintptr_t)at;
}

/* ---- all ---- */

struct rdma_memory *rdma_allocate(struct rdma_device *d, enum rdma_pages pages, size_t bytes)
{
	struct rdma_memory *m = &d->memory[d->memories++];

	*m = (struct rdma_memory){ .d = d, .pages = pages, .bytes = bytes, .dma_buf = -1 };
	m->at = pages == RDMA_CUDA ? allocate_cuda(m) : pages == RDMA_THP ? map_thp(bytes) :
		pages == RDMA_2M ? map_huge(bytes, 2 * MIB, "2m") : pages == RDMA_1G ? map_huge(bytes, 1024 * MIB, "1g") :
		map_normal(bytes);
	return m;
}

struct ibv_mr *rdma_register(struct rdma_memory *m, size_t from, size_t bytes, int access)
{
	struct rdma_device *d = m->d;
	struct ibv_mr *mr = m->dma_buf < 0 ? ibv_reg_mr(d->pd, m->at + from, bytes, access) :
			    ibv_reg_dmabuf_mr(d->pd, from, bytes, (uintptr_t)m->at + from, m->dma_buf, access);

	if (!mr)
		err(1, "registering %zu bytes, after %u memory regions (ulimit -l?)", bytes, d->mrs);
	if (!(d->mrs & (d->mrs - 1)))
		d->mr = realloc(d->mr, (d->mrs ? 2 * d->mrs : 1) * sizeof(*d->mr));
	if (!d->mr)
		err(1, "no memory");
	return d->mr[d->mrs++] = mr;
}

void rdma_fill(const struct rdma_memory *m, void (*make)(void *at, size_t bytes), size_t bytes)
{
	void *copy;

	if (m->pages != RDMA_CUDA) {
		make(m->at, bytes);
		return;
	}
	copy = malloc(bytes);
	if (!copy)
		err(1, "no memory");
	make(copy, bytes);
	must(cuda.to_device((uintptr_t)m->at, copy, bytes), "cuMemcpyHtoD");
	free(copy);
}

const char *rdma_readable(const struct rdma_memory *m, const char *at, size_t bytes)
{
	static _Thread_local void *copy;
	static _Thread_local size_t room;

	if (m->pages != RDMA_CUDA)
		return at;
	if (bytes > room) {
		copy = realloc(copy, bytes);
		room = bytes;
	}
	if (!copy)
		err(1, "no memory");
	must(cuda.enter(cuda.context), "cuCtxSetCurrent");	/* of this thread */
	must(cuda.to_host(copy, (uintptr_t)at, bytes), "cuMemcpyDtoH");
	return copy;
}

/* ---- buffers ---- */

static void register_parts(struct rdma_buffers *b, unsigned int flow, int access)
{
	size_t begin = flow * b->each * b->bytes;

	for (uint64_t from = 0, r = 0; from < b->each; from += b->per_region, r++) {
		uint64_t units = b->each - from < b->per_region ? b->each - from : b->per_region;

		b->mr[flow * b->regions + r] = rdma_register(b->memory, begin + from * b->bytes, units * b->bytes, access);
	}
}

struct rdma_buffers rdma_make_buffers(struct rdma_device *d, const struct rdma_options *o, unsigned int flows, uint64_t each,
				      size_t bytes, int access)
{
	size_t all = flows * each * bytes;
	struct rdma_buffers b = {
		.memory = rdma_allocate(d, o->pages, all), .each = each, .bytes = bytes, .regions = o->regions,
		.per_region = o->regions ? rdma_slots_per_region(each, o->regions) : 0,
	};

	b.mr = calloc(o->regions ? (size_t)flows * o->regions : 1, sizeof(*b.mr));
	if (!b.mr)
		err(1, "no memory");
	if (!o->regions)
		b.mr[0] = rdma_register(b.memory, 0, all, access);
	for (unsigned int i = 0; i < flows && o->regions; i++)
		register_parts(&b, i, access);
	return b;
}

struct ibv_mr *rdma_region(const struct rdma_buffers *b, uint64_t number)
{
	return b->regions ? b->mr[number / b->each * b->regions + number % b->each / b->per_region] : b->mr[0];
}
