// Merges a block into the blocks before it. A running sum of 0 means that there are none yet.
const u32 cols = (u32)rl_min(acc.shape(1), o.shape(1)), at_once = 1024;
rl_scratch(float, factors, 2 * at_once);
for (u64 top = 0; top < max.len(); top += at_once) {
    const u32 rows = (u32)rl_min(at_once, max.len() - top);
    rl_each(r, rows) {
        const u64 i = top + r;
        const bool empty = running_sum[i] == 0.0f;
        const float joint = empty ? max[i] : fmaxf(running_max[i], max[i]);
        const float before = empty ? 0.0f : expf(running_max[i] - joint), added = expf(max[i] - joint);
        running_max[i] = joint;
        running_sum[i] = before * running_sum[i] + added * sum[i];
        factors[2 * r] = before;
        factors[2 * r + 1] = added;
    }
    rl_sync();
    rl_each(e, (u64)rows * cols) {
        const u32 r = (u32)e / cols, j = (u32)e % cols;
        acc(top + r, j) = factors[2 * r] * acc(top + r, j) + factors[2 * r + 1] * o(top + r, j);
    }
    rl_sync();
}
