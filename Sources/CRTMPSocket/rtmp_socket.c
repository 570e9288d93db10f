#include "CRTMPSocket.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <librtmp/rtmp.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>

static int fail(upcast_rtmp_socket *socket, enum upcast_socket_failure failure, int code) {
    if (socket->failure == UPCAST_SOCKET_OK) {
        socket->failure = failure;
        socket->code = code;
    }
    return -1;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t patience_ends(const upcast_rtmp_socket *socket) {
    int64_t end;
    return __builtin_add_overflow(now_ns(), socket->patience_ns, &end) ? INT64_MAX : end;
}

/// A waiting thread wakes at least this often, so that it knows how long the process did not run (stopped, swapped
/// out).
static const int64_t look_ns = 1000000000;
/// A thread that wakes this much later than it wanted to has stood still itself.
static const int64_t own_delay_ns = 500000000;

static void forgive(int64_t *time_ns, int64_t lost_ns) {
    if (__builtin_add_overflow(*time_ns, lost_ns, time_ns)) *time_ns = INT64_MAX;
}

/// Returns 0 when `fd` is ready, -1 with the failure recorded. The previous call could do nothing, so patience starts
/// here. It starts again when the server has taken bytes: the kernel reports room only at half of its limit. Time in
/// which this process did not run does not count against the server.
static int wait_for(upcast_rtmp_socket *socket, short events) {
    int64_t patience_ns = patience_ends(socket);
    int outstanding = upcast_tcp_unacknowledged_bytes(socket->fd);
    for (;;) {
        const int64_t limit_ns = patience_ns < socket->deadline_ns ? patience_ns : socket->deadline_ns;
        const int64_t began_ns = now_ns();
        const bool is_last = limit_ns <= began_ns + look_ns;
        const int64_t until_ns = is_last ? limit_ns : began_ns + look_ns;
        const enum upcast_wait wait = upcast_control_wait(socket->control, socket->fd, events, until_ns);
        const int64_t lost_ns = now_ns() - (until_ns > began_ns ? until_ns : began_ns);
        const bool has_stood_still = lost_ns > own_delay_ns;
        if (has_stood_still) {
            forgive(&patience_ns, lost_ns);
            forgive(&socket->deadline_ns, lost_ns);
            socket->lost_ns += lost_ns;
        }
        const int left = upcast_tcp_unacknowledged_bytes(socket->fd);
        const bool has_moved = left < outstanding && now_ns() < socket->deadline_ns;
        if (has_moved) patience_ns = patience_ends(socket);
        outstanding = left;
        switch (wait) {
        case UPCAST_WAIT_READY: return 0;
        case UPCAST_WAIT_CANCELLED: return fail(socket, UPCAST_SOCKET_CANCELLED, 0);
        case UPCAST_WAIT_TIMEOUT:
            if (is_last && !has_stood_still && !has_moved) return fail(socket, UPCAST_SOCKET_TIMEOUT, 0);
            break;
        default: return fail(socket, UPCAST_SOCKET_SYSTEM, EINVAL);
        }
    }
}

/// GnuTLS reports the direction to wait for: a read may need to write, and vice versa.
static int wait_for_tls(upcast_rtmp_socket *socket) {
    return wait_for(socket, gnutls_record_get_direction(socket->tls) ? POLLOUT : POLLIN);
}

/// Translates a GnuTLS result: bytes (>= 0), 0 for "nothing yet", -1 with the failure recorded.
static int tls_result(upcast_rtmp_socket *socket, ssize_t result) {
    if (result >= 0) return (int)result;
    if (!gnutls_error_is_fatal((int)result)) return 0;
    if (result == GNUTLS_E_PREMATURE_TERMINATION) return fail(socket, UPCAST_SOCKET_CLOSED, 0);
    // GnuTLS hides the errno of a send or receive that failed, but leaves it in place.
    if (result == GNUTLS_E_PUSH_ERROR || result == GNUTLS_E_PULL_ERROR)
        return fail(socket, UPCAST_SOCKET_SYSTEM, errno);
    return fail(socket, UPCAST_SOCKET_TLS, (int)result);
}

int upcast_rtmp_socket_handshake(upcast_rtmp_socket *socket) {
    for (;;) {
        if (socket->failure) return -1;
        int result = gnutls_handshake(socket->tls);
        if (result == GNUTLS_E_SUCCESS) return 0;
        if (tls_result(socket, result) < 0 || wait_for_tls(socket) < 0) return -1;
    }
}

int upcast_rtmp_socket_receive(upcast_rtmp_socket *socket, void *buffer, int length) {
    if (socket->failure) return -1;
    if (socket->tls) {
        ssize_t result = gnutls_record_recv(socket->tls, buffer, (size_t)length);
        if (result == 0) return fail(socket, UPCAST_SOCKET_CLOSED, 0);
        int count = tls_result(socket, result);
        if (count > 0) socket->bytes_received += (uint64_t)count;
        return count;
    }
    ssize_t count = recv(socket->fd, buffer, (size_t)length, MSG_DONTWAIT);
    if (count == 0) return fail(socket, UPCAST_SOCKET_CLOSED, 0);
    if (count < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
        return fail(socket, UPCAST_SOCKET_SYSTEM, errno);
    }
    socket->bytes_received += (uint64_t)count;
    return (int)count;
}

/// Sends as much as it can without waiting. Returns the bytes sent, 0 for none, or -1 with the failure recorded.
static int send_some(upcast_rtmp_socket *socket, const char *bytes, int length) {
    if (socket->failure) return -1;
    if (socket->tls) return tls_result(socket, gnutls_record_send(socket->tls, bytes, (size_t)length));
    ssize_t count = send(socket->fd, bytes, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) return (int)count;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
    return fail(socket, UPCAST_SOCKET_SYSTEM, errno);
}

int upcast_rtmp_socket_send(upcast_rtmp_socket *socket, const void *bytes, int length) {
    int sent = 0;
    while (sent < length) {
        int count = send_some(socket, (const char *)bytes + sent, length - sent);
        if (count < 0) return -1;
        sent += count;
        socket->bytes_sent += (uint64_t)count;
        if (count == 0 && (socket->tls ? wait_for_tls(socket) : wait_for(socket, POLLOUT)) < 0) return -1;
    }
    return 0;
}

void upcast_rtmp_socket_bye(upcast_rtmp_socket *socket) {
    if (!socket->tls || socket->failure) return;
    for (;;) {
        int result = gnutls_bye(socket->tls, GNUTLS_SHUT_WR);
        if (result == GNUTLS_E_SUCCESS || gnutls_error_is_fatal(result) || wait_for_tls(socket) < 0) return;
    }
}

static _Thread_local upcast_rtmp_socket *current;

void upcast_rtmp_use_socket(upcast_rtmp_socket *socket) { current = socket; }

// librtmp reads errno after a failure and tries again on EINTR, so errno must have another value.
static int refuse(void) {
    errno = ECONNABORTED;
    return -1;
}

int RTMPSockBuf_Fill(RTMPSockBuf *sb) {
    upcast_rtmp_socket *socket = current;
    if (!socket) return refuse();
    socket->reads++;
    if (socket->is_probe) return refuse();
    if (sb->sb_size <= 0) {
        sb->sb_size = 0;
        sb->sb_start = sb->sb_buf;
    }
    int room = (int)(sb->sb_buf + sizeof sb->sb_buf - (sb->sb_start + sb->sb_size));
    if (room <= 0) return refuse();
    for (;;) {
        int count = upcast_rtmp_socket_receive(socket, sb->sb_start + sb->sb_size, room);
        if (count > 0) {
            sb->sb_size += count;
            return count;
        }
        if (count < 0 || (socket->tls ? wait_for_tls(socket) : wait_for(socket, POLLIN)) < 0) return refuse();
    }
}

int RTMPSockBuf_Send(RTMPSockBuf *sb, const char *buf, int len) {
    (void)sb;
    upcast_rtmp_socket *socket = current;
    if (!socket) return refuse();
    if (!socket->is_probe && upcast_rtmp_socket_send(socket, buf, len) < 0) return refuse();
    socket->sends++;
    return len;
}
