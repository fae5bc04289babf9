// One CUDA kernel launch for each task, instead of lists: what the lists are compared with. Nothing is checked between tasks: the
// driver orders them, by the edges of a CUDA graph or by a stream.
#pragma once
#include "worker.h"

// Blocks of a task that run the same kernel. The host's side is crates/chip-cuda/src/nodes.rs.
struct rl_node_task {
    const u64 *words;       // the arguments
    const u64 *spaces;
    const char *contents;   // of memory that is initialized, or null for zeros
    rl_board *boards;       // `board_count` of them, which processors share; memory of the host
    rl_times *times;        // of the first block, if somebody wants them
    u32 *alarm;             // memory of the host: set if a block fails
    u32 kernel, kind;
    u32 count;              // words
    u32 blocks;             // of the kernel in this task; the launch has as many
    u32 task, index;        // for the host: the task's number, and the number of the first block in it
    u32 scratch;            // for the host: whether the body uses scratch memory
    u32 board_count;
};

RL_DEVICE void rl_node_main(const rl_node_task &t) {
    rl_one {
        rl_failed = 0;
        rl_own_board = &t.boards[rl_processor() % t.board_count];
        if (t.times) {
            t.times[blockIdx.x].start = rl_nanoseconds();
            t.times[blockIdx.x].cycles = rl_cycles();
        }
    }
    rl_sync();
    const rl_args a = {t.words, t.count, t.spaces, blockIdx.x, t.blocks};
    if (t.kind & (RL_INITIALIZES | RL_MAKES_OUTPUTS)) {
        if (t.kind & RL_INITIALIZES) rl_fill((char *)(t.spaces[t.words[0]] + t.words[1]), t.contents, t.words[2]);
        else rl_zero_outputs(a);
        rl_sync();
    }
    rl_dispatch(t.kernel, a);
    rl_sync();
    rl_one {
        if (t.times) {
            t.times[blockIdx.x].cycles = rl_cycles() - t.times[blockIdx.x].cycles;
            t.times[blockIdx.x].end = rl_nanoseconds();
            t.times[blockIdx.x].processor = rl_processor();
        }
        if (*(volatile u32 *)&rl_failed) {
            rl_store_host(&rl_own_board->task, t.task);
            rl_store_host(&rl_own_board->index, t.index + blockIdx.x);
            rl_store_host(t.alarm, 1);
        }
    }
}

#ifdef RL_HOST
extern "C" void rl_host_node(const rl_node_task *t, u32 index) {
    blockIdx.x = index;
    rl_node_main(*t);
}
#else
extern "C" __global__ void __launch_bounds__(256) rl_node(rl_node_task t) { rl_node_main(t); }
#endif
