/* Ringlane's C ABI, version 1. Generated from crates/capi; docs/from-c.md shows how to use it.
 *
 * Every function returns RL_OK or another status; then rl_error_name(), rl_error_detail() and rl_error_hint() describe the
 * last error of the thread. Structs begin with struct_size, which the caller sets to sizeof. Pointers must be true: to
 * objects that live during the call, with as many elements as is said. A kernel's user data lives as long as the process. */


#ifndef RINGLANE_H
#define RINGLANE_H

#include <stddef.h>
#include <stdint.h>

// The version of the ABI. Functions and trailing fields are added without a new version.
#define RL_ABI_VERSION 1

// It worked.
#define RL_OK 0

// It did not; `rl_error_name()` says why.
#define RL_ERROR 1

// An argument of the call itself is wrong: a null pointer, a size, a number.
#define RL_BAD_CALL 2

// A task of the run failed.
#define RL_TASK_FAILED 3

// The run was interrupted.
#define RL_INTERRUPTED 4

// A handle is used outside of its scope or run.
#define RL_STALE_HANDLE 5

// `bool`, a byte that is 0 or 1.
#define RL_BOOL 0

// `int8_t`
#define RL_I8 1

// `uint8_t`
#define RL_U8 2

// `int16_t`
#define RL_I16 3

// `uint16_t`
#define RL_U16 4

// `int32_t`
#define RL_I32 5

// `uint32_t`
#define RL_U32 6

// `int64_t`
#define RL_I64 7

// `uint64_t`
#define RL_U64 8

// IEEE half precision
#define RL_F16 9

// bfloat16
#define RL_BF16 10

// `float`
#define RL_F32 11

// `double`
#define RL_F64 12

// 8-bit float with 4 bits of exponent
#define RL_F8_E4M3 13

// 8-bit float with 5 bits of exponent
#define RL_F8_E5M2 14

// A matrix core.
#define RL_CORE_AIC 0

// A vector core.
#define RL_CORE_AIV 1

// Any core.
#define RL_CORE_ANY 2

// A parameter that reads a tensor.
#define RL_PARAM_READ 0

// A parameter that writes a tensor, or reads and writes it; in a task of several blocks each block its own part.
#define RL_PARAM_WRITE 1

// A parameter that writes a tensor which other blocks may write at the same time: the kernel answers for that.
#define RL_PARAM_SHARED 2

// A parameter that takes a scalar.
#define RL_PARAM_SCALAR 3

// The elements must be consecutive, in row-major order.
#define RL_PARAM_CONTIGUOUS 1

// The last parameter takes any number of arguments.
#define RL_PARAM_REST 2

// An argument that is read.
#define RL_ACCESS_READ 0

// An argument that is overwritten without being read.
#define RL_ACCESS_WRITE 2

// An argument that is read and written.
#define RL_ACCESS_INOUT 3

// An argument that the dependency inference does not follow: the program answers for its order.
#define RL_ACCESS_NO_DEP 4

// An argument that is a tensor which exists.
#define RL_ARG_TENSOR 0

// An argument that is a tensor which the task makes.
#define RL_ARG_OUTPUT 1

// An argument that is a scalar; with a name, a captured graph can change it.
#define RL_ARG_SCALAR 2

// No axis: the argument is not split between blocks.
#define RL_NO_SPLIT 255

// Tasks may only read the buffer.
#define RL_BUFFER_READ 0

// Tasks may read and write the buffer.
#define RL_BUFFER_WRITE 1

// The cost is in ticks of the chip's counter: `amount`.
#define RL_COST_TICKS 0

// The cost is in nanoseconds: `amount`.
#define RL_COST_NANOSECONDS 1

// The cost is work against the chip's rates: `flops` and `bytes`.
#define RL_COST_ROOFLINE 2

// All rows of a buffer, for `count` of `rl_rows`.
#define RL_ALL_ROWS UINT32_MAX

// The comparison of a scene's results, while it is made.
typedef struct rl_golden rl_golden;

// A captured graph.
typedef struct rl_graph rl_graph;

// The buffers of a scene's run, while they are made.
typedef struct rl_inputs rl_inputs;

// A kernel. It lives as long as the process.
typedef struct rl_kernel rl_kernel;

// What a program submits with, during its run and on its thread.
typedef struct rl_orch rl_orch;

// A runtime: a platform with its threads and capacities. One run at a time.
typedef struct rl_runtime rl_runtime;

// The parameters and the seed of a scene's run.
typedef struct rl_settings rl_settings;

// DLPack's `DLDevice`.
typedef struct {
  // 1 is the host.
  int32_t device_type;
  // 0 for the host.
  int32_t device_id;
} rl_device;

// DLPack's `DLDataType`.
typedef struct {
  // 0 signed, 1 unsigned, 2 float, 4 bfloat, 6 bool, 8 or 10 float8 e4m3, 12 float8 e5m2.
  uint8_t code;
  // Bits of an element.
  uint8_t bits;
  // 1.
  uint16_t lanes;
} rl_dltype;

// A view of memory: DLPack's `DLTensor`, field by field.
typedef struct {
  // Where it is.
  void *data;
  // Which device has it.
  rl_device device;
  // Number of dimensions, at most 8.
  int32_t ndim;
  // Type of the elements.
  rl_dltype dtype;
  // Length of each dimension.
  int64_t *shape;
  // Elements from one index to the next, for each dimension; null: row-major, without gaps.
  int64_t *strides;
  // Where the first element is, from `data`.
  uint64_t byte_offset;
} rl_view;

