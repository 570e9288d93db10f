#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct wl_proxy *upcast_wl_request(
    upcast_wl *wl, struct wl_proxy *proxy, uint32_t opcode, const struct wl_interface *interface, uint32_t version,
    union wl_argument *arguments) {
    return wl->library->wl_proxy_marshal_array_flags(proxy, opcode, interface, version, 0, arguments);
}

void upcast_wl_destroy(upcast_wl *wl, struct wl_proxy **proxy, int opcode) {
    if (!*proxy) return;
    if (opcode >= 0) upcast_wl_request(wl, *proxy, (uint32_t)opcode, NULL, 1, NULL);
    wl->library->wl_proxy_destroy(*proxy);
    *proxy = NULL;
}

void upcast_wl_listen(upcast_wl *wl, struct wl_proxy *proxy, wl_dispatcher_func_t function, void *data) {
    if (proxy) wl->library->wl_proxy_add_dispatcher(proxy, function, data, data);
}

static struct wl_proxy *bind(
    upcast_wl *wl, uint32_t name, const struct wl_interface *interface, uint32_t version) {
    if (version > (uint32_t)interface->version) version = (uint32_t)interface->version;
    union wl_argument arguments[] = {{.u = name}, {.s = interface->name}, {.u = version}, {.o = NULL}};
    return upcast_wl_request(wl, wl->registry, REGISTRY_BIND, interface, version, arguments);
}

static void add_global(upcast_wl *wl, uint32_t name, const char *interface, uint32_t version) {
    const struct {
        const struct wl_interface *interface;
        struct wl_proxy **proxy;
    } wanted[] = {
        {&upcast_wl_shm, &wl->shm},
        {&upcast_wl_source_manager, &wl->source_manager},
        {&upcast_wl_capture_manager, &wl->capture_manager},
        {&upcast_wl_xdg_output_manager, &wl->xdg_manager},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(interface, wanted[i].interface->name) == 0 && !*wanted[i].proxy)
            *wanted[i].proxy = bind(wl, name, wanted[i].interface, version);
    if (strcmp(interface, upcast_wl_screencopy_manager.name) == 0 && !wl->screencopy) {
        wl->screencopy_version = version;
        if (version >= 3) wl->screencopy = bind(wl, name, &upcast_wl_screencopy_manager, 3);
    }
    if (strcmp(interface, upcast_wl_output_interface.name) == 0) upcast_wl_add_output(wl, name, version);
    // The xdg-output manager may be announced after outputs, which still need a description.
    if (strcmp(interface, upcast_wl_xdg_output_manager.name) == 0)
        for (size_t i = 0; i < wl->output_count; i++) upcast_wl_describe_output(wl->outputs[i]);
}

static int registry_event(
    const void *data, void *target, uint32_t opcode, const struct wl_message *message, union wl_argument *a) {
    (void)target, (void)message;
    upcast_wl *wl = (upcast_wl *)data;
    if (opcode == REGISTRY_GLOBAL) add_global(wl, a[0].u, a[1].s, a[2].u);
    if (opcode == REGISTRY_GLOBAL_REMOVE)
        for (size_t i = 0; i < wl->output_count; i++)
            if (wl->outputs[i]->facts.id == a[0].u) {
                upcast_wl_remove_output(wl, i);
                break;
            }
    return 0;
}

upcast_wl *upcast_wl_open(const char *socket, int *error) {
    const upcast_wl_library *library = upcast_wl_load(error);
    if (!library) return NULL;
    upcast_wl *wl = calloc(1, sizeof *wl);
    *error = UPCAST_WL_NO_MEMORY;
    if (!wl) return NULL;
    wl->library = library;
    *error = UPCAST_WL_NO_COMPOSITOR;
    wl->display = library->wl_display_connect(socket);
    if (!wl->display) {
        free(wl);
        return NULL;
    }
    union wl_argument arguments[] = {{.o = NULL}};
    wl->registry = upcast_wl_request(
        wl, (struct wl_proxy *)wl->display, DISPLAY_GET_REGISTRY, &upcast_wl_registry, 1, arguments);
    upcast_wl_listen(wl, wl->registry, registry_event, wl);
    // The first round trip lists the globals, the second describes the outputs.
    for (int round = 0; round < 2; round++)
        if (library->wl_display_roundtrip(wl->display) < 0) {
            upcast_wl_close(wl);
            return NULL;
        }
    return wl;
}

