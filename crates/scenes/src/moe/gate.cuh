// Scores every expert for every token, x·gate + bias; stores the best two and the softmax of their scores.
const u32 tokens = x.shape(0), experts = (u32)bias.len(), pitch = experts + 1;
const u32 at_once = pitch <= 256 ? 64 : pitch <= 16384 ? 16384 / pitch : 1;
rl_scratch(float, room, RL_PRODUCT_FLOATS + (u64)at_once * pitch);
float *const scores = room + RL_PRODUCT_FLOATS;
for (u32 top = 0; top < tokens; top += at_once) {
    const u32 rows = (u32)rl_min(at_once, tokens - top);
    rl_product(room, rows, experts, x.shape(1),
        [&](u32 i, u32 d) { return x(top + i, d); },
        [&](u32 d, u32 e) { return e < gate.shape(1) ? gate(d, e) : 0.0f; },
        [&](u32 i, u32 e, float sum, u32 from) {
            scores[i * pitch + e] = (from ? scores[i * pitch + e] : bias[e]) + sum;
        });
    rl_each(i, rows) {
        float best = -RL_INFINITY, second = -RL_INFINITY;
        int32_t best_expert = 0, second_expert = 0;
        for (u32 e = 0; e < experts; e++) {
            const float score = scores[i * pitch + e];
            if (score > best) {
                second = best;
                second_expert = best_expert;
                best = score;
                best_expert = (int32_t)e;
            } else if (score > second) {
                second = score;
                second_expert = (int32_t)e;
            }
        }
        const float share = expf(second - best);
        route(top + i, 0) = best_expert;
        route(top + i, 1) = second_expert;
        weight(top + i, 0) = 1.0f / (1.0f + share);
        weight(top + i, 1) = share / (1.0f + share);
    }
}
