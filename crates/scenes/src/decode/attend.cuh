// Appends the key and the value of the newest position to the last page, then attends to that page and to full ones.
const u32 dim = (u32)query_gain.len(), group = heads.shape(0), queries = qkv.shape(0) - 2 * block.count;
rl_scratch(float, room, rl_attend_floats(group + 1, dim));
rl_prefetch(later.at, (u64)later.shape(0) * later.stride(0) * sizeof(rl_bf16));
float *const turned = rl_attend_heads(room);
const u32 key = queries + block.index, value = key + block.count;
rl_turn(turned, group + 1, dim, rotary.data(),
    [&](u32 i, u32 k) { return qkv(i < group ? block.index * group + i : key, k); },
    [&](u32 i, u32 k) { return (float)(i < group ? query_gain[k] : key_gain[k]); });
rl_mark(2);
rl_each(p, full.len()) rl_attend_pages(room)[p] = full[(u32)p].at;
rl_one rl_attend_pages(room)[full.len()] = last.at;
rl_sync();
rl_mark(3);
rl_bf16 *const newest = last.at + (u64)slot * last.stride(2);
rl_each(k, dim) {
    newest[k] = turned[group * dim + k];
    newest[last.stride(1) + k] = qkv(value, k);
}
rl_sync();
rl_mark(4);
rl_attend(room, heads, dim, full.len() * last.shape(2) + slot + 1, last.shape(2), last.stride(1), last.stride(2));
