// Products of rows of bf16 weights with a few vectors: what a projection of one token for each sequence computes. It reads
// each weight once, so all that counts is that enough loads are in flight.
#pragma once
#include "body.h"

// A warp shares a row; on a thread of this machine, a warp is one thread.
#ifdef RL_HOST
enum { RL_LANES = 1 };
RL_DEVICE float rl_lanes_sum(float x) { return x; }
RL_DEVICE float rl_float(u32 bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
struct rl_eight { u32 pairs[4]; };
RL_DEVICE rl_eight rl_stream(const rl_bf16 *from) {
    rl_eight eight;
    memcpy(&eight, from, sizeof eight);
    return eight;
}
RL_DEVICE void rl_prefetch(const void *, u64) {}
#else
enum { RL_LANES = 32 };
RL_DEVICE float rl_lanes_sum(float x) {
    for (u32 d = 16; d; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}
RL_DEVICE float rl_float(u32 bits) { return __uint_as_float(bits); }
struct rl_eight { u32 pairs[4]; };
// Loads what is read once.
RL_DEVICE rl_eight rl_stream(const rl_bf16 *from) {
    rl_eight eight;
    asm("ld.global.L1::no_allocate.v4.u32 {%0,%1,%2,%3},[%4];"
        : "=r"(eight.pairs[0]), "=r"(eight.pairs[1]), "=r"(eight.pairs[2]), "=r"(eight.pairs[3]) : "l"(from));
    return eight;
}
// Begins to bring memory into the cache that all processors share; the first 128 KiB of it. The thread does not wait.
RL_DEVICE void rl_prefetch(const void *from, u64 bytes) {
    const u64 most = 128 * 1024;
    bytes = (bytes < most ? bytes : most) & ~(u64)15;
    if (bytes == 0 || ((u64)from & 15)) return;
#if __CUDA_ARCH__ >= 900
    rl_another asm volatile("cp.async.bulk.prefetch.L2.global [%0],%1;" ::"l"(from), "r"((u32)bytes) : "memory");
#else
    rl_each(line, bytes / 128) asm volatile("prefetch.global.L2 [%0];" ::"l"((const char *)from + 128 * line));
#endif
}
#endif
// Both numbers of a pair.
RL_DEVICE float rl_low(u32 pair) { return rl_float(pair << 16); }
RL_DEVICE float rl_high(u32 pair) { return rl_float(pair & 0xffff0000u); }

// Scratch memory of rl_rows: vectors, and sums of some rows. RL_ROWS_FLOATS numbers.
enum { RL_ROWS_VECTORS = 32 * 1024, RL_ROWS_BATCH = 8, RL_ROWS_SOME = 512, RL_ROWS_WIDE = 8 * RL_LANES };
enum { RL_ROWS_FLOATS = RL_ROWS_VECTORS + RL_ROWS_SOME * RL_ROWS_BATCH };

// Rows of weights, in pairs: row r begins at of + r / 2 · pair + r % 2 · odd.
struct rl_rows_at {
    const rl_bf16 *of;
    u64 pair, odd;
    RL_MEMBER const rl_bf16 *operator[](u32 row) const { return of + row / 2 * pair + row % 2 * odd; }
};
// Rows that are `stride` elements apart.
RL_DEVICE rl_rows_at rl_rows_of(const rl_bf16 *of, u64 stride) { return rl_rows_at{of, 2 * stride, stride}; }

// Where element k of a vector is, so that the lanes of a warp, each of which has eight elements after another, read four at a
// time without conflict.
RL_DEVICE u32 rl_rows_place(u32 k) {
    const u32 in = k % RL_ROWS_WIDE, lane = in / 8, j = in % 8;
    return k - in + j / 4 * (RL_ROWS_WIDE / 2) + lane * 4 + j % 4;
}

// sums[row · B + b] for rows from `first`: products with B vectors. Each warp has R rows at a time; 8 loads of each thread are
// on their way while it computes with the 8 before them. A function of its own: all kernels share it.
template <int R, int B>
RL_BODY void rl_rows_some(const float *vectors, float *sums, rl_rows_at weights, u32 first, u32 rows, u32 inputs) {
    enum { U = 8 / R };
    const u32 warps = blockDim.x / RL_LANES, warp = threadIdx.x / RL_LANES, lane = threadIdx.x % RL_LANES;
    const u32 chunks = (inputs + RL_ROWS_WIDE - 1) / RL_ROWS_WIDE, pitch = chunks * RL_ROWS_WIDE;
    for (u32 top = warp * R; top < rows; top += warps * R) {
        const rl_bf16 *at[R];
        RL_UNROLL
        for (int r = 0; r < R; r++) at[r] = weights[first + (u32)rl_min(top + r, rows - 1)] + lane * 8;
        rl_eight next[U][R], now[U][R];
        float total[R][B] = {};
        // The round before the first one only loads.
        for (u32 chunk = 0; chunk < chunks + U; chunk += U) {
            RL_UNROLL
            for (int u = 0; u < U; u++) {
                const u32 from = (chunk + u) * RL_ROWS_WIDE;
                RL_UNROLL
                for (int r = 0; r < R; r++) {
                    now[u][r] = next[u][r];
                    next[u][r] = rl_eight{{0, 0, 0, 0}};
                    if (from + lane * 8 < inputs) next[u][r] = rl_stream(at[r] + from);
                }
            }
            if (chunk == 0) continue;
            RL_UNROLL
            for (int u = 0; u < U; u++) {
                const u32 own = chunk - U + u;
                if (own >= chunks) continue;
                RL_UNROLL
                for (int b = 0; b < B; b++) {
                    const float *x = vectors + b * pitch + own * RL_ROWS_WIDE + lane * 4;
                    const rl_four low = *(const rl_four *)x, high = *(const rl_four *)(x + RL_ROWS_WIDE / 2);
                    RL_UNROLL
                    for (int r = 0; r < R; r++) {
                        const rl_eight &w = now[u][r];
                        total[r][b] += rl_low(w.pairs[0]) * low.of[0] + rl_high(w.pairs[0]) * low.of[1] +
                                       rl_low(w.pairs[1]) * low.of[2] + rl_high(w.pairs[1]) * low.of[3] +
                                       rl_low(w.pairs[2]) * high.of[0] + rl_high(w.pairs[2]) * high.of[1] +
                                       rl_low(w.pairs[3]) * high.of[2] + rl_high(w.pairs[3]) * high.of[3];
                    }
                }
            }
        }
        RL_UNROLL
        for (int r = 0; r < R; r++) {
            RL_UNROLL
            for (int b = 0; b < B; b++) {
                const float sum = rl_lanes_sum(total[r][b]);
                if (lane == 0 && top + r < rows) sums[(top + r) * B + b] = sum;
            }
        }
    }
}

// As few rows for a warp as possible, then as many at a time as possible.
template <int B>
RL_DEVICE void rl_rows_some(const float *vectors, float *sums, rl_rows_at weights, u32 first, u32 rows, u32 inputs) {
    const u32 warps = blockDim.x / RL_LANES, by_one = (rows + warps - 1) / warps;
    const u32 by_two = (rows + 2 * warps - 1) / (2 * warps) * 2, by_four = (rows + 4 * warps - 1) / (4 * warps) * 4;
    if (by_four <= by_two && by_four <= by_one) rl_rows_some<4, B>(vectors, sums, weights, first, rows, inputs);
    else if (by_two <= by_one) rl_rows_some<2, B>(vectors, sums, weights, first, rows, inputs);
    else rl_rows_some<1, B>(vectors, sums, weights, first, rows, inputs);
}

// Puts B vectors, of which `there` exist, where rl_rows_some reads them.
template <int B, class X> RL_DEVICE void rl_rows_fill(float *vectors, u32 inputs, u32 there, X input) {
    enum { K = 8 / B };
    const u32 pitch = (inputs + RL_ROWS_WIDE - 1) / RL_ROWS_WIDE * RL_ROWS_WIDE;
    for (u32 k = threadIdx.x; k < pitch; k += K * blockDim.x) {
        float values[K][B];
        RL_UNROLL
        for (int n = 0; n < K; n++) {
            RL_UNROLL
            for (int b = 0; b < B; b++) {
                const u32 at = k + n * blockDim.x;
                values[n][b] = at < inputs && (u32)b < there ? input(b, at) : 0.0f;
            }
        }
        RL_UNROLL
        for (int n = 0; n < K; n++) {
            RL_UNROLL
            for (int b = 0; b < B; b++) {
                const u32 at = k + n * blockDim.x;
                if (at < pitch) vectors[b * pitch + rl_rows_place(at)] = values[n][b];
            }
        }
    }
}

// Computes the sums of weights[row][k]·input(vector, k) for each row and each of `batch` vectors, and calls
// done(row, vector, sum, next), where `next` is the sum of the next row; each thread calls it for some. With `step` 2, only for
// the first row of each pair. `also()` is called before the first call of `done`, by all threads. `inputs` is a multiple of 8,
// and rows begin at multiples of 16 bytes. All threads must call it.
template <class X, class D, class A>
RL_DEVICE void rl_rows(float *room, rl_rows_at weights, u32 rows, u32 inputs, u32 batch, u32 step, X input, D done, A also) {
    float *const sums = room + RL_ROWS_VECTORS;
    const u32 pitch = (inputs + RL_ROWS_WIDE - 1) / RL_ROWS_WIDE * RL_ROWS_WIDE;
    const bool many = batch > 1 && pitch <= RL_ROWS_VECTORS / RL_ROWS_BATCH;
    const u32 wide = many ? RL_ROWS_BATCH : 1;
    for (u32 top = 0; top < batch; top += wide) {
        const u32 there = (u32)rl_min(batch - top, wide);
        const auto from = [&](u32 b, u32 k) { return input(top + b, k); };
        rl_sync();
        if (many) rl_rows_fill<RL_ROWS_BATCH>(room, inputs, there, from);
        else rl_rows_fill<1>(room, inputs, there, from);
        if (top == 0) also();
        rl_sync();
        for (u32 first = 0; first < rows; first += RL_ROWS_SOME) {
            const u32 some = (u32)rl_min(rows - first, RL_ROWS_SOME);
            if (many) rl_rows_some<RL_ROWS_BATCH>(room, sums, weights, first, some, inputs);
            else rl_rows_some<1>(room, sums, weights, first, some, inputs);
            rl_sync();
            rl_each(e, some / step * there) {
                const u32 row = (u32)e / there * step, b = (u32)e % there;
                done(first + row, top + b, sums[row * wide + b], sums[(row + step - 1) * wide + b]);
            }
            rl_sync();
        }
    }
}

// The factors of RMSNorm, 1 / √(mean square + ε), of `count` vectors, each by one warp, in scratch memory.
template <class X> RL_DEVICE void rl_rms(float *factors, u32 count, u32 inputs, X input) {
    const u32 warps = blockDim.x / RL_LANES, warp = threadIdx.x / RL_LANES, lane = threadIdx.x % RL_LANES;
    for (u32 i = warp; i < count; i += warps) {
        float sum = 0.0f;
        RL_UNROLL
        for (u32 k = lane; k < inputs; k += RL_LANES) {
            const float x = input(i, k);
            sum += x * x;
        }
        sum = rl_lanes_sum(sum);
        if (lane == 0) factors[i] = 1.0f / sqrtf(sum / (float)inputs + 1e-6f);
    }
}

// rl_rows of vectors after RMSNorm with a gain. `room` is for RL_ROWS_FLOATS numbers, and one more for each vector.
template <class X, class G, class D>
RL_DEVICE void rl_normed_rows(float *room, rl_rows_at weights, u32 rows, u32 inputs, u32 batch, u32 step, X input, G gain, D done) {
    float *const factors = room + RL_ROWS_FLOATS;
    rl_rows(room, weights, rows, inputs, batch, step,
        [&](u32 b, u32 k) { return input(b, k) * gain(k); },
        [&](u32 row, u32 b, float sum, float next) { done(row, b, sum * factors[b], next * factors[b]); },
        [&] { rl_rms(factors, batch, inputs, input); });
}
