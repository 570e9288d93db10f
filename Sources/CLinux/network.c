#include "CLinux.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

int upcast_network_watch(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int upcast_network_came(int fd) {
    int came = 0;
    for (;;) {
        _Alignas(struct nlmsghdr) char buffer[8192];
        ssize_t count = recv(fd, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) continue;
        // Too many messages came, and some were lost: something has changed.
        if (count < 0 && errno == ENOBUFS) came = 1;
        if (count <= 0) return came;
        unsigned int left = (unsigned int)count;
        for (struct nlmsghdr *message = (struct nlmsghdr *)buffer; NLMSG_OK(message, left);
             message = NLMSG_NEXT(message, left))
            if (message->nlmsg_type == RTM_NEWADDR || message->nlmsg_type == RTM_NEWROUTE) came = 1;
    }
}

int upcast_poll_set(const int *descriptors, int count) {
    int set = epoll_create1(EPOLL_CLOEXEC);
    if (set < 0) return -1;
    for (int index = 0; index < count; index++) {
        struct epoll_event event = {.events = EPOLLIN};
        if (epoll_ctl(set, EPOLL_CTL_ADD, descriptors[index], &event) == 0) continue;
        int error = errno;
        close(set);
        errno = error;
        return -1;
    }
    return set;
}