void upcast_wl_close(upcast_wl *wl) {
    upcast_wl_end_session(wl);
    while (wl->output_count) upcast_wl_remove_output(wl, wl->output_count - 1);
    // The compositor destroys the remaining objects when the connection ends.
    struct wl_proxy **left[] = {&wl->question,       &wl->shm,             &wl->xdg_manager, &wl->screencopy,
                                &wl->source_manager, &wl->capture_manager, &wl->registry};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) upcast_wl_destroy(wl, left[i], -1);
    wl->library->wl_display_disconnect(wl->display);
    free(wl);
}

int upcast_wl_descriptor(upcast_wl *wl) { return wl->library->wl_display_get_fd(wl->display); }

bool upcast_wl_read(upcast_wl *wl) {
    const upcast_wl_library *library = wl->library;
    while (library->wl_display_prepare_read(wl->display) != 0)
        if (library->wl_display_dispatch_pending(wl->display) < 0) return false;
    struct pollfd waiting = {.fd = upcast_wl_descriptor(wl), .events = POLLIN};
    if (poll(&waiting, 1, 0) > 0) {
        if (library->wl_display_read_events(wl->display) < 0) return false;
    } else {
        library->wl_display_cancel_read(wl->display);
    }
    return library->wl_display_dispatch_pending(wl->display) >= 0;
}

int upcast_wl_flush(upcast_wl *wl) {
    if (wl->library->wl_display_flush(wl->display) >= 0) return 0;
    // A compositor that has hung up may have sent the reason, which is read first.
    return errno == EAGAIN ? 1 : errno == EPIPE ? 0 : -1;
}

/// wl_callback.done, its only event, which also means that the compositor has destroyed the object.
static int question_event(
    const void *data, void *target, uint32_t opcode, const struct wl_message *message, union wl_argument *a) {
    (void)target, (void)opcode, (void)message, (void)a;
    upcast_wl *wl = (upcast_wl *)data;
    upcast_wl_destroy(wl, &wl->question, -1);
    return 0;
}

void upcast_wl_question(upcast_wl *wl) {
    if (wl->question) return;
    union wl_argument arguments[] = {{.o = NULL}};
    wl->question = upcast_wl_request(
        wl, (struct wl_proxy *)wl->display, DISPLAY_SYNC, &upcast_wl_callback, 1, arguments);
    upcast_wl_listen(wl, wl->question, question_event, wl);
}

bool upcast_wl_catch_up(upcast_wl *wl) { return wl->library->wl_display_roundtrip(wl->display) >= 0; }

bool upcast_wl_has_question(upcast_wl *wl) { return wl->question != NULL; }

bool upcast_wl_refusal(upcast_wl *wl, char *interface, size_t room, uint32_t *code) {
    if (wl->library->wl_display_get_error(wl->display) != EPROTO) return false;
    const struct wl_interface *of = NULL;
    uint32_t object = 0;
    *code = wl->library->wl_display_get_protocol_error(wl->display, &of, &object);
    strncpy(interface, of ? of->name : "wl_display", room - 1);
    interface[room - 1] = 0;
    return true;
}

bool upcast_wl_has(upcast_wl *wl, enum upcast_wl_protocol protocol) {
    if (!wl->shm) return false;
    return protocol == UPCAST_WL_IMAGE_COPY ? wl->source_manager && wl->capture_manager : wl->screencopy != NULL;
}

uint32_t upcast_wl_screencopy_version(upcast_wl *wl) { return wl->screencopy_version; }
