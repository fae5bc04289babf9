// The inner values of the feed-forward network: silu(gate·norm(x)) · (up·norm(x)). A row of the weights has both.
rl_scratch(float, room, RL_ROWS_FLOATS + x.shape(0));
rl_prefetch(later.at, (u64)later.shape(0) * later.stride(0) * sizeof(rl_bf16));
const rl_rows_at pairs = {weight.at, weight.stride(0), weight.stride(1)};
rl_normed_rows(room, pairs, 2 * weight.shape(0), weight.shape(2), x.shape(0), 2,
    [&](u32 b, u32 k) { return x(b, k); },
    [&](u32 k) { return (float)gain[k]; },
    [&](u32 row, u32 b, float gate, float up) { inner(b, row / 2) = gate / (1.0f + expf(-gate)) * up; });
