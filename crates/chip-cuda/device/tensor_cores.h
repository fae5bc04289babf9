// Products of bf16 matrices on tensor cores: C += A·B, with sums in f32.
//
// The block computes C in pieces of 128 × 32·J elements, of which each of eight warps has 64 × 8·J, in fragments of 16 × 8. A
// stage is RL_TERMS terms of all sums of a piece. Scratch memory has RL_STAGES stages: one is used, the others are on their way.
//
//     row r of a stage     8 bf16 │ 8 bf16 │ …      chunk c is at place c ^ r % 8, so that the chunks of one number in eight rows
//                                                   one after another, which ldmatrix reads at once, are in different banks
//
// What a lane has of a fragment, and which rows it addresses: PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16 with floating
// point type" and "Warp-level matrix load instruction: ldmatrix". On threads of this machine, a thread has the registers of all
// lanes of its warp (RL_HELD), and both instructions compute what is written there.
#pragma once
#include "rows.h"

// Lanes of a warp whose registers a thread has.
enum { RL_HELD = 32 / RL_LANES };
enum { RL_PIECE = 128, RL_TERMS = 64, RL_STAGES = 3, RL_LEFT_WIDE = RL_TERMS / 8 };
// Chunks of a stage: of A, and of B where a warp has J fragments beside each other.
enum { RL_LEFT_CHUNKS = RL_PIECE * RL_LEFT_WIDE };
template <int J> struct rl_stage { enum { WIDE = 4 * J, CHUNKS = RL_LEFT_CHUNKS + RL_TERMS * WIDE }; };
enum { RL_TENSOR_CHUNKS = RL_STAGES * rl_stage<8>::CHUNKS };

// A matrix in memory: its first element, lengths, and strides in elements. `whole`: rows of chunks that begin at multiples of 16
// bytes.
struct rl_matrix {
    const rl_bf16 *at;
    u32 rows, cols, down, across;
    bool whole;
};
RL_DEVICE rl_matrix rl_matrix_of(rl_view<const rl_bf16, 2> m, u32 rows, u32 cols) {
    const bool whole = m.stride(1) == 1 && (((u64)m.at | (u64)m.stride(0) * sizeof(rl_bf16)) & 15) == 0;
    return rl_matrix{m.at, rows, cols, m.stride(0), m.stride(1), whole};
}

// What a block computes. It is in memory that the threads share: the sums leave few registers for it.
struct rl_product_of_views {
    rl_matrix a, b;
    rl_view<float, 2> c;
    bool pairs;  // two neighbours of C are at addresses for both at once, if the first has an even number
};

// Where a chunk of a stage is, in rows of `wide` chunks.
RL_DEVICE u32 rl_chunk_at(u32 row, u32 chunk, u32 wide) { return row * wide + (chunk ^ row % 8); }
// The row and the chunk, of 16 rows of two chunks, that a lane addresses for ldmatrix: its four matrices are top left, bottom
// left, top right, bottom right.
RL_DEVICE u32 rl_lane_row(u32 lane) { return lane % 16; }
RL_DEVICE u32 rl_lane_chunk(u32 lane) { return lane / 16; }
// Where a lane's four sums of a fragment are: the first of two neighbours, in the upper and in the lower half.
RL_DEVICE u32 rl_sum_row(u32 lane, u32 half) { return lane / 4 + 8 * half; }
RL_DEVICE u32 rl_sum_col(u32 lane) { return lane % 4 * 2; }

// The registers of a fragment: pairs of elements, or sums. The sums of a warp: four fragments below each other, and up to eight
// beside each other.
typedef u32 rl_pairs[RL_HELD][4];
typedef float rl_four_sums[RL_HELD][4];
typedef rl_four_sums rl_warp_sums[4][8];

#ifdef RL_HOST
// The warps, and the lanes, whose registers this thread has.
#define rl_each_warp(warp, own) for (u32 own = threadIdx.x, warp = own; own < 8; own += blockDim.x, warp = own)
#define rl_each_lane(lane, own) for (u32 own = 0, lane = 0; own < RL_HELD; lane = ++own)
// The sums of all warps: not on the stack, which is small where the threads of a block take turns.
static thread_local rl_warp_sums rl_block_sums[8];
#define rl_own_sums(name) rl_warp_sums (&name)[8] = rl_block_sums

