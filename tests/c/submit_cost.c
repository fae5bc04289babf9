// What a submit costs from C: N tasks with three tensors and a scalar, in batches of 50, of which none runs before the last is
// submitted. The example `submit_cost` of crates/capi is the same in Rust. Prints nanoseconds: of a submit, the median over the
// batches; of a task with its submit and its kernel, the mean. Under callgrind, the instructions of two N give those of a task.
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "check.h"

static int32_t add(void *user, const rl_call *call) {
    (void)user;
    float *z = (float *)call->args[2].tensor.data;
    z[0] = ((const float *)call->args[0].tensor.data)[0] + call->args[3].scalar.f32 * ((const float *)call->args[1].tensor.data)[0];
    return 0;
}

enum { BATCH = 50 };

struct work {
    const rl_kernel *kernel;
    uint32_t batches;
    double *ns;
};

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int32_t program(void *user, rl_orch *o) {
    const struct work *work = (const struct work *)user;
    rl_tensor x, y, z;
    int32_t status;
    if ((status = rl_external(o, 0, &x)) || (status = rl_external(o, 1, &y)) || (status = rl_external(o, 2, &z))) return status;
    for (uint32_t batch = 0; batch < work->batches; batch++) {
        float values[16];
        if ((status = rl_begin_scope(o, NULL))) return status;
        double start = now_ns();
        for (int i = 0; i < BATCH; i++) {
            rl_arg args[] = {rl_in(&x), rl_in(&y), rl_inout(&z), rl_f32(2.0f)};
            if ((status = rl_submit(o, work->kernel, args, 4, NULL, 0))) return status;
        }
        work->ns[batch] = (now_ns() - start) / BATCH;
        if ((status = rl_end_scope(o)) || (status = rl_read(o, &z, values, sizeof values))) return status;
    }
    return RL_OK;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    struct work work = {NULL, (uint32_t)atoi(argv[1]) / BATCH, NULL};
    CHECK(work.batches > 0 && (work.ns = (double *)malloc(work.batches * sizeof(double))));
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
    double start = now_ns();
    OK(rl_run(runtime, buffers, 3, program, &work, NULL));
    double whole = now_ns() - start;
    CHECK(z[0] == 3.0f);
    qsort(work.ns, work.batches, sizeof(double), compare);
    printf("C: %.0f ns a submit, %.0f ns a task\n", work.ns[work.batches / 2], whole / work.batches / BATCH);
    free(work.ns);
    rl_runtime_free(runtime);
    return 0;
}
