#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

static upcast_pipewire_library library;
static const upcast_pipewire_library *loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libpipewire-0.3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
#define UPCAST_PIPEWIRE_FIND(name) \
    if (!(library.name = (__typeof__(library.name))dlsym(handle, #name))) return;
    UPCAST_PIPEWIRE_FUNCTIONS(UPCAST_PIPEWIRE_FIND)
#undef UPCAST_PIPEWIRE_FIND
    library.pw_init(NULL, NULL);
    // What goes wrong is told by upcast-screen, in its own words.
    if (!getenv("PIPEWIRE_DEBUG")) library.pw_log_set_level(SPA_LOG_LEVEL_NONE);
    loaded = &library;
}

const upcast_pipewire_library *upcast_pipewire_load(void) {
    pthread_once(&once, load);
    return loaded;
}
