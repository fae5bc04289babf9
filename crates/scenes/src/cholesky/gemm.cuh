// C -= A·Bᵀ
rl_scratch(float, room, RL_PRODUCT_FLOATS);
rl_product(room, c.shape(0), c.shape(1), (u32)rl_min(a.shape(1), b.shape(1)),
    [&](u32 i, u32 k) { return a(i, k); },
    [&](u32 k, u32 j) { return b(j, k); },
    [&](u32 i, u32 j, float sum, u32) { c(i, j) -= sum; });
