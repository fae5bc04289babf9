// The header as C++17: a program and a kernel as lambdas without captures, the state in the user pointer.
#include <cstdio>
#include <vector>

#include "check.h"

struct Scale {
    float factor;
    const rl_kernel *kernel;
};

int main() {
    Scale scale{3.0f, nullptr};
    const rl_param params[] = {rl_param_of(RL_PARAM_READ, RL_F32), rl_param_of(RL_PARAM_WRITE, RL_F32)};
    rl_kernel_info info = kernel_info(
        "scale",
        [](void *user, const rl_call *call) -> int32_t {
            const auto *x = static_cast<const float *>(call->args[0].tensor.data);
            auto *y = static_cast<float *>(call->args[1].tensor.data);
            for (uint64_t i = 0; i < call->args[0].elements; i++) y[i] = static_cast<Scale *>(user)->factor * x[i];
            return 0;
        },
        params, 2);
    info.user = &scale;
    OK(rl_kernel_new(&info, &scale.kernel));

    std::vector<float> x(64, 2.0f), y(64);
    int64_t shape[] = {64};
    const rl_buffer buffers[] = {
        rl_buffer_of(x.data(), RL_F32, 1, shape, RL_BUFFER_READ),
        rl_buffer_of(y.data(), RL_F32, 1, shape, RL_BUFFER_WRITE),
    };
    rl_runtime *runtime = runtime_on("cpu");
    OK(rl_run(
        runtime, buffers, 2,
        [](void *user, rl_orch *o) -> int32_t {
            rl_tensor in, out;
            OK(rl_external(o, 0, &in));
            OK(rl_external(o, 1, &out));
            const rl_arg args[] = {rl_in(&in), rl_out(&out)};
            return rl_submit(o, static_cast<Scale *>(user)->kernel, args, 2, nullptr, 0);
        },
        &scale, nullptr));
    rl_runtime_free(runtime);
    for (float value : y) CHECK(value == 6.0f);
    std::puts("cpp: all well");
}
