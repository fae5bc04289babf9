#line 1 "block.cpp"
// Runs one block of a kernel without a grid. The threads of the block are coroutines of one thread: each runs until it
// waits at a barrier, in the order of their numbers or in the opposite one. A body with a barrier too few computes different
// results in at least one of the orders, or in a block of one thread.
//
// The copies for which a thread asks take place at once, or only when it waits for them. A body that waits too little, or that uses
// memory too early again, computes different results in one of the two.
#include <deque>
#include <ucontext.h>
#include <vector>

enum { RL_TEST_PASSED = 0, RL_TEST_FAILED = 1, RL_TEST_INDEX = 2, RL_TEST_DIVERGED = 3 };

struct rl_test_copy {
    rl_eight *to;
    const rl_bf16 *from;
    u32 there;
};
struct rl_test_thread {
    ucontext_t context;
    std::vector<char> stack;
    bool ended;
    std::deque<std::vector<rl_test_copy>> groups;
    std::vector<rl_test_copy> group;
};
static std::vector<rl_test_thread> rl_test_threads;
static ucontext_t rl_test_caller;
static rl_args rl_test_args;
static u32 rl_test_kernel;

void rl_test_sync() { swapcontext(&rl_test_threads[threadIdx.x].context, &rl_test_caller); }

static bool rl_test_late;
static void rl_test_do(const rl_test_copy &copy) {
    *copy.to = rl_eight{{0, 0, 0, 0}};
    memcpy(copy.to, copy.from, copy.there * sizeof *copy.from);
}
void rl_test_stream(rl_eight *to, const rl_bf16 *from, u32 there) {
    const rl_test_copy copy = {to, from, there};
    if (rl_test_late) rl_test_threads[threadIdx.x].group.push_back(copy);
    else rl_test_do(copy);
}
void rl_test_stream_end() {
    rl_test_thread &thread = rl_test_threads[threadIdx.x];
    thread.groups.push_back(thread.group);
    thread.group.clear();
}
void rl_test_streamed(u32 but) {
    auto &groups = rl_test_threads[threadIdx.x].groups;
    for (; groups.size() > but; groups.pop_front()) {
        for (const rl_test_copy &copy : groups.front()) rl_test_do(copy);
    }
}

static void rl_test_thread_main() {
    rl_dispatch(rl_test_kernel, rl_test_args);
    rl_test_threads[threadIdx.x].ended = true;
}

extern "C" u32 rl_test_block(u32 kernel, const u64 *words, u32 count, const u64 *spaces, u32 block, u32 blocks, bool backwards,
                             char *text) {
    static rl_board board;
    board = rl_board{};
    rl_own_board = &board;
    rl_failed = 0;
    rl_test_kernel = kernel;
    rl_test_late = backwards;
    rl_test_args = rl_args{words, count, spaces, block, blocks};
    memset(rl_scratch_memory, 0xff, RL_SCRATCH_BYTES);
    rl_test_threads.resize(blockDim.x);
    for (rl_test_thread &thread : rl_test_threads) {
        thread.stack.resize(128 * 1024);
        thread.ended = false;
        thread.groups.clear();
        thread.group.clear();
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.data();
        thread.context.uc_stack.ss_size = thread.stack.size();
        thread.context.uc_link = &rl_test_caller;
        makecontext(&thread.context, rl_test_thread_main, 0);
    }
    for (u32 ended = 0; ended < blockDim.x;) {
        ended = 0;
        for (u32 n = 0; n < blockDim.x; n++) {
            threadIdx.x = backwards ? blockDim.x - 1 - n : n;
            rl_test_thread &thread = rl_test_threads[threadIdx.x];
            swapcontext(&rl_test_caller, &thread.context);
            ended += thread.ended;
        }
        if (ended && ended < blockDim.x) return RL_TEST_DIVERGED;
    }
    memcpy(text, board.text, board.text_len);
    return board.failed;
}
