// Functions that Swift's Glibc module hides: GNU extensions, and macros that the importer cannot read. Each has a line
// that says why.
#pragma once
// Only plain C types here: a header that defines _GNU_SOURCE would change the structs that Glibc's module declares.

// accept4, pipe2, eventfd, signalfd are GNU extensions that the module map leaves out.
int upcast_accept4(int fd);
/// renameat2 with RENAME_EXCHANGE: two files exchange their names. EINVAL if the file system does not support it.
int upcast_exchange(const char *first, const char *second);
int upcast_eventfd(void);
int upcast_signalfd(const int *signals, int count);
/// Blocks `signals` in the calling thread (and those it starts later). Returns 0 or an errno.
int upcast_block_signals(const int *signals, int count);
/// Reads one pending signal number from a signalfd; 0 if there is none, or -errno.
int upcast_read_signal(int fd);
int upcast_memfd_create(const char *name);

// SO_PEERCRED fills a struct that Swift does not import.
int upcast_peer_credentials(int fd, int *pid, unsigned int *uid, unsigned int *gid);
/// Look up numbers by names in the databases. Return 0, or -1 if there is no such name.
int upcast_user_number(const char *name, unsigned int *number);
int upcast_group_number(const char *name, unsigned int *number);
/// The name of a user or a group, cut to `room` bytes including its zero. Return 0, or -1 if there is none.
int upcast_user_name(unsigned int number, char *name, int room);
int upcast_group_name(unsigned int number, char *name, int room);
/// Whether the database has the user in the group, even if the running process does not have the group yet.
int upcast_user_is_in_group(unsigned int user, unsigned int group);
/// Supplementary groups of the peer (SO_PEERGROUPS). Returns their number, or -1.
int upcast_peer_groups(int fd, unsigned int *groups, int capacity);
// SO_PEERPIDFD and pidfd_open are newer than the headers.
/// A pidfd of the process at the other end of a Unix socket, or -1.
int upcast_peer_process(int fd);

// glibc has no openat2(2).
/// Opens a file for reading, if its path does not lead out of `folder`, even by links. A descriptor, or -1 with errno.
int upcast_open_beneath(const char *folder, const char *name);

// prctl is variadic.
int upcast_disable_transparent_huge_pages(void);
int upcast_forbid_dumps(void);
int upcast_set_thread_name(const char *name);

// A GNU extension.
/// Joins a thread, at most until a time of CLOCK_MONOTONIC. Returns 0 or an errno (ETIMEDOUT).
int upcast_join_until(unsigned long thread, long seconds, long nanoseconds);

// mallopt and malloc_trim live in malloc.h, which the module map leaves out.
int upcast_limit_malloc_arenas(int arenas);
void upcast_set_mmap_threshold(int bytes);
void upcast_trim_malloc(void);

// The condition variable's clock must be the monotonic one; the attribute calls are clumsy from Swift.
int upcast_cond_init_monotonic(void *cond);

// Files of /proc and of cgroups are read several times a second, so that nothing is allocated for it.
/// The number at the start of a file; -1 if there is no number, or no file.
long upcast_kernel_number(const char *path);
/// The numbers after four names at the start of lines (`name 12`, `name: 12 kB`); -1 for each that is not in the file's
/// first 8 KiB. Returns 0 if the file cannot be read.
int upcast_kernel_fields(const char *path, const char *a, const char *b, const char *c, const char *d, long values[4]);

/// Outstanding bytes in a socket's send queue (SIOCOUTQ), or -1.
int upcast_socket_unsent(int fd);

// Netlink and epoll have headers that the module map leaves out.
/// A socket that becomes readable when the machine's addresses or routes change (rtnetlink(7)), or -1 with errno.
int upcast_network_watch(void);
/// Reads the messages of such a socket. Returns 1 if an address or a route has been added.
int upcast_network_came(int fd);
/// A descriptor that is readable when one of `descriptors` is (epoll(7)), or -1 with errno.
int upcast_poll_set(const int *descriptors, int count);

// Swift cannot use the macros of control messages (cmsg(3)) and the seals (fcntl(2)).
enum {
    /// The most descriptors that one message can carry (SCM_MAX_FD).
    UPCAST_MAX_DESCRIPTORS = 253,
};
/// Receives up to `count` bytes without waiting, and the descriptors that came with them, closed on exec. `descriptors`
/// has room for UPCAST_MAX_DESCRIPTORS. Returns the result of recvmsg(2).
long upcast_receive_with_descriptors(int socket, void *bytes, unsigned long count, int *descriptors, int *found);
/// From now on, no peer can send descriptors to a Unix socket, nor to the sockets that a listener accepts. 0, or -1
/// with errno (ENOPROTOOPT before Linux 6.16).
int upcast_refuse_descriptors(int socket);
/// Sends at least one byte, with `descriptor`. Returns the result of sendmsg(2).
long upcast_send_with_descriptor(int socket, const void *bytes, unsigned long count, int descriptor);
/// From now on a memfd keeps its size and its pages, and no new mapping can be written to. 0, or -1 with errno.
int upcast_seal_for_reading(int fd);
/// 1 if that has been done, 0 otherwise, even if the descriptor is not a memfd.
int upcast_is_sealed_for_reading(int fd);
/// The offset of the first page that was never written (SEEK_HOLE); the size if there is none; -1 with errno.
long upcast_first_hole(int fd);
// A signal handler must be in C.
/// Maps the first `count` bytes of a regular file for reading; NULL with errno. Pages that the file loses later, or
/// that cannot be read, become zeros and are noted under `token`, instead of ending the process. At most 8 mappings at
/// a time.
void *upcast_map_file(int fd, unsigned long count, int *token);
/// 1 if a page was read that the file had lost.
int upcast_mapping_has_lost(int token);
void upcast_unmap_file(void *memory, unsigned long count, int token);
// dl_iterate_phdr(3) is in link.h, which the module map leaves out.
typedef struct {
    unsigned long start, end;
    /// Set by `upcast_discard_constants`.
    int is_discarded;
} upcast_range;
/// Discards the clean pages of each range that lies within one read-only segment of a loaded object (madvise(2),
/// MADV_DONTNEED). The dynamic linker unmaps nothing during the call.
void upcast_discard_constants(upcast_range *ranges, unsigned long count);
// Words in memory that two processes share.
unsigned long long upcast_load_word(const void *word);
void upcast_store_word(void *word, unsigned long long value);