RL_DEVICE u32 rl_thread() { return threadIdx.x; }
// Loads a fragment of 16 × 16, or its transpose: two chunks of 16 rows, of which the first is a multiple of eight.
template <bool TRANSPOSED> RL_DEVICE void rl_load_fragment(rl_pairs &to, u32, const rl_eight *rows, u32 chunk, u32 wide) {
    const rl_eight *at[32];
    u32 banks[4] = {};
    for (u32 lane = 0; lane < 32; lane++) {
        at[lane] = rows + rl_chunk_at(rl_lane_row(lane), chunk + rl_lane_chunk(lane), wide);
        banks[lane / 8] |= 1u << ((u64)at[lane] / 16 & 7);
    }
#ifdef RL_CHECK
    for (u32 m = 0; m < 4; m++) if (banks[m] != 0xff) rl_fail("rows of ldmatrix are in the same bank");
#endif
    for (u32 lane = 0; lane < 32; lane++) {
        for (u32 m = 0; m < 4; m++) {
            // Lanes 8·m to 8·m + 7 address the rows of matrix m. A lane gets two neighbours of a row, or of a column.
            const u32 line = lane / 4, pair = lane % 4;
            const auto element = [&](u32 r, u32 c) { return at[8 * m + r]->pairs[c / 2] >> c % 2 * 16 & 0xffff; };
            to[lane][m] = TRANSPOSED ? element(2 * pair, line) | element(2 * pair + 1, line) << 16
                                     : element(line, 2 * pair) | element(line, 2 * pair + 1) << 16;
        }
    }
}
// Adds a product of 16 × 16 and 16 × 8 elements, of which b is one of two beside each other.
RL_DEVICE void rl_multiply(rl_four_sums &c, const rl_pairs &a, const rl_pairs &b, u32 side) {
    float left[16][16], right[16][8];
    const auto number = [](u32 pair, u32 i) { return i % 2 ? rl_high(pair) : rl_low(pair); };
    for (u32 lane = 0; lane < 32; lane++) {
        const u32 group = lane >> 2, in_group = lane % 4;
        for (u32 i = 0; i < 8; i++) {
            const u32 row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
            const u32 col = in_group * 2 + (i & 1) + (i < 4 ? 0 : 8);
            left[row][col] = number(a[lane][i / 2], i);
        }
        for (u32 i = 0; i < 4; i++) {
            const u32 row = in_group * 2 + (i & 1) + (i < 2 ? 0 : 8);
            right[row][group] = number(b[lane][2 * side + i / 2], i);
        }
    }
    for (u32 lane = 0; lane < 32; lane++) {
        for (u32 i = 0; i < 4; i++) {
            const u32 row = (lane >> 2) + (i < 2 ? 0 : 8), col = lane % 4 * 2 + (i & 1);
            for (u32 k = 0; k < 16; k++) c[lane][i] += left[row][k] * right[k][col];
        }
    }
}
#else
// The number of the thread, as if it were not known before: what was computed from it would be kept, and use registers that
// the sums need.
RL_DEVICE u32 rl_thread() {
    u32 thread;
    asm volatile("mov.u32 %0,%tid.x;" : "=r"(thread));
    return thread;
}
#define rl_each_warp(warp, own) if (const u32 own = 0, warp = rl_thread() / 32; true)
#define rl_each_lane(lane, own) if ([[maybe_unused]] const u32 own = 0, lane = rl_thread() % 32; true)
#define rl_own_sums(name) rl_warp_sums name[1]
template <bool TRANSPOSED> RL_DEVICE void rl_load_fragment(rl_pairs &to, u32 thread, const rl_eight *rows, u32 chunk, u32 wide) {
    const u32 lane = thread % 32;
    const u32 at = (u32)__cvta_generic_to_shared(rows + rl_chunk_at(rl_lane_row(lane), chunk + rl_lane_chunk(lane), wide));
    u32 (&t)[4] = to[0];
    if (TRANSPOSED) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
                     : "=r"(t[0]), "=r"(t[1]), "=r"(t[2]), "=r"(t[3]) : "r"(at) : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                     : "=r"(t[0]), "=r"(t[1]), "=r"(t[2]), "=r"(t[3]) : "r"(at) : "memory");
    }
}
RL_DEVICE void rl_multiply(rl_four_sums &c, const rl_pairs &a, const rl_pairs &b, u32 side) {
    float (&sums)[4] = c[0];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0][0]), "r"(a[0][1]), "r"(a[0][2]), "r"(a[0][3]), "r"(b[0][2 * side]), "r"(b[0][2 * side + 1]));
}
#endif

