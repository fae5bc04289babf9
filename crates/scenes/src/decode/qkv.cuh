// Queries, keys and values: the norm of x, times the weights.
rl_scratch(float, room, RL_ROWS_FLOATS + x.shape(0));
rl_prefetch(later.at, (u64)later.shape(0) * later.stride(0) * sizeof(rl_bf16));
rl_normed_rows(room, rl_rows_of(weight.at, weight.stride(0)), weight.shape(0), weight.shape(1), x.shape(0), 1,
    [&](u32 b, u32 k) { return x(b, k); },
    [&](u32 k) { return (float)gain[k]; },
    [&](u32 row, u32 b, float sum, float) { qkv(b, row) = sum; });
