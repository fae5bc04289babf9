// Scores the experts for each token, router·norm(x); stores the best two and the softmax of their scores.
const u32 experts = router.shape(0);
rl_scratch(float, room, RL_ROWS_FLOATS + 1 + experts);
float *const scores = room + RL_ROWS_FLOATS + 1;
for (u32 b = 0; b < x.shape(0); b++) {
    rl_normed_rows(room, rl_rows_of(router.at, router.stride(0)), experts, router.shape(1), 1, 1,
        [&](u32, u32 k) { return x(b, k); },
        [&](u32 k) { return (float)gain[k]; },
        [&](u32 row, u32, float sum, float) { scores[row] = sum; });
    rl_one {
        float best = -RL_INFINITY, second = -RL_INFINITY;
        int32_t best_expert = 0, second_expert = 0;
        for (u32 e = 0; e < experts; e++) {
            if (scores[e] > best) {
                second = best;
                second_expert = best_expert;
                best = scores[e];
                best_expert = (int32_t)e;
            } else if (scores[e] > second) {
                second = scores[e];
                second_expert = (int32_t)e;
            }
        }
        const float part = expf(second - best);
        route(b, 0) = best_expert;
        route(b, 1) = second_expert;
        share(b, 0) = 1.0f / (1.0f + part);
        share(b, 1) = part / (1.0f + part);
    }
}