// Brings a warp's share, 32 of 256 chunks, of ROWS rows of WIDE chunks of a matrix to a stage, with zeros beyond its edges.
template <int ROWS, int WIDE> RL_DEVICE void rl_bring(rl_eight *to, const rl_matrix &m, u32 top, u32 side, u32 warp) {
    enum { STEP = 256 / WIDE };
    static_assert(STEP % 8 == 0, "chunks of one number are at the same place in rows that are STEP rows apart");
    const bool inside = m.whole && top + ROWS <= m.rows && side + 8 * WIDE <= m.cols;
    rl_each_lane(lane, own) {
        const u32 t = 32 * warp + lane, first = t / WIDE, col = side + t % WIDE * 8;
        rl_eight *const place = to + rl_chunk_at(first, t % WIDE, WIDE);
        const rl_bf16 *from = m.at + (u64)(top + first) * m.down + (u64)col * m.across;
        const u64 step = (u64)STEP * m.down;
        if (inside) {
            RL_UNROLL
            for (u32 n = 0; n < ROWS / STEP; n++, from += step) rl_stream(place + n * 256, from, 8);
        } else {
            RL_ROLL
            for (u32 n = 0; n < ROWS / STEP; n++, from += step) {
                const u32 there = top + first + n * STEP < m.rows && col < m.cols ? (u32)rl_min(8, m.cols - col) : 0;
                if (m.whole) {
                    rl_stream(place + n * 256, from, there);
                    continue;
                }
                RL_ROLL
                for (u32 e = 0; e < 8; e++) ((uint16_t *)(place + n * 256))[e] = e < there ? from[(u64)e * m.across].bits : 0;
            }
        }
    }
}

// Adds the products of a stage to the sums of a warp, if C has elements there, in steps of 16 terms and 16 rows. The fragments of
// a step are loaded during the step before it, and what `meanwhile` does takes place while the first ones are loaded.
template <int J, class F> RL_DEVICE void rl_use_stage(rl_warp_sums &sums, const rl_eight *stage, u32 warp, bool inside, F meanwhile) {
    enum { WIDE = rl_stage<J>::WIDE };
    rl_pairs a[2], b[2][J / 2];
    const u32 thread = rl_thread();
    const auto load_a = [&](u32 step) {
        rl_load_fragment<false>(a[step % 2], thread, stage + (warp / 4 * 64 + step % 4 * 16) * RL_LEFT_WIDE, step / 4 * 2, RL_LEFT_WIDE);
    };
    const auto load_b = [&](u32 part) {
        RL_UNROLL
        for (u32 j = 0; j < J / 2; j++) {
            rl_load_fragment<true>(b[part % 2][j], thread, stage + RL_LEFT_CHUNKS + part * 16 * WIDE, warp % 4 * J + j * 2, WIDE);
        }
    };
    if (inside) {
        load_b(0);
        load_a(0);
    }
    meanwhile();
    if (!inside) return;
    RL_UNROLL
    for (u32 part = 0; part < RL_TERMS / 16; part++) {
        RL_UNROLL
        for (u32 i = 0; i < 4; i++) {
            const u32 step = part * 4 + i;
            if (i == 0 && part + 1 < RL_TERMS / 16) load_b(part + 1);
            if (step + 1 < RL_TERMS / 4) load_a(step + 1);
            RL_UNROLL
            for (u32 j = 0; j < J; j++) rl_multiply(sums[i][j], a[step % 2], b[part % 2][j / 2], j % 2);
        }
    }
}

// Calls f(row, column, sums) for each two sums of a warp that are neighbours in C, with their place in the piece.
template <int J, class F> RL_DEVICE void rl_each_two_sums(rl_warp_sums &sums, u32 warp, F f) {
    rl_each_lane(lane, own) {
        RL_UNROLL
        for (u32 n = 0; n < 8; n++) {
            RL_UNROLL
            for (u32 j = 0; j < J; j++) {
                f(warp / 4 * 64 + n / 2 * 16 + rl_sum_row(lane, n % 2), (warp % 4 * J + j) * 8 + rl_sum_col(lane), sums[n / 2][j][own] + n % 2 * 2);
            }
        }
    }
}
struct alignas(8) rl_two { float of[2]; };

// Where the sums of a warp come from and go to: memory with room for all of a piece, in which rows are `down` elements apart.
template <int J> RL_DEVICE void rl_load_sums(rl_warp_sums &sums, u32 warp, const float *from, u32 down) {
    rl_each_two_sums<J>(sums, warp, [&](u32 row, u32 col, float *two) {
        const rl_two both = *(const rl_two *)(from + (u64)row * down + col);
        two[0] = both.of[0];
        two[1] = both.of[1];
    });
}
template <int J> RL_DEVICE void rl_store_sums(rl_warp_sums &sums, u32 warp, float *to, u32 down) {
    rl_each_two_sums<J>(sums, warp, [&](u32 row, u32 col, float *two) { *(rl_two *)(to + (u64)row * down + col) = rl_two{{two[0], two[1]}}; });
}

