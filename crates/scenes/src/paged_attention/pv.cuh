// o = p·v
rl_scratch(float, room, RL_PRODUCT_FLOATS);
rl_product(room, o.shape(0), (u32)rl_min(o.shape(1), v.shape(1)), p.shape(1),
    [&](u32 i, u32 j) { return p(i, j); },
    [&](u32 j, u32 d) { return v(j, d); },
    [&](u32 i, u32 d, float sum, u32 from) { o(i, d) = (from ? o(i, d) : 0.0f) + sum; });
