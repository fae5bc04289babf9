// Adds the projection of the attention's result to x.
const u32 dim = heads.shape(2);
rl_scratch(float, room, RL_ROWS_FLOATS);
rl_prefetch(later.at, (u64)later.shape(0) * later.stride(0) * sizeof(rl_bf16));
rl_rows(room, rl_rows_of(weight.at, weight.stride(0)), weight.shape(0), weight.shape(1), heads.shape(0), 1,
    [&](u32 b, u32 k) { return heads(b, k / dim, k % dim); },
    [&](u32 row, u32 b, float sum, float) { x(b, row) += sum; }, [] {});
