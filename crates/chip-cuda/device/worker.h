// The device runtime: every block of the grid works off a list of entries, in order, and waits for what each follows.
//
// An entry is one block of one task. A task has a flag, which is set when its last block has ended; an entry waits until the
// flags of its predecessors are set. There is no queue and no lock: the host decides which list an entry is on. It adds entries
// in an order in which every task comes after all that it follows, so the first entry that is not finished never waits for a
// later one, and no order of the lists can deadlock. All blocks of the grid run at the same time (a cooperative launch).
//
// Nothing is reset between launches: a flag is set if it has the number of the launch, the epoch.
#pragma once
#include "body.h"

enum { RL_ENTRY_WORDS = 32, RL_PREDECESSORS = 8, RL_INLINE_WORDS = 23 };
enum { RL_MAKES_OUTPUTS = 1, RL_ONLY_WAITS = 2, RL_MANY_BLOCKS = 4, RL_INITIALIZES = 8 };
enum { RL_ACCESS_OUTPUT = 1 };

// 256 bytes. The host's side is crates/chip-cuda/src/entry.rs.
struct rl_entry {
    uint16_t kernel;
    uint8_t predecessors;
    uint8_t kind;
    u32 words;              // of arguments
    u32 block, blocks;      // of its kernel
    u32 flag;               // which flag it sets
    u32 last;               // of a task of many blocks: how many there are
    u32 task, index;        // for the host: the task's number, and the block's number in it
    u64 far_words;          // where the arguments are, if they are not here
    u32 before[RL_PREDECESSORS];    // the flags that it waits for
    u64 near_words[RL_INLINE_WORDS];
};
static_assert(sizeof(rl_entry) == 8 * RL_ENTRY_WORDS, "the host writes entries of this size");

struct rl_times { u64 start, end, cycles; u32 processor, ended; };

struct rl_grid {
    const rl_entry *entries;    // of all lists
    const u32 *first;           // the first entry of each list, and the end
    u32 *flags, *counts;        // of each task
    u32 *halt;                  // not 0: no further entry begins
    const u64 *spaces;
    rl_board *boards;           // of each block of the grid; memory of the host
    rl_times *times;            // of each entry
    u32 epoch, timed;           // timed: not 0 if somebody wants the times
};

RL_BODY void rl_dispatch(u32 kernel, rl_args a);

// Zeroes this block's part of the tensors that the task makes.
RL_DEVICE void rl_zero_outputs(rl_args a) {
    while (a.left) {
        const u64 head = a.words[0];
        if ((head >> 40 & 255) == RL_SCALAR) {
            rl_take_bits(a);
            continue;
        }
        const bool whole = ((u32)(head >> 32) & 255) == RL_NO_SPLIT;
        const u32 bytes = rl_element_bytes((u32)(head >> 8) & 255);
        const rl_part part = rl_take_part(a);
        // A tensor that all blocks share was zeroed at submit.
        if (((u32)(head >> 24) & 255) != RL_ACCESS_OUTPUT || (whole && a.blocks > 1)) continue;
        rl_each(i, rl_elements(part)) {
            u64 rest = i, at = 0;
            for (u32 d = part.rank; d-- > 0;) {
                at += rest % part.len(d) * part.stride(d);
                rest /= part.len(d);
            }
            for (u32 k = 0; k < bytes; k++) part.data[at * bytes + k] = 0;
        }
    }
}

// Initializes memory: near_words has the space, the first byte in it and the number of bytes, far_words the contents or 0 for
// zeros.
RL_DEVICE void rl_initialize(const rl_grid &g, const rl_entry &e) {
    char *const to = (char *)(g.spaces[e.near_words[0]] + e.near_words[1]);
    const char *const from = (const char *)e.far_words;
    rl_each(i, e.near_words[2]) to[i] = from ? from[i] : 0;
}

// Waits until a task has ended; false if the run is halted first.
RL_DEVICE bool rl_await(const rl_grid &g, u32 flag) {
    while (rl_load(&g.flags[flag]) != g.epoch) {
        if (rl_load(g.halt)) return false;
        rl_pause();
    }
    return true;
}

// Tells those that wait that a block of a task has ended.
RL_DEVICE void rl_publish(const rl_grid &g, const rl_entry &e) {
    rl_release();
    if (e.kind & RL_MANY_BLOCKS) {
        if (rl_add(&g.counts[e.flag], 1) + 1 != e.last) return;
        rl_store(&g.counts[e.flag], 0);
        // What the other blocks released is seen by whoever sees the flag.
        rl_acquire();
        rl_release();
    }
    rl_store(&g.flags[e.flag], g.epoch);
}

// Runs one entry; false if the run is halted.
RL_DEVICE bool rl_run(const rl_grid &g, const rl_entry &e, u32 number, u32 *held) {
    rl_each(i, e.predecessors) {
        if (!rl_await(g, e.before[i])) *(volatile u32 *)held = 1;
    }
    rl_sync();
    if (*(volatile u32 *)held) return false;
    rl_acquire();
    if (e.kind & RL_ONLY_WAITS) return true;
    rl_one {
        rl_own_board = &g.boards[blockIdx.x];
        rl_failed = 0;
        rl_store_host(&rl_own_board->task, e.task);
        rl_store_host(&rl_own_board->index, e.index);
        if (g.timed) {
            g.times[number].start = rl_nanoseconds();
            g.times[number].cycles = rl_cycles();
        }
    }
    const rl_args a = {e.far_words ? (const u64 *)e.far_words : e.near_words, e.words, g.spaces, e.block, e.blocks};
    if (e.kind & RL_INITIALIZES) rl_initialize(g, e);
    if (e.kind & RL_MAKES_OUTPUTS) rl_zero_outputs(a);
    rl_sync();
    rl_dispatch(e.kernel, a);
    rl_sync();
    const bool failed = *(volatile u32 *)&rl_failed != 0;
    rl_one {
        if (g.timed) {
            g.times[number].cycles = rl_cycles() - g.times[number].cycles;
            g.times[number].end = rl_nanoseconds();
            g.times[number].processor = rl_processor();
        }
        if (failed) {
            rl_store(g.halt, 1);
        } else {
            g.times[number].ended = g.epoch;
            rl_publish(g, e);
        }
    }
    return !failed;
}

RL_DEVICE void rl_work(const rl_grid &g) {
    RL_SHARED rl_entry entry;
    RL_SHARED u32 held;
    for (u32 n = g.first[blockIdx.x]; n < g.first[blockIdx.x + 1]; n++) {
        rl_sync();
        rl_each(w, RL_ENTRY_WORDS) ((u64 *)&entry)[w] = ((const u64 *)&g.entries[n])[w];
        rl_one held = rl_load(g.halt);
        rl_sync();
        if (*(volatile u32 *)&held || !rl_run(g, entry, n, &held)) return;
    }
}

#ifdef RL_HOST
extern "C" void rl_host_block(const rl_grid *g, u32 index) {
    blockIdx.x = index;
    rl_work(*g);
}
#else
extern "C" __global__ void __launch_bounds__(256) rl_main(rl_grid g) { rl_work(g); }
#endif
