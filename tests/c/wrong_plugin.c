// A plugin that is wrong in the way that the macros say; without any its scene crashes.
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
#ifndef CASES
#define CASES 1
#endif

static int32_t inputs(void *user, const rl_settings *settings, rl_inputs *inputs) {
    (void)user, (void)settings, (void)inputs;
    return RL_OK;
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

static const rl_scene_case cases[] = {{sizeof(rl_scene_case), 0, "small", "crashes", NULL, 0}};
static const rl_scene scenes[] = {
    {sizeof(rl_scene), 0, NAME, "writes to address 0", NULL, 0, cases, CASES, NULL, inputs, ORCHESTRATE, golden},
};
const rl_plugin wrong_plugin;
const rl_plugin wrong_plugin = {SIZE, VERSION, NULL, 0, scenes, 1};

#ifndef NO_SYMBOL
const rl_plugin *ringlane_plugin_v1(const rl_api *api);
const rl_plugin *ringlane_plugin_v1(const rl_api *api) {
    (void)api;
#ifdef NULL_TABLE
    return NULL;
#else
    return &wrong_plugin;
#endif
}
#endif
