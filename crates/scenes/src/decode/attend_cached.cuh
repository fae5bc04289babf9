// Attends to full pages.
const u32 dim = (u32)query_gain.len(), group = heads.shape(0);
rl_scratch(float, room, rl_attend_floats(group, dim));
rl_turn(rl_attend_heads(room), group, dim, rotary.data(),
    [&](u32 i, u32 k) { return qkv(block.index * group + i, k); },
    [&](u32, u32 k) { return (float)query_gain[k]; });
rl_each(p, full.len()) rl_attend_pages(room)[p] = full[(u32)p].at;
rl_sync();
const auto first = full[0];
rl_attend(room, heads, dim, full.len() * first.shape(2), first.shape(2), first.stride(1), first.stride(2));
