#include "interfaces.h"

#include <stddef.h>

/// Signatures in the format of libwayland: the version that introduced the message, and a letter for each argument: i
/// int, u uint, s string, o object, n new object, a array, h descriptor.

/// The types of arguments that are not objects, or whose interface is not checked.
static const struct wl_interface *any[8];

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))
#define INTERFACE(variable, text, version, requests, events) \
    const struct wl_interface variable = {text, version, COUNT(requests), requests, COUNT(events), events}
#define INTERFACE_WITHOUT_EVENTS(variable, text, version, requests) \
    const struct wl_interface variable = {text, version, COUNT(requests), requests, 0, NULL}

static const struct wl_message registry_requests[] = {{"bind", "usun", any}};
static const struct wl_message registry_events[] = {{"global", "usu", any}, {"global_remove", "u", any}};
INTERFACE(upcast_wl_registry, "wl_registry", 1, registry_requests, registry_events);

static const struct wl_message callback_events[] = {{"done", "u", any}};
const struct wl_interface upcast_wl_callback = {"wl_callback", 1, 0, NULL, COUNT(callback_events), callback_events};

static const struct wl_interface *pool_types[] = {&upcast_wl_shm_pool, NULL, NULL};
static const struct wl_message shm_requests[] = {{"create_pool", "nhi", pool_types}};
static const struct wl_message shm_events[] = {{"format", "u", any}};
INTERFACE(upcast_wl_shm, "wl_shm", 1, shm_requests, shm_events);

static const struct wl_interface *buffer_types[] = {&upcast_wl_buffer_interface, NULL, NULL, NULL, NULL, NULL};
static const struct wl_message pool_requests[] = {
    {"create_buffer", "niiiiu", buffer_types}, {"destroy", "", any}, {"resize", "i", any}};
INTERFACE_WITHOUT_EVENTS(upcast_wl_shm_pool, "wl_shm_pool", 1, pool_requests);

static const struct wl_message buffer_requests[] = {{"destroy", "", any}};
static const struct wl_message buffer_events[] = {{"release", "", any}};
INTERFACE(upcast_wl_buffer_interface, "wl_buffer", 1, buffer_requests, buffer_events);

static const struct wl_message output_requests[] = {{"release", "3", any}};
static const struct wl_message output_events[] = {
    {"geometry", "iiiiissi", any}, {"mode", "uiii", any}, {"done", "2", any},
    {"scale", "2i", any},          {"name", "4s", any},   {"description", "4s", any}};
INTERFACE(upcast_wl_output_interface, "wl_output", 4, output_requests, output_events);

static const struct wl_interface *xdg_types[] = {&upcast_wl_xdg_output, &upcast_wl_output_interface};
static const struct wl_message xdg_manager_requests[] = {{"destroy", "", any}, {"get_xdg_output", "no", xdg_types}};
INTERFACE_WITHOUT_EVENTS(upcast_wl_xdg_output_manager, "zxdg_output_manager_v1", 3, xdg_manager_requests);

static const struct wl_message xdg_output_requests[] = {{"destroy", "", any}};
static const struct wl_message xdg_output_events[] = {
    {"logical_position", "ii", any}, {"logical_size", "ii", any}, {"done", "", any},
    {"name", "2s", any},             {"description", "2s", any}};
INTERFACE(upcast_wl_xdg_output, "zxdg_output_v1", 3, xdg_output_requests, xdg_output_events);

static const struct wl_interface *screencopy_types[] = {
    &upcast_wl_screencopy_frame, NULL, &upcast_wl_output_interface, NULL, NULL, NULL, NULL};
static const struct wl_message screencopy_manager_requests[] = {
    {"capture_output", "nio", screencopy_types},
    {"capture_output_region", "nioiiii", screencopy_types},
    {"destroy", "", any}};
INTERFACE_WITHOUT_EVENTS(
    upcast_wl_screencopy_manager, "zwlr_screencopy_manager_v1", 3, screencopy_manager_requests);

static const struct wl_interface *target_types[] = {&upcast_wl_buffer_interface};
static const struct wl_message screencopy_frame_requests[] = {
    {"copy", "o", target_types}, {"destroy", "", any}, {"copy_with_damage", "2o", target_types}};
static const struct wl_message screencopy_frame_events[] = {
    {"buffer", "uuuu", any},   {"flags", "u", any},         {"ready", "uuu", any},    {"failed", "", any},
    {"damage", "2uuuu", any}, {"linux_dmabuf", "3uuu", any}, {"buffer_done", "3", any}};
INTERFACE(
    upcast_wl_screencopy_frame, "zwlr_screencopy_frame_v1", 3, screencopy_frame_requests, screencopy_frame_events);

static const struct wl_interface *source_types[] = {&upcast_wl_source, &upcast_wl_output_interface};
static const struct wl_message source_manager_requests[] = {
    {"create_source", "no", source_types}, {"destroy", "", any}};
INTERFACE_WITHOUT_EVENTS(
    upcast_wl_source_manager, "ext_output_image_capture_source_manager_v1", 1, source_manager_requests);

static const struct wl_message source_requests[] = {{"destroy", "", any}};
INTERFACE_WITHOUT_EVENTS(upcast_wl_source, "ext_image_capture_source_v1", 1, source_requests);

static const struct wl_interface *session_types[] = {&upcast_wl_capture_session, &upcast_wl_source, NULL};
static const struct wl_message capture_manager_requests[] = {
    {"create_session", "nou", session_types}, {"create_pointer_cursor_session", "noo", any}, {"destroy", "", any}};
INTERFACE_WITHOUT_EVENTS(
    upcast_wl_capture_manager, "ext_image_copy_capture_manager_v1", 1, capture_manager_requests);

static const struct wl_interface *frame_types[] = {&upcast_wl_capture_frame};
static const struct wl_message session_requests[] = {{"create_frame", "n", frame_types}, {"destroy", "", any}};
static const struct wl_message session_events[] = {
    {"buffer_size", "uu", any},    {"shm_format", "u", any}, {"dmabuf_device", "a", any},
    {"dmabuf_format", "ua", any}, {"done", "", any},        {"stopped", "", any}};
INTERFACE(upcast_wl_capture_session, "ext_image_copy_capture_session_v1", 1, session_requests, session_events);

static const struct wl_message frame_requests[] = {
    {"destroy", "", any}, {"attach_buffer", "o", target_types}, {"damage_buffer", "iiii", any}, {"capture", "", any}};
static const struct wl_message frame_events[] = {
    {"transform", "u", any}, {"damage", "iiii", any}, {"presentation_time", "uuu", any}, {"ready", "", any},
    {"failed", "u", any}};
INTERFACE(upcast_wl_capture_frame, "ext_image_copy_capture_frame_v1", 1, frame_requests, frame_events);
