// What a program in C can do: every kind of argument, views, scopes, values, edges, blocks, graphs, recordings; on several chips.
#include "check.h"

static int32_t set(void *user, const rl_call *call) {
    (void)user;
    CHECK(call->struct_size >= sizeof(rl_call) && call->value_size == sizeof(rl_value) && call->arg_count == 2);
    CHECK(call->args[0].kind == RL_ARG_TENSOR && call->args[0].writable == 1 && call->args[1].kind == RL_ARG_SCALAR);
    uint32_t *x = (uint32_t *)call->args[0].tensor.data;
    for (uint64_t i = 0; i < call->args[0].elements; i++) x[i] = call->args[1].scalar.u32 + call->block;
    return 0;
}

// Sums a matrix of any strides into one element; the user's data counts the calls.
static int32_t sum(void *user, const rl_call *call) {
    const rl_view *m = &call->args[0].tensor;
    CHECK(call->args[0].dtype == RL_U32 && m->ndim == 2 && m->dtype.code == 1 && m->dtype.bits == 32 && !call->args[0].writable);
    uint32_t total = 0;
    for (int64_t i = 0; i < m->shape[0]; i++)
        for (int64_t j = 0; j < m->shape[1]; j++)
            total += ((const uint32_t *)m->data)[i * m->strides[0] + j * m->strides[1]];
    *(uint32_t *)call->args[1].tensor.data = total;
    __atomic_fetch_add((int *)user, 1, __ATOMIC_RELAXED);
    return 0;
}

static int32_t cost(void *user, const rl_call *call, rl_cost *result) {
    (void)user;
    CHECK(call->args[0].tensor.data == NULL && call->args[0].elements > 0);
    result->kind = RL_COST_TICKS;
    result->amount = 1000;
    return 0;
}

static int calls;
static const rl_kernel *SET, *SUM;

static void make_kernels(void) {
    rl_param set_params[] = {rl_param_of(RL_PARAM_WRITE, RL_U32), rl_param_of(RL_PARAM_SCALAR, RL_U32)};
    rl_kernel_info info = kernel_info("SET", set, set_params, 2);
    info.cost = cost;
    OK(rl_kernel_new(&info, &SET));
    rl_param sum_params[] = {rl_param_of(RL_PARAM_READ, RL_U32), rl_param_of(RL_PARAM_WRITE, RL_U32)};
    sum_params[0].flags = 0;
    sum_params[0].rank = 2;
    info = kernel_info("SUM", sum, sum_params, 2);
    info.user = &calls;
    OK(rl_kernel_new(&info, &SUM));
}

static int32_t everything(void *user, rl_orch *o) {
    (void)user;
    rl_tensor x, made, tile, total, zeros, uploaded;
    uint32_t shape[] = {4, 6}, one[] = {1}, start[] = {1, 2}, len[] = {2, 3}, flat[] = {24}, rank, lengths[2], dtype;
    OK(rl_external(o, 0, &x));

    // In four blocks, each of which sets its own row to 5 and its index.
    rl_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.struct_size = sizeof launch;
    launch.kernel = SET;
    launch.blocks = 4;
    launch.label = "rows";
    rl_arg rows[] = {rl_split(rl_new(RL_U32, 2, shape), 0), rl_u32(5)};
    rl_task task;
    OK(rl_submit_launch(o, &launch, rows, 2, &made, 1, &task));

    OK(rl_tile(&made, 2, start, len, &tile));
    OK(rl_transpose(&tile, 0, 1, &tile));
    OK(rl_describe(&tile, &dtype, &rank, lengths, 2));
    CHECK(dtype == RL_U32 && rank == 2 && lengths[0] == 3 && lengths[1] == 2);
    rl_arg summed[] = {rl_in(&tile), rl_new(RL_U32, 1, one)};
    OK(rl_submit(o, SUM, summed, 2, &total, 1));
    uint32_t value = 0;
    OK(rl_read(o, &total, &value, sizeof value));
    CHECK(value == 3 * (5 + 1) + 3 * (5 + 2));

    // A scope, zeros, values of the program, an edge, a barrier.
    OK(rl_begin_scope(o, "layer 3"));
    OK(rl_alloc(o, RL_U32, 2, shape, &zeros));
    uint32_t values[24];
    for (uint32_t i = 0; i < 24; i++) values[i] = i;
    OK(rl_upload(o, RL_U32, 2, shape, values, sizeof values, &uploaded));
    OK(rl_barrier(o, NULL));
    launch.blocks = 0;
    launch.after = &task;
    launch.after_count = 1;
    OK(rl_reshape(&zeros, 1, flat, &zeros));
    rl_arg args[] = {rl_out(&zeros), rl_u32(9)};
    OK(rl_submit_launch(o, &launch, args, 2, NULL, 0, NULL));
    OK(rl_read(o, &zeros, values, sizeof values));
    CHECK(values[0] == 9 && values[23] == 9);
    rl_tensor row, repeated;
    OK(rl_select(&uploaded, 0, 3, &row));
    OK(rl_broadcast(&row, 2, &repeated));
    rl_arg again[] = {rl_in(&repeated), rl_new(RL_U32, 1, one)};
    OK(rl_submit(o, SUM, again, 2, &total, 1));
    OK(rl_read(o, &total, &value, sizeof value));
    CHECK(value == 2 * (18 + 19 + 20 + 21 + 22 + 23));
    OK(rl_end_scope(o));
    OK(rl_advance_time(o, 50));

    rl_arg last[] = {rl_out(&x), rl_u32(77)};
    return rl_submit(o, SET, last, 2, NULL, 0);
}

