// Replaces librtmp's socket layer.
//
// librtmp does all its reading and writing through two functions that it exports and calls through its PLT:
// RTMPSockBuf_Fill and RTMPSockBuf_Send. rtmp_socket.c defines them again. These definitions are in the executable, so
// the dynamic linker finds them first, and librtmp calls them. They add what librtmp lacks: absolute deadlines,
// cancellation, no SIGPIPE, and our own GnuTLS sessions (verified, TLS 1.3). RTMPLibrary.selfTest proves that librtmp
// calls them.
//
// They find our socket by the thread (upcast_rtmp_use_socket), not in librtmp's handle. The handle has no descriptor
// and no TLS session, so librtmp can close nothing of ours.
#pragma once

#include <stdint.h>

/// Limits all waits; other threads can lower the limit. Shared by all sockets of one destination.
typedef struct upcast_control upcast_control;

/// NULL with errno set if there is no descriptor or no memory.
upcast_control *upcast_control_create(void);
void upcast_control_destroy(upcast_control *control);
/// Any thread: no wait goes beyond this time (CLOCK_MONOTONIC nanoseconds), not even one in progress. Zero cancels. A
/// limit can be lowered, not raised.
void upcast_control_limit(upcast_control *control, int64_t limit_ns);
/// Whether the limit has passed.
int upcast_control_is_over(upcast_control *control);

enum upcast_wait { UPCAST_WAIT_READY, UPCAST_WAIT_TIMEOUT, UPCAST_WAIT_CANCELLED };

/// Waits until `fd` has one of the poll `events` (or an error to report), the deadline passes, or the limit does.
enum upcast_wait upcast_control_wait(upcast_control *control, int fd, short events, int64_t deadline_ns);

enum { UPCAST_WAIT_MAXIMUM = 8 };

/// The same for up to UPCAST_WAIT_MAXIMUM descriptors: returns when one is ready. Bit n of `ready` is set if fds[n] is
/// ready. Without descriptors it only waits.
enum upcast_wait upcast_control_wait_any(
    upcast_control *control, const int *fds, int count, short events, int64_t deadline_ns, unsigned *ready);

enum upcast_socket_failure {
    UPCAST_SOCKET_OK,
    UPCAST_SOCKET_TIMEOUT,
    /// The control's limit passed.
    UPCAST_SOCKET_CANCELLED,
    /// The peer closed in order.
    UPCAST_SOCKET_CLOSED,
    /// `code` is an errno.
    UPCAST_SOCKET_SYSTEM,
    /// `code` is a GnuTLS error.
    UPCAST_SOCKET_TLS,
};

/// One connection. One thread uses it.
/// The first failure stays; every later call fails at once, so that nothing librtmp does on its way out can block.
typedef struct upcast_rtmp_socket {
    /// Non-blocking and connected; not owned.
    int fd;
    upcast_control *control;
    /// CLOCK_MONOTONIC nanoseconds; bounds every call until it is changed.
    int64_t deadline_ns;
    /// How long a send may make no progress; ends it before the deadline.
    int64_t patience_ns;
    /// For how long the process did not run while a call waited; whoever reads it resets it.
    int64_t lost_ns;
    /// gnutls_session_t, or NULL for plain TCP; not owned.
    void *tls;
    enum upcast_socket_failure failure;
    int code;
    uint64_t bytes_received;
    uint64_t bytes_sent;
    uint64_t sends;
    /// For the self-test, without a connection: sends are counted and dropped, reads are counted and fail.
    int is_probe;
    uint64_t reads;
} upcast_rtmp_socket;

/// From now on librtmp, called on this thread, reads from and writes to `socket`; with NULL both fail.
void upcast_rtmp_use_socket(upcast_rtmp_socket *socket);

/// Runs the TLS handshake. 0, or -1 with the failure recorded.
int upcast_rtmp_socket_handshake(upcast_rtmp_socket *socket);
/// Sends all bytes. 0, or -1 with the failure recorded.
int upcast_rtmp_socket_send(upcast_rtmp_socket *socket, const void *bytes, int length);
/// Reads available bytes without waiting. Returns their number, 0 for none yet, or -1 with the failure recorded.
int upcast_rtmp_socket_receive(upcast_rtmp_socket *socket, void *buffer, int length);
/// Tells the peer that no more TLS records come (close_notify); does not wait for its answer.
void upcast_rtmp_socket_bye(upcast_rtmp_socket *socket);

/// Bytes that the kernel has not sent yet; 0 without a connection.
int upcast_tcp_unsent_bytes(int fd);
/// Closes a connection at once, but not its descriptor (connect(2) with AF_UNSPEC). Unsent bytes are dropped, and
/// waiting or later calls on the socket fail.
void upcast_tcp_disconnect(int fd);
/// Bytes that the peer's kernel has not acknowledged, including unsent ones; 0 without a connection.
int upcast_tcp_unacknowledged_bytes(int fd);

/// Whether the kernel considers sent bytes lost, and sends them again or is about to.
int upcast_tcp_is_sending_again(int fd);
/// Whether there is no connection: it was reset, or both sides have ended it.
int upcast_tcp_is_closed(int fd);

/// The kernel's measurements (TCP_INFO); a value that it does not know is zero.
typedef struct upcast_tcp_info {
    /// The shortest round trip of the last minutes.
    uint32_t min_rtt_us;
    /// Bytes that the peer has received after a lost one (SACK); approximate, because they are counted in whole
    /// segments.
    uint64_t selectively_acknowledged;
    /// All bytes of the connection that the peer's kernel has acknowledged.
    uint64_t acknowledged;
    /// Milliseconds since it last acknowledged anything.
    uint32_t silent_ms;
    /// The time after which the kernel sends unacknowledged bytes again.
    uint32_t retransmission_timeout_us;
} upcast_tcp_info;
/// 0, or -1 with errno set.
int upcast_tcp_read_info(int fd, upcast_tcp_info *result);
