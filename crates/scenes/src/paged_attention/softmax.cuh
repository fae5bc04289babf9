// Each row of scores becomes exp(s - max); its maximum and the sum of the results are stored.
//
// `wide` threads share a row; each leaves its part of a result in scratch memory, and all of them combine the parts.
const u32 rows = (u32)rl_min(max.len(), sum.len()), cols = s.shape(1);
const u32 wide = blockDim.x < 256 ? 1 : rows < 16 ? 64 : 16, high = blockDim.x / wide;
const u32 ti = threadIdx.x / wide, tj = threadIdx.x % wide;
rl_scratch(float, parts, 2 * blockDim.x);
float *const largest = parts + ti * wide, *const sums = largest + blockDim.x;
for (u32 top = 0; top < rows; top += high) {
    const u32 i = top + ti;
    float high_score = -RL_INFINITY, total = 0.0f;
    if (i < rows) for (u32 j = tj; j < cols; j += wide) high_score = fmaxf(high_score, s(i, j));
    largest[tj] = high_score;
    rl_sync();
    for (u32 w = 0; w < wide; w++) high_score = fmaxf(high_score, largest[w]);
    if (i < rows) for (u32 j = tj; j < cols; j += wide) total += s(i, j) = expf(s(i, j) - high_score);
    sums[tj] = total;
    rl_sync();
    if (i < rows && tj == 0) {
        for (u32 w = 1; w < wide; w++) total += sums[w];
        max[i] = high_score;
        sum[i] = total;
    }
}
