#include "library.h"

#include "CWayland.h"

static upcast_wl_library library;
static upcast_loader loader = UPCAST_LOADER("libwayland-client.so.0", UPCAST_WL_FUNCTIONS, library);

const upcast_wl_library *upcast_wl_load(int *error) {
    const enum upcast_loader_state state = upcast_loader_load(&loader);
    *error = state == UPCAST_LOADER_OLD_LIBRARY ? UPCAST_WL_OLD_LIBRARY : UPCAST_WL_NO_LIBRARY;
    return state == UPCAST_LOADER_LOADED ? &library : NULL;
}
