// Everything that a caller can do wrong: each is a named error, and the next call works.
#include <pthread.h>

#include "check.h"

static int32_t set(void *user, const rl_call *call) {
    (void)user;
    *(uint32_t *)call->args[0].tensor.data = call->args[1].scalar.u32;
    return 0;
}

static int32_t fails(void *user, const rl_call *call) {
    (void)call;
    return user ? rl_fail((const char *)user) : 7;
}

static rl_orch *kept_orch;

// The program waits on this thread of a modelled chip, so a call of the kernel would be inside of the program's own.
static int32_t calls_back(void *user, const rl_call *call) {
    (void)user, (void)call;
    FAILS(rl_barrier(kept_orch, NULL), "NotInOrchestration");
    FAILS(rl_begin_scope(kept_orch, NULL), "NotInOrchestration");
    return rl_fail(rl_error_name());
}

static const rl_kernel *SET, *FAILS_WITH_TEXT, *FAILS_WITH_NUMBER, *CALLS_BACK;
static rl_tensor kept_tensor;
static rl_task kept_task;

static void kernels(void) {
    rl_param params[] = {rl_param_of(RL_PARAM_WRITE, RL_U32), rl_param_of(RL_PARAM_SCALAR, RL_U32)};
    rl_kernel_info info = kernel_info("SET", set, params, 2);
    const rl_kernel *kernel;
    OK(rl_kernel_new(&info, &SET));
    rl_kernel_info failing = kernel_info("FAILS", fails, params, 2);
    OK(rl_kernel_new(&failing, &FAILS_WITH_NUMBER));
    failing.user = (void *)"the table is empty";
    OK(rl_kernel_new(&failing, &FAILS_WITH_TEXT));

    failing.function = calls_back;
    OK(rl_kernel_new(&failing, &CALLS_BACK));

    FAILS(rl_kernel_new(NULL, &kernel), "NullPointer");
    FAILS(rl_kernel_new(&info, NULL), "NullPointer");
    rl_kernel_info wrong = info;
    wrong.struct_size = 8;
    FAILS(rl_kernel_new(&wrong, &kernel), "BadStruct");
    wrong = info, wrong.name = NULL;
    FAILS(rl_kernel_new(&wrong, &kernel), "NullPointer");
    wrong = info, wrong.name = "";
    FAILS(rl_kernel_new(&wrong, &kernel), "BadKernel");
    wrong = info, wrong.name = "\xff";
    FAILS(rl_kernel_new(&wrong, &kernel), "NotText");
    wrong = info, wrong.function = NULL;
    FAILS(rl_kernel_new(&wrong, &kernel), "NullPointer");
    wrong = info, wrong.params = NULL;
    FAILS(rl_kernel_new(&wrong, &kernel), "NullPointer");
    wrong = info, wrong.core = 9;
    FAILS(rl_kernel_new(&wrong, &kernel), "BadNumber");
    wrong = info, wrong.cuda_source = "y[0] = 1;";
    FAILS(rl_kernel_new(&wrong, &kernel), "NullPointer");
    params[0].dtype = 99;
    FAILS(rl_kernel_new(&info, &kernel), "BadNumber");
    params[0].dtype = RL_U32, params[0].rank = 9;
    FAILS(rl_kernel_new(&info, &kernel), "BadNumber");
    params[0].rank = -1, params[1].struct_size = 1;
    FAILS(rl_kernel_new(&info, &kernel), "BadStruct");
    params[1].struct_size = sizeof(rl_param), params[0].flags |= RL_PARAM_REST;
    FAILS(rl_kernel_new(&info, &kernel), "BadKernel");
}

