//! The CUDA bodies of the swarm's kernels: what `kernels::Job` does, in one thread of the block.
#![forbid(unsafe_code)]

/// Everything that bodies share, up to where they read: `block` and `meta` are parameters.
macro_rules! begin {
    () => {
        "rl_one {
        struct swarm {
            RL_MEMBER static u64 scramble(u64 z) {
                z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
                z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
                return z ^ (z >> 31);
            }
            RL_MEMBER static u64 bits(float v) { u32 b; memcpy(&b, &v, 4); return b; }
            RL_MEMBER static u64 bits(uint8_t v) { return v; }
            RL_MEMBER static u64 bits(uint16_t v) { return v; }
            RL_MEMBER static u64 bits(uint32_t v) { return v; }
            RL_MEMBER static u64 bits(uint64_t v) { return v; }
            RL_MEMBER static u64 bits(int8_t v) { return (u64)(int64_t)v; }
            RL_MEMBER static u64 bits(int16_t v) { return (u64)(int64_t)v; }
            RL_MEMBER static u64 bits(bool v) { return v; }
            RL_MEMBER static void set(float &to, u64 b) { to = (float)(u32)(b >> 39) - 8388608.0f; }
            RL_MEMBER static void set(uint8_t &to, u64 b) { to = (uint8_t)(b >> 7); }
            RL_MEMBER static void set(int16_t &to, u64 b) { to = (int16_t)(b >> 7); }
            RL_MEMBER static void set(uint32_t &to, u64 b) { to = (uint32_t)(b >> 7); }
            RL_MEMBER static void set(uint64_t &to, u64 b) { to = b >> 7; }
        };
        const u32 rl_task = (u32)(meta & 16383), rl_spin = (u32)(meta >> 38 & 1023) * 4, rl_fate = (u32)(meta >> 50 & 3);
        const bool rl_early = meta >> 48 & 1, rl_gaps = meta >> 49 & 1, rl_late = meta >> 52 & 1;
        u64 rl_hash = swarm::scramble((meta >> 14 & 0xffffff) << 32 | block.index);
        auto rl_dawdle = [&]() { for (volatile u32 n = 0; n < rl_spin; n = n + 1) {} };
        auto rl_ends = [&]() {
            if (rl_fate == 0 || (rl_fate == 3 && block.index + 1 != block.count)) return false;
            const char *const before = \"planned failure of task \";
            char text[40];
            u32 n = 0, digits = 1;
            for (; before[n]; n++) text[n] = before[n];
            for (u32 k = rl_task; k >= 10; k /= 10) digits++;
            for (u32 k = digits, rest = rl_task; k-- > 0; rest /= 10) text[n + k] = (char)('0' + rest % 10);
            rl_fail_as(1, text, n + digits);
            return true;
        };
        auto rl_fold = [&](u64 b) { rl_hash = (rl_hash ^ b) * 0x100000001b3ull; rl_hash = rl_hash << 23 | rl_hash >> 41; };
        auto rl_read = [&](const auto &from) {
            if constexpr (sizeof from <= 8) rl_fold(swarm::bits(from));
            else for (u64 i = 0; i < from.len(); i++) rl_fold(swarm::bits(from.nth(i)));
        };
        auto rl_change = [&](auto &value, u64 index) {
            const u64 b = swarm::scramble(rl_hash ^ swarm::bits(value) * 0x9e3779b97f4a7c15ull ^ index << 48);
            if (!rl_gaps || (b & 3) != 0) swarm::set(value, b);
        };
        auto rl_write = [&](const auto &to) { for (u64 i = 0; i < to.len(); i++) rl_change(to.nth(i), i + 1); };
        (void)rl_read; (void)rl_write;
        if (rl_early) rl_dawdle();
        if (!rl_late && rl_ends()) return;
        "
    };
}

/// Between reading and writing.
macro_rules! turn {
    () => {
        "if (!rl_early) rl_dawdle(); "
    };
}

/// The end of a body.
macro_rules! end {
    () => {
        "if (rl_late) rl_ends(); }"
    };
}

/// A body of these pieces, with these parameters.
macro_rules! body {
    ([$($param:expr),*]; $($piece:expr,)*) => {
        ringlane_engine::api::kernel::CudaBody {
            source: concat!($crate::swarm::cuda::begin!(), $($piece,)* $crate::swarm::cuda::end!()),
            params: &[$($param),*],
            file: file!(),
            line: line!(),
        }
    };
}

pub(crate) use {begin, body, end, turn};
