#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static upcast_pulse_library library;
static const upcast_pulse_library *loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libpulse.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
#define UPCAST_PULSE_FIND(name) \
    if (!(library.name = (__typeof__(library.name))dlsym(handle, #name))) return;
    UPCAST_PULSE_FUNCTIONS(UPCAST_PULSE_FIND)
#undef UPCAST_PULSE_FIND
    loaded = &library;
}

const upcast_pulse_library *upcast_pulse_load(void) {
    pthread_once(&once, load);
    return loaded;
}
