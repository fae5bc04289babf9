// C -= A·Aᵀ on the lower triangle
rl_scratch(float, room, RL_PRODUCT_FLOATS);
rl_product(room, c.shape(0), c.shape(0), a.shape(1),
    [&](u32 i, u32 k) { return a(i, k); },
    [&](u32 k, u32 j) { return a(j, k); },
    [&](u32 i, u32 j, float sum, u32) { if (j <= i) c(i, j) -= sum; });
