#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static upcast_portal_library library;
static const upcast_portal_library *loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
#define UPCAST_PORTAL_FIND(name) \
    if (!(library.name = (__typeof__(library.name))dlsym(handle, #name))) return;
    UPCAST_PORTAL_FUNCTIONS(UPCAST_PORTAL_FIND)
#undef UPCAST_PORTAL_FIND
    loaded = &library;
}

const upcast_portal_library *upcast_portal_load(void) {
    pthread_once(&once, load);
    return loaded;
}
