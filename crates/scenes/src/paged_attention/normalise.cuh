// out = acc / sum, row by row
const u32 cols = (u32)rl_min(out.shape(1), acc.shape(1));
rl_each(e, sum.len() * cols) {
    const u32 i = (u32)e / cols, j = (u32)e % cols;
    out(i, j) = acc(i, j) / sum[i];
}
