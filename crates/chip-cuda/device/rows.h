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
struct alignas(16) rl_eight { u32 pairs[4]; };
RL_DEVICE void rl_stream(rl_eight *to, const rl_bf16 *from, u32 there) {
    *to = rl_eight{};
    memcpy(to, from, there * sizeof *from);
}
RL_DEVICE void rl_stream_end() {}
template <int N> RL_DEVICE void rl_streamed() {}
RL_DEVICE void rl_prefetch(const void *, u64) {}
#else
enum { RL_LANES = 32 };
RL_DEVICE float rl_lanes_sum(float x) {
    for (u32 d = 16; d; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}
RL_DEVICE float rl_float(u32 bits) { return __uint_as_float(bits); }
struct alignas(16) rl_eight { u32 pairs[4]; };
// Asks for eight weights in memory of the block, the first `there` of them and zeros; rl_stream_end ends a group of these, and
// rl_streamed waits for all but the last N groups of the thread.
RL_DEVICE void rl_stream(rl_eight *to, const rl_bf16 *from, u32 there) {
    asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(there * 2) : "memory");
}
RL_DEVICE void rl_stream_end() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> RL_DEVICE void rl_streamed() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
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

// Scratch memory of rl_rows: vectors, sums of some rows, and weights on their way. RL_ROWS_FLOATS numbers.
enum { RL_ROWS_VECTORS = 26 * 1024, RL_ROWS_BATCH = 8, RL_ROWS_SUMS = 1024, RL_ROWS_WIDE = 8 * RL_LANES };
// Pieces of a row that each warp has on their way, and chunks of RL_ROWS_WIDE weights in a piece.
enum { RL_ROWS_AHEAD = 5, RL_ROWS_ROOMS = RL_ROWS_AHEAD + 1, RL_ROWS_CHUNKS = 2 };
enum { RL_ROWS_FLOATS = RL_ROWS_VECTORS + RL_ROWS_SUMS + RL_ROWS_ROOMS * RL_ROWS_CHUNKS * 256 * 4 };

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

// The pieces of the rows of a warp, in order: which row, and where it begins.
struct rl_rows_piece {
    u32 row, from;
    RL_MEMBER void advance(u32 inputs) {
        from += RL_ROWS_CHUNKS * RL_ROWS_WIDE;
        if (from < inputs) return;
        from = 0;
        row += blockDim.x / RL_LANES;
    }
};

// Asks for the weights of one piece. A thread reads only what it asked for itself, so nobody waits for others.
RL_DEVICE void rl_rows_ask(float *room, u32 turn, const rl_rows_piece &piece, rl_rows_at weights, u32 first, u32 rows, u32 inputs) {
    rl_eight *const rooms = (rl_eight *)(room + RL_ROWS_VECTORS + RL_ROWS_SUMS) + threadIdx.x;
    if (piece.row < rows) {
        const u32 from = piece.from + threadIdx.x % RL_LANES * 8;
        const rl_bf16 *const row = weights[first + piece.row];
        RL_UNROLL
        for (u32 c = 0; c < RL_ROWS_CHUNKS; c++) {
            const u32 at = from + c * RL_ROWS_WIDE;
            rl_stream(rooms + (turn * RL_ROWS_CHUNKS + c) * blockDim.x, row + (at < inputs ? at : 0), at < inputs ? 8 : 0);
        }
    }
    rl_stream_end();
}
RL_DEVICE u32 rl_rows_next(u32 turn) { return turn + 1 == RL_ROWS_ROOMS ? 0 : turn + 1; }

// Asks for the first pieces of rows from `first`: before the vectors are known. All kernels share it.
RL_BODY void rl_rows_begin(float *room, rl_rows_at weights, u32 first, u32 rows, u32 inputs) {
    rl_rows_piece piece = {threadIdx.x / RL_LANES, 0};
    RL_ROLL
    for (u32 turn = 0; turn < RL_ROWS_AHEAD; turn++) {
        rl_rows_ask(room, turn, piece, weights, first, rows, inputs);
        piece.advance(inputs);
    }
}

