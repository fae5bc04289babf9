// The header as C++17: a program and a kernel as lambdas without captures, the state in the user pointer. A kernel catches its
// exceptions; with an argument, `kernel` or `program`, one leaves it, which ends the process.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"

struct Scale {
    float factor;
    const rl_kernel *kernel;
};

static int32_t submit_to_first(void *user, rl_orch *o) {
    rl_tensor x;
    OK(rl_external(o, 0, &x));
    const rl_arg args[] = {rl_inout(&x)};
    return rl_submit(o, static_cast<const rl_kernel *>(user), args, 1, nullptr, 0);
}

static int32_t throws(void *, const rl_call *) { throw std::runtime_error("no such row"); }

static int32_t catches(void *user, const rl_call *call) {
    try {
        return throws(user, call);
    } catch (const std::exception &error) {
        return rl_fail(error.what());
    }
}

static int32_t program_throws(void *, rl_orch *) { throw std::runtime_error("no such table"); }

static void exceptions(rl_runtime *runtime, const std::string &leaves) {
    float x[4] = {};
    int64_t shape[] = {4};
    const rl_buffer buffer = rl_buffer_of(x, RL_F32, 1, shape, RL_BUFFER_WRITE);
    const rl_param params[] = {rl_param_of(RL_PARAM_WRITE, RL_F32)};
    const rl_kernel_info info = kernel_info("row", leaves == "kernel" ? throws : catches, params, 1);
    const rl_kernel *kernel;
    OK(rl_kernel_new(&info, &kernel));
    const rl_program_fn program = leaves == "program" ? program_throws : submit_to_first;
    FAILS(rl_run(runtime, &buffer, 1, program, const_cast<rl_kernel *>(kernel), nullptr), "TaskFailed");
    CHECK(std::string(rl_error_detail()).find("no such row") != std::string::npos);
}

int main(int argc, char **argv) {
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
    exceptions(runtime, argc > 1 ? argv[1] : "");
    rl_runtime_free(runtime);
    for (float value : y) CHECK(value == 6.0f);
    std::puts("cpp: all well");
}
