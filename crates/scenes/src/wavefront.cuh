// Smith-Waterman scores of one tile.
//
// A thread computes one row of a band, one column behind the thread of the row above, which leaves each score in `line`
// for it. Steps alternate between two lines, so that one barrier for each is enough.
const u32 rows = (u32)a.len(), cols = (u32)rl_min(tile.shape(1), b.len(), above.len() - 1);
rl_scratch(int32_t, line, 2 * blockDim.x);
const u32 t = threadIdx.x;
for (u32 band = 0; band < rows; band += blockDim.x) {
    const u32 i = band + t, used = (u32)rl_min(blockDim.x, rows - band);
    int32_t diagonal = 0, previous = 0;
    uint8_t letter = 0;
    if (t < used) {
        diagonal = i == 0 ? above[0] : left(i - 1, 0);
        previous = left(i, 0);
        letter = a[i];
    }
    for (u32 step = 0; step < cols + used - 1; step++) {
        // Of the step before: the row above is one column ahead.
        const int32_t *const before = line + (step + 1) % 2 * blockDim.x;
        if (t < used && step >= t && step - t < cols) {
            const u32 j = step - t;
            const int32_t up = t > 0 ? before[t - 1] : i == 0 ? above[j + 1] : tile(i - 1, j);
            const int32_t pair = diagonal + (letter == b[j] ? 2 : -1);
            const int32_t gap = (previous > up ? previous : up) - 1;
            previous = pair > gap ? pair : gap;
            previous = previous > 0 ? previous : 0;
            diagonal = up;
            line[step % 2 * blockDim.x + t] = previous;
            tile(i, j) = previous;
        }
        rl_sync();
    }
}
