#ifndef UPCAST_WAYLAND_INTERFACES_H
#define UPCAST_WAYLAND_INTERFACES_H

#include <wayland-util.h>

/// The interfaces in use, up to the version in use. They list all requests and events of that version, because the
/// opcode of a message is its index.
extern const struct wl_interface upcast_wl_registry, upcast_wl_callback, upcast_wl_shm, upcast_wl_shm_pool,
    upcast_wl_buffer_interface, upcast_wl_output_interface, upcast_wl_xdg_output_manager, upcast_wl_xdg_output,
    upcast_wl_screencopy_manager, upcast_wl_screencopy_frame, upcast_wl_source_manager, upcast_wl_source,
    upcast_wl_capture_manager, upcast_wl_capture_session, upcast_wl_capture_frame;

enum { DISPLAY_SYNC, DISPLAY_GET_REGISTRY };
enum { REGISTRY_BIND };
enum { REGISTRY_GLOBAL, REGISTRY_GLOBAL_REMOVE };
enum { SHM_CREATE_POOL };
enum { POOL_CREATE_BUFFER, POOL_DESTROY };
enum { BUFFER_DESTROY };
enum { OUTPUT_RELEASE };
enum { OUTPUT_GEOMETRY, OUTPUT_MODE, OUTPUT_DONE, OUTPUT_SCALE, OUTPUT_NAME, OUTPUT_DESCRIPTION };
enum { XDG_MANAGER_DESTROY, XDG_MANAGER_GET_OUTPUT };
enum { XDG_OUTPUT_DESTROY };
enum { XDG_OUTPUT_POSITION, XDG_OUTPUT_SIZE, XDG_OUTPUT_DONE, XDG_OUTPUT_NAME, XDG_OUTPUT_DESCRIPTION };
enum { SCREENCOPY_OUTPUT, SCREENCOPY_REGION };
enum { SCREENCOPY_COPY, SCREENCOPY_DESTROY, SCREENCOPY_COPY_WITH_DAMAGE };
enum {
    SCREENCOPY_BUFFER,
    SCREENCOPY_FLAGS,
    SCREENCOPY_READY,
    SCREENCOPY_FAILED,
    SCREENCOPY_DAMAGE,
    SCREENCOPY_DMABUF,
    SCREENCOPY_BUFFER_DONE,
};
enum { SOURCE_MANAGER_CREATE };
enum { SOURCE_DESTROY };
enum { CAPTURE_CREATE_SESSION };
enum { SESSION_CREATE_FRAME, SESSION_DESTROY };
enum {
    SESSION_BUFFER_SIZE,
    SESSION_SHM_FORMAT,
    SESSION_DMABUF_DEVICE,
    SESSION_DMABUF_FORMAT,
    SESSION_DONE,
    SESSION_STOPPED,
};
enum { FRAME_DESTROY, FRAME_ATTACH, FRAME_DAMAGE_BUFFER, FRAME_CAPTURE };
enum { FRAME_TRANSFORM, FRAME_DAMAGE, FRAME_TIME, FRAME_READY, FRAME_FAILED };

#endif