static void runtimes(void) {
    rl_runtime *runtime;
    rl_runtime_options options;
    memset(&options, 0, sizeof options);
    FAILS(rl_runtime_new(&options, &runtime), "BadStruct");
    options.struct_size = sizeof options;
    FAILS(rl_runtime_new(&options, &runtime), "AbiVersion");
    options.abi_version = RL_ABI_VERSION;
    FAILS(rl_runtime_new(&options, NULL), "NullPointer");
    options.platform = "abacus";
    FAILS(rl_runtime_new(&options, &runtime), "UnknownPlatform");
    options.platform = NULL, options.dfx_flags = 1;
    FAILS(rl_runtime_new(&options, &runtime), "MissingOutputPrefix");
    options.dfx_flags = 0, options.ring_task_window[1] = 20;
    FAILS(rl_runtime_new(&options, &runtime), "CapacityNotPowerOfTwo");
    options.ring_task_window[1] = 0, options.drop_records = 5;
    FAILS(rl_runtime_new(&options, &runtime), "BadNumber");

    // A struct of a newer header is taken if its new fields are zero.
    struct {
        rl_runtime_options known;
        uint64_t added;
    } newer;
    memset(&newer, 0, sizeof newer);
    newer.known.struct_size = sizeof newer, newer.known.abi_version = RL_ABI_VERSION;
    OK(rl_runtime_new(&newer.known, &runtime));
    rl_runtime_free(runtime);
    newer.added = 1;
    FAILS(rl_runtime_new(&newer.known, &runtime), "BadStruct");

    FAILS(rl_run(NULL, NULL, 0, NULL, NULL, NULL), "NullPointer");
    FAILS(rl_record(NULL, "x"), "NullPointer");
    FAILS(rl_interrupt(NULL), "NullPointer");
    rl_runtime_free(NULL);
    rl_graph_free(NULL);
}

static int32_t nothing(void *user, rl_orch *o) {
    (void)user, (void)o;
    return RL_OK;
}

static int32_t own_error(void *user, rl_orch *o) {
    (void)user, (void)o;
    return 99;
}

static void buffers(rl_runtime *runtime) {
    uint32_t x[4] = {0};
    int64_t shape[] = {4}, negative[] = {-1}, empty[] = {0};
    rl_buffer good = rl_buffer_of(x, RL_U32, 1, shape, RL_BUFFER_WRITE), buffer = good;
    FAILS(rl_run(runtime, NULL, 1, nothing, NULL, NULL), "NullPointer");
    FAILS(rl_run(runtime, &good, 1, NULL, NULL, NULL), "NullPointer");
    buffer.struct_size = 4;
    FAILS(rl_run(runtime, &buffer, 1, nothing, NULL, NULL), "BadStruct");
    buffer = good, buffer.view.data = NULL;
    FAILS(rl_run(runtime, &buffer, 1, nothing, NULL, NULL), "NullPointer");
    buffer = good, buffer.view.shape = NULL;
    FAILS(rl_run(runtime, &buffer, 1, nothing, NULL, NULL), "NullPointer");
    buffer = good, buffer.view.ndim = 9;
    FAILS(rl_run(runtime, &buffer, 1, nothing, NULL, NULL), "BadNumber");
    buffer = good, buffer.view.shape = negative;
    FAILS(rl_run(runtime, &buffer, 1, nothing, NULL, NULL), "BadNumber");
    buffer = good, buffer.view.shape = empty;
    FAILS(rl_run(runtime, &buffer, 1, nothing, NULL, NULL), "EmptyView");
    buffer = good, buffer.view.strides = negative;
    FAILS(rl_run(runtime, &buffer, 1, nothing, NULL, NULL), "BadNumber");
    buffer = good, buffer.view.dtype.lanes = 4;
    FAILS(rl_run(runtime, &buffer, 1, nothing, NULL, NULL), "BadNumber");
    buffer = good, buffer.view.device.device_type = 2;
    FAILS(rl_run(runtime, &buffer, 1, nothing, NULL, NULL), "BadNumber");
    buffer = good, buffer.permission = 3;
    FAILS(rl_run(runtime, &buffer, 1, nothing, NULL, NULL), "BadNumber");
    buffer = good, buffer.view.byte_offset = 2;
    FAILS(rl_run(runtime, &buffer, 1, nothing, NULL, NULL), "MisalignedView");
    rl_buffer twice[] = {good, good};
    FAILS(rl_run(runtime, twice, 2, nothing, NULL, NULL), "BufferOverlap");
    rl_report report;
    report.struct_size = 4;
    FAILS(rl_run(runtime, &good, 1, nothing, NULL, &report), "BadStruct");
    FAILS(rl_run(runtime, &good, 1, own_error, NULL, NULL), "ProgramFailed");
    CHECK(rl_run(runtime, &good, 1, own_error, NULL, NULL) == 99);
    FAILS(rl_write_report(runtime), "NoRecording");
    OK(rl_run(runtime, &good, 1, nothing, NULL, NULL));
}