static int32_t named(void *user, rl_orch *o) {
    (void)user;
    rl_tensor x;
    OK(rl_external(o, 0, &x));
    rl_arg args[] = {rl_out(&x), rl_named(rl_u32(1), "value")};
    return rl_submit(o, SET, args, 2, NULL, 0);
}

static void captured(rl_runtime *runtime) {
    uint32_t x[8] = {0};
    int64_t shape[] = {8};
    rl_buffer buffer = rl_buffer_of(x, RL_U32, 1, shape, RL_BUFFER_WRITE);
    rl_graph *graph = NULL;
    OK(rl_capture(runtime, &buffer, 1, named, NULL, &graph));
    CHECK(x[0] == 0);
    OK(rl_replay(runtime, graph, &buffer, 1, NULL));
    CHECK(x[0] == 1 && x[7] == 1);
    rl_scalar value;
    value.bits = 0;
    value.u32 = 42;
    OK(rl_graph_set(graph, "value", RL_U32, value));
    OK(rl_replay(runtime, graph, &buffer, 1, NULL));
    CHECK(x[0] == 42 && x[7] == 42);
    FAILS(rl_graph_set(graph, "other", RL_U32, value), "UnknownParam");
    FAILS(rl_graph_set(graph, "value", RL_F32, value), "UnknownParam");
    rl_graph_free(graph);
}

// Every second column of a matrix, lent with its strides: used where it is.
static void strided(rl_runtime *runtime) {
    uint32_t x[16] = {0};
    int64_t shape[] = {2, 4}, strides[] = {8, 2};
    rl_buffer buffer = rl_buffer_of(x, RL_U32, 2, shape, RL_BUFFER_WRITE);
    buffer.view.strides = strides;
    FAILS(rl_run(runtime, &buffer, 1, named, NULL, NULL), "NotContiguous");
    int64_t row_shape[] = {4};
    buffer = rl_buffer_of(x, RL_U32, 1, row_shape, RL_BUFFER_WRITE);
    buffer.view.byte_offset = 16;
    OK(rl_run(runtime, &buffer, 1, named, NULL, NULL));
    CHECK(x[3] == 0 && x[4] == 1 && x[7] == 1 && x[8] == 0);
}

int main(int argc, char **argv) {
    CHECK(rl_abi_version() == RL_ABI_VERSION);
    make_kernels();
    const char *platforms[] = {"cpu", "a2a3sim", "a5sim"};
    for (int p = 0; p < 3; p++) {
        rl_runtime *runtime = runtime_on(platforms[p]);
        uint32_t x[10] = {0};
        int64_t shape[] = {10};
        rl_buffer buffer = rl_buffer_of(x, RL_U32, 1, shape, RL_BUFFER_WRITE);
        rl_report report;
        report.struct_size = sizeof report;
        if (argc > 1 && p == 1) {
            OK(rl_set_title(runtime, "programs", "everything"));
            OK(rl_record(runtime, argv[1]));
        }
        OK(rl_run(runtime, &buffer, 1, everything, NULL, &report));
        CHECK(x[0] == 77 && x[9] == 77);
        CHECK(report.tasks == 8 && report.blocks == 8 && report.failed == 0 && report.scopes == 2);
        if (argc > 1 && p == 1) OK(rl_write_report(runtime));
        captured(runtime);
        strided(runtime);
        rl_runtime_free(runtime);
    }
    CHECK(calls == 6);
    puts("programs: all well");
    return 0;
}
