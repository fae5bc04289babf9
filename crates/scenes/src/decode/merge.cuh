// Combines the parts of a context: each counts as much as its sum, after all are scaled to the largest maximum.
const u32 dim = heads.shape(1) - 2;
for (u32 i = 0; i < heads.shape(0); i++) {
    float max = -RL_INFINITY, total = 0.0f;
    for (u32 p = 0; p < parts.len(); p++) max = fmaxf(max, parts[p](i, dim));
    for (u32 p = 0; p < parts.len(); p++) total += expf(parts[p](i, dim) - max) * parts[p](i, dim + 1);
    rl_each(k, dim) {
        float sum = 0.0f;
        for (u32 p = 0; p < parts.len(); p++) {
            sum += expf(parts[p](i, dim) - max) * parts[p](i, dim + 1) / total * parts[p](i, k);
        }
        heads(i, k) = sum;
    }
    rl_one {
        heads(i, dim) = max;
        heads(i, dim + 1) = total;
    }
}
