// Combines the parts of a context: each counts as much as its sum, after all are scaled to the largest maximum.
// All parts have rows at the same distance.
const u32 dim = heads.shape(1) - 2, count = parts.len();
rl_scratch(float, room, 3 * count);
const float **const from = (const float **)room;
float *const weights = room + 2 * count;
rl_each(p, count) from[p] = parts[(u32)p].at;
rl_sync();
const u32 stride = count ? parts[0].stride(0) : 0;
for (u32 i = 0; i < heads.shape(0); i++) {
    const u32 at = i * stride;
    float max = -RL_INFINITY, total = 0.0f;
    for (u32 p = 0; p < count; p++) max = fmaxf(max, from[p][at + dim]);
    for (u32 p = 0; p < count; p++) total += expf(from[p][at + dim] - max) * from[p][at + dim + 1];
    rl_each(p, count) weights[p] = expf(from[p][at + dim] - max) * from[p][at + dim + 1] / total;
    rl_sync();
    rl_each(k, dim) {
        float sum = 0.0f;
        for (u32 p = 0; p < count; p++) sum += weights[p] * from[p][at + k];
        heads(i, k) = sum;
    }
    rl_one {
        heads(i, dim) = max;
        heads(i, dim + 1) = total;
    }
    rl_sync();
}