static void *on_another_thread(void *o) {
    FAILS(rl_barrier((rl_orch *)o, NULL), "WrongThread");
    return NULL;
}

static int32_t wrong_submits(void *user, rl_orch *o) {
    rl_runtime *runtime = (rl_runtime *)user;
    rl_tensor x, made, zeros;
    uint32_t shape[] = {4}, value;
    memset(&zeros, 0, sizeof zeros);
    FAILS(rl_external(o, 7, &x), "WrongCount");
    FAILS(rl_external(o, 0, NULL), "NullPointer");
    FAILS(rl_external(NULL, 0, &x), "NullPointer");
    OK(rl_external(o, 0, &x));
    FAILS(rl_run(runtime, NULL, 0, nothing, NULL, NULL), "RuntimeBusy");

    rl_arg good[] = {rl_out(&x), rl_u32(1)}, args[2];
    FAILS(rl_submit(o, NULL, good, 2, NULL, 0), "NullPointer");
    FAILS(rl_submit(o, SET, NULL, 2, NULL, 0), "NullPointer");
    FAILS(rl_submit(o, SET, good, 1, NULL, 0), "ArgCount");
    FAILS(rl_submit(o, SET, good, 2, &made, 1), "WrongCount");
    memcpy(args, good, sizeof args), args[0].struct_size = 3;
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "BadStruct");
    memcpy(args, good, sizeof args), args[0].kind = 17;
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "BadNumber");
    memcpy(args, good, sizeof args), args[0].access = 17;
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "BadNumber");
    memcpy(args, good, sizeof args), args[0].split = 300;
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "BadNumber");
    memcpy(args, good, sizeof args), args[0].split = 3;
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "BadSplit");
    memcpy(args, good, sizeof args), args[0].tensor = NULL;
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "NullPointer");
    memcpy(args, good, sizeof args), args[0] = rl_in(&x);
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "ArgKind");
    memcpy(args, good, sizeof args), args[1] = rl_f32(1.0f);
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "ArgDType");
    args[1] = rl_scalar_arg(RL_BOOL, 2);
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "BadNumber");
    args[1] = rl_scalar_arg(99, 2);
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "BadNumber");
    rl_arg output[] = {rl_new(RL_U32, 1, shape), rl_u32(1)};
    FAILS(rl_submit(o, SET, output, 2, NULL, 0), "WrongCount");
    FAILS(rl_submit(o, SET, output, 2, NULL, 1), "WrongCount");
    output[0].ndim = 100;
    FAILS(rl_submit(o, SET, output, 2, &made, 1), "BadNumber");
    output[0].ndim = 1, output[0].shape = NULL;
    FAILS(rl_submit(o, SET, output, 2, &made, 1), "NullPointer");

    // Handles: of zeros, of bytes that no call wrote, of a scope that ended, of a run that is over.
    args[0] = rl_out(&zeros), args[1] = rl_u32(1);
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "StaleHandle");
    rl_tensor garbage;
    memset(&garbage, 0xff, sizeof garbage);
    args[0] = rl_out(&garbage);
    FAILS(rl_submit(o, SET, args, 2, NULL, 0), "NotATensor");
    FAILS(rl_slice(&garbage, 0, 0, 1, &made), "NotATensor");
    CHECK(rl_read(o, &zeros, &value, 4) == RL_STALE_HANDLE);
    if (kept_orch) {
        args[0] = rl_out(&kept_tensor);
        FAILS(rl_submit(o, SET, args, 2, NULL, 0), "StaleHandle");
    }
    OK(rl_begin_scope(o, NULL));
    OK(rl_alloc(o, RL_U32, 1, shape, &made));
    OK(rl_barrier(o, &kept_task));
    OK(rl_end_scope(o));
    FAILS(rl_read(o, &made, &value, 4), "StaleHandle");
    rl_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.struct_size = sizeof launch, launch.kernel = SET, launch.after = &kept_task, launch.after_count = 1;
    FAILS(rl_submit_launch(o, &launch, good, 2, NULL, 0, NULL), "StaleHandle");
    launch.after = NULL;
    FAILS(rl_submit_launch(o, &launch, good, 2, NULL, 0, NULL), "NullPointer");
    launch.after_count = 0, launch.kernel = NULL;
    FAILS(rl_submit_launch(o, &launch, good, 2, NULL, 0, NULL), "NullPointer");
    FAILS(rl_submit_launch(o, NULL, good, 2, NULL, 0, NULL), "NullPointer");
    FAILS(rl_end_scope(o), "NoOpenScope");

    FAILS(rl_slice(&x, 0, 3, 2, &made), "ViewOutOfBounds");
    FAILS(rl_select(&x, 1, 0, &made), "NoSuchAxis");
    FAILS(rl_tile(&x, 1, NULL, shape, &made), "NullPointer");
    FAILS(rl_slice(NULL, 0, 0, 1, &made), "NullPointer");
    FAILS(rl_slice(&x, 0, 0, 1, NULL), "NullPointer");
    FAILS(rl_read(o, &x, &value, 4), "ByteCount");
    FAILS(rl_read(o, &x, NULL, 16), "NullPointer");
    FAILS(rl_upload(o, RL_U32, 1, shape, &value, 4, &made), "ByteCount");
    FAILS(rl_alloc(o, 99, 1, shape, &made), "BadNumber");

    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, on_another_thread, o) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    kept_orch = o, kept_tensor = x;
    return rl_submit(o, SET, good, 2, NULL, 0);
}

