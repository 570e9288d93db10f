#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

// If a file shrinks, its lost pages vanish from every mapping, and reading one raises SIGBUS. The handler maps zero
// pages in their place, and notes that, so that the reader can find out afterwards.

enum { MAPPINGS = 8 };

static struct {
    /// 0 if the entry is free. It is set last, and cleared first.
    _Atomic uintptr_t start;
    _Atomic uintptr_t end;
    _Atomic int has_lost;
} mappings[MAPPINGS];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int is_installed;
static struct sigaction previous;

/// Makes only calls that a signal handler may make, and loads lock-free atomics.
static void replace_lost_pages(int signal, siginfo_t *info, void *context) {
    int kept = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    for (int i = 0; i < MAPPINGS; i++) {
        uintptr_t start = mappings[i].start, end = mappings[i].end;
        // The entry may have been given to another mapping between the two loads.
        if (start == 0 || start != mappings[i].start || address < start || address >= end) continue;
        uintptr_t page = address & ~((uintptr_t)4096 - 1);
        void *made = mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (made == MAP_FAILED) break;
        mappings[i].has_lost = 1;
        errno = kept;
        return;
    }
    errno = kept;
    if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
    // The access is repeated, and ends the process as it would without this handler.
    sigaction(SIGBUS, &previous, NULL);
}

static int install(void) {
    if (is_installed) return 0;
    struct sigaction action = {.sa_sigaction = replace_lost_pages, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, &previous) != 0) return -1;
    is_installed = 1;
    return 0;
}

void *upcast_map_file(int fd, unsigned long count, int *token) {
    void *memory = mmap(NULL, count, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) return NULL;
    pthread_mutex_lock(&mutex);
    int free = -1;
    for (int i = 0; i < MAPPINGS && free < 0; i++) {
        if (mappings[i].start == 0) free = i;
    }
    if (free >= 0 && install() == 0) {
        mappings[free].has_lost = 0;
        mappings[free].end = (uintptr_t)memory + ((count + 4095) & ~4095ul);
        mappings[free].start = (uintptr_t)memory;
    } else {
        munmap(memory, count);
        memory = NULL;
        errno = ENOMEM;
    }
    pthread_mutex_unlock(&mutex);
    *token = free;
    return memory;
}

int upcast_mapping_has_lost(int token) { return mappings[token].has_lost; }

void upcast_unmap_file(void *memory, unsigned long count, int token) {
    // First: the next mapping of another thread may have the same addresses, and its loss would be noted here.
    pthread_mutex_lock(&mutex);
    mappings[token].start = 0;
    pthread_mutex_unlock(&mutex);
    munmap(memory, count);
}