// Sums of rows from `first`, of which the first pieces were asked for: row · B + b for vector b. The loops are short, because a
// block runs this code once: most of the time of unrolled code would go to fetching instructions. All kernels share it.
template <int B> RL_BODY void rl_rows_some(float *room, rl_rows_at weights, u32 first, u32 rows, u32 inputs) {
    const u32 lane = threadIdx.x % RL_LANES, pitch = (inputs + RL_ROWS_WIDE - 1) / RL_ROWS_WIDE * RL_ROWS_WIDE;
    float *const sums = room + RL_ROWS_VECTORS;
    const rl_eight *const rooms = (const rl_eight *)(sums + RL_ROWS_SUMS) + threadIdx.x;
    rl_rows_piece piece = {threadIdx.x / RL_LANES, 0}, ahead = piece;
    for (u32 n = 0; n < RL_ROWS_AHEAD; n++) ahead.advance(inputs);
    float total[B] = {};
    for (u32 turn = 0, later = RL_ROWS_AHEAD; piece.row < rows; turn = rl_rows_next(turn), later = rl_rows_next(later)) {
        rl_rows_ask(room, later, ahead, weights, first, rows, inputs);
        ahead.advance(inputs);
        rl_streamed<RL_ROWS_AHEAD>();
        for (u32 c = 0; c < RL_ROWS_CHUNKS; c++) {
            const u32 from = piece.from + c * RL_ROWS_WIDE;
            if (from >= inputs) break;
            const rl_eight w = rooms[(turn * RL_ROWS_CHUNKS + c) * blockDim.x];
            RL_UNROLL
            for (int b = 0; b < B; b++) {
                const float *x = room + b * pitch + from + lane * 4;
                const rl_four low = *(const rl_four *)x, high = *(const rl_four *)(x + RL_ROWS_WIDE / 2);
                total[b] += rl_low(w.pairs[0]) * low.of[0] + rl_high(w.pairs[0]) * low.of[1] +
                            rl_low(w.pairs[1]) * low.of[2] + rl_high(w.pairs[1]) * low.of[3] +
                            rl_low(w.pairs[2]) * high.of[0] + rl_high(w.pairs[2]) * high.of[1] +
                            rl_low(w.pairs[3]) * high.of[2] + rl_high(w.pairs[3]) * high.of[3];
            }
        }
        const u32 row = piece.row;
        piece.advance(inputs);
        if (piece.row == row) continue;
        RL_UNROLL
        for (int b = 0; b < B; b++) {
            const float sum = rl_lanes_sum(total[b]);
            if (lane == 0) sums[row * B + b] = sum;
            total[b] = 0.0f;
        }
    }
    rl_streamed<0>();
}

// Puts B vectors, of which `there` exist, where rl_rows_some reads them.
template <int B, class X> RL_DEVICE void rl_rows_fill(float *vectors, u32 inputs, u32 there, X input) {
    enum { K = B == 1 ? 4 : 1 };
    const u32 pitch = (inputs + RL_ROWS_WIDE - 1) / RL_ROWS_WIDE * RL_ROWS_WIDE;
    RL_ROLL
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
            const u32 at = k + n * blockDim.x;
            if (at >= pitch) break;
            RL_UNROLL
            for (int b = 0; b < B; b++) vectors[b * pitch + rl_rows_place(at)] = values[n][b];
        }
    }
}

// Computes the sums of weights[row][k]·input(vector, k) for each row and each of `batch` vectors, and calls
// done(row, vector, sum, next), where `next` is the sum of the next row; each thread calls it for some. With `step` 2, only for
// the first row of each pair. `also()` is called before the first call of `done`, by all threads. `inputs` is a multiple of 8,
// and rows begin at multiples of 16 bytes. All threads must call it.
template <class X, class D, class A>
RL_DEVICE void rl_rows(float *room, rl_rows_at weights, u32 rows, u32 inputs, u32 batch, u32 step, X input, D done, A also) {
    const float *const sums = room + RL_ROWS_VECTORS;
    const u32 pitch = (inputs + RL_ROWS_WIDE - 1) / RL_ROWS_WIDE * RL_ROWS_WIDE;
    const bool many = batch > 1 && pitch <= RL_ROWS_VECTORS / RL_ROWS_BATCH;
    const u32 wide = many ? RL_ROWS_BATCH : 1, most = RL_ROWS_SUMS / wide;
    for (u32 top = 0; top < batch; top += wide) {
        const u32 there = (u32)rl_min(batch - top, wide);
        const auto from = [&](u32 b, u32 k) { return input(top + b, k); };
        for (u32 first = 0; first < rows; first += most) {
            const u32 some = (u32)rl_min(rows - first, most);
            rl_rows_begin(room, weights, first, some, inputs);
            rl_sync();
            rl_mark(2);
            if (first == 0) {
                if (many) rl_rows_fill<RL_ROWS_BATCH>(room, inputs, there, from);
                else rl_rows_fill<1>(room, inputs, there, from);
                if (top == 0) also();
            }
            rl_sync();
            rl_mark(3);
            if (many) rl_rows_some<RL_ROWS_BATCH>(room, weights, first, some, inputs);
            else rl_rows_some<1>(room, weights, first, some, inputs);
            rl_sync();
            rl_mark(4);
            RL_ROLL
            rl_each(e, some / step * there) {
                const u32 row = (u32)e / there * step, b = (u32)e % there;
                done(first + row, top + b, sums[row * wide + b], sums[(row + step - 1) * wide + b]);
            }
        }
    }
    rl_sync();
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
