#include "CBus.h"

static upcast_bus_library library;
static upcast_loader loader = UPCAST_LOADER("libsystemd.so.0", UPCAST_BUS_FUNCTIONS, library);

const upcast_bus_library *upcast_bus_load(void) {
    return upcast_loader_load(&loader) == UPCAST_LOADER_LOADED ? &library : NULL;
}
