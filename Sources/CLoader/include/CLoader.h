/// Shared libraries that are loaded when needed, so that programs start without them.
///
/// `FUNCTIONS(F)` is the list of the functions in use of a library: `F(name)` for each one.
#ifndef UPCAST_LOADER_H
#define UPCAST_LOADER_H

#include <pthread.h>
#include <stddef.h>

#include "upcast_clock.h"

enum upcast_loader_state {
    UPCAST_LOADER_NEW,
    UPCAST_LOADER_LOADED,
    UPCAST_LOADER_NO_LIBRARY,
    /// The library lacks a function.
    UPCAST_LOADER_OLD_LIBRARY,
};

typedef struct {
    const char *file;
    /// The list ends with NULL.
    const char *const *names;
    /// Pointers to functions, in the order of the names.
    void *table;
    pthread_mutex_t lock;
    enum upcast_loader_state state;
} upcast_loader;

#define UPCAST_LOADER_MEMBER(name) __typeof__(name) *name;
#define UPCAST_LOADER_NAME(name) #name,

/// The type of a library's function table.
#define UPCAST_LOADER_TABLE(FUNCTIONS) struct { FUNCTIONS(UPCAST_LOADER_MEMBER) }

/// Initializes a loader that fills a table.
#define UPCAST_LOADER(file, FUNCTIONS, table) \
    { file, (const char *const[]){FUNCTIONS(UPCAST_LOADER_NAME) NULL}, &(table), PTHREAD_MUTEX_INITIALIZER, 0 }

/// Loads the library once. It stays loaded. A failed load is not repeated. Any thread.
enum upcast_loader_state upcast_loader_load(upcast_loader *loader);

#endif
