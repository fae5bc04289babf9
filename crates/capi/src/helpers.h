
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
