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

enum { RL_ENTRY_WORDS = 32, RL_PAYLOAD_WORDS = 27 };
enum { RL_MAKES_OUTPUTS = 1, RL_ONLY_WAITS = 2, RL_MANY_BLOCKS = 4, RL_INITIALIZES = 8, RL_PUBLISHES = 16 };
enum { RL_ACCESS_OUTPUT = 1 };
// Entries of a list that are on the chip or on their way, and how far ahead of the one that runs they are asked for: its own
// room and that of the entry before it are in use.
enum { RL_ROOMS = 8, RL_AHEAD = RL_ROOMS - 2 };

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
    // From its beginning: the arguments. From its end: the flags that it waits for, of 32 bits each.
    u64 payload[RL_PAYLOAD_WORDS];
    RL_MEMBER u32 before(u64 i) const { return ((const u32 *)payload)[2 * RL_PAYLOAD_WORDS - 1 - i]; }
};
static_assert(sizeof(rl_entry) == 8 * RL_ENTRY_WORDS, "the host writes entries of this size");

struct rl_times { u64 start, end, cycles; u32 processor, unused; };

struct rl_grid {
    const rl_entry *entries;    // of all lists
    const u32 *first;           // the first entry of each list, and the end
    u32 *flags, *counts;        // of each task
    u32 *halt;                  // not 0: a block failed, and nothing that waits for it is waited for
    u32 *progress;              // of each list: the entries before this one have ended
    const u64 *spaces;
    rl_board *boards;           // of each block of the grid; memory of the host
    rl_times *times;            // of each entry, if somebody wants them
    u32 *alarm;                 // memory of the host: the epoch of a launch in which a block failed, or 0
    u64 epoch;
};

RL_BODY void rl_dispatch(u32 kernel, rl_args a);

// Fills memory from another place, or with zeros.
RL_DEVICE void rl_fill(char *to, const char *from, u64 bytes) {
    const bool wide = (((u64)to | (u64)from | bytes) & 15) == 0;
    const rl_four zeros = {{0, 0, 0, 0}};
    if (wide) rl_each(i, bytes / 16) ((rl_four *)to)[i] = from ? ((const rl_four *)from)[i] : zeros;
    else rl_each(i, bytes) to[i] = from ? from[i] : 0;
}

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
        u64 dense = 1;
        for (u32 d = part.rank; d-- > 0 && dense;) dense = part.len(d) == 1 || part.stride(d) == dense ? dense * part.len(d) : 0;
        if (dense) {
            rl_fill(part.data, nullptr, dense * bytes);
            continue;
        }
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

// Initializes memory: the payload has the space, the first byte in it and the number of bytes, far_words the contents or 0 for
// zeros.
RL_DEVICE void rl_initialize(const rl_grid &g, const rl_entry &e) {
    rl_fill((char *)(g.spaces[e.payload[0]] + e.payload[1]), (const char *)e.far_words, e.payload[2]);
}

// Waits until a task has ended; false if the run is halted first.
RL_DEVICE bool rl_await(const rl_grid &g, u32 flag) {
    while (rl_load(&g.flags[flag]) != (u32)g.epoch) {
        if (rl_load(g.halt)) return false;
        rl_pause();
    }
    return true;
}

// Sets the flag of a task whose last block has ended.
RL_DEVICE void rl_publish(const rl_grid &g, const rl_entry &e) {
    rl_release();
    if (e.kind & RL_MANY_BLOCKS) {
        if (rl_add(&g.counts[e.flag], 1) + 1 != e.last) return;
        rl_store(&g.counts[e.flag], 0);
        // What the other blocks released is seen by whoever sees the flag.
        rl_acquire();
        rl_release();
    }
    rl_store(&g.flags[e.flag], (u32)g.epoch);
}

