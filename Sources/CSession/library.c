#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static upcast_session_library library;
static const upcast_session_library *loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
#define UPCAST_SESSION_FIND(name) \
    if (!(library.name = (__typeof__(library.name))dlsym(handle, #name))) return;
    UPCAST_SESSION_FUNCTIONS(UPCAST_SESSION_FIND)
#undef UPCAST_SESSION_FIND
    loaded = &library;
}

const upcast_session_library *upcast_session_load(void) {
    pthread_once(&once, load);
    return loaded;
}
