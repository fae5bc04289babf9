// Adds the projections of the experts' inner values to x, each multiplied by its share.
rl_scratch(float, room, RL_ROWS_FLOATS);
for (u32 b = 0; b < inner.shape(0); b++) {
    for (u32 c = 0; c < route.shape(1); c++) {
        const rl_bf16 *const own = down.at + (u64)route(b, c) * down.stride(0);
        rl_rows(room, rl_rows_of(own, down.stride(1)), down.shape(1), down.shape(2), 1, 1,
            [&](u32, u32 k) { return inner(b, c, k); },
            [&](u32 row, u32, float sum, float) { x(b, row) += share(b, c) * sum; }, [] {});
    }
}
