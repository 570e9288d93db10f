#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

long upcast_receive_with_descriptors(int socket, void *bytes, unsigned long count, int *descriptors, int *found) {
    // There is room for all descriptors that can come. Otherwise, the kernel would close the rest in this thread, which
    // can block.
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(UPCAST_MAX_DESCRIPTORS * sizeof(int))];
    } control;
    struct iovec vector = {bytes, count};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes};
    *found = 0;
    ssize_t received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (received < 0) return -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        unsigned long room = header->cmsg_len - CMSG_LEN(0);
        memcpy(descriptors, CMSG_DATA(header), room);
        *found = (int)(room / sizeof(int));
    }
    return received;
}

// This option is newer than the headers (Linux 6.16).
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

int upcast_refuse_descriptors(int socket) {
    int pass = 0;
    return setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &pass, sizeof pass);
}

long upcast_send_with_descriptor(int socket, const void *bytes, unsigned long count, int descriptor) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec vector = {(void *)bytes, count};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

static const int lasting = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;

int upcast_seal_for_reading(int fd) { return fcntl(fd, F_ADD_SEALS, lasting); }

int upcast_is_sealed_for_reading(int fd) {
    // The seals are checked first: this call does not ask the file system, whose server may never answer, and fails for
    // all files that are not in memory.
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0) return 0;
    // Memfds with huge pages have seals, too, but their holes are not visible, and their faults can fail.
    struct statfs file_system;
    if (fstatfs(fd, &file_system) != 0 || file_system.f_type != TMPFS_MAGIC) return 0;
    // A memfd that can never be written to is equally safe.
    if (seals & F_SEAL_WRITE) seals |= F_SEAL_FUTURE_WRITE;
    return (seals & lasting) == lasting;
}

long upcast_first_hole(int fd) { return lseek(fd, 0, SEEK_HOLE); }

unsigned long long upcast_load_word(const void *word) {
    // The word is read both before and after the bytes that it guards, so no access may be reordered across it.
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    unsigned long long value = __atomic_load_n((const unsigned long long *)word, __ATOMIC_ACQUIRE);
    return value;
}

void upcast_store_word(void *word, unsigned long long value) {
    __atomic_store_n((unsigned long long *)word, value, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
