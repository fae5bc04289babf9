// The device runtime: every block of the grid works off a list of entries, in order, and waits for what each follows.
//
// An entry is one block of one task. Blocks that other entries wait for set a flag; an entry waits until the flags of its
// predecessors are set. There is no queue and no lock: the host decides which list an entry is on. It appends entries in
// submission order, so the first entry that is not finished never waits for a later one, and no order of the lists can deadlock.
//
//   captured   the lists are resident; a replay is one launch, and flags count replays (the epoch)
//   streamed   the last block of the grid is the feeder: it moves entries from the host's ring to the rings of the lists
#pragma once
#include "body.h"

enum { RL_ENTRY_WORDS = 32, RL_PREDECESSORS = 6, RL_INLINE_WORDS = 19, RL_BATCH = 64 };
enum { RL_ACCESS_OUTPUT = 1 };
enum { RL_MAKES_OUTPUTS = 1, RL_ONLY_WAITS = 2, RL_MANY_BLOCKS = 4 };

// 256 bytes. The host's side is crates/chip-cuda/src/entry.rs.
struct rl_entry {
    u32 stamp;              // streamed: the entry's number in the host's ring, then in its list
    u32 list;
    u32 position;           // its number in the list, from 1
    uint16_t kernel;
    uint8_t predecessors;
    uint8_t kind;
    u32 block, blocks;
    u32 flag;               // which flag it sets
    u32 value;              // to what
    u32 last;               // of a task of many blocks: the count of the one that sets the flag (captured: in the first replay)
    u32 task;               // for the host
    u32 words;              // of arguments
    u32 reserved;
    u64 far_words;          // where they are, if they are not here
    u32 before[2 * RL_PREDECESSORS];    // flag and value of each
    u64 near_words[RL_INLINE_WORDS];
};
static_assert(sizeof(rl_entry) == 8 * RL_ENTRY_WORDS, "the host writes entries of this size");

struct rl_times { u64 start, end; u32 processor, block; };

struct rl_grid {
    rl_entry *entries;      // of all lists, or the rings of the lists
    const u32 *first;       // captured: the first entry of each list, and the end
    const rl_entry *host_ring;
    u64 ring_len, host_ring_len;    // streamed: entries of a list's ring, and of the host's
    u32 *flags, *counts;
    u32 *done;              // streamed, memory of the host: the value of each flag that was set
    u32 *halt;              // not 0: no further entry begins
    const u32 *stop;        // memory of the host: not 0 ends a streamed run
    const u64 *spaces;
    rl_board *boards;       // memory of the host
    rl_times *times;        // one for each entry; null if nobody wants them
    u32 epoch, lists;
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
                at += rest % part.len[d] * part.stride[d];
                rest /= part.len[d];
            }
            for (u32 k = 0; k < bytes; k++) part.data[at * bytes + k] = 0;
        }
    }
}

// Waits until a flag has at least this value; false if the run is halted first.
RL_DEVICE bool rl_await(const rl_grid &g, u32 flag, u32 value) {
    while ((int32_t)(rl_load(&g.flags[flag]) - value) < 0) {
        if (rl_load(g.halt)) return false;
        rl_pause();
    }
    return true;
}

// Tells those that wait that a block of a task has ended.
RL_DEVICE void rl_publish(const rl_grid &g, const rl_entry &e, u32 value) {
    rl_release();
    if (e.kind & RL_MANY_BLOCKS) {
        const u32 last = g.epoch ? g.epoch * e.last : e.last;
        if (rl_add(&g.counts[e.flag], 1) + 1 != last) return;
        rl_acquire();
        rl_release();
    }
    rl_store(&g.flags[e.flag], value);
    if (g.done) rl_store_host(&g.done[e.flag], value);
}

// Runs one entry; false if the run is halted.
RL_DEVICE bool rl_run(const rl_grid &g, const rl_entry &e, u64 number, u32 *held) {
    rl_each(i, e.predecessors) {
        if (!rl_await(g, e.before[2 * i], e.before[2 * i + 1] + g.epoch)) *(volatile u32 *)held = 1;
    }
    rl_sync();
    if (*held) return false;
    rl_acquire();
    if (e.kind & RL_ONLY_WAITS) return true;
    rl_one {
        rl_own_board = &g.boards[blockIdx.x];
        rl_failed = 0;
        rl_store_host(&rl_own_board->task, e.task);
        rl_store_host(&rl_own_board->block, e.block);
        if (g.times) g.times[number].start = rl_nanoseconds();
    }
    const rl_args a = {e.far_words ? (const u64 *)e.far_words : e.near_words, e.words, g.spaces, e.block, e.blocks};
    if (e.kind & RL_MAKES_OUTPUTS) rl_zero_outputs(a);
    rl_sync();
    rl_dispatch(e.kernel, a);
    rl_sync();
    const bool failed = rl_failed != 0;
    rl_one {
        if (g.times) {
            g.times[number].end = rl_nanoseconds();
            g.times[number].processor = rl_processor();
        }
        if (failed) rl_store(g.halt, 1);
        else rl_publish(g, e, e.value + g.epoch);
    }
    return !failed;
}

