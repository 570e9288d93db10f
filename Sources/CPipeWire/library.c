#include "library.h"

#include <stdlib.h>

static upcast_pipewire_library library;
static upcast_loader loader = UPCAST_LOADER("libpipewire-0.3.so.0", UPCAST_PIPEWIRE_FUNCTIONS, library);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void begin(void) {
    library.pw_init(NULL, NULL);
    // upcast-screen reports errors in its own words.
    if (!getenv("PIPEWIRE_DEBUG")) library.pw_log_set_level(SPA_LOG_LEVEL_NONE);
}

const upcast_pipewire_library *upcast_pipewire_load(void) {
    if (upcast_loader_load(&loader) != UPCAST_LOADER_LOADED) return NULL;
    pthread_once(&once, begin);
    return &library;
}
