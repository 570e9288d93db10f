#define _GNU_SOURCE
#include "CLinux.h"

#include <grp.h>
#include <pwd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int upcast_accept4(int fd) { return accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }
int upcast_exchange(const char *first, const char *second) {
    return renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE);
}
int upcast_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static void signal_set(sigset_t *set, const int *signals, int count) {
    sigemptyset(set);
    for (int i = 0; i < count; i++) sigaddset(set, signals[i]);
}

int upcast_signalfd(const int *signals, int count) {
    sigset_t set;
    signal_set(&set, signals, count);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int upcast_block_signals(const int *signals, int count) {
    sigset_t set;
    signal_set(&set, signals, count);
    return pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int upcast_read_signal(int fd) {
    struct signalfd_siginfo info;
    ssize_t n = read(fd, &info, sizeof info);
    if (n == (ssize_t)sizeof info) return (int)info.ssi_signo;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    return n < 0 ? -errno : -EIO;
}

int upcast_memfd_create(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int upcast_peer_credentials(int fd, int *pid, unsigned int *uid, unsigned int *gid) {
    struct ucred cred;
    socklen_t length = sizeof cred;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &length) != 0) return -1;
    *pid = cred.pid;
    *uid = cred.uid;
    *gid = cred.gid;
    return 0;
}

int upcast_user_number(const char *name, unsigned int *number) {
    struct passwd entry, *found = NULL;
    char room[16384];
    if (getpwnam_r(name, &entry, room, sizeof room, &found) != 0 || !found) return -1;
    *number = entry.pw_uid;
    return 0;
}

int upcast_group_number(const char *name, unsigned int *number) {
    struct group entry, *found = NULL;
    // The buffer is large enough for a group with thousands of members.
    static char room[256 * 1024];
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_at_a_time);
    int result = getgrnam_r(name, &entry, room, sizeof room, &found) != 0 || !found ? -1 : 0;
    if (result == 0) *number = entry.gr_gid;
    pthread_mutex_unlock(&one_at_a_time);
    return result;
}

static int copy_name(const char *from, char *name, int room) {
    if (room <= 0) return -1;
    strncpy(name, from, (size_t)room - 1);
    name[room - 1] = 0;
    return 0;
}

int upcast_user_name(unsigned int number, char *name, int room) {
    struct passwd entry, *found = NULL;
    char text[16384];
    if (getpwuid_r(number, &entry, text, sizeof text, &found) != 0 || !found) return -1;
    return copy_name(entry.pw_name, name, room);
}

int upcast_group_name(unsigned int number, char *name, int room) {
    struct group entry, *found = NULL;
    static char text[256 * 1024];
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_at_a_time);
    int result = getgrgid_r(number, &entry, text, sizeof text, &found) != 0 || !found ? -1 : 0;
    if (result == 0) result = copy_name(entry.gr_name, name, room);
    pthread_mutex_unlock(&one_at_a_time);
    return result;
}

int upcast_user_is_in_group(unsigned int user, unsigned int group) {
    struct passwd entry, *found = NULL;
    char text[16384];
    if (getpwuid_r(user, &entry, text, sizeof text, &found) != 0 || !found) return 0;
    gid_t groups[1024];
    int count = sizeof groups / sizeof *groups;
    // If the user has more groups than fit here, only the first ones are checked.
    if (getgrouplist(entry.pw_name, entry.pw_gid, groups, &count) < 0) count = sizeof groups / sizeof *groups;
    for (int i = 0; i < count; i++) {
        if (groups[i] == group) return 1;
    }
    return 0;
}

int upcast_peer_groups(int fd, unsigned int *groups, int capacity) {
    socklen_t length = (socklen_t)capacity * sizeof *groups;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &length) != 0) return -1;
    return (int)(length / sizeof *groups);
}

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int upcast_peer_process(int fd) {
    // Linux 6.5 returns the process itself, even if it has no number in this namespace.
    int process = -1;
    socklen_t length = sizeof process;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &length) == 0 && process >= 0) return process;
    struct ucred cred;
    length = sizeof cred;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &length) != 0 || cred.pid <= 0) return -1;
    // pidfd_open sets close-on-exec itself.
    return (int)syscall(SYS_pidfd_open, cred.pid, 0);
}

int upcast_open_beneath(const char *folder, const char *name) {
    int place = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place < 0) return -1;
    struct open_how how = {
        .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = -1;
    // EAGAIN: a file was renamed in the meantime, and the kernel cannot tell whether the path stayed beneath the
    // folder.
    for (int tries = 0; tries < 16; tries++) {
        fd = syscall(SYS_openat2, place, name, &how, sizeof how);
        if (fd >= 0 || errno != EAGAIN) break;
    }
    int error = errno;
    close(place);
    errno = error;
    return (int)fd;
}

int upcast_disable_transparent_huge_pages(void) { return prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }
int upcast_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
int upcast_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

int upcast_limit_malloc_arenas(int arenas) { return mallopt(M_ARENA_MAX, arenas); }
void upcast_set_mmap_threshold(int bytes) { mallopt(M_MMAP_THRESHOLD, bytes); }
void upcast_trim_malloc(void) { malloc_trim(0); }

int upcast_cond_init_monotonic(void *cond) {
    pthread_condattr_t attributes;
    int result = pthread_condattr_init(&attributes);
    if (result != 0) return result;
    result = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (result == 0) result = pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
    return result;
}

int upcast_socket_unsent(int fd) {
    int value = 0;
    return ioctl(fd, SIOCOUTQ, &value) == 0 ? value : -1;
}

int upcast_join_until(unsigned long thread, long seconds, long nanoseconds) {
    struct timespec deadline = {.tv_sec = seconds, .tv_nsec = nanoseconds};
#if defined(__has_feature) && __has_feature(thread_sanitizer)
    // ThreadSanitizer does not know pthread_clockjoin_np, and mistakes the next thread with this handle for the same
    // thread.
    struct timespec now, wall;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_REALTIME, &wall);
    long rest = (seconds - now.tv_sec) * 1000000000L + nanoseconds - now.tv_nsec;
    if (rest < 0) rest = 0;
    rest += wall.tv_nsec;
    deadline = (struct timespec){.tv_sec = wall.tv_sec + rest / 1000000000L, .tv_nsec = rest % 1000000000L};
    return pthread_timedjoin_np((pthread_t)thread, NULL, &deadline);
#endif
    return pthread_clockjoin_np((pthread_t)thread, NULL, CLOCK_MONOTONIC, &deadline);
}