RL_DEVICE void rl_copy_entry(rl_entry *to, const rl_entry *from) {
    rl_each(w, RL_ENTRY_WORDS) ((u64 *)to)[w] = rl_load((const u64 *)from + w);
}

// Works off a resident list.
RL_DEVICE void rl_work_captured(const rl_grid &g, rl_entry *entry, u32 *held) {
    for (u32 n = g.first[blockIdx.x]; n < g.first[blockIdx.x + 1]; n++) {
        rl_copy_entry(entry, &g.entries[n]);
        rl_one *held = rl_load(g.halt);
        rl_sync();
        if (*held || !rl_run(g, *entry, n, held)) return;
    }
}

// Works off the ring of a list until the run is halted.
RL_DEVICE void rl_work_streamed(const rl_grid &g, rl_entry *entry, u32 *held) {
    for (u32 position = 1;; position++) {
        const u64 at = blockIdx.x * g.ring_len + (position - 1) % g.ring_len;
        rl_one {
            *held = 0;
            while (rl_load(&g.entries[at].stamp) != position && !*held) {
                *held = rl_load(g.halt);
                rl_pause();
            }
        }
        rl_sync();
        if (*held) return;
        rl_acquire();
        rl_copy_entry(entry, &g.entries[at]);
        rl_sync();
        if (!rl_run(g, *entry, entry->task, held)) return;
        rl_sync();
    }
}

// Moves entries from the host's ring to the rings of the lists. The host has room there before it writes an entry, and writes
// an entry's stamp last.
RL_DEVICE void rl_feed(const rl_grid &g) {
    RL_SHARED rl_entry stage[RL_BATCH];
    RL_SHARED u32 good, ended;
    for (u32 next = 1;;) {
        rl_one {
            good = RL_BATCH;
            ended = rl_load_host(g.stop) | rl_load(g.halt);
        }
        rl_sync();
        rl_each(i, blockDim.x < RL_BATCH ? 1 : RL_BATCH) {
            const u32 number = next + (u32)i;
            if (rl_load_host(&g.host_ring[(number - 1) % g.host_ring_len].stamp) != number) rl_least(&good, (u32)i);
        }
        rl_sync();
        const u32 count = good < (blockDim.x < RL_BATCH ? 1u : (u32)RL_BATCH) ? good : (blockDim.x < RL_BATCH ? 1u : (u32)RL_BATCH);
        const bool stop = ended != 0;
        if (stop) break;
        if (count == 0) {
            rl_pause();
            rl_sync();
            continue;
        }
        rl_acquire_host();
        rl_each(w, count * RL_ENTRY_WORDS) {
            const u64 at = (next - 1 + w / RL_ENTRY_WORDS) % g.host_ring_len;
            ((u64 *)stage)[w] = ((const volatile u64 *)&g.host_ring[at])[w % RL_ENTRY_WORDS];
        }
        rl_sync();
        rl_each(w, count * RL_ENTRY_WORDS) {
            const rl_entry &e = stage[w / RL_ENTRY_WORDS];
            u64 *to = (u64 *)&g.entries[e.list * g.ring_len + (e.position - 1) % g.ring_len];
            // The first word has the stamp.
            if (w % RL_ENTRY_WORDS) to[w % RL_ENTRY_WORDS] = ((const u64 *)&e)[w % RL_ENTRY_WORDS];
        }
        rl_release();
        rl_sync();
        rl_each(i, count) {
            const rl_entry &e = stage[i];
            rl_store(&g.entries[e.list * g.ring_len + (e.position - 1) % g.ring_len].stamp, e.position);
        }
        rl_sync();
        next += count;
    }
    rl_one rl_store(g.halt, 1);
}

RL_DEVICE void rl_work(const rl_grid &g) {
    RL_SHARED rl_entry entry;
    RL_SHARED u32 held;
    if (!g.host_ring) rl_work_captured(g, &entry, &held);
    else if (blockIdx.x == g.lists) rl_feed(g);
    else rl_work_streamed(g, &entry, &held);
}

#ifdef RL_HOST
extern "C" void rl_host_block(const rl_grid *g, u32 index) {
    blockIdx.x = index;
    rl_work(*g);
}
#else
extern "C" __global__ void __launch_bounds__(256) rl_main(rl_grid g) { rl_work(g); }
#endif
