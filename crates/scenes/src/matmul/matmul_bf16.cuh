// C += A·B
rl_scratch(rl_eight, room, RL_TENSOR_CHUNKS);
rl_tensor_product(room, a, b, c);
