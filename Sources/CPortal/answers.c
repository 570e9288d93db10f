#include "portal.h"

#include <fcntl.h>
#include <string.h>

static void copy(char *target, size_t room, const char *text) {
    strncpy(target, text ? text : "", room - 1);
    target[room - 1] = 0;
}
#define COPY(target, text) copy(target, sizeof(target), text)

void upcast_portal_fail(upcast_portal *p, const char *name, const char *text) {
    COPY(p->state.error_name, name);
    COPY(p->state.error_text, text);
    p->state.stage = UPCAST_PORTAL_FAILED;
}

/// Forgets the question that a message answers. False if the answer is an error, which is noted.
static bool begin(upcast_portal *p, sd_bus_message *message) {
    p->asking = p->l->sd_bus_slot_unref(p->asking);
    const sd_bus_error *error = p->l->sd_bus_message_get_error(message);
    if (error) {
        upcast_portal_fail(p, error->name, error->message);
        return false;
    }
    COPY(p->owner, p->l->sd_bus_message_get_sender(message));
    return true;
}

static void fail_reading(upcast_portal *p) {
    upcast_portal_fail(p, "org.freedesktop.DBus.Error.InvalidSignature", "the answer is not as the portal's should be");
}

/// Calls `take` for each entry of a{sv}, with the message at the entry's variant. Returns a negative value for other
/// types.
static int each(
    upcast_portal *p, sd_bus_message *message, int (*take)(upcast_portal *p, sd_bus_message *message, const char *key)) {
    const upcast_bus_library *l = p->l;
    int status = l->sd_bus_message_enter_container(message, 'a', "{sv}");
    while (status >= 0 && (status = l->sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        const char *key = NULL;
        status = l->sd_bus_message_read(message, "s", &key);
        if (status >= 0) status = take(p, message, key);
        if (status == 0) status = l->sd_bus_message_skip(message, "v");
        if (status >= 0) status = l->sd_bus_message_exit_container(message);
    }
    return status < 0 ? status : l->sd_bus_message_exit_container(message);
}

/// Reads a variant if it has this type. Returns 1, 0 if it has another type, or a negative error.
static int read_variant(upcast_portal *p, sd_bus_message *message, const char *type, void *value) {
    char kind = 0;
    const char *contents = NULL;
    int status = p->l->sd_bus_message_peek_type(message, &kind, &contents);
    if (status < 0) return status;
    if (kind != 'v' || !contents || strcmp(contents, type)) return 0;
    status = p->l->sd_bus_message_read(message, "v", type, value);
    return status < 0 ? status : 1;
}

static int take_fact(upcast_portal *p, sd_bus_message *message, const char *key) {
    if (!strcmp(key, "version")) return read_variant(p, message, "u", &p->state.version);
    if (!strcmp(key, "AvailableSourceTypes")) return read_variant(p, message, "u", &p->state.sources);
    if (!strcmp(key, "AvailableCursorModes")) return read_variant(p, message, "u", &p->state.pointers);
    return 0;
}

int upcast_portal_take_facts(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_portal *p = data;
    if (!begin(p, message)) return 0;
    if (each(p, message, take_fact) < 0)
        fail_reading(p);
    else
        p->state.stage = UPCAST_PORTAL_ANSWERED;
    return 0;
}

int upcast_portal_take_request(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_portal *p = data;
    const char *path = NULL;
    if (!begin(p, message)) return 0;
    if (p->l->sd_bus_message_read(message, "o", &path) < 0) {
        fail_reading(p);
        return 0;
    }
    COPY(p->named_request, path);
    // The response may have come earlier.
    if (p->state.stage == UPCAST_PORTAL_CALLING) p->state.stage = UPCAST_PORTAL_WAITING;
    return 0;
}

int upcast_portal_take_remote_answer(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_portal *p = data;
    int descriptor = -1;
    if (!begin(p, message)) return 0;
    // The message owns this descriptor.
    if (p->l->sd_bus_message_read(message, "h", &descriptor) >= 0)
        p->state.remote = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (p->state.remote < 0)
        fail_reading(p);
    else
        p->state.stage = UPCAST_PORTAL_ANSWERED;
    return 0;
}

int upcast_portal_take_presence(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_portal *p = data;
    p->looking = p->l->sd_bus_slot_unref(p->looking);
    const bool is_there = !p->l->sd_bus_message_get_error(message);
    p->state.presence = is_there ? UPCAST_PORTAL_THERE : UPCAST_PORTAL_NOT_THERE;
    return 0;
}

/// Any program can send signals. Only those of the portal are accepted.
static bool is_portals(upcast_portal *p, sd_bus_message *message, const char *path) {
    const char *sender = p->l->sd_bus_message_get_sender(message), *from = p->l->sd_bus_message_get_path(message);
    return sender && from && path[0] && (!p->owner[0] || !strcmp(sender, p->owner)) && !strcmp(from, path);
}

/// Reads a(ua{sv}). The first stream is taken, because only one was requested.
static int take_streams(upcast_portal *p, sd_bus_message *message) {
    const upcast_bus_library *l = p->l;
    int status = l->sd_bus_message_enter_container(message, 'v', "a(ua{sv})");
    if (status >= 0) status = l->sd_bus_message_enter_container(message, 'a', "(ua{sv})");
    while (status >= 0 && (status = l->sd_bus_message_enter_container(message, 'r', "ua{sv}")) > 0) {
        uint32_t node = 0;
        if ((status = l->sd_bus_message_read(message, "u", &node)) < 0) break;
        if (!p->state.has_stream) p->state.node = node;
        p->state.has_stream = true;
        status = l->sd_bus_message_skip(message, "a{sv}");
        if (status >= 0) status = l->sd_bus_message_exit_container(message);
    }
    if (status >= 0) status = l->sd_bus_message_exit_container(message);
    if (status >= 0) status = l->sd_bus_message_exit_container(message);
    return status < 0 ? status : 1;
}

static int take_result(upcast_portal *p, sd_bus_message *message, const char *key) {
    const char *text = NULL;
    int status = 0;
    if (!strcmp(key, "session_handle")) {
        // The portal sends a string instead of an object path, and keeps this mistake for compatibility.
        status = read_variant(p, message, "s", &text);
        if (status == 0) status = read_variant(p, message, "o", &text);
        if (status > 0) COPY(p->session, text);
    } else if (!strcmp(key, "restore_token")) {
        status = read_variant(p, message, "s", &text);
        // A token that is cut off restores nothing.
        if (status > 0 && strlen(text) < sizeof p->state.token) COPY(p->state.token, text);
    } else if (!strcmp(key, "streams")) {
        status = take_streams(p, message);
    }
    return status;
}

int upcast_portal_take_response(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_portal *p = data;
    const bool is_open = p->state.stage == UPCAST_PORTAL_CALLING || p->state.stage == UPCAST_PORTAL_WAITING;
    if (!is_open || !(is_portals(p, message, p->request) || is_portals(p, message, p->named_request))) return 0;
    if (p->l->sd_bus_message_read(message, "u", &p->state.response) < 0 || each(p, message, take_result) < 0)
        fail_reading(p);
    else
        p->state.stage = UPCAST_PORTAL_ANSWERED;
    p->request[0] = p->named_request[0] = 0;
    return 0;
}

int upcast_portal_take_closed(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_portal *p = data;
    if (is_portals(p, message, p->session)) p->state.is_closed = true;
    return 0;
}

int upcast_portal_take_owner(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_portal *p = data;
    const char *name = NULL, *before = NULL, *after = NULL;
    if (p->l->sd_bus_message_read(message, "sss", &name, &before, &after) < 0) return 0;
    // Before its first answer, the portal has only just started.
    if (p->owner[0] && strcmp(after, p->owner)) p->state.is_gone = true;
    return 0;
}
