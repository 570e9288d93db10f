#include "CLoader.h"

#include <dlfcn.h>
#include <string.h>

static enum upcast_loader_state load(upcast_loader *l) {
    void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return UPCAST_LOADER_NO_LIBRARY;
    for (size_t i = 0; l->names[i]; i++) {
        void *function = dlsym(handle, l->names[i]);
        if (!function) return UPCAST_LOADER_OLD_LIBRARY;
        memcpy((char *)l->table + i * sizeof function, &function, sizeof function);
    }
    return UPCAST_LOADER_LOADED;
}

enum upcast_loader_state upcast_loader_load(upcast_loader *l) {
    pthread_mutex_lock(&l->lock);
    if (l->state == UPCAST_LOADER_NEW) l->state = load(l);
    const enum upcast_loader_state state = l->state;
    pthread_mutex_unlock(&l->lock);
    return state;
}
