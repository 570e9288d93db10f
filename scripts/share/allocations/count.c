// Counts what a process takes from the heap, by thread and by where it is asked for. Loaded with LD_PRELOAD.
//
// The figures are in a table in the file $ALLOCATION_TABLE, which is mapped shared: whoever reads it maps it, too, and
// writes 1 to `is_counting` to begin. Only then is a stack walked, so that nothing is slower before.
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { ENTRIES = 8192, DEPTH = 28 };

// __main__.py reads both by their offsets.
struct entry {
    char thread[16];
    uint64_t calls;
    uint64_t bytes;
    // 0 for memory that is given back, which is counted without a stack.
    uint64_t depth;
    uint64_t stack[DEPTH];
};

struct table {
    _Atomic uint64_t is_counting;
    uint64_t entries;
    // Calls for which there was no entry left.
    uint64_t lost;
    uint64_t reserved;
    struct entry entry[ENTRIES];
};

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static struct table *table;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
// Walking a stack may allocate; that is not to be counted.
static __thread int is_inside __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("ALLOCATION_TABLE");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0) return;
    void *memory = MAP_FAILED;
    if (ftruncate(file, sizeof(struct table)) == 0)
        memory = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return;
    // The first walk loads libgcc.
    void *stack[2];
    is_inside = 1;
    backtrace(stack, 2);
    is_inside = 0;
    table = memory;
}

static void note(size_t bytes, int is_free) {
    if (!table || is_inside || !atomic_load_explicit(&table->is_counting, memory_order_relaxed)) return;
    is_inside = 1;
    int error = errno;
    struct entry found = {.calls = 1, .bytes = bytes};
    prctl(PR_GET_NAME, found.thread);
    if (!is_free) {
        // The first two are this function and the one that was called.
        void *stack[DEPTH + 2];
        int depth = backtrace(stack, DEPTH + 2) - 2;
        found.depth = depth > 0 ? depth : 1;
        for (int i = 0; i < depth; i++) found.stack[i] = (uint64_t)stack[i + 2];
    }
    pthread_mutex_lock(&mutex);
    uint64_t i = 0;
    size_t key = sizeof found.depth + sizeof found.stack;
    for (; i < table->entries; i++) {
        struct entry *entry = &table->entry[i];
        if (memcmp(&entry->depth, &found.depth, key) == 0 && memcmp(entry->thread, found.thread, 16) == 0) break;
    }
    if (i < table->entries) {
        table->entry[i].calls += 1;
        table->entry[i].bytes += bytes;
    } else if (i < ENTRIES) {
        table->entry[i] = found;
        table->entries += 1;
    } else {
        table->lost += 1;
    }
    pthread_mutex_unlock(&mutex);
    errno = error;
    is_inside = 0;
}

// Not inlined into each other, so that two frames are ours in every stack.
#define COUNTED __attribute__((noinline))

COUNTED void *malloc(size_t size) {
    note(size, 0);
    return __libc_malloc(size);
}

COUNTED void *calloc(size_t count, size_t size) {
    note(count * size, 0);
    return __libc_calloc(count, size);
}

COUNTED void *realloc(void *memory, size_t size) {
    note(size, 0);
    return __libc_realloc(memory, size);
}

COUNTED void *reallocarray(void *memory, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    note(bytes, 0);
    return __libc_realloc(memory, bytes);
}

COUNTED void *memalign(size_t alignment, size_t size) {
    note(size, 0);
    return __libc_memalign(alignment, size);
}

COUNTED void *aligned_alloc(size_t alignment, size_t size) {
    note(size, 0);
    return __libc_memalign(alignment, size);
}

COUNTED int posix_memalign(void **memory, size_t alignment, size_t size) {
    note(size, 0);
    void *found = __libc_memalign(alignment, size);
    if (!found) return ENOMEM;
    *memory = found;
    return 0;
}

COUNTED void free(void *memory) {
    if (memory) note(0, 1);
    __libc_free(memory);
}
