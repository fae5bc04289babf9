// What the device runtime needs of its machine: memory operations by name, the threads of a block, time.
//
// Compiled by NVRTC for a GPU, and by a C++ compiler for this machine's own threads (RL_HOST), where a block is one thread.
// A word that several blocks use is read and written through these operations only. A plain load could be served from a
// stale cache line: the kernel that runs all tasks never ends, so nothing invalidates those for it.
#pragma once
#ifdef RL_HOST
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <sched.h>
typedef uint32_t u32;
typedef uint64_t u64;
#define RL_DEVICE static inline
#define RL_BODY static __attribute__((noinline))
#define RL_SHARED static thread_local
#define RL_MEMBER inline
struct rl_dim3 { u32 x; };
static thread_local rl_dim3 threadIdx = {0}, blockIdx = {0};
static const rl_dim3 blockDim = {1};
using std::exp; using std::fabs; using std::fmax; using std::fmin; using std::sqrt; using std::log;
RL_DEVICE void rl_sync() {}
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RL_THREAD_SANITIZER
#endif
#endif
#ifdef RL_THREAD_SANITIZER
// ThreadSanitizer does not know fences. Here, the operations next to a fence do what it does: the first store after a release
// fence releases, and an acquire fence loads again what was loaded before it, and acquires. Without a fence, they order nothing.
enum { RL_LOADED_MAX = 128 };
static thread_local const u32 *rl_loaded[RL_LOADED_MAX];
static thread_local u32 rl_loaded_count;
static thread_local bool rl_releases;
RL_DEVICE void rl_fence(int order) {
    if (order == __ATOMIC_RELEASE) {
        rl_releases = true;
        return;
    }
    for (u32 i = 0; i < rl_loaded_count; i++) (void)__atomic_load_n(rl_loaded[i], __ATOMIC_ACQUIRE);
    rl_loaded_count = 0;
}
#define __atomic_thread_fence rl_fence
RL_DEVICE void rl_note_loaded(const u32 *p) {
    for (u32 i = 0; i < rl_loaded_count; i++) if (rl_loaded[i] == p) return;
    if (rl_loaded_count < RL_LOADED_MAX) rl_loaded[rl_loaded_count++] = p;
}
RL_DEVICE bool rl_take_release() {
    const bool releases = rl_releases;
    rl_releases = false;
    return releases;
}
RL_DEVICE u32 rl_load(const u32 *p) {
    rl_note_loaded(p);
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}
RL_DEVICE void rl_store(u32 *p, u32 v) {
    if (rl_take_release()) __atomic_store_n(p, v, __ATOMIC_RELEASE);
    else __atomic_store_n(p, v, __ATOMIC_RELAXED);
}
RL_DEVICE u32 rl_add(u32 *p, u32 d) {
    rl_note_loaded(p);
    if (rl_take_release()) return __atomic_fetch_add(p, d, __ATOMIC_RELEASE);
    return __atomic_fetch_add(p, d, __ATOMIC_RELAXED);
}
#else
RL_DEVICE u32 rl_load(const u32 *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
RL_DEVICE void rl_store(u32 *p, u32 v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
RL_DEVICE u32 rl_add(u32 *p, u32 d) { return __atomic_fetch_add(p, d, __ATOMIC_RELAXED); }
#endif
RL_DEVICE u64 rl_load(const u64 *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
RL_DEVICE void rl_store_host(u32 *p, u32 v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
RL_DEVICE void rl_release() { __atomic_thread_fence(__ATOMIC_RELEASE); }
RL_DEVICE void rl_acquire() { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
// More blocks than cores may wait: let the others run.
RL_DEVICE void rl_pause() { sched_yield(); }
RL_DEVICE u64 rl_nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}
RL_DEVICE u64 rl_cycles() { return rl_nanoseconds(); }
RL_DEVICE u32 rl_processor() { return blockIdx.x; }
template <class T> RL_DEVICE void rl_fetch(T *to, const T *from, bool there) { if (there) *to = *from; }
RL_DEVICE void rl_fetched() {}
RL_DEVICE bool rl_board_is_due() { return true; }
RL_DEVICE void rl_board_begin() {}
template <class T, int N> struct rl_rooms { T of[N]; };
#else
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
#define RL_DEVICE static __device__ __forceinline__
#define RL_BODY static __device__ __noinline__
#define RL_SHARED __shared__
#define RL_MEMBER __device__ __forceinline__
RL_DEVICE void rl_sync() { __syncthreads(); }
RL_DEVICE u32 rl_load(const u32 *p) {
    u32 v;
    asm volatile("ld.relaxed.gpu.global.u32 %0,[%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
RL_DEVICE u64 rl_load(const u64 *p) {
    u64 v;
    asm volatile("ld.relaxed.gpu.global.u64 %0,[%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
RL_DEVICE void rl_store(u32 *p, u32 v) { asm volatile("st.relaxed.gpu.global.u32 [%0],%1;" ::"l"(p), "r"(v) : "memory"); }
RL_DEVICE void rl_store_host(u32 *p, u32 v) { asm volatile("st.relaxed.sys.global.u32 [%0],%1;" ::"l"(p), "r"(v) : "memory"); }
RL_DEVICE u32 rl_add(u32 *p, u32 d) {
    u32 v;
    asm volatile("atom.add.relaxed.gpu.global.u32 %0,[%1],%2;" : "=r"(v) : "l"(p), "r"(d) : "memory");
    return v;
}
RL_DEVICE void rl_release() { asm volatile("fence.release.gpu;" ::: "memory"); }
RL_DEVICE void rl_acquire() { asm volatile("fence.acquire.gpu;" ::: "memory"); }
RL_DEVICE void rl_pause() {}
RL_DEVICE u64 rl_nanoseconds() {
    u64 v;
    asm volatile("mov.u64 %0,%globaltimer;" : "=l"(v));
    return v;
}
RL_DEVICE u64 rl_cycles() { return (u64)clock64(); }
RL_DEVICE u32 rl_processor() {
    u32 v;
    asm("mov.u32 %0,%smid;" : "=r"(v));
    return v;
}
// Asks for a value in memory of the block: 16 bytes for each of the first threads. Calls are counted, also those where nothing
// is there; rl_fetched waits until all but the last RL_FETCHES - 1 of them are complete.
enum { RL_FETCHES = 6 };
template <class T> RL_DEVICE void rl_fetch(T *to, const T *from, bool there) {
    if (there && threadIdx.x < sizeof(T) / 16) {
        const u32 at = (u32)__cvta_generic_to_shared((char *)to + 16 * threadIdx.x);
        const char *source = (const char *)from + 16 * threadIdx.x;
        asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(at), "l"(source) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}
RL_DEVICE void rl_fetched() { asm volatile("cp.async.wait_group %0;" ::"n"(RL_FETCHES - 1) : "memory"); }
// Whether the host is to know what the block runs, should the device stop. Writing to the host's memory takes as long as a
// short task, and delays what follows: not more often than every 4,000 cycles.
static __shared__ u64 rl_board_written;
RL_DEVICE bool rl_board_is_due() {
    const u64 now = rl_cycles();
    if (now - rl_board_written < 4000) return false;
    rl_board_written = now;
    return true;
}
RL_DEVICE void rl_board_begin() { rl_board_written = 0; }
template <class T, int N> struct alignas(16) rl_rooms { T of[N]; };
#endif
// RL_UNROLL: before a loop with a constant number of rounds.
#ifdef RL_HOST
#define RL_INFINITY __builtin_huge_valf()
#define RL_UNROLL _Pragma("GCC unroll 8")
#else
#define RL_INFINITY __int_as_float(0x7f800000)
#define RL_UNROLL _Pragma("unroll")
#endif
// RL_ROLL: before a loop that the compiler is not to unroll. A block runs the code of its task once, so code that it does not
// have in its instruction cache costs more than the counting of a loop.
#ifdef RL_HOST
#define RL_ROLL
#else
#define RL_ROLL _Pragma("unroll 1")
#endif
// A loop whose rounds are shared among the threads of the block.
#define rl_each(i, n) for (u64 i = threadIdx.x, rl_end_##i = (n); i < rl_end_##i; i += blockDim.x)
// One thread of the block, and another one (where a block is one thread, the same).
#define rl_one if (threadIdx.x == 0)
#define rl_another if (threadIdx.x + 1 == blockDim.x)