// Memory that a run borrows. It is used where it is.
typedef struct {
  // `sizeof(rl_buffer)`
  uint32_t struct_size;
  // `RL_BUFFER_READ` or `RL_BUFFER_WRITE`
  uint32_t permission;
  // What and where it is.
  rl_view view;
} rl_buffer;

// A program: submits tasks; 0, or what the run fails with. Return the status of a call that failed, and the run fails with
// that error.
typedef int32_t (*rl_program_fn)(void *user, rl_orch *o);

// The totals of a run.
typedef struct {
  // `sizeof(rl_report)`
  uint32_t struct_size;
  // Cores that could run blocks.
  uint32_t cores;
  // Tasks submitted.
  uint64_t tasks;
  // Kernel blocks executed.
  uint64_t blocks;
  // Scopes that ended.
  uint64_t scopes;
  // Tasks whose kernel failed.
  uint64_t failed;
  // Tasks skipped because they needed what a failed one would have written.
  uint64_t skipped;
  // The most bytes of outputs in use at once.
  uint64_t peak_heap_bytes;
  // From the start of the program to the last completion, in ticks.
  uint64_t makespan_ticks;
  // Ticks per second.
  uint64_t clock_freq_hz;
} rl_report;

// A scalar, of the type that is said beside it.
typedef union {
  // All of its bits, the unused ones zero.
  uint64_t bits;
  // `RL_I8`
  int8_t i8;
  // `RL_U8`, and `RL_BOOL` as 0 or 1
  uint8_t u8;
  // `RL_I16`
  int16_t i16;
  // `RL_U16`, and 16-bit floats by their bits
  uint16_t u16;
  // `RL_I32`
  int32_t i32;
  // `RL_U32`
  uint32_t u32;
  // `RL_I64`
  int64_t i64;
  // `RL_U64`
  uint64_t u64;
  // `RL_F32`
  float f32;
  // `RL_F64`
  double f64;
} rl_scalar;

// What a parameter of a kernel accepts.
typedef struct {
  // `sizeof(rl_param)`
  uint32_t struct_size;
  // `RL_PARAM_READ`, …
  uint32_t kind;
  // `RL_F32`, …
  uint32_t dtype;
  // Number of dimensions; -1: any.
  int32_t rank;
  // `RL_PARAM_CONTIGUOUS`, `RL_PARAM_REST`
  uint32_t flags;
  // Its name in the CUDA source; null without one.
  const char *name;
} rl_param;

// One argument of a kernel that runs.
typedef struct {
  // `RL_ARG_TENSOR` or `RL_ARG_SCALAR`
  uint32_t kind;
  // `RL_F32`, …
  uint32_t dtype;
  // 1 if the kernel may write the tensor.
  uint32_t writable;
  // Number of elements of the tensor; of a part of a split argument possibly 0.
  uint64_t elements;
  // This block's part of the tensor; in a cost function without an address.
  rl_view tensor;
  // The scalar.
  rl_scalar scalar;
} rl_value;

// One block of a kernel that runs. Valid until the kernel returns.
typedef struct {
  // `sizeof(rl_call)` of the library.
  uint32_t struct_size;
  // `sizeof(rl_value)` of the library.
  uint32_t value_size;
  // Index of this block, from 0.
  uint32_t block;
  // Number of blocks of the task.
  uint32_t block_count;
  // Its arguments.
  const rl_value *args;
  // How many.
  uintptr_t arg_count;
} rl_call;

// The body of a kernel: 0, or what the task fails with (`rl_fail` says more). Several threads may run it at the same time. A
// C++ exception that leaves it ends the process.
typedef int32_t (*rl_kernel_fn)(void *user, const rl_call *call);

// What a block takes on a modelled chip.
typedef struct {
  // `sizeof(rl_cost)` of the library.
  uint32_t struct_size;
  // `RL_COST_TICKS`, `RL_COST_NANOSECONDS` or `RL_COST_ROOFLINE`
  uint32_t kind;
  // Ticks or nanoseconds.
  uint64_t amount;
  // Floating-point operations.
  double flops;
  // Bytes moved.
  double bytes;
} rl_cost;

// The cost model of a kernel: 0, or anything else if it has no answer.
typedef int32_t (*rl_cost_fn)(void *user, const rl_call *call, rl_cost *cost);

// A kernel that is to be made.
typedef struct {
  // `sizeof(rl_kernel_info)`
  uint32_t struct_size;
  // `RL_CORE_AIC`, `RL_CORE_AIV` or `RL_CORE_ANY`
  uint32_t core;
  // Its name in every recording.
  const char *name;
  // Its parameters, in order.
  const rl_param *params;
  // How many.
  uintptr_t param_count;
  // Its body.
  rl_kernel_fn function;
  // Its cost model, or null.
  rl_cost_fn cost;
  // Given to both.
  void *user;
  // Its body for GPUs in CUDA C++, or null; its parameters then have names.
  const char *cuda_source;
} rl_kernel_info;

// A tensor, or a view of one, that is valid in its scope. A plain value: copy it as a whole.
typedef struct {
  // The library's.
  uint64_t opaque[12];
} rl_tensor;

