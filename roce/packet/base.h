/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the engine needs in BPF and in user space: fixed-width types, byte order, bounds, numbers that go round. */
#ifndef ROCE_PACKET_BASE_H
#define ROCE_PACKET_BASE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

/* All functions are inlined: BPF allows no call while a spin lock is held, and user space runs faster. */
#define roce_inline static inline __attribute__((always_inline))

/*
 * 0: the program is for kernels without bpf_loop() (before 5.17). It defines this before it includes anything, and is an object of
 * its own, because a kernel rejects a helper that it does not know even where it is never reached. The engine then has neither
 * late windows nor probations. All of it is inlined, because such a program guards the stream by a spin lock, under which no call
 * is allowed.
 */
#ifndef ROCE_HAS_LOOP
#define ROCE_HAS_LOOP 1
#endif

/*
 * What few packets need: a function of its own. The BPF verifier checks a global function once, and not on every path that
 * leads to it.
 */
#ifndef __bpf__
#define roce_rare static inline int
#elif ROCE_HAS_LOOP
#define roce_rare __attribute__((noinline)) int
#else
#define roce_rare roce_inline int
#endif

/* The same, also in a program without bpf_loop(). Not for what runs under the stream's guard, which is a spin lock there. */
#ifdef __bpf__
#define roce_once __attribute__((noinline)) int
#else
#define roce_once static inline int
#endif

/*
 * roce_loop(n, step, context): calls step(i, context) for i = 0 .. n - 1, or until it returns 1. In BPF the verifier checks the
 * step once.
 */
#ifdef __bpf__
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#define roce_step __attribute__((noinline)) long
#define roce_loop(n, step, context) bpf_loop(n, step, context, 0)
#else
#define roce_step inline long
#define roce_loop(n, step, context) for (__u32 i_ = 0; i_ < (n) && !step(i_, context); i_++)
#endif

/* A function of the caller's, which the engine declares. */
#ifdef __bpf__
#define roce_pool(type) static inline __attribute__((always_inline)) type
#else
#define roce_pool(type) type
#endif

#define ROCE_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Hides a value's origin from the compiler. The BPF verifier knows a bound only of the register that was compared, so the
 * compiler must use that same register afterwards.
 */
#define roce_opaque(x) __asm__ volatile("" : "+r"(x))

/*
 * Makes the compiler read memory again. Bounds that the BPF verifier learnt on one path stay with the register, and the
 * verifier would follow all later code once more for each of them.
 */
#define roce_reload() __asm__ volatile("" ::: "memory")

#ifdef __bpf__
/* The verifier admits unaligned loads from packets and map values wherever the CPU does. memcpy() would copy single bytes. */
#define roce_load(type, p) (*(const type *)(p))
#define roce_store(type, p, value) (*(type *)(p) = (value))
#else
#define roce_load(type, p) ({ type load_; __builtin_memcpy(&load_, (p), sizeof(load_)); load_; })
#define roce_store(type, p, value) ({ type store_ = (value); __builtin_memcpy((p), &store_, sizeof(store_)); })
#endif

/* Unrolls the loop completely, so that conditions on its index become constants. */
#define roce_unroll _Pragma("GCC unroll 64")

/* memcpy() of 4 bytes (roce_copy16: 16) of any alignment. In BPF, memcpy() itself would copy single bytes. */
roce_inline void roce_copy4(void *to, const void *from)
{
	roce_store(__u32, to, roce_load(__u32, from));
}

roce_inline void roce_copy6(void *to, const void *from)
{
	roce_copy4(to, from);
	roce_store(__u16, (__u8 *)to + 4, roce_load(__u16, (const __u8 *)from + 4));
}

roce_inline void roce_copy16(void *to, const void *from)
{
	roce_store(__u64, to, roce_load(__u64, from));
	roce_store(__u64, (__u8 *)to + 8, roce_load(__u64, (const __u8 *)from + 8));
}

/* Read a big-endian field as a host integer, at any alignment. The caller has checked the bounds. */
roce_inline __u32 roce_be16(const __u8 *p)
{
	return __builtin_bswap16(roce_load(__u16, p));
}

roce_inline __u32 roce_be24(const __u8 *p)
{
	return (__u32)p[0] << 16 | roce_be16(p + 1);
}

roce_inline __u32 roce_be32(const __u8 *p)
{
	return __builtin_bswap32(roce_load(__u32, p));
}

roce_inline __u64 roce_be64(const __u8 *p)
{
	return __builtin_bswap64(roce_load(__u64, p));
}

/*
 * Signed distance from `from` to `to`, numbers of `bits` bits (1 to 64) that go round: -2^(bits - 1) .. 2^(bits - 1) - 1, positive
 * if `to` comes after `from`. Higher bits are ignored.
 */
roce_inline __s64 roce_distance(__u64 from, __u64 to, __u32 bits)
{
	return (__s64)((to - from) << (64 - bits)) >> (64 - bits);
}

#define PSN_MASK 0xffffffu

/* roce_distance() of two PSNs: 24 bits. In 32-bit arithmetic: the verifier knows less of its values, and walks fewer paths. */
roce_inline __s32 psn_distance(__u32 from, __u32 to)
{
	return (__s32)((to - from) << 8) >> 8;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "roce_be* and the ICRC assume a little-endian host");

/* Sets all bits below the highest one of x. */
roce_inline __u64 roce_bits_below(__u64 x)
{
	x |= x >> 1;
	x |= x >> 2;
	x |= x >> 4;
	x |= x >> 8;
	x |= x >> 16;
	return x | x >> 32;
}

#endif
