// Attention of a few query heads over pages of keys and values in bf16, with an online softmax.
#pragma once
#include "rows.h"

// Scratch memory: addresses of pages, then heads that were turned, then a partial result for each warp.
enum { RL_PAGES_MAX = 64, RL_PAGES_FLOATS = 2 * RL_PAGES_MAX, RL_ATTEND_WARPS = 8, RL_ATTEND_DIM_MAX = 256 };
RL_DEVICE u64 rl_attend_floats(u32 heads, u32 dim) {
    return RL_PAGES_FLOATS + (u64)heads * dim + RL_ATTEND_WARPS * (dim + 2);
}
RL_DEVICE const rl_bf16 **rl_attend_pages(float *room) { return (const rl_bf16 **)room; }
RL_DEVICE float *rl_attend_heads(float *room) { return room + RL_PAGES_FLOATS; }

// Normalises heads, multiplies them by gains and turns pairs of elements, half a head apart, by angles: `rotary` has their
// cosines, then their sines. One warp for each head.
template <class X, class G> RL_DEVICE void rl_turn(float *to, u32 heads, u32 dim, const float *rotary, X input, G gain) {
    const u32 warps = blockDim.x / RL_LANES, warp = threadIdx.x / RL_LANES, lane = threadIdx.x % RL_LANES, half = dim / 2;
    RL_ROLL
    for (u32 i = warp; i < heads; i += warps) {
        float sum = 0.0f;
        for (u32 k = lane; k < dim; k += RL_LANES) {
            const float x = input(i, k);
            sum += x * x;
        }
        const float factor = 1.0f / sqrtf(rl_lanes_sum(sum) / (float)dim + 1e-6f);
        RL_ROLL
        for (u32 k = lane; k < half; k += RL_LANES) {
            const float low = input(i, k) * factor * gain(i, k), high = input(i, k + half) * factor * gain(i, k + half);
            to[i * dim + k] = low * rotary[k] - high * rotary[k + half];
            to[i * dim + k + half] = high * rotary[k] + low * rotary[k + half];
        }
    }
}

struct alignas(8) rl_quad { u32 pairs[2]; };