// A submitted task, for explicit edges. A plain value: copy it as a whole.
typedef struct {
  // The library's.
  uint64_t opaque[2];
} rl_task;

// How a runtime is made. All zero but the first two fields: the platform `cpu` with every default.
typedef struct {
  // `sizeof(rl_runtime_options)`
  uint32_t struct_size;
  // `RL_ABI_VERSION`
  uint32_t abi_version;
  // `cpu`, `a2a3sim`, …; null: `cpu`.
  const char *platform;
  // Where recordings go; null: nowhere.
  const char *output_prefix;
  // Which diagnostics are on; see the page on diagnostics.
  uint64_t dfx_flags;
  // Seed of the simulator.
  uint64_t seed;
  // Bytes of outputs of each ring; 0: the default. So below.
  uint64_t ring_heap[4];
  // Tasks of each ring.
  uint32_t ring_task_window[4];
  // Dependency entries of each ring.
  uint32_t ring_dep_pool[4];
  // Bytes of arguments of each ring.
  uint32_t ring_args[4];
  // Entries of the tensor map.
  uint32_t tensormap;
  // Threads of the platform `cpu`, the submitting one included; 0: all cores.
  int32_t threads;
  // Scheduler threads of a modelled chip.
  int32_t scheduler_threads;
  // Clusters to use; 0: all.
  int32_t block_dim;
  // Group of hardware counters.
  int32_t pmu_group;
  // 1: recordings lose records instead of making the run wait.
  uint32_t drop_records;
} rl_runtime_options;

// One argument of a submit; made by `rl_in`, `rl_out`, `rl_inout`, `rl_new`, `rl_f32`, ….
typedef struct {
  // `sizeof(rl_arg)`
  uint32_t struct_size;
  // `RL_ARG_TENSOR`, `RL_ARG_OUTPUT` or `RL_ARG_SCALAR`
  uint32_t kind;
  // `RL_ACCESS_READ`, … of a tensor.
  uint32_t access;
  // The axis along which blocks share it out, or `RL_NO_SPLIT`.
  uint32_t split;
  // The tensor.
  const rl_tensor *tensor;
  // Type of an output or a scalar.
  uint32_t dtype;
  // Number of dimensions of an output.
  uint32_t ndim;
  // Lengths of the dimensions of an output.
  const uint32_t *shape;
  // The scalar.
  rl_scalar value;
  // The scalar's name in a captured graph, or null.
  const char *name;
} rl_arg;

// What a submit starts, in full; `rl_submit` is for one kernel in one block.
typedef struct {
  // `sizeof(rl_launch)`
  uint32_t struct_size;
  // Number of blocks; 0 is 1.
  uint32_t blocks;
  // The kernel; of a mixed task the one on the AIC core, or null.
  const rl_kernel *kernel;
  // The kernels of a mixed task on AIV cores, or null.
  const rl_kernel *aiv[2];
  // The task's name, or null.
  const char *label;
  // Tasks that it follows by explicit edges.
  const rl_task *after;
  // How many.
  uintptr_t after_count;
  // How long each block takes on a modelled chip; 0: as its kernel says.
  uint64_t duration_ns;
  // Arguments to capture, by index.
  const uint16_t *marks;
  // How many.
  uintptr_t mark_count;
} rl_launch;

// A parameter of a scene. Its values are text.
typedef struct {
  // `sizeof(rl_scene_param)`
  uint32_t struct_size;
  // Zero.
  uint32_t reserved;
  // Its name, as in `--param NAME=VALUE`.
  const char *name;
  // The value if neither user nor case sets one.
  const char *default_value;
  // What it means.
  const char *about;
} rl_scene_param;

// A case of a scene: some parameters set.
typedef struct {
  // `sizeof(rl_scene_case)`
  uint32_t struct_size;
  // Zero.
  uint32_t reserved;
  // Its name, as in `--case NAME`.
  const char *name;
  // What it shows.
  const char *about;
  // Names and values in turn.
  const char *const *set;
  // How many pairs.
  uintptr_t set_count;
} rl_scene_case;

// Makes the buffers of a run, with `add_buffer`. 0, or the status of a call that failed.
typedef int32_t (*rl_inputs_fn)(void *user, const rl_settings *settings, rl_inputs *inputs);

// Submits the tasks of a run; `kernels` are those of the plugin's table. 0, or the status of a call that failed.
typedef int32_t (*rl_orchestrate_fn)(void *user,
                                     const rl_settings *settings,
                                     const rl_kernel *const *kernels,
                                     rl_orch *o);

// Compares the results of a run, with `expect`. 0, or the status of a call that failed.
typedef int32_t (*rl_golden_fn)(void *user, const rl_settings *settings, rl_golden *golden);

// Gives the number of indivisible units of a run, at least 1: sequences, rows of tiles. 0, or the status of a call that failed.
typedef int32_t (*rl_units_fn)(void *user, const rl_settings *settings, uint32_t *units);

// What a part of a scene uses of a buffer.
typedef struct {
  // `sizeof(rl_rows)`, set by the library.
  uint32_t struct_size;
  // `RL_ACCESS_READ`, `RL_ACCESS_WRITE` or `RL_ACCESS_INOUT`
  uint32_t access;
  // The first row, along the first dimension.
  uint32_t first;
  // How many, or `RL_ALL_ROWS`: then they are read only.
  uint32_t count;
} rl_rows;

