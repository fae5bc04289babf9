// A plugin: a kernel and a scene in a shared library.
//
//   gcc -std=c11 -shared -fPIC examples/c/plugin.c -I crates/capi/include -o libmine.so
//   ringlane run --load ./libmine.so squares
//   ringlane run --load ./libmine.so squares --case large --workers 2
#include <stdlib.h>

#include "ringlane.h"

static const rl_api *rl;

static int32_t square(void *user, const rl_call *call) {
    (void)user;
    const float *x = (const float *)call->args[0].tensor.data;
    float *y = (float *)call->args[1].tensor.data;
    for (uint64_t i = 0; i < call->args[0].elements; i++) y[i] = x[i] * x[i];
    return 0;
}

static int32_t cost(void *user, const rl_call *call, rl_cost *result) {
    (void)user;
    result->kind = RL_COST_ROOFLINE;
    result->flops = (double)call->args[0].elements;
    result->bytes = 8.0 * (double)call->args[0].elements;
    return 0;
}

// The parameters of a run.
struct shape {
    uint32_t tiles, tile, elements;
};

static int32_t shape_of(const rl_settings *settings, struct shape *shape) {
    int32_t status;
    if ((status = rl->param_u32(settings, "tiles", 1, 4096, &shape->tiles))) return status;
    if ((status = rl->param_u32(settings, "tile", 1, 65536, &shape->tile))) return status;
    shape->elements = shape->tiles * shape->tile;
    return RL_OK;
}

static int32_t inputs(void *user, const rl_settings *settings, rl_inputs *inputs) {
    struct shape shape;
    void *x, *y;
    int32_t status;
    (void)user;
    if ((status = shape_of(settings, &shape))) return status;
    if ((status = rl->add_buffer(inputs, RL_F32, 1, &shape.elements, 0, &x))) return status;
    if ((status = rl->add_buffer(inputs, RL_F32, 1, &shape.elements, 1, &y))) return status;
    for (uint32_t i = 0; i < shape.elements; i++) ((float *)x)[i] = (float)(i % 1000);
    return RL_OK;
}

// The first tiles of what `external` gives: of the whole, or of a part.
static int32_t submit_tiles(const rl_kernel *const *kernels, rl_orch *o, uint32_t tiles, uint32_t tile) {
    rl_tensor x, y, x_tile, y_tile;
    int32_t status;
    if ((status = rl->external(o, 0, &x)) || (status = rl->external(o, 1, &y))) return status;
    for (uint32_t i = 0; i < tiles; i++) {
        if ((status = rl->slice(&x, 0, i * tile, tile, &x_tile))) return status;
        if ((status = rl->slice(&y, 0, i * tile, tile, &y_tile))) return status;
        rl_arg args[] = {rl_in(&x_tile), rl_out(&y_tile)};
        if ((status = rl->submit(o, kernels[0], args, 2, NULL, 0))) return status;
    }
    return RL_OK;
}

static int32_t orchestrate(void *user, const rl_settings *settings, const rl_kernel *const *kernels, rl_orch *o) {
    struct shape shape;
    int32_t status;
    (void)user;
    if ((status = shape_of(settings, &shape))) return status;
    return submit_tiles(kernels, o, shape.tiles, shape.tile);
}

// With `--workers N` each worker gets some tiles.
static int32_t units(void *user, const rl_settings *settings, uint32_t *count) {
    struct shape shape;
    int32_t status;
    (void)user;
    if ((status = shape_of(settings, &shape))) return status;
    *count = shape.tiles;
    return RL_OK;
}

static int32_t rows(void *user, const rl_settings *settings, uint32_t first, uint32_t end, size_t buffer, rl_rows *rows) {
    struct shape shape;
    int32_t status;
    (void)user;
    if ((status = shape_of(settings, &shape))) return status;
    rows->access = buffer == 0 ? RL_ACCESS_READ : RL_ACCESS_WRITE;
    rows->first = first * shape.tile;
    rows->count = (end - first) * shape.tile;
    return RL_OK;
}

static int32_t orchestrate_part(void *user, const rl_settings *settings, const rl_kernel *const *kernels, uint32_t first,
                                uint32_t end, rl_orch *o) {
    struct shape shape;
    int32_t status;
    (void)user;
    if ((status = shape_of(settings, &shape))) return status;
    return submit_tiles(kernels, o, end - first, shape.tile);
}

static int32_t golden(void *user, const rl_settings *settings, rl_golden *golden) {
    struct shape shape;
    int32_t status;
    (void)user;
    if ((status = shape_of(settings, &shape))) return status;
    double *want = (double *)malloc(shape.elements * sizeof *want);
    if (!want) return rl->fail("no memory");
    for (uint32_t i = 0; i < shape.elements; i++) want[i] = (double)(i % 1000) * (double)(i % 1000);
    status = rl->expect(golden, 1, want, shape.elements, 0.0, 0.0);
    free(want);
    return status;
}

static rl_param params[] = {
    {sizeof(rl_param), RL_PARAM_READ, RL_F32, -1, RL_PARAM_CONTIGUOUS, NULL},
    {sizeof(rl_param), RL_PARAM_WRITE, RL_F32, -1, RL_PARAM_CONTIGUOUS, NULL},
};
static const rl_kernel_info kernels[] = {
    {sizeof(rl_kernel_info), RL_CORE_AIV, "SQUARE_C", params, 2, square, cost, NULL, NULL},
};
static const rl_scene_param scene_params[] = {
    {sizeof(rl_scene_param), 0, "tiles", "16", "number of tiles"},
    {sizeof(rl_scene_param), 0, "tile", "1024", "elements of a tile"},
};
static const char *const large[] = {"tiles", "256", "tile", "4096"};
static const rl_scene_case cases[] = {
    {sizeof(rl_scene_case), 0, "small", "16 tiles", NULL, 0},
    {sizeof(rl_scene_case), 0, "large", "256 tiles", large, 2},
};
static const rl_parts parts = {sizeof(rl_parts), 0, 2, units, rows, orchestrate_part};
static const rl_scene scenes[] = {
    {sizeof(rl_scene), 0, "squares", "squares of numbers, tile by tile", scene_params, 2, cases, 2, NULL, inputs,
     orchestrate, golden, &parts},
};
static const rl_plugin plugin = {sizeof(rl_plugin), RL_ABI_VERSION, kernels, 1, scenes, 1};

const rl_plugin *ringlane_plugin_v1(const rl_api *api) {
    rl = api;
    return &plugin;
}
