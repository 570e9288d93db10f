#define _GNU_SOURCE
#include "CLinux.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 16 };

struct discard {
    upcast_range *ranges;
    unsigned long count;
    uintptr_t page_mask;
};

/// dl_iterate_phdr(3) calls it while it holds the lock that the dynamic linker takes before it unmaps an object.
static int discard_in_object(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    const struct discard *wish = context;
    // The program headers may be on a page that is discarded. Reading them afterwards would load the page again.
    struct {
        uintptr_t start, end;
    } segments[MAX_SEGMENTS];
    int found = 0;
    for (int i = 0; i < object->dlpi_phnum && found < MAX_SEGMENTS; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        const uintptr_t first = object->dlpi_addr + segment->p_vaddr;
        segments[found].start = first & wish->page_mask;
        segments[found++].end = (first + segment->p_memsz + ~wish->page_mask) & wish->page_mask;
    }
    for (unsigned long k = 0; k < wish->count; k++) {
        upcast_range *range = &wish->ranges[k];
        for (int i = 0; i < found; i++) {
            if (range->start < segments[i].start || range->end > segments[i].end) continue;
            range->is_discarded = madvise((void *)range->start, range->end - range->start, MADV_DONTNEED) == 0;
        }
    }
    return 0;
}

void upcast_discard_constants(upcast_range *ranges, unsigned long count) {
    struct discard wish = {ranges, count, ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1)};
    for (unsigned long k = 0; k < count; k++) ranges[k].is_discarded = 0;
    dl_iterate_phdr(discard_in_object, &wish);
}