// The result of each head after `held` positions: `dim` values, then the maximum of the scores and the sum of
// exp(score - maximum). Heads are in scratch memory. A page has `page` positions; the key of the next one is `to_next` elements
// on, its value `to_value`. All threads must call it. Functions of their own: kernels share them.
template <int PIECES>
RL_BODY void rl_attend_of(float *room, rl_view<float, 2> results, u32 dim, u32 held, u32 page, u32 to_value, u32 to_next) {
    const u32 heads = results.shape(0);
    enum { N = 8 };
    const u32 all = blockDim.x / RL_LANES, warps = all < RL_ATTEND_WARPS ? all : RL_ATTEND_WARPS;
    const u32 warp = threadIdx.x / RL_LANES, lane = threadIdx.x % RL_LANES;
    const u32 at_once = heads < warps ? heads : warps, stripes = warps / at_once, stripe = warp / at_once;
    const float scale = 1.0f / sqrtf((float)dim);
    float *const parts = rl_attend_heads(room) + (u64)heads * dim;
    for (u32 top = 0; top < heads; top += at_once) {
        const u32 head = top + warp % at_once;
        if (stripe < stripes && head < heads) {
            const float *const query = rl_attend_heads(room) + (u64)head * dim;
            float max = -RL_INFINITY, total = 0.0f, sums[PIECES][4] = {};
            // The page of a position, and which one of the page it is: without a division for each.
            u32 of = stripe / page, slot = stripe % page;
            const u32 pages = stripes / page, slots = stripes % page, newest = (held - 1) / page, last = (held - 1) % page;
            for (u32 first = stripe; first < held; first += N * stripes) {
                rl_quad keys[N][PIECES], values[N][PIECES];
                RL_UNROLL
                for (u32 n = 0; n < N; n++) {
                    // Positions after the last one count as nothing.
                    const bool there = first + n * stripes < held;
                    const rl_bf16 *const key = rl_attend_pages(room)[there ? of : newest] + (there ? slot : last) * to_next;
                    slot += slots;
                    of += pages + (slot >= page);
                    slot -= slot >= page ? page : 0;
                    RL_UNROLL
                    for (u32 c = 0; c < PIECES; c++) {
                        const u32 k = (c * RL_LANES + lane) * 4;
                        keys[n][c] = values[n][c] = rl_quad{{0, 0}};
                        if (k < dim) {
                            keys[n][c] = *(const rl_quad *)(key + k);
                            values[n][c] = *(const rl_quad *)(key + to_value + k);
                        }
                    }
                }
                float scores[N], next = max;
                RL_UNROLL
                for (u32 n = 0; n < N; n++) {
                    float score = 0.0f;
                    RL_UNROLL
                    for (u32 c = 0; c < PIECES; c++) {
                        const u32 k = (c * RL_LANES + lane) * 4;
                        if (k < dim) {
                            score += rl_low(keys[n][c].pairs[0]) * query[k] + rl_high(keys[n][c].pairs[0]) * query[k + 1] +
                                     rl_low(keys[n][c].pairs[1]) * query[k + 2] + rl_high(keys[n][c].pairs[1]) * query[k + 3];
                        }
                    }
                    scores[n] = first + n * stripes < held ? rl_lanes_sum(score) * scale : -RL_INFINITY;
                    next = fmaxf(next, scores[n]);
                }
                const float before = expf(max - next);
                max = next;
                total *= before;
                RL_UNROLL
                for (u32 c = 0; c < PIECES; c++) {
                    RL_UNROLL
                    for (u32 j = 0; j < 4; j++) sums[c][j] *= before;
                }
                RL_UNROLL
                for (u32 n = 0; n < N; n++) {
                    const float weight = expf(scores[n] - max);
                    total += weight;
                    RL_UNROLL
                    for (u32 c = 0; c < PIECES; c++) {
                        sums[c][0] += weight * rl_low(values[n][c].pairs[0]);
                        sums[c][1] += weight * rl_high(values[n][c].pairs[0]);
                        sums[c][2] += weight * rl_low(values[n][c].pairs[1]);
                        sums[c][3] += weight * rl_high(values[n][c].pairs[1]);
                    }
                }
            }
            float *const part = parts + warp * (dim + 2);
            RL_UNROLL
            for (u32 c = 0; c < PIECES; c++) {
                const u32 k = (c * RL_LANES + lane) * 4;
                for (u32 j = 0; j < 4; j++) if (k < dim) part[k + j] = sums[c][j];
            }
            if (lane == 0) {
                part[dim] = max;
                part[dim + 1] = total;
            }
        }
        rl_sync();
        rl_mark(5);
        RL_ROLL
        for (u32 h = 0; h < at_once && top + h < heads; h++) {
            float max = -RL_INFINITY, total = 0.0f;
            RL_ROLL
            for (u32 s = 0; s < stripes; s++) max = fmaxf(max, parts[(s * at_once + h) * (dim + 2) + dim]);
            RL_ROLL
            for (u32 s = 0; s < stripes; s++) {
                const float *const part = parts + (s * at_once + h) * (dim + 2);
                total += expf(part[dim] - max) * part[dim + 1];
            }
            RL_ROLL
            rl_each(k, dim) {
                float sum = 0.0f;
                RL_ROLL
                for (u32 s = 0; s < stripes; s++) {
                    const float *const part = parts + (s * at_once + h) * (dim + 2);
                    sum += expf(part[dim] - max) * part[k];
                }
                results(top + h, k) = sum / total;
            }
            rl_one {
                results(top + h, dim) = max;
                results(top + h, dim + 1) = total;
            }
        }
        rl_sync();
    }
}
RL_DEVICE void rl_attend(float *room, rl_view<float, 2> results, u32 dim, u32 held, u32 page, u32 to_value, u32 to_next) {
    enum { ALL = RL_ATTEND_DIM_MAX / 4 / RL_LANES };
    if (dim <= ALL / 2 * RL_LANES * 4) rl_attend_of<ALL / 2>(room, results, dim, held, page, to_value, to_next);
    else rl_attend_of<ALL>(room, results, dim, held, page, to_value, to_next);
}
