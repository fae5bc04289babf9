// What a kernel body can use besides its parameters. All threads of the block run the body.
#pragma once
#include "tensors.h"

// Numbers of 16 bits: storage only, computed with as floats.
struct rl_bf16 {
    uint16_t bits;
    RL_MEMBER operator float() const {
        const u32 wide = (u32)bits << 16;
        float value;
        memcpy(&value, &wide, 4);
        return value;
    }
    RL_MEMBER rl_bf16 &operator=(float value) {
        u32 wide;
        memcpy(&wide, &value, 4);
        // To the nearest, ties to even; a NaN stays one.
        bits = value != value ? 0x7fc0 : (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
        return *this;
    }
};
struct rl_bits8 { uint8_t bits; };
struct rl_bits16 { uint16_t bits; };

// Where a block says what it does: memory of the host.
struct rl_board {
    u32 failed;     // 1 if a body called rl_fail, 2 if an index was out of bounds
    u32 task;       // what it runs, or ran last: the numbers that the entry has for the host
    u32 index;
    u32 text_len;
    u32 epoch;      // of the launch to which task and index belong
    char text[236];
};

#ifdef RL_HOST
#define RL_SCRATCH_BYTES (160 * 1024)
[[maybe_unused]] static thread_local char rl_scratch_memory[RL_SCRATCH_BYTES] __attribute__((aligned(16)));
static thread_local rl_board *rl_own_board;
static thread_local u32 rl_failed;
RL_DEVICE bool rl_first_to_fail() { return rl_failed++ == 0; }
RL_DEVICE float rl_sum(float x) { return x; }
RL_DEVICE float rl_max(float x) { return x; }
#else
#define RL_SCRATCH_BYTES (160 * 1024)
extern __shared__ char rl_scratch_memory[];
static __shared__ rl_board *rl_own_board;
static __shared__ u32 rl_failed;
static __shared__ float rl_lanes[32];
RL_DEVICE bool rl_first_to_fail() { return atomicAdd(&rl_failed, 1u) == 0; }
template <class F> RL_DEVICE float rl_reduce(float x, F f) {
    const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
    for (u32 d = 16; d; d >>= 1) x = f(x, __shfl_xor_sync(0xffffffffu, x, d));
    __syncthreads();
    if (lane == 0) rl_lanes[warp] = x;
    __syncthreads();
    x = rl_lanes[0];
    for (u32 w = 1; w < warps; w++) x = f(x, rl_lanes[w]);
    return x;
}
struct rl_add_op { RL_MEMBER float operator()(float a, float b) const { return a + b; } };
struct rl_max_op { RL_MEMBER float operator()(float a, float b) const { return fmaxf(a, b); } };
// The sum, or the largest, over all threads of the block; every thread must call it, and every thread gets it.
RL_DEVICE float rl_sum(float x) { return rl_reduce(x, rl_add_op()); }
RL_DEVICE float rl_max(float x) { return rl_reduce(x, rl_max_op()); }
#endif

RL_DEVICE void rl_fail_as(u32 how, const char *text, u32 bytes) {
    if (!rl_first_to_fail()) return;
    bytes = bytes < sizeof rl_own_board->text ? bytes : (u32)sizeof rl_own_board->text;
    for (u32 i = 0; i < bytes; i++) ((volatile char *)rl_own_board->text)[i] = text[i];
    *(volatile u32 *)&rl_own_board->text_len = bytes;
    *(volatile u32 *)&rl_own_board->failed = how;
}
// Fails the task with a text; the body goes on and should return.
#define rl_fail(text) rl_fail_as(1, "" text, sizeof(text) - 1)

// rl_mark(n) in a body: with RL_MARK defined as n, the cycles of a block are those up to here. Number 1 is where a body begins.
#ifdef RL_MARK
RL_SHARED u64 rl_marked;
#define rl_mark(n) do { if ((n) == RL_MARK) rl_one rl_marked = rl_cycles(); } while (0)
RL_DEVICE void rl_mark_begin() { rl_one rl_marked = 0; }
RL_DEVICE u64 rl_cycles_at_end() { return rl_marked ? rl_marked : rl_cycles(); }
#else
#define rl_mark(n) ((void)0)
RL_DEVICE void rl_mark_begin() {}
RL_DEVICE u64 rl_cycles_at_end() { return rl_cycles(); }
#endif

RL_DEVICE u64 rl_checked(u64 i, u64 n) {
    if (i < n) return i;
    rl_fail_as(2, "an index is out of bounds", 25);
    return 0;
}

// Memory that the threads of the block share: `rl_scratch(float, row, 128);` All scratch of a body is one piece; if it is
// larger than RL_SCRATCH_BYTES the task fails and the body returns.
#define rl_scratch(T, name, n)                                                        \
    if ((u64)(n) * sizeof(T) > RL_SCRATCH_BYTES) { rl_fail("the kernel needs more scratch memory than a block has"); return; } \
    T *const name = (T *)rl_scratch_memory

// What follows helps bodies to be short and fast. The threads of the block share each of these calls, so all of them must
// make it.

RL_DEVICE u64 rl_min(u64 a, u64 b) { return a < b ? a : b; }
RL_DEVICE u64 rl_min(u64 a, u64 b, u64 c) { return rl_min(a, rl_min(b, c)); }

// to[i] = f(i) for all i below n. Each thread computes several values before it stores them, so that their loads overlap:
// f(i) may read to[i], but no other element that this call writes.
template <class T, class F> RL_DEVICE void rl_map(T *to, u64 n, F f) {
    enum { AT_ONCE = 8 };
    const u64 step = blockDim.x;
    u64 i = threadIdx.x;
    for (; i + (AT_ONCE - 1) * step < n; i += AT_ONCE * step) {
        T values[AT_ONCE];
        RL_UNROLL
        for (u32 k = 0; k < AT_ONCE; k++) values[k] = f(i + k * step);
        RL_UNROLL
        for (u32 k = 0; k < AT_ONCE; k++) to[i + k * step] = values[k];
    }
    for (; i < n; i += step) to[i] = f(i);
}

// Stores the numbers below n that f accepts in `list`, in order, and gives their count. `list` is scratch memory for n
// numbers and, behind them, RL_SELECT_WORDS others.
enum { RL_SELECT_WORDS = 1024 };
template <class F> RL_DEVICE u32 rl_select(u32 *list, u32 n, F f) {
    u32 *const counts = list + n;
    const u32 each = (n + blockDim.x - 1) / blockDim.x;
    const u32 start = (u32)rl_min(threadIdx.x * each, n), end = (u32)rl_min(start + each, n);
    u32 own = 0;
    for (u32 i = start; i < end; i++) own += f(i) ? 1 : 0;
    counts[threadIdx.x] = own;
    rl_sync();
    u32 at = 0, all = 0;
    for (u32 t = 0; t < blockDim.x; t++) {
        if (t == threadIdx.x) at = all;
        all += counts[t];
    }
    for (u32 i = start; i < end; i++) if (f(i)) list[at++] = i;
    rl_sync();
    return all;
}

// A matrix product in pieces of RL_DEPTH terms: calls add(i, j, sum, from) with the sum of a(i, k)·b(k, j) over each piece of
// the terms, from term `from`, for all i below `rows` and j below `cols`. The pieces come in order; one thread makes all calls
// for an element. `room` is scratch memory for RL_PRODUCT_FLOATS numbers.
enum { RL_DEPTH = 64, RL_SIDE = 68, RL_PRODUCT_FLOATS = 2 * RL_DEPTH * RL_SIDE };
struct alignas(16) rl_four { float of[4]; };
template <int N> RL_DEVICE void rl_copy_row(float *to, const float *from) {
    if (N == 4) *(rl_four *)to = *(const rl_four *)from;
    else for (int n = 0; n < N; n++) to[n] = from[n];
}

// The same with I×J elements for each of 256 threads.
template <int I, int J, class A, class B, class Add>
RL_DEVICE void rl_product_of(float *room, u32 rows, u32 cols, u32 depth, A a, B b, Add add) {
    float *const left = room, *const right = room + RL_DEPTH * RL_SIDE;
    for (u32 top = 0; top < rows; top += 16 * I)
    for (u32 side = 0; side < cols; side += 16 * J)
    for (u32 from = 0; from == 0 || from < depth; from += RL_DEPTH) {
        const u32 terms = (u32)rl_min(RL_DEPTH, depth - from);
        rl_sync();
        rl_each(e, 16 * I * RL_DEPTH) {
            const u32 k = (u32)e % RL_DEPTH, i = (u32)e / RL_DEPTH;
            if (k < terms) left[k * RL_SIDE + i] = top + i < rows ? a(top + i, from + k) : 0.0f;
        }
        rl_each(e, 16 * J * terms) {
            const u32 j = (u32)e % (16 * J), k = (u32)e / (16 * J);
            right[k * RL_SIDE + j] = side + j < cols ? b(from + k, side + j) : 0.0f;
        }
        rl_sync();
        rl_each(t, 256) {
            const u32 i0 = (u32)t / 16 * I, j0 = (u32)t % 16 * J;
            if (top + i0 >= rows || side + j0 >= cols) continue;
            float sums[I][J] = {};
            for (u32 k = 0; k < terms; k++) {
                alignas(16) float x[I], y[J];
                rl_copy_row<I>(x, left + k * RL_SIDE + i0);
                rl_copy_row<J>(y, right + k * RL_SIDE + j0);
                RL_UNROLL
                for (int i = 0; i < I; i++) {
                    RL_UNROLL
                    for (int j = 0; j < J; j++) sums[i][j] += x[i] * y[j];
                }
            }
            RL_UNROLL
            for (int i = 0; i < I; i++) {
                RL_UNROLL
                for (int j = 0; j < J; j++) {
                    if (top + i0 + i < rows && side + j0 + j < cols) add(top + i0 + i, side + j0 + j, sums[i][j], from);
                }
            }
        }
    }
    rl_sync();
}
template <class A, class B, class Add>
RL_DEVICE void rl_product(float *room, u32 rows, u32 cols, u32 depth, A a, B b, Add add) {
    if (rows <= 16) rl_product_of<1, 4>(room, rows, cols, depth, a, b, add);
    else if (rows <= 32 && cols <= 32) rl_product_of<2, 2>(room, rows, cols, depth, a, b, add);
    else rl_product_of<4, 4>(room, rows, cols, depth, a, b, add);
}
