#include "CLinux.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long upcast_kernel_number(const char *path) {
    char text[64];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t count = read(fd, text, sizeof text - 1);
    close(fd);
    if (count <= 0 || text[0] < '0' || text[0] > '9') return -1;
    text[count] = 0;
    return strtol(text, NULL, 10);
}

int upcast_kernel_fields(const char *path, const char *a, const char *b, const char *c, const char *d, long values[4]) {
    const char *names[4] = {a, b, c, d};
    char text[8192];
    for (int i = 0; i < 4; i++) values[i] = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t count = read(fd, text, sizeof text - 1);
    close(fd);
    if (count < 0) return 0;
    text[count] = 0;
    for (char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        for (int i = 0; i < 4; i++) {
            size_t length = strlen(names[i]);
            if (length == 0 || strncmp(line, names[i], length) != 0) continue;
            char *rest = line + length;
            if (*rest != ' ' && *rest != ':' && *rest != '\t') continue;
            values[i] = strtol(rest + 1, NULL, 10);
        }
    }
    return 1;
}
