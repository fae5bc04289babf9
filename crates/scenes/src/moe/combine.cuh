// Adds the output of one expert, multiplied by its weight, to the tokens that chose it.
enum { WINDOW = 4096 };
rl_scratch(u32, chosen, WINDOW + RL_SELECT_WORDS);
const u32 tokens = route.shape(0), cols = (u32)rl_min(y.shape(1), part.shape(1));
u32 at = 0;
for (u32 first = 0; first < tokens; first += WINDOW) {
    const u32 count = rl_select(chosen, (u32)rl_min(WINDOW, tokens - first), [&](u32 token) {
        bool found = false;
        for (u32 c = 0; c < route.shape(1); c++) found |= route(first + token, c) == expert;
        return found;
    });
    rl_each(e, (u64)count * cols) {
        const u32 r = (u32)(e / cols), j = (u32)(e % cols), token = first + chosen[r];
        y(token, j) += weight(token, route(token, 0) != expert) * part(at + r, j);
    }
    rl_sync();
    at += count;
}
