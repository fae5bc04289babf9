// What a kernel body sees of its arguments.
//
// The words of a task's arguments are those that the engine wrote (crates/engine/src/api/args.rs):
//   tensor  head, place, offset, then one word for each dimension: length, and above it the stride in elements
//   scalar  head, bits
// head: rank, data type << 8, flags << 16, access << 24, split << 32, kind << 40
#pragma once
#include "platform.h"

struct rl_block { u32 index, count; };

// The arguments of one block that were not taken yet.
struct rl_args {
    const u64 *words;
    u32 left;               // words
    const u64 *spaces;      // where each space begins
    u32 block, blocks;
};

// A tensor, or this block's part of one. Dimensions are read where they are: an array of them would be in local memory.
struct rl_part {
    char *data;
    const u64 *dims;
    u32 rank, split, own;   // own: elements of this block in the dimension `split`
    RL_MEMBER u32 len(u32 d) const { return d == split ? own : (u32)dims[d]; }
    RL_MEMBER u32 stride(u32 d) const { return (u32)(dims[d] >> 32); }
};

RL_DEVICE u32 rl_element_bytes(u32 dtype) {
    const u64 bytes = 0x118422884422111ull;  // one digit for each data type, the first one last
    return (u32)(bytes >> (dtype * 4)) & 15;
}

enum { RL_NO_SPLIT = 255, RL_SCALAR = 2 };

// The tensor whose words these are. A function of its own, which all kernels share: inlined for each argument, this code was
// half of the code of a short kernel.
RL_BODY rl_part rl_part_at(const u64 *words, const u64 *spaces, u32 block, u32 blocks) {
    const u64 head = words[0], place = words[1];
    rl_part part = {nullptr, words + 3, (u32)head & 255, (u32)(head >> 32) & 255, 0};
    u64 offset = words[2];
    if (part.split != RL_NO_SPLIT) {
        const u32 len = (u32)part.dims[part.split], each = (len + blocks - 1) / blocks;
        const u64 from = (u64)each * block;
        const u32 start = from < len ? (u32)from : len;
        part.own = each < len - start ? each : len - start;
        if (part.own) offset += (u64)start * part.stride(part.split) * rl_element_bytes((u32)(head >> 8) & 255);
    }
    part.data = (char *)(spaces[place & 0xfffffff] + offset);
    return part;
}

RL_DEVICE rl_part rl_take_part(rl_args &a) {
    const rl_part part = rl_part_at(a.words, a.spaces, a.block, a.blocks);
    a.words += 3 + part.rank;
    a.left -= 3 + part.rank;
    return part;
}

RL_BODY u64 rl_elements(rl_part part) {
    u64 n = 1;
    RL_ROLL
    for (u32 d = 0; d < part.rank; d++) n *= part.len(d);
    return n;
}

RL_DEVICE u64 rl_take_bits(rl_args &a) {
    const u64 bits = a.words[1];
    a.words += 2;
    a.left -= 2;
    return bits;
}

#ifdef RL_CHECK
#define RL_INDEX(i, n) rl_checked((i), (n))
#else
#define RL_INDEX(i, n) (i)
#endif
RL_DEVICE u64 rl_checked(u64 i, u64 n);

// Elements that are contiguous.
template <class T> struct rl_slice {
    T *at;
    u64 count;
    RL_MEMBER u64 len() const { return count; }
    RL_MEMBER T *data() const { return at; }
    RL_MEMBER T &operator[](u64 i) const { return at[RL_INDEX(i, count)]; }
    RL_MEMBER T &nth(u64 i) const { return (*this)[i]; }
};

