#include "CRTMPSocket.h"

// The kernel's own header: glibc's struct tcp_info ends before the shortest round trip.
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static int queued(int fd, unsigned long request) {
    int bytes = 0;
    return ioctl(fd, request, &bytes) == 0 && bytes > 0 ? bytes : 0;
}

int upcast_tcp_unsent_bytes(int fd) { return queued(fd, SIOCOUTQNSD); }

int upcast_tcp_unacknowledged_bytes(int fd) { return queued(fd, SIOCOUTQ); }

int upcast_tcp_read_info(int fd, upcast_tcp_info *result) {
    // An older kernel fills in less; the rest stays zero.
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
    *result = (upcast_tcp_info){
        .min_rtt_us = info.tcpi_min_rtt,
        .selectively_acknowledged = (uint64_t)info.tcpi_sacked * info.tcpi_snd_mss,
        .acknowledged = info.tcpi_bytes_acked,
        .silent_ms = info.tcpi_last_ack_recv,
        .retransmission_timeout_us = info.tcpi_rto,
    };
    return 0;
}

int upcast_tcp_is_sending_again(int fd) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return 0;
    return info.tcpi_lost > 0 || info.tcpi_retrans > 0 || info.tcpi_retransmits > 0;
}

// TCP_CLOSE of the kernel's include/net/tcp_states.h; glibc names it in a header that conflicts with linux/tcp.h.
enum { TCP_STATE_CLOSED = 7 };

int upcast_tcp_is_closed(int fd) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || info.tcpi_state == TCP_STATE_CLOSED;
}

void upcast_tcp_disconnect(int fd) {
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    connect(fd, &nobody, sizeof nobody);
    // A socket that is not connected is ready for nothing but errors only after this.
    shutdown(fd, SHUT_RDWR);
}