// Runs the body of an entry; false if it failed.
RL_DEVICE bool rl_run(const rl_grid &g, const rl_entry &e, u32 number) {
    // Not the thread that sets flags: it would wait for this.
    rl_another {
        if (rl_board_is_due()) {
            rl_store_host(&g.boards[blockIdx.x].task, e.task);
            rl_store_host(&g.boards[blockIdx.x].index, e.index);
            rl_store_host(&g.boards[blockIdx.x].epoch, (u32)g.epoch);
        }
    }
    rl_one {
        rl_store(&g.progress[blockIdx.x], number);
        if (g.times) {
            g.times[number].start = rl_nanoseconds();
            g.times[number].cycles = rl_cycles();
        }
    }
    const rl_args a = {e.far_words ? (const u64 *)e.far_words : e.payload, e.words, g.spaces, e.block, e.blocks};
    if (e.kind & (RL_INITIALIZES | RL_MAKES_OUTPUTS)) {
        if (e.kind & RL_INITIALIZES) rl_initialize(g, e);
        else rl_zero_outputs(a);
        rl_sync();
    }
    rl_mark_begin();
    rl_dispatch(e.kernel, a);
    rl_fetched();
    rl_sync();
    const bool failed = *(volatile u32 *)&rl_failed != 0;
    rl_one {
        if (g.times) {
            g.times[number].cycles = rl_cycles_at_end() - g.times[number].cycles;
            g.times[number].end = rl_nanoseconds();
            g.times[number].processor = rl_processor();
        }
        if (failed) {
            rl_store_host(&g.boards[blockIdx.x].task, e.task);
            rl_store_host(&g.boards[blockIdx.x].index, e.index);
            rl_store_host(g.alarm, (u32)g.epoch);
            rl_store(g.halt, 1);
        } else if (e.kind & RL_PUBLISHES) {
            rl_publish(g, e);
        }
    }
    return !failed;
}

// Works off a list; gives the number of the first entry that did not end.
RL_DEVICE u32 rl_work(const rl_grid &g) {
    RL_SHARED rl_rooms<rl_entry, RL_ROOMS> rooms;
    RL_SHARED u32 held;
    const u32 first = g.first[blockIdx.x], end = g.first[blockIdx.x + 1];
    for (u32 n = first; n < first + RL_AHEAD; n++) rl_fetch(&rooms.of[n % RL_ROOMS], &g.entries[n], n < end);
    rl_one {
        rl_store(&g.progress[blockIdx.x], first);
        // A batch before this one may have failed: what it would have written is missing.
        held = rl_load(g.halt);
        rl_failed = 0;
        rl_own_board = &g.boards[blockIdx.x];
    }
    rl_another rl_board_begin();
    rl_fetched();
    rl_sync();
    if (*(volatile u32 *)&held) return first;
    for (u32 n = first; n < end; n++) {
        const rl_entry &e = rooms.of[n % RL_ROOMS];
        rl_fetch(&rooms.of[(n + RL_AHEAD) % RL_ROOMS], &g.entries[n + RL_AHEAD], n + RL_AHEAD < end);
        if (e.predecessors) {
            rl_each(i, e.predecessors) {
                if (!rl_await(g, e.before(i))) *(volatile u32 *)&held = 1;
            }
            rl_sync();
            if (*(volatile u32 *)&held) return n;
            rl_acquire();
        }
        if (e.kind & RL_ONLY_WAITS) {
            rl_one rl_store(&g.progress[blockIdx.x], n);
            rl_fetched();
            rl_sync();
        } else if (!rl_run(g, e, n)) {
            return n;
        }
    }
    return end;
}

RL_DEVICE void rl_block_main(const rl_grid &g) {
    const u32 ended = rl_work(g);
    rl_one rl_store(&g.progress[blockIdx.x], ended);
}

#ifdef RL_HOST
extern "C" void rl_host_block(const rl_grid *g, u32 index) {
    blockIdx.x = index;
    rl_block_main(*g);
}
#else
// One block fits on a processor, because of its scratch memory. Without the 1, the compiler leaves registers for a second one.
extern "C" __global__ void __launch_bounds__(256, 1) rl_main(rl_grid g) { rl_block_main(g); }
// Ends everything that runs on the device, in the only way there is: the context is lost.
extern "C" __global__ void rl_stop(u32 now) { if (now) asm volatile("trap;"); }
#endif
