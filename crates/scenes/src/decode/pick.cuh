// The best token of each sequence, the first of several that are equal.
rl_scratch(float, highest, 2 * blockDim.x);
int32_t *const tokens = (int32_t *)(highest + blockDim.x);
for (u32 b = 0; b < token.len(); b++) {
    float high = -RL_INFINITY;
    int32_t at = -1;
    rl_each(i, best.shape(0)) {
        if (best(i, b) > high) {
            high = best(i, b);
            at = which(i, b);
        }
    }
    highest[threadIdx.x] = high;
    tokens[threadIdx.x] = at;
    rl_sync();
    for (u32 half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half) {
            const u32 own = threadIdx.x, other = own + half;
            const bool same = highest[other] == highest[own] && (u32)tokens[other] < (u32)tokens[own];
            if (highest[other] > highest[own] || same) {
                highest[own] = highest[other];
                tokens[own] = tokens[other];
            }
        }
        rl_sync();
    }
    rl_one token[b] = tokens[0];
    rl_sync();
}
