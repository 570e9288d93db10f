#include "connection.h"

#include <stdlib.h>
#include <string.h>

static void name(output_slot *output, const char *text) {
    strncpy(output->facts.name, text ? text : "", sizeof output->facts.name - 1);
}

static int output_event(
    const void *data, void *target, uint32_t opcode, const struct wl_message *message, union wl_argument *a) {
    (void)target, (void)message;
    output_slot *output = (output_slot *)data;
    // Values apply at once: pictures of the same commit are made with them, and `done` comes later.
    switch (opcode) {
    case OUTPUT_GEOMETRY:
        output->facts.logical.x = a[0].i;
        output->facts.logical.y = a[1].i;
        output->facts.transform = a[7].i;
        // Version 1 has no `done`.
        if (output->version < 2) output->is_known = true;
        break;
    case OUTPUT_MODE:
        // Bit 0 marks the current mode.
        if (!(a[0].u & 1)) return 0;
        output->facts.mode_width = a[1].i;
        output->facts.mode_height = a[2].i;
        output->facts.refresh = a[3].i;
        break;
    case OUTPUT_NAME: name(output, a[0].s); break;
    case OUTPUT_DONE: output->is_known = true; break;
    default: return 0;
    }
    output->wl->outputs_change++;
    return 0;
}

static int xdg_event(
    const void *data, void *target, uint32_t opcode, const struct wl_message *message, union wl_argument *a) {
    (void)target, (void)message;
    output_slot *output = (output_slot *)data;
    switch (opcode) {
    case XDG_OUTPUT_POSITION:
        output->facts.logical.x = a[0].i;
        output->facts.logical.y = a[1].i;
        break;
    case XDG_OUTPUT_SIZE:
        output->facts.logical.width = a[0].i;
        output->facts.logical.height = a[1].i;
        break;
    case XDG_OUTPUT_NAME: name(output, a[0].s); break;
    default: return 0;
    }
    output->wl->outputs_change++;
    return 0;
}

void upcast_wl_describe_output(output_slot *output) {
    upcast_wl *wl = output->wl;
    if (!wl->xdg_manager || output->xdg) return;
    uint32_t version = wl->library->wl_proxy_get_version(wl->xdg_manager);
    union wl_argument arguments[] = {{.o = NULL}, {.o = (struct wl_object *)output->proxy}};
    output->xdg =
        upcast_wl_request(wl, wl->xdg_manager, XDG_MANAGER_GET_OUTPUT, &upcast_wl_xdg_output, version, arguments);
    upcast_wl_listen(wl, output->xdg, xdg_event, output);
}

void upcast_wl_add_output(upcast_wl *wl, uint32_t id, uint32_t version) {
    output_slot *output = wl->output_count < UPCAST_WL_MAX_OUTPUTS ? calloc(1, sizeof *output) : NULL;
    if (!output) return;
    if (version > 4) version = 4;
    union wl_argument arguments[] = {
        {.u = id}, {.s = upcast_wl_output_interface.name}, {.u = version}, {.o = NULL}};
    output->wl = wl;
    output->facts.id = id;
    output->facts.number = ++wl->last_output;
    output->version = version;
    output->proxy =
        upcast_wl_request(wl, wl->registry, REGISTRY_BIND, &upcast_wl_output_interface, version, arguments);
    if (!output->proxy) {
        free(output);
        return;
    }
    upcast_wl_listen(wl, output->proxy, output_event, output);
    if (wl->output_count > 0) wl->meetings++;
    wl->outputs[wl->output_count++] = output;
    upcast_wl_describe_output(output);
}

void upcast_wl_remove_output(upcast_wl *wl, size_t index) {
    output_slot *output = wl->outputs[index];
    upcast_wl_destroy(wl, &output->xdg, XDG_OUTPUT_DESTROY);
    upcast_wl_destroy(wl, &output->proxy, output->version >= 3 ? OUTPUT_RELEASE : -1);
    free(output);
    wl->output_count--;
    memmove(&wl->outputs[index], &wl->outputs[index + 1], (wl->output_count - index) * sizeof *wl->outputs);
    wl->outputs_change++;
}

struct wl_proxy *upcast_wl_output_proxy(upcast_wl *wl, uint32_t id) {
    for (size_t i = 0; i < wl->output_count; i++)
        if (wl->outputs[i]->facts.id == id) return wl->outputs[i]->proxy;
    return NULL;
}

size_t upcast_wl_outputs(upcast_wl *wl, upcast_wl_output *outputs, size_t capacity) {
    size_t count = 0;
    for (size_t i = 0; i < wl->output_count && count < capacity; i++)
        if (wl->outputs[i]->is_known) outputs[count++] = wl->outputs[i]->facts;
    return count;
}

size_t upcast_wl_output_count(upcast_wl *wl) { return wl->output_count; }

uint32_t upcast_wl_meetings(upcast_wl *wl) { return wl->meetings; }

uint32_t upcast_wl_outputs_change(upcast_wl *wl) { return wl->outputs_change; }