// Says what the units from `first` to before `end` use of a buffer; `rows` is all of it, for reading, if nothing is written there.
// 0, or the status of a call that failed.
typedef int32_t (*rl_rows_fn)(void *user,
                              const rl_settings *settings,
                              uint32_t first,
                              uint32_t end,
                              uintptr_t buffer,
                              rl_rows *rows);

// Submits the tasks of the units from `first` to before `end`. There `external` gives the rows of a buffer that were asked for. 0, or
// the status of a call that failed.
typedef int32_t (*rl_orchestrate_part_fn)(void *user,
                                          const rl_settings *settings,
                                          const rl_kernel *const *kernels,
                                          uint32_t first,
                                          uint32_t end,
                                          rl_orch *o);

// How a scene is divided among workers.
typedef struct {
  // `sizeof(rl_parts)`
  uint32_t struct_size;
  // Zero.
  uint32_t reserved;
  // How many buffers the tasks use: the first of the run.
  uintptr_t buffer_count;
  // Gives the number of units.
  rl_units_fn units;
  // Says what units use of a buffer.
  rl_rows_fn rows;
  // Submits the tasks of units.
  rl_orchestrate_part_fn orchestrate;
} rl_parts;

// A scene: a program with cases and known results.
typedef struct {
  // `sizeof(rl_scene)`
  uint32_t struct_size;
  // Zero.
  uint32_t reserved;
  // Its name.
  const char *name;
  // What it computes.
  const char *about;
  // Its parameters.
  const rl_scene_param *params;
  // How many.
  uintptr_t param_count;
  // Its cases, at least one.
  const rl_scene_case *cases;
  // How many.
  uintptr_t case_count;
  // Given to the functions.
  void *user;
  // Makes the buffers.
  rl_inputs_fn inputs;
  // Submits the tasks.
  rl_orchestrate_fn orchestrate;
  // Compares the results.
  rl_golden_fn golden;
  // How it is divided among workers, or null if it cannot be.
  const rl_parts *parts;
} rl_scene;

// What a plugin has. It lives as long as the process.
typedef struct {
  // `sizeof(rl_plugin)`
  uint32_t struct_size;
  // `RL_ABI_VERSION`
  uint32_t abi_version;
  // Its kernels.
  const rl_kernel_info *kernels;
  // How many.
  uintptr_t kernel_count;
  // Its scenes.
  const rl_scene *scenes;
  // How many.
  uintptr_t scene_count;
} rl_plugin;

// The functions that a plugin calls: it is not linked with the library. Those with a namesake `rl_…` do the same.
typedef struct {
  uint32_t struct_size;
  uint32_t abi_version;
  const char *(*error_name)(void);
  const char *(*error_detail)(void);
  int32_t (*fail)(const char *text);
  // A number in a parameter, from `least` to `most`.
  int32_t (*param_u32)(const rl_settings *settings,
                       const char *name,
                       uint32_t least,
                       uint32_t most,
                       uint32_t *value);
  // The seed of the run.
  int32_t (*seed)(const rl_settings *settings, uint64_t *value);
  // Adds a buffer, all zero, and gives its address. `is_output`: 1 if it holds a result.
  int32_t (*add_buffer)(rl_inputs *inputs,
                        uint32_t dtype,
                        uint32_t ndim,
                        const uint32_t *shape,
                        uint32_t is_output,
                        void **data);
  // Compares all values of a buffer with the expected ones: each within `absolute` + `relative` · |expected|.
  int32_t (*expect)(rl_golden *golden,
                    uintptr_t buffer,
                    const double *values,
                    uintptr_t count,
                    double absolute,
                    double relative);
  int32_t (*external)(rl_orch *o, uintptr_t index, rl_tensor *out);
  int32_t (*alloc)(rl_orch *o, uint32_t dtype, uint32_t ndim, const uint32_t *shape, rl_tensor *out);
  int32_t (*read)(rl_orch *o, const rl_tensor *from, void *values, uintptr_t size);
  int32_t (*begin_scope)(rl_orch *o, const char *label);
  int32_t (*end_scope)(rl_orch *o);
  int32_t (*barrier)(rl_orch *o, rl_task *task);
  int32_t (*submit)(rl_orch *o,
                    const rl_kernel *kernel,
                    const rl_arg *args,
                    uintptr_t arg_count,
                    rl_tensor *outs,
                    uintptr_t out_count);
  int32_t (*submit_launch)(rl_orch *o,
                           const rl_launch *launch,
                           const rl_arg *args,
                           uintptr_t arg_count,
                           rl_tensor *outs,
                           uintptr_t out_count,
                           rl_task *task);
  int32_t (*tile)(const rl_tensor *of,
                  uint32_t ndim,
                  const uint32_t *start,
                  const uint32_t *len,
                  rl_tensor *out);
  int32_t (*slice)(const rl_tensor *of, uint32_t axis, uint32_t start, uint32_t len, rl_tensor *out);
  int32_t (*select)(const rl_tensor *of, uint32_t axis, uint32_t index, rl_tensor *out);
  int32_t (*transpose)(const rl_tensor *of, uint32_t a, uint32_t b, rl_tensor *out);
  int32_t (*reshape)(const rl_tensor *of, uint32_t ndim, const uint32_t *shape, rl_tensor *out);
  int32_t (*broadcast)(const rl_tensor *of, uint32_t len, rl_tensor *out);
} rl_api;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the ABI that this library has; the header's is `RL_ABI_VERSION`.
uint32_t rl_abi_version(void);

