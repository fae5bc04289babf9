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
    u32 task;       // what it runs: the number that the entry has for the host
    u32 block;
    u32 text_len;
    char text[240];
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
