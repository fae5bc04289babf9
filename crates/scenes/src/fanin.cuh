// Adds tensors, each multiplied by its weight for this consumer. Arguments: the tensors, the consumer, the sum.
typedef rl_slice<const float> input;
rl_args last = rl_given;
u32 count = 0;
for (; (last.words[0] >> 40 & 255) != RL_SCALAR; count++) rl_rest<input>::rl_skip(last);
const u32 consumer = rl_take<u32>::from(last);
const rl_slice<float> sum = rl_take<rl_slice<float>>::from(last);

struct producer { const float *data; u64 len; float weight; };
rl_scratch(producer, producers, count);
const rl_rest<input> inputs = {rl_given, count};
rl_each(p, count) {
    const input x = inputs[(u32)p];
    producers[p] = producer{x.data(), x.len(), (float)(((u32)p * 5 + consumer * 3) % 9) / 4.0f - 1.0f};
}
rl_sync();
rl_each(i, sum.len()) {
    float total = 0.0f;
    for (u32 p = 0; p < count; p++) {
        if (i < producers[p].len) total += producers[p].weight * producers[p].data[i];
    }
    sum[i] = total;
}
