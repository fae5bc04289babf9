// The row of the table that belongs to each token.
for (u32 b = 0; b < tokens.len(); b++) {
    const int32_t token = tokens[b];
    if (token < 0 || (u32)token >= table.shape(0)) {
        rl_fail("the table has no such token");
        return;
    }
    rl_each(k, x.shape(1)) x(b, k) = table((u32)token, k);
}
