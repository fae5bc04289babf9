// The inner values of the experts that each token chose: silu(gate·norm(x)) · (up·norm(x))
rl_scratch(float, room, RL_ROWS_FLOATS + 1);
for (u32 b = 0; b < x.shape(0); b++) {
    for (u32 c = 0; c < route.shape(1); c++) {
        const rl_rows_at pairs = {weight.at + (u64)route(b, c) * weight.stride(0), weight.stride(1), weight.stride(2)};
        rl_normed_rows(room, pairs, 2 * weight.shape(1), weight.shape(3), 1, 2,
            [&](u32, u32 k) { return x(b, k); },
            [&](u32 k) { return (float)gain[k]; },
            [&](u32 row, u32, float gate, float up) { inner(b, c, row / 2) = gate / (1.0f + expf(-gate)) * up; });
    }
}