// Elements at strides.
template <class T, int R> struct rl_view {
    T *at;
    u32 lens[R], strides[R];
    RL_MEMBER u32 shape(int d) const { return lens[d]; }
    RL_MEMBER u32 stride(int d) const { return strides[d]; }
    // All elements: how many there are, and each by its number in row-major order.
    RL_MEMBER u64 len() const {
        u64 n = 1;
        for (int d = 0; d < R; d++) n *= lens[d];
        return n;
    }
    RL_MEMBER T &nth(u64 i) const {
        u64 rest = RL_INDEX(i, len()), offset = 0;
        for (int d = R; d-- > 0;) {
            offset += rest % lens[d] * strides[d];
            rest /= lens[d];
        }
        return at[offset];
    }
    RL_MEMBER T &operator()(u64 i) const { return at[RL_INDEX(i, lens[0]) * strides[0]]; }
    RL_MEMBER T &operator()(u64 i, u64 j) const {
        return at[RL_INDEX(i, lens[0]) * strides[0] + RL_INDEX(j, lens[1]) * strides[1]];
    }
    RL_MEMBER T &operator()(u64 i, u64 j, u64 k) const {
        return at[RL_INDEX(i, lens[0]) * strides[0] + RL_INDEX(j, lens[1]) * strides[1] +
                  RL_INDEX(k, lens[2]) * strides[2]];
    }
};

// Takes one argument of a type; a specialization for each kind of parameter.
template <class P> struct rl_take {
    RL_MEMBER static P from(rl_args &a) {
        const u64 bits = rl_take_bits(a);
        P value;
        for (u32 i = 0; i < sizeof(P); i++) ((char *)&value)[i] = (char)(bits >> (8 * i));
        return value;
    }
};
template <class T> struct rl_take<rl_slice<T>> {
    RL_MEMBER static rl_slice<T> from(rl_args &a) {
        const rl_part part = rl_take_part(a);
        return rl_slice<T>{(T *)part.data, rl_elements(part)};
    }
};
template <class T, int R> struct rl_take<rl_view<T, R>> {
    RL_MEMBER static rl_view<T, R> from(rl_args &a) {
        const rl_part part = rl_take_part(a);
        rl_view<T, R> view;
        view.at = (T *)part.data;
        for (int d = 0; d < R; d++) {
            view.lens[d] = part.len(d);
            view.strides[d] = part.stride(d);
        }
        return view;
    }
};
template <> struct rl_take<rl_block> {
    RL_MEMBER static rl_block from(rl_args &a) { return rl_block{a.block, a.blocks}; }
};

// The words of the argument after the one whose words these are.
RL_DEVICE const u64 *rl_after(const u64 *words) {
    return words + ((words[0] >> 40 & 255) == RL_SCALAR ? 2 : 3 + ((u32)words[0] & 255));
}
// The words of the i-th argument from here.
RL_BODY const u64 *rl_nth(const u64 *words, u32 i) {
    RL_ROLL
    for (; i; i--) words = rl_after(words);
    return words;
}

// The words of an argument of a type, if all have as many; otherwise 0.
template <class P> struct rl_same { enum { WORDS = 0 }; };
template <class T, int R> struct rl_same<rl_view<T, R>> { enum { WORDS = 3 + R }; };

// All arguments that are left, of one type: rest.len(), rest[i], which walks over those before it if they may differ in length.
template <class P> struct rl_rest {
    enum { WORDS = rl_same<P>::WORDS };
    rl_args all;
    u32 count;
    RL_MEMBER u32 len() const { return count; }
    RL_MEMBER P operator[](u32 i) const {
        rl_args a = all;
        a.words = WORDS > 0 ? a.words + i * WORDS : rl_nth(a.words, i);
        return rl_take<P>::from(a);
    }
    RL_MEMBER static void rl_skip(rl_args &a) {
        const u64 *const after = rl_after(a.words);
        a.left -= (u32)(after - a.words);
        a.words = after;
    }
};
template <class P> struct rl_take<rl_rest<P>> {
    RL_MEMBER static rl_rest<P> from(rl_args &a) {
        rl_rest<P> rest = {a, 0};
        if (rest.WORDS > 0) {
            rest.count = a.left / (rest.WORDS > 0 ? (u32)rest.WORDS : 1);
            return rest;
        }
        const u64 *const end = a.words + a.left;
        RL_ROLL
        for (const u64 *words = a.words; words < end; words = rl_after(words)) rest.count++;
        return rest;
    }
};
