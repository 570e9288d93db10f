#include "library.h"

static upcast_pulse_library library;
static upcast_loader loader = UPCAST_LOADER("libpulse.so.0", UPCAST_PULSE_FUNCTIONS, library);

const upcast_pulse_library *upcast_pulse_load(void) {
    return upcast_loader_load(&loader) == UPCAST_LOADER_LOADED ? &library : NULL;
}
