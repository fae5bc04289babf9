// What a submit costs from C: N tasks with three tensors and a scalar, in scopes of 1,000. The example `submit_cost` of
// crates/capi is the same in Rust. Prints nanoseconds a task; under callgrind, the instructions of two N give those of a task.
#include <time.h>

#include "check.h"

static int32_t add(void *user, const rl_call *call) {
    (void)user;
    float *z = (float *)call->args[2].tensor.data;
    z[0] = ((const float *)call->args[0].tensor.data)[0] + call->args[3].scalar.f32 * ((const float *)call->args[1].tensor.data)[0];
    return 0;
}

struct work {
    const rl_kernel *kernel;
    uint32_t tasks;
};

static int32_t program(void *user, rl_orch *o) {
    const struct work *work = (const struct work *)user;
    rl_tensor x, y, z;
    int32_t status;
    if ((status = rl_external(o, 0, &x)) || (status = rl_external(o, 1, &y)) || (status = rl_external(o, 2, &z))) return status;
    for (uint32_t i = 0; i < work->tasks; i++) {
        if (i % 1000 == 0 && (status = rl_begin_scope(o, NULL))) return status;
        rl_arg args[] = {rl_in(&x), rl_in(&y), rl_inout(&z), rl_f32(2.0f)};
        if ((status = rl_submit(o, work->kernel, args, 4, NULL, 0))) return status;
        if (i % 1000 == 999 && (status = rl_end_scope(o))) return status;
    }
    return RL_OK;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    struct work work = {NULL, (uint32_t)atoi(argv[1]) / 1000 * 1000};
    rl_param params[] = {rl_param_of(RL_PARAM_READ, RL_F32), rl_param_of(RL_PARAM_READ, RL_F32),
                         rl_param_of(RL_PARAM_WRITE, RL_F32), rl_param_of(RL_PARAM_SCALAR, RL_F32)};
    rl_kernel_info info = kernel_info("ADD", add, params, 4);
    OK(rl_kernel_new(&info, &work.kernel));
    rl_runtime_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options, options.abi_version = RL_ABI_VERSION, options.threads = 1;
    rl_runtime *runtime;
    OK(rl_runtime_new(&options, &runtime));
    float x[16] = {1}, y[16] = {1}, z[16] = {0};
    int64_t shape[] = {16};
    rl_buffer buffers[] = {rl_buffer_of(x, RL_F32, 1, shape, RL_BUFFER_READ), rl_buffer_of(y, RL_F32, 1, shape, RL_BUFFER_READ),
                           rl_buffer_of(z, RL_F32, 1, shape, RL_BUFFER_WRITE)};
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    OK(rl_run(runtime, buffers, 3, program, &work, NULL));
    clock_gettime(CLOCK_MONOTONIC, &end);
    CHECK(z[0] == 3.0f);
    double ns = 1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec);
    printf("C: %.0f ns a task\n", ns / (double)work.tasks);
    rl_runtime_free(runtime);
    return 0;
}
