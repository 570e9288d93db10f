#include "library.h"

#include "CWayland.h"

#include <dlfcn.h>
#include <pthread.h>

static upcast_wl_library library;
static int failure = UPCAST_WL_NO_LIBRARY;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libwayland-client.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    failure = UPCAST_WL_OLD_LIBRARY;
#define UPCAST_WL_FIND(name) \
    if (!(library.name = (__typeof__(library.name))dlsym(handle, #name))) return;
    UPCAST_WL_FUNCTIONS(UPCAST_WL_FIND)
#undef UPCAST_WL_FIND
    failure = 0;
}

const upcast_wl_library *upcast_wl_load(int *error) {
    pthread_once(&once, load);
    *error = failure;
    return failure ? NULL : &library;
}
