#include "portal.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char portal[] = "org.freedesktop.portal.Desktop";
static const char portal_path[] = "/org/freedesktop/portal/desktop";
static const char screen_cast[] = "org.freedesktop.portal.ScreenCast";
static const char session_interface[] = "org.freedesktop.portal.Session";
static const char properties[] = "org.freedesktop.DBus.Properties";

/// The time limit for an answer. The portal may have to be started, with the backend of the desktop.
static const uint64_t answer_usec = 25000000;

/// How long a bus may take until it accepts questions, and for each answer of its own.
enum { BUS_MSEC = 5000 };

/// Opens a bus that accepts questions; NULL and an error otherwise.
static sd_bus *open_bus(const upcast_bus_library *l, int *error) {
    sd_bus *bus = NULL;
    const int status = upcast_bus_open(l, l->sd_bus_open_user, -1, BUS_MSEC, BUS_MSEC, &bus);
    *error = status == -ETIMEDOUT ? UPCAST_PORTAL_SILENT_BUS : UPCAST_PORTAL_NO_BUS;
    return bus;
}

upcast_portal *upcast_portal_open(int *error) {
    *error = UPCAST_PORTAL_NO_LIBRARY;
    const upcast_bus_library *l = upcast_bus_load();
    if (!l) return NULL;
    *error = UPCAST_PORTAL_NO_MEMORY;
    upcast_portal *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->l = l;
    p->state.remote = -1;
    p->bus = open_bus(l, error);
    // The matches are added before all calls, so that no answer is missed. Adding one waits for the bus, which answers
    // at once.
    const char *name = NULL;
    if (!p->bus || l->sd_bus_get_unique_name(p->bus, &name) < 0
        || l->sd_bus_add_match(
               p->bus, NULL, "type='signal',interface='org.freedesktop.portal.Request',member='Response'",
               upcast_portal_take_response, p)
               < 0
        || l->sd_bus_add_match(
               p->bus, NULL, "type='signal',interface='org.freedesktop.portal.Session',member='Closed'",
               upcast_portal_take_closed, p)
               < 0
        || l->sd_bus_add_match(
               p->bus, NULL,
               "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
               "member='NameOwnerChanged',arg0='org.freedesktop.portal.Desktop'",
               upcast_portal_take_owner, p)
               < 0) {
        upcast_portal_close(p);
        return NULL;
    }
    return p;
}

void upcast_portal_close(upcast_portal *p) {
    if (p->bus) {
        upcast_portal_end_session(p);
        p->l->sd_bus_flush_close_unref(p->bus);
    }
    free(p);
}

int upcast_portal_descriptor(upcast_portal *p) { return p->l->sd_bus_get_fd(p->bus); }

short upcast_portal_events(upcast_portal *p) {
    const int events = p->l->sd_bus_get_events(p->bus);
    return (short)(events < 0 ? 0 : events);
}

int upcast_portal_milliseconds(upcast_portal *p) {
    uint64_t until = 0;
    if (p->l->sd_bus_get_timeout(p->bus, &until) < 0 || until == UINT64_MAX) return -1;
    const uint64_t now_usec = (uint64_t)upcast_now_nsec() / 1000;
    if (until <= now_usec) return 0;
    const uint64_t milliseconds = (until - now_usec + 999) / 1000;
    return milliseconds > 60000 ? 60000 : (int)milliseconds;
}

bool upcast_portal_process(upcast_portal *p) {
    int status = 0;
    while ((status = p->l->sd_bus_process(p->bus, NULL)) > 0) {}
    return status >= 0;
}