// The name of the last error of this thread, as on the page of errors; empty if there was none. Valid until the next error.
const char *rl_error_name(void);

// What happened, with its numbers.
const char *rl_error_detail(void);

// What to do about it.
const char *rl_error_hint(void);

// In a kernel: says why its task fails. Returns -1, for `return rl_fail("…")`.
int32_t rl_fail(const char *text);

// Captures a program as a graph: everything is checked and planned, and nothing runs. Replays take buffers of the same types,
// shapes, strides and permissions.
int32_t rl_capture(rl_runtime *runtime,
                   const rl_buffer *buffers,
                   uintptr_t buffer_count,
                   rl_program_fn program,
                   void *user,
                   rl_graph **graph);

// Runs a captured graph. `report` may be null.
int32_t rl_replay(rl_runtime *runtime,
                  rl_graph *graph,
                  const rl_buffer *buffers,
                  uintptr_t buffer_count,
                  rl_report *report);

// Sets a scalar that was submitted with a name, for the following replays.
int32_t rl_graph_set(rl_graph *graph, const char *name, uint32_t dtype_code, rl_scalar value);

// Frees a graph; null does nothing.
void rl_graph_free(rl_graph *graph);

// Makes a kernel, which lives as long as the process: make it once, not once a run.
int32_t rl_kernel_new(const rl_kernel_info *info, const rl_kernel **kernel);

// The tensor of buffer `index` of the run.
int32_t rl_external(rl_orch *o, uintptr_t index, rl_tensor *out);

// Makes a tensor, all zero, that lives as long as the innermost scope.
int32_t rl_alloc(rl_orch *o, uint32_t dtype_code, uint32_t ndim, const uint32_t *lengths, rl_tensor *out);

// Makes a tensor of `size` bytes of values, which are copied.
int32_t rl_upload(rl_orch *o,
                  uint32_t dtype_code,
                  uint32_t ndim,
                  const uint32_t *lengths,
                  const void *values,
                  uintptr_t size,
                  rl_tensor *out);

// Waits for the writers of a tensor and copies its `size` bytes out.
int32_t rl_read(rl_orch *o, const rl_tensor *from, void *values, uintptr_t size);

// Begins a scope, with a label or null. What is made in it may be reclaimed once it has ended and its tasks are done.
int32_t rl_begin_scope(rl_orch *o,
                       const char *label);

// Begins a scope whose tasks are ordered by explicit edges only: the program answers for races.
int32_t rl_begin_manual_scope(rl_orch *o, const char *label);

// Ends the innermost scope: handles made in it are stale from now on.
int32_t rl_end_scope(rl_orch *o);

// A task between everything submitted so far in this scope and everything after it. `task` may be null.
int32_t rl_barrier(rl_orch *o, rl_task *task);

// The program's own work takes `ticks` ticks of a modelled chip.
int32_t rl_advance_time(rl_orch *o, uint64_t ticks);

// Makes a runtime. Null options: the platform `cpu` with every default.
int32_t rl_runtime_new(const rl_runtime_options *options, rl_runtime **runtime);

// Frees a runtime; null does nothing. No run of it may be in progress.
void rl_runtime_free(rl_runtime *runtime);

// Runs a program on buffers, which are lent to it and used where they are. `report` may be null.
int32_t rl_run(rl_runtime *runtime,
               const rl_buffer *buffers,
               uintptr_t buffer_count,
               rl_program_fn program,
               void *user,
               rl_report *report);

// Ends the run that is in progress, from any thread or a signal handler: tasks that run finish, no other starts.
int32_t rl_interrupt(rl_runtime *runtime);

// Records the next run into this directory, which must not contain a run.
int32_t rl_record(rl_runtime *runtime, const char *dir);

// Sets the names of the program and the case in the recordings of the following runs.
int32_t rl_set_title(rl_runtime *runtime, const char *program, const char *case_name);

// Writes the page of the last recording, `report.html` in its directory.
int32_t rl_write_report(rl_runtime *runtime);

// Submits one block of a kernel. `outs` receives the tensors that the task makes, in order: exactly `out_count` of them.
int32_t rl_submit(rl_orch *o,
                  const rl_kernel *kernel,
                  const rl_arg *args,
                  uintptr_t arg_count,
                  rl_tensor *outs,
                  uintptr_t out_count);

// Submits a task in full. `task` may be null.
int32_t rl_submit_launch(rl_orch *o,
                         const rl_launch *launch,
                         const rl_arg *args,
                         uintptr_t arg_count,
                         rl_tensor *outs,
                         uintptr_t out_count,
                         rl_task *task);

// The window of `len[i]` elements from `start[i]` along each of the tensor's dimensions.
int32_t rl_tile(const rl_tensor *of,
                uint32_t ndim,
                const uint32_t *start,
                const uint32_t *len,
                rl_tensor *out);

// The window of `len` elements from `start` along one dimension.
int32_t rl_slice(const rl_tensor *of, uint32_t axis, uint32_t start, uint32_t len, rl_tensor *out);

// The elements at one index of a dimension, which is dropped.
int32_t rl_select(const rl_tensor *of, uint32_t axis, uint32_t index, rl_tensor *out);

