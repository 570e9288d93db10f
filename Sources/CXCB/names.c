// The names of windows, in UTF-8 whatever encoding their programs use, and the owners of windows.
#include "connection.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Copies text up to a 0 byte, in UTF-8. Returns where the next text begins.
///
/// @param is_latin  the bytes are ISO 8859-1.
/// @param is_cut    set where the text does not fit.
static int copy(
    const char *value, int length, int from, bool is_latin, char *target, size_t capacity, bool *is_cut) {
    size_t written = 0;
    int i = from;
    for (; i < length && value[i]; i++) {
        const unsigned char byte = (unsigned char)value[i];
        const bool is_wide = is_latin && byte >= 0x80;
        if (written + (is_wide ? 2 : 1) >= capacity) {
            *is_cut = true;
            continue;
        }
        if (is_wide) {
            target[written++] = (char)(0xc0 | byte >> 6);
            target[written++] = (char)(0x80 | (byte & 0x3f));
        } else {
            target[written++] = (char)byte;
        }
    }
    target[written] = 0;
    return i + 1;
}

/// Whether text is ISO 8859-1. STRING is, by ICCCM, and so is COMPOUND_TEXT that does not switch to another encoding.
/// But many programs write UTF-8 there: valid UTF-8 counts as UTF-8.
static bool is_latin(upcast_x *x, const xcb_get_property_reply_t *reply) {
    if (reply->type == x->atoms.utf8) return false;
    const unsigned char *value = xcb_get_property_value(reply);
    const int length = xcb_get_property_value_length(reply);
    for (int i = 0; i < length;) {
        const unsigned char first = value[i];
        const int more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : first >> 3 == 30 ? 3 : -1;
        // The last character is incomplete: it is UTF-8 if the text was cut.
        if (more > 0 && i + more >= length) return reply->bytes_after == 0;
        if (more < 0) return true;
        for (int k = 1; k <= more; k++)
            if (value[i + k] >> 6 != 2) return true;
        i += 1 + more;
    }
    return false;
}

static void take_class(upcast_x *x, xcb_get_property_reply_t *reply, upcast_x_names *names) {
    const char *value = xcb_get_property_value(reply);
    const int length = xcb_get_property_value_length(reply);
    const bool latin = is_latin(x, reply);
    bool *is_cut = &names->is_class_cut;
    if (reply->bytes_after) *is_cut = true;
    const int next = copy(value, length, 0, latin, names->instance, sizeof names->instance, is_cut);
    copy(value, length, next, latin, names->class_name, sizeof names->class_name, is_cut);
}

static void take_title(
    upcast_x *x, xcb_get_property_reply_t *reply, upcast_x_names *names, char *target, size_t capacity) {
    if (reply->bytes_after) names->is_title_cut = true;
    copy(
        xcb_get_property_value(reply), xcb_get_property_value_length(reply), 0, is_latin(x, reply), target, capacity,
        &names->is_title_cut);
}

/// Whether a title cannot be decoded: COMPOUND_TEXT that switches to an encoding other than Latin-1.
static bool is_coded(const xcb_get_property_reply_t *reply) {
    enum { ESCAPE = 0x1b };
    return reply->type != XCB_ATOM_STRING
        && memchr(xcb_get_property_value(reply), ESCAPE, (size_t)xcb_get_property_value_length(reply));
}

static xcb_res_query_client_ids_cookie_t ask_process(upcast_x *x, xcb_window_t window) {
    const xcb_res_client_id_spec_t specs[] = {
        {.client = window, .mask = XCB_RES_CLIENT_ID_MASK_CLIENT_XID},
        {.client = window, .mask = XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID},
    };
    return xcb_res_query_client_ids(x->c, sizeof specs / sizeof specs[0], specs);
}