bool upcast_portal_catch_up(upcast_portal *p) {
    sd_bus_message *question = NULL;
    int status = p->l->sd_bus_message_new_method_call(
        p->bus, &question, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId");
    if (status >= 0) status = p->l->sd_bus_call(p->bus, question, 1000000, NULL, NULL);
    p->l->sd_bus_message_unref(question);
    return status >= 0;
}

const upcast_portal_state *upcast_portal_look(upcast_portal *p) { return &p->state; }

/// Forgets the last request and its answer.
static void begin(upcast_portal *p) {
    p->asking = p->l->sd_bus_slot_unref(p->asking);
    p->request[0] = p->named_request[0] = 0;
    p->state.response = 0;
    p->state.error_name[0] = p->state.error_text[0] = 0;
    p->state.stage = UPCAST_PORTAL_CALLING;
}

/// Sends a call. `status` is the result of building it. Releases the message.
static void call(upcast_portal *p, sd_bus_message *message, int status, sd_bus_message_handler_t take) {
    if (status >= 0) status = p->l->sd_bus_call_async(p->bus, &p->asking, message, take, p, answer_usec);
    p->l->sd_bus_message_unref(message);
    if (status < 0) upcast_portal_fail(p, "", strerror(-status));
}

static int new_call(upcast_portal *p, sd_bus_message **message, const char *member) {
    return p->l->sd_bus_message_new_method_call(p->bus, message, portal, portal_path, screen_cast, member);
}

void upcast_portal_ask_facts(upcast_portal *p) {
    begin(p);
    sd_bus_message *message = NULL;
    int status = p->l->sd_bus_message_new_method_call(p->bus, &message, portal, portal_path, properties, "GetAll");
    if (status >= 0) status = p->l->sd_bus_message_append(message, "s", screen_cast);
    call(p, message, status, upcast_portal_take_facts);
}

/// Begins the options of a request, with a token that determines the path of its answer before the call is answered.
static int open_options(upcast_portal *p, sd_bus_message *message) {
    const upcast_bus_library *l = p->l;
    const char *name = NULL;
    char sender[128], token[32];
    int status = l->sd_bus_get_unique_name(p->bus, &name);
    if (status < 0) return status;
    snprintf(sender, sizeof sender, "%s", name[0] == ':' ? name + 1 : name);
    for (char *c = sender; *c; c++)
        if (*c == '.') *c = '_';
    snprintf(token, sizeof token, "upcast%u", ++p->count);
    snprintf(p->request, sizeof p->request, "%s/request/%s/%s", portal_path, sender, token);
    status = l->sd_bus_message_open_container(message, 'a', "{sv}");
    return status < 0 ? status : l->sd_bus_message_append(message, "{sv}", "handle_token", "s", token);
}

void upcast_portal_create_session(upcast_portal *p) {
    upcast_portal_end_session(p);
    begin(p);
    sd_bus_message *message = NULL;
    int status = new_call(p, &message, "CreateSession");
    if (status >= 0) status = open_options(p, message);
    char token[32];
    snprintf(token, sizeof token, "upcast%u", p->count);
    if (status >= 0) status = p->l->sd_bus_message_append(message, "{sv}", "session_handle_token", "s", token);
    if (status >= 0) status = p->l->sd_bus_message_close_container(message);
    call(p, message, status, upcast_portal_take_request);
}

void upcast_portal_select(
    upcast_portal *p, uint32_t sources, uint32_t pointer, bool is_persistent, const char *token) {
    const upcast_bus_library *l = p->l;
    begin(p);
    sd_bus_message *message = NULL;
    int status = new_call(p, &message, "SelectSources");
    if (status >= 0) status = l->sd_bus_message_append(message, "o", p->session);
    if (status >= 0) status = open_options(p, message);
    if (status >= 0) status = l->sd_bus_message_append(message, "{sv}", "types", "u", sources);
    if (status >= 0) status = l->sd_bus_message_append(message, "{sv}", "multiple", "b", 0);
    // Portals before version 2 do not know the first option, and those before version 4 not the other two.
    if (status >= 0 && pointer) status = l->sd_bus_message_append(message, "{sv}", "cursor_mode", "u", pointer);
    if (status >= 0 && is_persistent) status = l->sd_bus_message_append(message, "{sv}", "persist_mode", "u", 2);
    if (status >= 0 && token) status = l->sd_bus_message_append(message, "{sv}", "restore_token", "s", token);
    if (status >= 0) status = l->sd_bus_message_close_container(message);
    call(p, message, status, upcast_portal_take_request);
}

void upcast_portal_start(upcast_portal *p) {
    begin(p);
    p->state.has_stream = false;
    p->state.token[0] = 0;
    sd_bus_message *message = NULL;
    int status = new_call(p, &message, "Start");
    // The empty string means that this program has no window below the dialogue.
    if (status >= 0) status = p->l->sd_bus_message_append(message, "os", p->session, "");
    if (status >= 0) status = open_options(p, message);
    if (status >= 0) status = p->l->sd_bus_message_close_container(message);
    call(p, message, status, upcast_portal_take_request);
}

void upcast_portal_open_remote(upcast_portal *p) {
    begin(p);
    sd_bus_message *message = NULL;
    int status = new_call(p, &message, "OpenPipeWireRemote");
    if (status >= 0) status = p->l->sd_bus_message_append(message, "oa{sv}", p->session, 0);
    call(p, message, status, upcast_portal_take_remote_answer);
}

int upcast_portal_take_remote(upcast_portal *p) {
    const int remote = p->state.remote;
    p->state.remote = -1;
    return remote;
}

void upcast_portal_end_session(upcast_portal *p) {
    begin(p);
    p->state.stage = UPCAST_PORTAL_IDLE;
    if (p->session[0] && !p->state.is_closed && !p->state.is_gone) {
        sd_bus_message *message = NULL;
        // The answer is not needed.
        if (p->l->sd_bus_message_new_method_call(p->bus, &message, portal, p->session, session_interface, "Close") >= 0)
            p->l->sd_bus_send(p->bus, message, NULL);
        p->l->sd_bus_message_unref(message);
        p->l->sd_bus_flush(p->bus);
    }
    p->looking = p->l->sd_bus_slot_unref(p->looking);
    p->session[0] = 0;
    p->state.is_closed = false;
    p->state.presence = UPCAST_PORTAL_UNKNOWN;
    if (p->state.remote >= 0) close(upcast_portal_take_remote(p));
}

void upcast_portal_look_for_session(upcast_portal *p) {
    if (p->looking || !p->session[0]) return;
    p->state.presence = UPCAST_PORTAL_UNKNOWN;
    sd_bus_message *message = NULL;
    int status =
        p->l->sd_bus_message_new_method_call(p->bus, &message, portal, p->session, properties, "GetAll");
    if (status >= 0) status = p->l->sd_bus_message_append(message, "s", session_interface);
    if (status >= 0)
        status = p->l->sd_bus_call_async(
            p->bus, &p->looking, message, upcast_portal_take_presence, p, answer_usec);
    p->l->sd_bus_message_unref(message);
    if (status < 0) p->state.presence = UPCAST_PORTAL_NOT_THERE;
}
