// wayland-window: a full-screen window of grey, over which a white square moves, for tests of what captures it.
//
//   wayland-window STEPS WIDTH HEIGHT
//   wayland-window FILE WIDTH HEIGHT    the picture of a file instead, in rows of BGRX
//
// Width and height are those of the output as the user sees it.
// The square moves in the upper half from the left edge to the middle, a step with each frame of the compositor's, and
// stays there. Only the square's old and new places are damaged.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wayland-client.h>

enum { PLACES = 3, SIDE = 40 };

// xdg-shell as far as a window needs it. All requests and events of version 1 have a place.
static const struct wl_interface *any[4];
static const struct wl_message toplevel_requests[] = {
    {"destroy", "", any},          {"set_parent", "?o", any},    {"set_title", "s", any},
    {"set_app_id", "s", any},      {"show_window_menu", "ouii", any}, {"move", "ou", any},
    {"resize", "ouu", any},        {"set_max_size", "ii", any},  {"set_min_size", "ii", any},
    {"set_maximized", "", any},    {"unset_maximized", "", any}, {"set_fullscreen", "?o", any},
    {"unset_fullscreen", "", any}, {"set_minimized", "", any}};
static const struct wl_message toplevel_events[] = {{"configure", "iia", any}, {"close", "", any}};
static const struct wl_interface toplevel_interface = {"xdg_toplevel", 1, 14, toplevel_requests, 2, toplevel_events};

static const struct wl_interface *toplevel_types[] = {&toplevel_interface};
static const struct wl_message surface_requests[] = {
    {"destroy", "", any}, {"get_toplevel", "n", toplevel_types}, {"get_popup", "n?oo", any},
    {"set_window_geometry", "iiii", any}, {"ack_configure", "u", any}};
static const struct wl_message surface_events[] = {{"configure", "u", any}};
static const struct wl_interface surface_interface = {"xdg_surface", 1, 5, surface_requests, 1, surface_events};

static const struct wl_interface *surface_types[] = {&surface_interface, NULL};
static const struct wl_message shell_requests[] = {
    {"destroy", "", any}, {"create_positioner", "n", any}, {"get_xdg_surface", "no", surface_types},
    {"pong", "u", any}};
static const struct wl_message shell_events[] = {{"ping", "u", any}};
static const struct wl_interface shell_interface = {"xdg_wm_base", 1, 4, shell_requests, 1, shell_events};

static struct wl_compositor *compositor;
static struct wl_shm *shm;
static struct wl_proxy *shell, *xdg_surface, *toplevel;
static struct wl_surface *surface;
static struct wl_buffer *buffers[PLACES];
static uint32_t *pixels[PLACES];
static int width, height, steps, step;
static FILE *picture;

static void draw(void);

static void frame_done(void *data, struct wl_callback *callback, uint32_t time) {
    (void)data, (void)time;
    wl_callback_destroy(callback);
    if (step < steps) draw();
}

static const struct wl_callback_listener frame_listener = {frame_done};

static void show_picture(void) {
    if (fread(pixels[0], 4, (size_t)width * (size_t)height, picture) != (size_t)width * (size_t)height) exit(1);
    wl_surface_attach(surface, buffers[0], 0, 0);
    wl_surface_damage_buffer(surface, 0, 0, width, height);
    wl_surface_commit(surface);
}

static int left(int at) { return (width - SIDE) / 2 * at / steps; }

static void draw(void) {
    int old = left(step), top = height / 4 - SIDE / 2;
    if (step++ == 0) old = 0;
    int new = left(step);
    uint32_t *place = pixels[step % PLACES];
    for (int i = 0; i < width * height; i++) place[i] = 0xff404040;
    for (int y = top; y < top + SIDE; y++)
        for (int x = new; x < new + SIDE; x++) place[y * width + x] = 0xffffffff;
    wl_surface_attach(surface, buffers[step % PLACES], 0, 0);
    if (step == 1) wl_surface_damage_buffer(surface, 0, 0, width, height);
    wl_surface_damage_buffer(surface, old, top, SIDE, SIDE);
    wl_surface_damage_buffer(surface, new, top, SIDE, SIDE);
    wl_callback_add_listener(wl_surface_frame(surface), &frame_listener, NULL);
    wl_surface_commit(surface);
}

