// The logits of some tokens: the norm of x, times their rows of the table; and the best of them for each sequence, the first
// of several that are equal.
const u32 batch = x.shape(0), rows = table.shape(0), own = first + block.index * ((vocab + block.count - 1) / block.count);
if (best.shape(0) == 0) return;
rl_scratch(float, room, RL_ROWS_FLOATS + batch);
rl_normed_rows(room, rl_rows_of(table.at, table.stride(0)), rows, table.shape(1), batch, 1,
    [&](u32 b, u32 k) { return x(b, k); },
    [&](u32 k) { return (float)gain[k]; },
    [&](u32 row, u32 b, float sum, float) { logits(b, row) = sum; });
float *const highest = room;
u32 *const where = (u32 *)(room + blockDim.x);
for (u32 b = 0; b < batch; b++) {
    float high = -RL_INFINITY;
    u32 at = (u32)-1;
    rl_each(row, rows) {
        const float logit = logits(b, row);
        if (logit > high) {
            high = logit;
            at = (u32)row;
        }
    }
    highest[threadIdx.x] = high;
    where[threadIdx.x] = at;
    rl_sync();
    for (u32 half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half) {
            const u32 other = threadIdx.x + half;
            const bool better = highest[other] > highest[threadIdx.x];
            if (better || (highest[other] == highest[threadIdx.x] && where[other] < where[threadIdx.x])) {
                highest[threadIdx.x] = highest[other];
                where[threadIdx.x] = where[other];
            }
        }
        rl_sync();
    }
    rl_one {
        best(0, b) = highest[0];
        which(0, b) = where[0] == (u32)-1 ? -1 : (int32_t)(own + where[0]);
    }
    rl_sync();
}
