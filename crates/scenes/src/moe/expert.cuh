// One expert on the tokens that chose it, in order: y = relu(x·up)·down
//
// Tokens are processed in groups, and the hidden values of a group in pieces, so that both fit into scratch memory.
enum { WINDOW = 4096, GROUP = 64, PIECE = 128 };
rl_scratch(float, room, RL_PRODUCT_FLOATS + GROUP * PIECE + WINDOW + RL_SELECT_WORDS);
float *const hidden = room + RL_PRODUCT_FLOATS;
u32 *const chosen = (u32 *)(hidden + GROUP * PIECE);
const u32 tokens = route.shape(0), width = up.shape(1), cols = (u32)rl_min(y.shape(1), down.shape(1));
u32 at = 0;
for (u32 first = 0; first < tokens; first += WINDOW) {
    const u32 count = rl_select(chosen, (u32)rl_min(WINDOW, tokens - first), [&](u32 token) {
        bool found = false;
        for (u32 c = 0; c < route.shape(1); c++) found |= route(first + token, c) == expert;
        return found;
    });
    for (u32 group = 0; group < count; group += GROUP) {
        const u32 rows = (u32)rl_min(GROUP, count - group);
        for (u32 h = 0; h == 0 || h < width; h += PIECE) {
            const u32 piece = (u32)rl_min(PIECE, width - h);
            rl_product(room, rows, piece, x.shape(1),
                [&](u32 i, u32 d) { return x(first + chosen[group + i], d); },
                [&](u32 d, u32 j) { return up(d, h + j); },
                [&](u32 i, u32 j, float sum, u32 from) {
                    hidden[i * PIECE + j] = (from ? hidden[i * PIECE + j] : 0.0f) + sum;
                });
            rl_product(room, rows, cols, piece,
                [&](u32 i, u32 k) { return fmaxf(hidden[i * PIECE + k], 0.0f); },
                [&](u32 k, u32 j) { return down(h + k, j); },
                [&](u32 i, u32 j, float sum, u32 from) {
                    y(at + group + i, j) = (h || from ? y(at + group + i, j) : 0.0f) + sum;
                });
        }
    }
    at += count;
}
