// Adds the projection of the inner values to x.
rl_scratch(float, room, RL_ROWS_FLOATS);
rl_rows(room, rl_rows_of(weight.at, weight.stride(0)), weight.shape(0), weight.shape(1), inner.shape(0), 1,
    [&](u32 b, u32 k) { return inner(b, k); },
    [&](u32 row, u32 b, float sum, float) { x(b, row) += sum; }, [] {});