// The same elements with two dimensions exchanged.
int32_t rl_transpose(const rl_tensor *of, uint32_t a, uint32_t b, rl_tensor *out);

// The same elements under another shape; only for contiguous views.
int32_t rl_reshape(const rl_tensor *of, uint32_t ndim, const uint32_t *lengths, rl_tensor *out);

// The view repeated `len` times along a new leading dimension; only for reads.
int32_t rl_broadcast(const rl_tensor *of, uint32_t len, rl_tensor *out);

// What a tensor is: its type's code, its number of dimensions, and the first of their lengths, as many as `shape` has room
// for. Any result may be null.
int32_t rl_describe(const rl_tensor *of,
                    uint32_t *dtype,
                    uint32_t *ndim,
                    uint32_t *lengths,
                    uintptr_t room);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* RINGLANE_H */


#ifndef RINGLANE_HELPERS_H
#define RINGLANE_HELPERS_H

/* What a plugin exports. */
#ifdef __cplusplus
extern "C"
#endif
__attribute__((visibility("default"))) const rl_plugin *ringlane_plugin_v1(const rl_api *api);

/* Helpers. They only fill in structs. */

static inline rl_arg rl_arg_of(uint32_t kind) {
    rl_arg arg;
    arg.struct_size = sizeof(rl_arg);
    arg.kind = kind;
    arg.access = 0;
    arg.split = RL_NO_SPLIT;
    arg.tensor = NULL;
    arg.dtype = 0;
    arg.ndim = 0;
    arg.shape = NULL;
    arg.value.bits = 0;
    arg.name = NULL;
    return arg;
}

static inline rl_arg rl_tensor_arg(const rl_tensor *tensor, uint32_t access) {
    rl_arg arg = rl_arg_of(RL_ARG_TENSOR);
    arg.tensor = tensor;
    arg.access = access;
    return arg;
}

/* A tensor that is read, overwritten, or both. */
static inline rl_arg rl_in(const rl_tensor *tensor) { return rl_tensor_arg(tensor, RL_ACCESS_READ); }
static inline rl_arg rl_out(const rl_tensor *tensor) { return rl_tensor_arg(tensor, RL_ACCESS_WRITE); }
static inline rl_arg rl_inout(const rl_tensor *tensor) { return rl_tensor_arg(tensor, RL_ACCESS_INOUT); }

/* A tensor that the task makes. The shape is read by the submit. */
static inline rl_arg rl_new(uint32_t dtype, uint32_t ndim, const uint32_t *shape) {
    rl_arg arg = rl_arg_of(RL_ARG_OUTPUT);
    arg.dtype = dtype;
    arg.ndim = ndim;
    arg.shape = shape;
    return arg;
}

/* The same argument, of which each block gets its own part along an axis. */
static inline rl_arg rl_split(rl_arg arg, uint32_t axis) {
    arg.split = axis;
    return arg;
}

/* Scalars. */
static inline rl_arg rl_scalar_arg(uint32_t dtype, uint64_t bits) {
    rl_arg arg = rl_arg_of(RL_ARG_SCALAR);
    arg.dtype = dtype;
    arg.value.bits = bits;
    return arg;
}
static inline rl_arg rl_f32(float value) {
    rl_arg arg = rl_scalar_arg(RL_F32, 0);
    arg.value.f32 = value;
    return arg;
}
static inline rl_arg rl_f64(double value) {
    rl_arg arg = rl_scalar_arg(RL_F64, 0);
    arg.value.f64 = value;
    return arg;
}
static inline rl_arg rl_i32(int32_t value) {
    rl_arg arg = rl_scalar_arg(RL_I32, 0);
    arg.value.i32 = value;
    return arg;
}
static inline rl_arg rl_u32(uint32_t value) { return rl_scalar_arg(RL_U32, value); }
static inline rl_arg rl_i64(int64_t value) {
    rl_arg arg = rl_scalar_arg(RL_I64, 0);
    arg.value.i64 = value;
    return arg;
}
static inline rl_arg rl_u64(uint64_t value) { return rl_scalar_arg(RL_U64, value); }

/* The same scalar, with a name by which rl_graph_set changes it. */
static inline rl_arg rl_named(rl_arg arg, const char *name) {
    arg.name = name;
    return arg;
}

/* A parameter of a kernel that takes contiguous tensors, or a scalar. */
static inline rl_param rl_param_of(uint32_t kind, uint32_t dtype) {
    rl_param param;
    param.struct_size = sizeof(rl_param);
    param.kind = kind;
    param.dtype = dtype;
    param.rank = -1;
    param.flags = kind == RL_PARAM_SCALAR ? 0u : RL_PARAM_CONTIGUOUS;
    param.name = NULL;
    return param;
}

/* DLPack's type of a dtype. */
static inline rl_dltype rl_dltype_of(uint32_t dtype) {
    static const uint8_t codes[] = {6, 0, 1, 0, 1, 0, 1, 0, 1, 2, 4, 2, 2, 10, 12};
    static const uint8_t bits[] = {8, 8, 8, 16, 16, 32, 32, 64, 64, 16, 16, 32, 64, 8, 8};
    rl_dltype type;
    type.code = dtype <= RL_F8_E5M2 ? codes[dtype] : 255;
    type.bits = dtype <= RL_F8_E5M2 ? bits[dtype] : 0;
    type.lanes = 1;
    return type;
}

