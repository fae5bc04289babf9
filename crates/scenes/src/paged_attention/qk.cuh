// s = q·kᵀ·scale
rl_scratch(float, room, RL_PRODUCT_FLOATS);
rl_product(room, s.shape(0), s.shape(1), (u32)rl_min(q.shape(1), k.shape(1)),
    [&](u32 i, u32 d) { return q(i, d); },
    [&](u32 d, u32 j) { return k(j, d); },
    [&](u32 i, u32 j, float sum, u32 from) { s(i, j) = (from ? s(i, j) : 0.0f) + sum * scale; });