static void make_buffers(void) {
    int bytes = width * height * 4, memory = memfd_create("wayland-window", MFD_CLOEXEC);
    void *map = MAP_FAILED;
    if (ftruncate(memory, (off_t)bytes * PLACES) == 0)
        map = mmap(NULL, (size_t)bytes * PLACES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (map == MAP_FAILED) exit(1);
    struct wl_shm_pool *pool = wl_shm_create_pool(shm, memory, bytes * PLACES);
    for (int i = 0; i < PLACES; i++) {
        buffers[i] =
            wl_shm_pool_create_buffer(pool, i * bytes, width, height, width * 4, WL_SHM_FORMAT_XRGB8888);
        pixels[i] = (uint32_t *)((char *)map + i * bytes);
    }
}

static int shell_event(
    const void *data, void *target, uint32_t opcode, const struct wl_message *message, union wl_argument *a) {
    (void)data, (void)message;
    if (target == shell) wl_proxy_marshal(shell, 3, a[0].u);
    if (target == toplevel && opcode == 1) exit(0);
    if (target == xdg_surface) {
        wl_proxy_marshal(xdg_surface, 4, a[0].u);
        if (!buffers[0]) {
            make_buffers();
            if (picture) show_picture();
            else draw();
        }
    }
    return 0;
}

static void add_global(void *data, struct wl_registry *registry, uint32_t name, const char *interface, uint32_t v) {
    (void)data, (void)v;
    if (!strcmp(interface, "wl_compositor")) compositor = wl_registry_bind(registry, name, &wl_compositor_interface, 4);
    if (!strcmp(interface, "wl_shm")) shm = wl_registry_bind(registry, name, &wl_shm_interface, 1);
    if (!strcmp(interface, "xdg_wm_base")) shell = wl_registry_bind(registry, name, &shell_interface, 1);
}

static void remove_global(void *data, struct wl_registry *registry, uint32_t name) {
    (void)data, (void)registry, (void)name;
}

static const struct wl_registry_listener registry_listener = {add_global, remove_global};

int main(int count, char **arguments) {
    if (count == 4) {
        steps = atoi(arguments[1]);
        picture = steps > 0 ? NULL : fopen(arguments[1], "rb");
        width = atoi(arguments[2]);
        height = atoi(arguments[3]);
    }
    if ((steps < 1 && !picture) || width < SIDE || height < SIDE || width > 4096 || height > 4096) {
        fprintf(stderr, "usage: wayland-window STEPS|FILE WIDTH HEIGHT\n");
        return 64;
    }
    struct wl_display *display = wl_display_connect(NULL);
    if (!display) {
        fprintf(stderr, "no compositor at WAYLAND_DISPLAY\n");
        return 1;
    }
    wl_registry_add_listener(wl_display_get_registry(display), &registry_listener, NULL);
    wl_display_roundtrip(display);
    if (!compositor || !shm || !shell) return 1;
    surface = wl_compositor_create_surface(compositor);
    wl_proxy_add_dispatcher(shell, shell_event, NULL, NULL);
    xdg_surface = wl_proxy_marshal_constructor(shell, 2, &surface_interface, NULL, surface);
    wl_proxy_add_dispatcher(xdg_surface, shell_event, NULL, NULL);
    toplevel = wl_proxy_marshal_constructor(xdg_surface, 1, &toplevel_interface, NULL);
    wl_proxy_add_dispatcher(toplevel, shell_event, NULL, NULL);
    wl_proxy_marshal(toplevel, 11, NULL);
    wl_surface_commit(surface);
    while (wl_display_dispatch(display) >= 0) {}
    return 0;
}