/* A row-major buffer of the host. The shape is read by the run. */
static inline rl_buffer rl_buffer_of(void *data, uint32_t dtype, int32_t ndim, int64_t *shape, uint32_t permission) {
    rl_buffer buffer;
    buffer.struct_size = sizeof(rl_buffer);
    buffer.permission = permission;
    buffer.view.data = data;
    buffer.view.device.device_type = 1;
    buffer.view.device.device_id = 0;
    buffer.view.ndim = ndim;
    buffer.view.dtype = rl_dltype_of(dtype);
    buffer.view.shape = shape;
    buffer.view.strides = NULL;
    buffer.view.byte_offset = 0;
    return buffer;
}

/* The layouts of the library. */
#ifdef __cplusplus
#define RL_LAYOUT(condition) static_assert(condition, #condition)
#else
#define RL_LAYOUT(condition) _Static_assert(condition, #condition)
#endif
RL_LAYOUT(sizeof(rl_tensor) == 96);
RL_LAYOUT(offsetof(rl_tensor, opaque) == 0);
RL_LAYOUT(sizeof(rl_task) == 16);
RL_LAYOUT(offsetof(rl_task, opaque) == 0);
RL_LAYOUT(sizeof(rl_view) == 48);
RL_LAYOUT(offsetof(rl_view, data) == 0);
RL_LAYOUT(offsetof(rl_view, device) == 8);
RL_LAYOUT(offsetof(rl_view, ndim) == 16);
RL_LAYOUT(offsetof(rl_view, dtype) == 20);
RL_LAYOUT(offsetof(rl_view, shape) == 24);
RL_LAYOUT(offsetof(rl_view, strides) == 32);
RL_LAYOUT(offsetof(rl_view, byte_offset) == 40);
RL_LAYOUT(sizeof(rl_scalar) == 8);
RL_LAYOUT(offsetof(rl_scalar, bits) == 0);
RL_LAYOUT(sizeof(rl_buffer) == 56);
RL_LAYOUT(offsetof(rl_buffer, struct_size) == 0);
RL_LAYOUT(offsetof(rl_buffer, permission) == 4);
RL_LAYOUT(offsetof(rl_buffer, view) == 8);
RL_LAYOUT(sizeof(rl_runtime_options) == 144);
RL_LAYOUT(offsetof(rl_runtime_options, struct_size) == 0);
RL_LAYOUT(offsetof(rl_runtime_options, platform) == 8);
RL_LAYOUT(offsetof(rl_runtime_options, dfx_flags) == 24);
RL_LAYOUT(offsetof(rl_runtime_options, ring_heap) == 40);
RL_LAYOUT(offsetof(rl_runtime_options, ring_args) == 104);
RL_LAYOUT(offsetof(rl_runtime_options, tensormap) == 120);
RL_LAYOUT(offsetof(rl_runtime_options, drop_records) == 140);
RL_LAYOUT(sizeof(rl_param) == 32);
RL_LAYOUT(offsetof(rl_param, kind) == 4);
RL_LAYOUT(offsetof(rl_param, dtype) == 8);
RL_LAYOUT(offsetof(rl_param, rank) == 12);
RL_LAYOUT(offsetof(rl_param, flags) == 16);
RL_LAYOUT(offsetof(rl_param, name) == 24);
RL_LAYOUT(sizeof(rl_value) == 80);
RL_LAYOUT(offsetof(rl_value, kind) == 0);
RL_LAYOUT(offsetof(rl_value, dtype) == 4);
RL_LAYOUT(offsetof(rl_value, writable) == 8);
RL_LAYOUT(offsetof(rl_value, elements) == 16);
RL_LAYOUT(offsetof(rl_value, tensor) == 24);
RL_LAYOUT(offsetof(rl_value, scalar) == 72);
RL_LAYOUT(sizeof(rl_call) == 32);
RL_LAYOUT(offsetof(rl_call, struct_size) == 0);
RL_LAYOUT(offsetof(rl_call, value_size) == 4);
RL_LAYOUT(offsetof(rl_call, block) == 8);
RL_LAYOUT(offsetof(rl_call, block_count) == 12);
RL_LAYOUT(offsetof(rl_call, args) == 16);
RL_LAYOUT(offsetof(rl_call, arg_count) == 24);
RL_LAYOUT(sizeof(rl_cost) == 32);
RL_LAYOUT(offsetof(rl_cost, kind) == 4);
RL_LAYOUT(offsetof(rl_cost, amount) == 8);
RL_LAYOUT(offsetof(rl_cost, flops) == 16);
RL_LAYOUT(offsetof(rl_cost, bytes) == 24);
RL_LAYOUT(sizeof(rl_kernel_info) == 64);
RL_LAYOUT(offsetof(rl_kernel_info, core) == 4);
RL_LAYOUT(offsetof(rl_kernel_info, name) == 8);
RL_LAYOUT(offsetof(rl_kernel_info, params) == 16);
RL_LAYOUT(offsetof(rl_kernel_info, param_count) == 24);
RL_LAYOUT(offsetof(rl_kernel_info, function) == 32);
RL_LAYOUT(offsetof(rl_kernel_info, cost) == 40);
RL_LAYOUT(offsetof(rl_kernel_info, user) == 48);
RL_LAYOUT(offsetof(rl_kernel_info, cuda_source) == 56);
RL_LAYOUT(sizeof(rl_arg) == 56);
RL_LAYOUT(offsetof(rl_arg, kind) == 4);
RL_LAYOUT(offsetof(rl_arg, access) == 8);
RL_LAYOUT(offsetof(rl_arg, split) == 12);
RL_LAYOUT(offsetof(rl_arg, tensor) == 16);
RL_LAYOUT(offsetof(rl_arg, dtype) == 24);
RL_LAYOUT(offsetof(rl_arg, ndim) == 28);
RL_LAYOUT(offsetof(rl_arg, shape) == 32);
RL_LAYOUT(offsetof(rl_arg, value) == 40);
RL_LAYOUT(offsetof(rl_arg, name) == 48);
RL_LAYOUT(sizeof(rl_launch) == 80);
RL_LAYOUT(offsetof(rl_launch, blocks) == 4);
RL_LAYOUT(offsetof(rl_launch, kernel) == 8);
RL_LAYOUT(offsetof(rl_launch, aiv) == 16);
RL_LAYOUT(offsetof(rl_launch, label) == 32);
RL_LAYOUT(offsetof(rl_launch, after) == 40);
RL_LAYOUT(offsetof(rl_launch, after_count) == 48);
RL_LAYOUT(offsetof(rl_launch, duration_ns) == 56);
RL_LAYOUT(offsetof(rl_launch, marks) == 64);
RL_LAYOUT(offsetof(rl_launch, mark_count) == 72);
RL_LAYOUT(sizeof(rl_scene_param) == 32);
RL_LAYOUT(offsetof(rl_scene_param, name) == 8);
RL_LAYOUT(offsetof(rl_scene_param, default_value) == 16);
RL_LAYOUT(offsetof(rl_scene_param, about) == 24);
RL_LAYOUT(sizeof(rl_scene_case) == 40);
RL_LAYOUT(offsetof(rl_scene_case, name) == 8);
RL_LAYOUT(offsetof(rl_scene_case, about) == 16);
RL_LAYOUT(offsetof(rl_scene_case, set) == 24);
RL_LAYOUT(offsetof(rl_scene_case, set_count) == 32);
RL_LAYOUT(sizeof(rl_rows) == 16);
RL_LAYOUT(offsetof(rl_rows, access) == 4);
RL_LAYOUT(offsetof(rl_rows, first) == 8);
RL_LAYOUT(offsetof(rl_rows, count) == 12);
RL_LAYOUT(sizeof(rl_parts) == 40);
RL_LAYOUT(offsetof(rl_parts, buffer_count) == 8);
RL_LAYOUT(offsetof(rl_parts, units) == 16);
RL_LAYOUT(offsetof(rl_parts, rows) == 24);
RL_LAYOUT(offsetof(rl_parts, orchestrate) == 32);
RL_LAYOUT(sizeof(rl_scene) == 96);
RL_LAYOUT(offsetof(rl_scene, name) == 8);
RL_LAYOUT(offsetof(rl_scene, params) == 24);
RL_LAYOUT(offsetof(rl_scene, cases) == 40);
RL_LAYOUT(offsetof(rl_scene, case_count) == 48);
RL_LAYOUT(offsetof(rl_scene, user) == 56);
RL_LAYOUT(offsetof(rl_scene, inputs) == 64);
RL_LAYOUT(offsetof(rl_scene, orchestrate) == 72);
RL_LAYOUT(offsetof(rl_scene, golden) == 80);
RL_LAYOUT(offsetof(rl_scene, parts) == 88);
RL_LAYOUT(sizeof(rl_plugin) == 40);
RL_LAYOUT(offsetof(rl_plugin, abi_version) == 4);
RL_LAYOUT(offsetof(rl_plugin, kernels) == 8);
RL_LAYOUT(offsetof(rl_plugin, kernel_count) == 16);
RL_LAYOUT(offsetof(rl_plugin, scenes) == 24);
RL_LAYOUT(offsetof(rl_plugin, scene_count) == 32);
RL_LAYOUT(sizeof(rl_api) == 176);
RL_LAYOUT(offsetof(rl_api, abi_version) == 4);
RL_LAYOUT(offsetof(rl_api, error_name) == 8);
RL_LAYOUT(offsetof(rl_api, param_u32) == 32);
RL_LAYOUT(offsetof(rl_api, expect) == 56);
RL_LAYOUT(offsetof(rl_api, external) == 64);
RL_LAYOUT(offsetof(rl_api, submit) == 112);
RL_LAYOUT(offsetof(rl_api, tile) == 128);
RL_LAYOUT(offsetof(rl_api, broadcast) == 168);
RL_LAYOUT(sizeof(rl_report) == 72);
RL_LAYOUT(offsetof(rl_report, cores) == 4);
RL_LAYOUT(offsetof(rl_report, tasks) == 8);
RL_LAYOUT(offsetof(rl_report, blocks) == 16);
RL_LAYOUT(offsetof(rl_report, scopes) == 24);
RL_LAYOUT(offsetof(rl_report, failed) == 32);
RL_LAYOUT(offsetof(rl_report, skipped) == 40);
RL_LAYOUT(offsetof(rl_report, peak_heap_bytes) == 48);
RL_LAYOUT(offsetof(rl_report, makespan_ticks) == 56);
RL_LAYOUT(offsetof(rl_report, clock_freq_hz) == 64);

#endif /* RINGLANE_HELPERS_H */