// Computes the piece of C whose first element is in row `top` and column `side`.
template <int J>
RL_BODY void rl_tensor_piece(rl_eight *room, const rl_product_of_views &p, u32 top, u32 side) {
    const auto bring = [&](u32 turn, u32 term, u32 warp) {
        rl_eight *const stage = room + turn * rl_stage<J>::CHUNKS;
        if (term < p.a.cols) {
            rl_bring<RL_PIECE, RL_LEFT_WIDE>(stage, p.a, top, term, warp);
            rl_bring<RL_TERMS, rl_stage<J>::WIDE>(stage + RL_LEFT_CHUNKS, p.b, term, side, warp);
        }
        rl_stream_end();
    };
    // The sums begin with what C has. If a part of the piece is outside of C, or two neighbours cannot be moved at once, they
    // begin with zeros, and go through scratch memory at the end.
    const auto direct = [&] { return p.pairs && top + RL_PIECE <= p.a.rows && side + 32 * J <= p.b.cols; };
    const auto first = [&] { return p.c.at + (u64)top * p.c.stride(0) + side; };
    rl_own_sums(sums);
    rl_each_warp(warp, own) {
        RL_ROLL
        for (u32 n = 0; n + 1 < RL_STAGES; n++) bring(n, n * RL_TERMS, warp);
        if (direct()) rl_load_sums<J>(sums[own], warp, first(), p.c.stride(0));
        else rl_each_two_sums<J>(sums[own], warp, [&](u32, u32, float *two) { two[0] = two[1] = 0.0f; });
    }
    RL_ROLL
    for (u32 term = 0, turn = 0; term < p.a.cols; term += RL_TERMS) {
        rl_streamed<RL_STAGES - 2>();
        // This stage is there, and all warps have used the one before it, whose room is free now.
        rl_sync();
        rl_each_warp(warp, own) {
            const bool inside = top + warp / 4 * 64 < p.a.rows && side + warp % 4 * J * 8 < p.b.cols;
            rl_use_stage<J>(sums[own], room + turn * rl_stage<J>::CHUNKS, warp, inside, [&] {
                bring(turn == 0 ? RL_STAGES - 1 : turn - 1, term + (RL_STAGES - 1) * RL_TERMS, warp);
            });
        }
        turn = turn + 1 == RL_STAGES ? 0 : turn + 1;
    }
    if (direct()) {
        rl_each_warp(warp, own) rl_store_sums<J>(sums[own], warp, first(), p.c.stride(0));
        return;
    }
    float *const all = (float *)room;
    rl_sync();
    rl_each_warp(warp, own) rl_store_sums<J>(sums[own], warp, all, 32 * J);
    rl_sync();
    const u32 rows = (u32)rl_min(RL_PIECE, p.a.rows - top), cols = (u32)rl_min(32 * J, p.b.cols - side);
    RL_ROLL
    rl_each(e, rows * cols) {
        const u32 i = (u32)e / cols, j = (u32)e % cols;
        p.c(top + i, side + j) += all[i * 32 * J + j];
    }
}

// C += A·B for views. `room` is scratch memory for RL_TENSOR_CHUNKS chunks. All threads must call it.
RL_DEVICE void rl_tensor_product(rl_eight *room, rl_view<const rl_bf16, 2> a, rl_view<const rl_bf16, 2> b, rl_view<float, 2> c) {
    const u32 rows = (u32)rl_min(a.shape(0), c.shape(0)), cols = (u32)rl_min(b.shape(1), c.shape(1));
    const u32 terms = (u32)rl_min(a.shape(1), b.shape(0));
    RL_SHARED rl_product_of_views p;
    const bool pairs = c.stride(1) == 1 && ((u64)c.at & 7) == 0 && (c.stride(0) & 1) == 0;
    rl_one p = rl_product_of_views{rl_matrix_of(a, rows, terms), rl_matrix_of(b, terms, cols), c, pairs};
    RL_ROLL
    for (u32 top = 0; top < rows; top += RL_PIECE) {
        RL_ROLL
        for (u32 side = 0; side < cols; side += 2 * RL_PIECE) {
            rl_sync();
            if (cols - side > RL_PIECE) rl_tensor_piece<8>(room, p, top, side);
            else rl_tensor_piece<4>(room, p, top, side);
        }
    }
    rl_sync();
}
