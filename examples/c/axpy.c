// y = a·x + y in tiles, in C. Build and run it with tests/c/run, or by hand as docs/from-c.md shows.
#include <stdio.h>

#include "ringlane.h"

enum { N = 1 << 16, TILES = 16, TILE = N / TILES };

static int32_t axpy(void *user, const rl_call *call) {
    (void)user;
    const float *x = (const float *)call->args[0].tensor.data;
    float *y = (float *)call->args[1].tensor.data;
    float a = call->args[2].scalar.f32;
    for (uint64_t i = 0; i < call->args[0].elements; i++) y[i] += a * x[i];
    return 0;
}

// Submits the tasks; returns the status of the first call that fails, and the run then fails with its error.
static int32_t program(void *user, rl_orch *o) {
    const rl_kernel *kernel = (const rl_kernel *)user;
    rl_tensor x, y, x_tile, y_tile;
    int32_t status;
    if ((status = rl_external(o, 0, &x))) return status;
    if ((status = rl_external(o, 1, &y))) return status;
    for (uint32_t i = 0; i < TILES; i++) {
        if ((status = rl_slice(&x, 0, i * TILE, TILE, &x_tile))) return status;
        if ((status = rl_slice(&y, 0, i * TILE, TILE, &y_tile))) return status;
        rl_arg args[] = {rl_in(&x_tile), rl_inout(&y_tile), rl_f32(2.0f)};
        if ((status = rl_submit(o, kernel, args, 3, NULL, 0))) return status;
    }
    return RL_OK;
}

static int failed(void) {
    fprintf(stderr, "%s: %s (hint: %s)\n", rl_error_name(), rl_error_detail(), rl_error_hint());
    return 1;
}

int main(void) {
    static float x[N], y[N];
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1.0f;

    rl_param params[] = {
        rl_param_of(RL_PARAM_READ, RL_F32),
        rl_param_of(RL_PARAM_WRITE, RL_F32),
        rl_param_of(RL_PARAM_SCALAR, RL_F32),
    };
    rl_kernel_info info = {0};
    info.struct_size = sizeof info;
    info.core = RL_CORE_AIV;
    info.name = "axpy";
    info.params = params;
    info.param_count = 3;
    info.function = axpy;
    const rl_kernel *kernel;
    if (rl_kernel_new(&info, &kernel)) return failed();

    rl_runtime *runtime;
    if (rl_runtime_new(NULL, &runtime)) return failed();

    int64_t shape[] = {N};
    rl_buffer buffers[] = {
        rl_buffer_of(x, RL_F32, 1, shape, RL_BUFFER_READ),
        rl_buffer_of(y, RL_F32, 1, shape, RL_BUFFER_WRITE),
    };
    rl_report report;
    report.struct_size = sizeof report;
    if (rl_run(runtime, buffers, 2, program, (void *)kernel, &report)) return failed();
    rl_runtime_free(runtime);

    for (int i = 0; i < N; i++) {
        if (y[i] != 1.0f + 2.0f * (float)i) {
            fprintf(stderr, "y[%d] is %g\n", i, (double)y[i]);
            return 1;
        }
    }
    printf("%llu tasks, y[3] = %g\n", (unsigned long long)report.tasks, (double)y[3]);
    return 0;
}
