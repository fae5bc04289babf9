// A plugin that is wrong in the way that the macros say; without any its scene crashes.
#include <stdio.h>

#include "ringlane.h"

#ifndef VERSION
#define VERSION RL_ABI_VERSION
#endif
#ifndef SIZE
#define SIZE sizeof(rl_plugin)
#endif
#ifndef NAME
#define NAME "crash"
#endif
#ifndef ORCHESTRATE
#define ORCHESTRATE orchestrate
#endif
#ifndef PARTS
#define PARTS NULL
#endif
#ifndef UNITS
#define UNITS 1
#endif
#ifndef BUFFERS
#define BUFFERS 1
#endif
#ifndef CASES
#define CASES 1
#endif

static const rl_api *rl;

static int32_t inputs(void *user, const rl_settings *settings, rl_inputs *inputs) {
    uint32_t elements = 4;
    void *data;
    (void)user, (void)settings;
    return rl->add_buffer(inputs, RL_F32, 1, &elements, 1, &data);
}

int32_t orchestrate(void *user, const rl_settings *settings, const rl_kernel *const *kernels, rl_orch *o);
int32_t orchestrate(void *user, const rl_settings *settings, const rl_kernel *const *kernels, rl_orch *o) {
    (void)settings, (void)kernels, (void)o;
    *(volatile int *)user = 1;
    return RL_OK;
}

static int32_t golden(void *user, const rl_settings *settings, rl_golden *golden) {
    (void)user, (void)settings, (void)golden;
    return RL_OK;
}

static int32_t units(void *user, const rl_settings *settings, uint32_t *count) {
    (void)user, (void)settings;
    *count = UNITS;
#ifdef REPLACED_BY
    rename(REPLACED_BY, "libwrong.so"); // Another build takes the place of the one that runs.
#endif
    return RL_OK;
}

static int32_t rows(void *user, const rl_settings *settings, uint32_t first, uint32_t end, size_t buffer, rl_rows *rows) {
    (void)user, (void)settings, (void)first, (void)end, (void)buffer, (void)rows;
    return RL_OK;
}

static int32_t orchestrate_part(void *user, const rl_settings *settings, const rl_kernel *const *kernels, uint32_t first,
                                uint32_t end, rl_orch *o) {
    (void)first, (void)end;
    return orchestrate(user, settings, kernels, o);
}

extern const rl_parts parts;
const rl_parts parts = {sizeof(rl_parts), 0, BUFFERS, units, rows, orchestrate_part};
static const rl_scene_case cases[] = {{sizeof(rl_scene_case), 0, "small", "crashes", NULL, 0}};
static const rl_scene scenes[] = {
    {sizeof(rl_scene), 0, NAME, "writes to address 0", NULL, 0, cases, CASES, NULL, inputs, ORCHESTRATE, golden,
     PARTS},
};
const rl_plugin wrong_plugin;
const rl_plugin wrong_plugin = {SIZE, VERSION, NULL, 0, scenes, 1};

#ifndef NO_SYMBOL
const rl_plugin *ringlane_plugin_v1(const rl_api *api);
const rl_plugin *ringlane_plugin_v1(const rl_api *api) {
    rl = api;
#ifdef NULL_TABLE
    return NULL;
#else
    return &wrong_plugin;
#endif
}
#endif
