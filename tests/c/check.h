// What the tests in C share: a condition that must hold, and an error that must come.
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringlane.h"

#define CHECK(condition)                                                                                   \
    do {                                                                                                   \
        if (!(condition)) {                                                                                \
            fprintf(stderr, "%s:%d: %s does not hold; the last error is %s: %s\n", __FILE__, __LINE__,     \
                    #condition, rl_error_name(), rl_error_detail());                                       \
            exit(1);                                                                                       \
        }                                                                                                  \
    } while (0)

#define OK(call) CHECK((call) == RL_OK)

// The call fails with an error of this name, which has a detail or a hint.
#define FAILS(call, name)                                                                                  \
    do {                                                                                                   \
        CHECK((call) != RL_OK);                                                                            \
        if (strcmp(rl_error_name(), name) != 0) {                                                          \
            fprintf(stderr, "%s:%d: %s fails with %s: %s, not with %s\n", __FILE__, __LINE__, #call,       \
                    rl_error_name(), rl_error_detail(), name);                                             \
            exit(1);                                                                                       \
        }                                                                                                  \
        CHECK(strlen(rl_error_hint()) > 0 && !strstr(rl_error_hint(), "::") && !strstr(rl_error_hint(), "`.")); \
    } while (0)

static inline rl_kernel_info kernel_info(const char *name, rl_kernel_fn function, const rl_param *params,
                                         size_t count) {
    rl_kernel_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    info.core = RL_CORE_ANY;
    info.name = name;
    info.params = params;
    info.param_count = count;
    info.function = function;
    return info;
}

static inline rl_runtime *runtime_on(const char *platform) {
    rl_runtime_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.abi_version = RL_ABI_VERSION;
    options.platform = platform;
    options.threads = 2;
    rl_runtime *runtime = NULL;
    OK(rl_runtime_new(&options, &runtime));
    return runtime;
}

#endif
