// C += A·B
rl_scratch(float, room, RL_PRODUCT_FLOATS);
rl_product(room, c.shape(0), (u32)rl_min(b.shape(1), c.shape(1)), a.shape(1),
    [&](u32 i, u32 k) { return a(i, k); },
    [&](u32 k, u32 j) { return b(k, j); },
    [&](u32 i, u32 j, float sum, u32) { c(i, j) += sum; });