/// False if the client is gone. Another client may have got its ID since.
static bool take_process(upcast_x *x, xcb_res_query_client_ids_cookie_t cookie, uint32_t *process) {
    xcb_res_query_client_ids_reply_t *reply = xcb_res_query_client_ids_reply(x->c, cookie, NULL);
    if (!reply) return false;
    bool is_there = false;
    for (xcb_res_client_id_value_iterator_t id = xcb_res_query_client_ids_ids_iterator(reply); id.rem;
         xcb_res_client_id_value_next(&id)) {
        is_there = true;
        // 0 for a client that is not local.
        if (x->knows_processes && id.data->spec.mask & XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID && id.data->length >= 4)
            *process = *xcb_res_client_id_value_value(id.data);
    }
    free(reply);
    return is_there;
}

bool upcast_x_knows_processes(upcast_x *x) { return x->knows_processes; }

void upcast_x_begin_processes(upcast_x *x) {
    uint32_t process = 0;
    x->knows_processes = true;
    const bool is_there = take_process(x, ask_process(x, xcb_get_setup(x->c)->resource_id_base), &process);
    x->knows_processes = is_there && process == (uint32_t)getpid();
}

int upcast_x_read_clients(upcast_x *x, const uint32_t *clients, uint32_t count, upcast_x_client *found) {
    memset(found, 0, count * sizeof *found);
    xcb_res_query_client_ids_cookie_t requests[UPCAST_X_READ_AT_ONCE];
    for (uint32_t i = 0; x->has_resources && i < count; i++) requests[i] = ask_process(x, clients[i]);
    for (uint32_t i = 0; i < count; i++)
        found[i].is_there = !x->has_resources || take_process(x, requests[i], &found[i].process);
    return upcast_x_is_lost(x) ? -1 : 0;
}

/// The longest texts, in 32-bit words.
enum { CLASS_WORDS = 64, TITLE_WORDS = 256 };

/// The requests for the names and the owner of a window.
struct names_request {
    xcb_res_query_client_ids_cookie_t process;
    xcb_get_property_cookie_t class_name, name, net_name;
};

static struct names_request ask_names(upcast_x *x, xcb_window_t window) {
    struct names_request asked = {0};
    // The process first: if the window still exists afterwards, its client existed, too. Otherwise, a menu of a client
    // that ends at this moment would have no owner.
    if (x->has_resources) asked.process = ask_process(x, window);
    asked.class_name = upcast_x_ask(x, window, XCB_ATOM_WM_CLASS, CLASS_WORDS);
    asked.name = upcast_x_ask(x, window, XCB_ATOM_WM_NAME, TITLE_WORDS);
    asked.net_name = upcast_x_ask(x, window, x->atoms.net_name, TITLE_WORDS);
    return asked;
}

static void take_names(upcast_x *x, struct names_request asked, upcast_x_names *names) {
    const bool has_client = !x->has_resources || take_process(x, asked.process, &names->process);
    xcb_get_property_reply_t *reply = xcb_get_property_reply(x->c, asked.class_name, NULL);
    if (reply && reply->value_len) take_class(x, reply, names);
    free(reply);
    xcb_get_property_reply_t *old = xcb_get_property_reply(x->c, asked.name, NULL);
    // The last answer tells whether the window still exists.
    reply = xcb_get_property_reply(x->c, asked.net_name, NULL);
    const bool has_new = reply && reply->value_len;
    names->is_there = reply && has_client;
    if (has_new) take_title(x, reply, names, names->title, sizeof names->title);
    if (old && old->value_len && is_coded(old)) {
        // Toolkits set both titles to the same text: one that can be decoded is enough.
        if (!has_new) names->is_title_cut = true;
    } else if (old && old->value_len) {
        take_title(x, old, names, has_new ? names->old_title : names->title, sizeof names->title);
    }
    free(old);
    free(reply);
}

int upcast_x_read_names(upcast_x *x, const uint32_t *windows, uint32_t count, upcast_x_names *names) {
    memset(names, 0, count * sizeof *names);
    struct names_request requests[UPCAST_X_READ_AT_ONCE];
    for (uint32_t i = 0; i < count; i++) requests[i] = ask_names(x, windows[i]);
    for (uint32_t i = 0; i < count; i++) {
        names[i].window = windows[i];
        names[i].maker = upcast_x_maker(x, windows[i]);
        take_names(x, requests[i], &names[i]);
    }
    return upcast_x_is_lost(x) ? -1 : 0;
}