static int32_t failing_task(void *user, rl_orch *o) {
    rl_tensor x;
    OK(rl_external(o, 0, &x));
    rl_arg args[] = {rl_out(&x), rl_u32(1)};
    int32_t status = rl_submit(o, *(const rl_kernel **)user, args, 2, NULL, 0);
    if (status) return status;
    uint32_t values[4];
    return rl_read(o, &x, values, sizeof values);
}

static int32_t waits_for_a_kernel_that_calls_back(void *user, rl_orch *o) {
    (void)user;
    rl_tensor x;
    uint32_t values[4];
    OK(rl_external(o, 0, &x));
    rl_arg args[] = {rl_out(&x), rl_u32(1)};
    kept_orch = o;
    OK(rl_submit(o, CALLS_BACK, args, 2, NULL, 0));
    int32_t status = rl_read(o, &x, values, sizeof values);
    CHECK(status == RL_TASK_FAILED);
    OK(rl_barrier(o, NULL));
    return status;
}

static int32_t leaves_a_scope(void *user, rl_orch *o) {
    (void)user;
    return rl_begin_scope(o, "left open");
}

int main(void) {
    kernels();
    runtimes();
    rl_runtime *runtime = runtime_on("cpu");
    buffers(runtime);
    uint32_t x[4] = {0};
    int64_t shape[] = {4};
    rl_buffer buffer = rl_buffer_of(x, RL_U32, 1, shape, RL_BUFFER_WRITE);
    for (int i = 0; i < 2; i++) OK(rl_run(runtime, &buffer, 1, wrong_submits, runtime, NULL));
    CHECK(x[0] == 1);
    FAILS(rl_barrier(kept_orch, NULL), "StaleHandle");
    FAILS(rl_run(runtime, &buffer, 1, failing_task, &FAILS_WITH_TEXT, NULL), "TaskFailed");
    CHECK(strstr(rl_error_detail(), "the table is empty") && strstr(rl_error_detail(), "FAILS"));
    CHECK(rl_run(runtime, &buffer, 1, failing_task, &FAILS_WITH_NUMBER, NULL) == RL_TASK_FAILED);
    CHECK(strstr(rl_error_detail(), "the kernel returned 7"));
    FAILS(rl_run(runtime, &buffer, 1, leaves_a_scope, NULL, NULL), "ScopeNotEnded");
    rl_runtime *modelled = runtime_on("a2a3sim");
    FAILS(rl_run(modelled, &buffer, 1, waits_for_a_kernel_that_calls_back, NULL, NULL), "TaskFailed");
    CHECK(strstr(rl_error_detail(), "NotInOrchestration"));
    rl_runtime_free(modelled);
    buffer.permission = RL_BUFFER_READ;
    FAILS(rl_run(runtime, &buffer, 1, failing_task, &SET, NULL), "ReadOnly");
    OK(rl_run(runtime, &buffer, 1, nothing, NULL, NULL));
    rl_runtime_free(runtime);
    puts("bad_input: all well");
    return 0;
}
