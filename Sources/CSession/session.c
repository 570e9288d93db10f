#include "CSession.h"

#include <CBus.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char login[] = "org.freedesktop.login1";
static const char login_path[] = "/org/freedesktop/login1";
static const char login_manager[] = "org.freedesktop.login1.Manager";
static const char login_session[] = "org.freedesktop.login1.Session";

/// The screen savers of the desktops. Each has the signal ActiveChanged and the method GetActive.
static const struct {
    const char *interface, *path;
} savers[] = {
    {"org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"},
    {"org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"},
    {"org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"},
    {"org.mate.ScreenSaver", "/org/mate/ScreenSaver"},
    {"org.xfce.ScreenSaver", "/org/xfce/ScreenSaver"},
};
enum { SAVERS = sizeof savers / sizeof savers[0] };

struct upcast_session {
    const upcast_bus_library *l;
    sd_bus *system, *user;
    /// The path of the session's object in logind; empty without one.
    char path[256];
    /// `must_find`: sessions have come or gone since the session was found.
    bool is_stale, must_find, is_active[SAVERS];
    /// Set if a saver has started, or another program in its place. It must be asked for its state.
    bool must_ask[SAVERS];
    const char *silent;
    upcast_session_state state;
};

/// The time limit for an answer: one second, because the program runs on this machine.
enum { ANSWER_MSEC = 1000 };

/// Notes the first program that did not answer. Returns the status.
static int heard(upcast_session *s, int status, const char *name) {
    if (status == -ETIMEDOUT && !s->silent) s->silent = name;
    return status;
}

static int take_change(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_session *s = data;
    const char *path = s->l->sd_bus_message_get_path(message);
    if (path && !strcmp(path, s->path)) s->is_stale = true;
    return 0;
}

/// Without a session, its state is unknown, as on a machine without a desktop. But a locked session stays locked.
static void forget_session(upcast_session *s) {
    s->path[0] = 0;
    s->state.is_switched = false;
}

/// A session of any user begins or ends: it may be this one, or one that takes its place.
static int take_session(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_session *s = data;
    const char *id = NULL, *path = NULL, *member = s->l->sd_bus_message_get_member(message);
    s->is_stale = s->must_find = true;
    if (!member || strcmp(member, "SessionRemoved") || s->l->sd_bus_message_read(message, "so", &id, &path) < 0) return 0;
    if (strcmp(path, s->path)) return 0;
    forget_session(s);
    return 0;
}

static int take_sleep(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_session *s = data;
    int is_sleeping = 0;
    if (s->l->sd_bus_message_read(message, "b", &is_sleeping) >= 0) s->state.is_sleeping = is_sleeping;
    return 0;
}

static int take_saver(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_session *s = data;
    const char *interface = s->l->sd_bus_message_get_interface(message);
    int is_active = 0;
    if (!interface || s->l->sd_bus_message_read(message, "b", &is_active) < 0) return 0;
    for (int i = 0; i < SAVERS; i++)
        if (!strcmp(interface, savers[i].interface)) s->is_active[i] = is_active;
    return 0;
}

/// Takes the path that is the first value of an answer.
static bool take_path(upcast_session *s, sd_bus_message *message, const char *types, const char **name) {
    const char *path = NULL;
    const int status = name ? s->l->sd_bus_message_read(message, types, name, &path)
                            : s->l->sd_bus_message_read(message, types, &path);
    const bool is_there = status >= 0 && path && strlen(path) < sizeof s->path && strcmp(path, "/");
    if (is_there) strcpy(s->path, path);
    return is_there;
}

/// Whether a property of the session has this value.
static bool is_session(upcast_session *s, const char *property, const char *value) {
    sd_bus_message *answer = NULL;
    const char *text = NULL;
    const bool is_there =
        heard(
            s, s->l->sd_bus_get_property(s->system, login, s->path, login_session, property, NULL, &answer, "s"),
            "logind") >= 0
        && s->l->sd_bus_message_read(answer, "s", &text) >= 0;
    const bool has_value = is_there && !strcmp(text, value);
    s->l->sd_bus_message_unref(answer);
    return has_value;
}

/// Whether the session has ended, although some of its processes remain, such as this one.
static bool is_closing(upcast_session *s) { return is_session(s, "State", "closing"); }

/// Takes the session in logind's answer.
static bool take_own(upcast_session *s, int status, sd_bus_message *answer) {
    const bool is_found = heard(s, status, "logind") >= 0 && take_path(s, answer, "o", NULL) && !is_closing(s);
    s->l->sd_bus_message_unref(answer);
    return is_found;
}

/// Takes the session of this process.
static bool find_own(upcast_session *s) {
    const char *id = getenv("XDG_SESSION_ID");
    sd_bus_message *answer = NULL;
    int status = id ? s->l->sd_bus_call_method(
                          s->system, login, login_path, login_manager, "GetSession", NULL, &answer, "s", id)
                    : -ENOENT;
    if (take_own(s, status, answer)) return true;
    if (s->silent) return false;
    answer = NULL;
    status = s->l->sd_bus_call_method(
        s->system, login, login_path, login_manager, "GetSessionByPID", NULL, &answer, "u", (uint32_t)0);
    return take_own(s, status, answer);
}

/// Takes the session that shows the user's screen.
static bool find_screen(upcast_session *s) {
    sd_bus_message *answer = NULL;
    const char *name = NULL;
    const bool is_found =
        heard(
            s,
            s->l->sd_bus_get_property(
                s->system, login, "/org/freedesktop/login1/user/self", "org.freedesktop.login1.User", "Display", NULL,
                &answer, "(so)"),
            "logind") >= 0
        && take_path(s, answer, "(so)", &name);
    s->l->sd_bus_message_unref(answer);
    return is_found;
}

static bool ask_login(upcast_session *s, const char *property, bool otherwise) {
    int value = 0;
    sd_bus_error error = SD_BUS_ERROR_NULL;
    const int status = heard(
        s, s->l->sd_bus_get_property_trivial(s->system, login, s->path, login_session, property, &error, 'b', &value),
        "logind");
    s->l->sd_bus_error_free(&error);
    return status < 0 ? otherwise : value;
}

/// Whether the session is at a seat of the machine, such as a terminal that runs startx.
static bool has_seat(upcast_session *s) {
    sd_bus_message *answer = NULL;
    const char *name = NULL, *path = NULL;
    const bool is_there =
        heard(
            s, s->l->sd_bus_get_property(s->system, login, s->path, login_session, "Seat", NULL, &answer, "(so)"),
            "logind") >= 0
        && s->l->sd_bus_message_read(answer, "(so)", &name, &path) >= 0;
    const bool has_seat = is_there && name[0];
    s->l->sd_bus_message_unref(answer);
    return has_seat;
}

/// Whether the session is a text login without a screen, such as one over ssh, which is never locked. VNC desktops are
/// at no seat either, but have another type.
static bool is_network_login(upcast_session *s) { return is_session(s, "Type", "tty") && !has_seat(s); }

/// Finds the session of this process. For a service and for a network login, it finds that of the user's screen. If
/// there is none, the path does not change.
static bool find_session(upcast_session *s) {
    char before[sizeof s->path];
    strcpy(before, s->path);
    const bool has_own = find_own(s);
    if (has_own && !is_network_login(s)) return true;
    // It is unknown whether a text login at a seat shows the screen. If there is an own session, it does not count.
    if (!s->silent && find_screen(s) && (has_own ? !is_session(s, "Type", "tty") : !is_network_login(s))) return true;
    strcpy(s->path, before);
    return false;
}

static void refresh(upcast_session *s) {
    s->is_stale = false;
    if (s->must_find || (s->path[0] && is_closing(s))) {
        s->must_find = false;
        // After an error, the previous session is kept if it still exists.
        if (!find_session(s) && !s->silent && s->path[0] && is_closing(s)) forget_session(s);
    }
    if (!s->path[0] || s->silent) return;
    s->state.is_locked = ask_login(s, "LockedHint", s->state.is_locked);
    s->state.is_switched = !ask_login(s, "Active", !s->state.is_switched);
}

static void begin_login(upcast_session *s, int stop, int patience) {
    const char *const name = "the D-Bus daemon of the system";
    heard(s, upcast_bus_open(s->l, s->l->sd_bus_open_system, stop, patience, ANSWER_MSEC, &s->system), name);
    if (!s->system) return;
    // Signals are subscribed first. Later changes are then reported, and the answers contain the earlier ones.
    heard(
        s, s->l->sd_bus_match_signal(s->system, NULL, login, login_path, login_manager, "PrepareForSleep", take_sleep, s),
        name);
    static const char *const changes[] = {"SessionNew", "SessionRemoved"};
    for (int i = 0; !s->silent && i < 2; i++)
        heard(
            s, s->l->sd_bus_match_signal(s->system, NULL, login, login_path, login_manager, changes[i], take_session, s),
            name);
    // The signals of all objects of logind, because another session may take the place of this one.
    if (!s->silent)
        heard(
            s,
            s->l->sd_bus_match_signal(
                s->system, NULL, login, NULL, "org.freedesktop.DBus.Properties", "PropertiesChanged", take_change, s),
            name);
    s->must_find = true;
    if (!s->silent) refresh(s);
}

static const char user_bus[] = "the D-Bus daemon of the session";

/// Asks a screen saver that runs. The question does not start it.
static void ask_saver(upcast_session *s, int i) {
    sd_bus_message *answer = NULL;
    int value = 0;
    if (heard(
            s,
            s->l->sd_bus_call_method(
                s->user, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner", NULL,
                &answer, "s", savers[i].interface),
            user_bus) < 0
        || s->l->sd_bus_message_read(answer, "b", &value) < 0)
        value = 0;
    s->l->sd_bus_message_unref(answer);
    answer = NULL;
    if (!value) return;
    if (heard(
            s,
            s->l->sd_bus_call_method(
                s->user, savers[i].interface, savers[i].path, savers[i].interface, "GetActive", NULL, &answer, ""),
            savers[i].interface) >= 0
        && s->l->sd_bus_message_read(answer, "b", &value) >= 0)
        s->is_active[i] = value;
    s->l->sd_bus_message_unref(answer);
}

/// A screen saver starts or ends. An ended one hides nothing any more, but another program may take its place.
static int take_owner(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)error;
    upcast_session *s = data;
    const char *name = NULL, *before = NULL, *after = NULL;
    if (s->l->sd_bus_message_read(message, "sss", &name, &before, &after) < 0) return 0;
    for (int i = 0; i < SAVERS; i++) {
        if (strcmp(name, savers[i].interface)) continue;
        s->must_ask[i] = after[0];
        if (!after[0]) s->is_active[i] = false;
    }
    return 0;
}

static void begin_savers(upcast_session *s, int stop, int patience) {
    heard(s, upcast_bus_open(s->l, s->l->sd_bus_open_user, stop, patience, ANSWER_MSEC, &s->user), user_bus);
    for (int i = 0; s->user && !s->silent && i < SAVERS; i++) {
        char rule[256];
        snprintf(
            rule, sizeof rule,
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s'", savers[i].interface);
        heard(s, s->l->sd_bus_add_match(s->user, NULL, rule, take_owner, s), user_bus);
        if (s->silent) return;
        heard(
            s, s->l->sd_bus_match_signal(s->user, NULL, NULL, NULL, savers[i].interface, "ActiveChanged", take_saver, s),
            user_bus);
        if (!s->silent) ask_saver(s, i);
    }
}

upcast_session *upcast_session_open(int stop, int patience) {
    const upcast_bus_library *l = upcast_bus_load();
    upcast_session *s = l ? calloc(1, sizeof *s) : NULL;
    if (!s) return NULL;
    s->l = l;
    begin_login(s, stop, patience);
    if (!s->silent) begin_savers(s, stop, patience);
    if (s->system || s->user || s->silent) return s;
    upcast_session_close(s);
    return NULL;
}

void upcast_session_close(upcast_session *s) {
    // Nothing is left to send: each question has its answer, or its answer is not needed.
    upcast_bus_close(s->l, &s->system);
    upcast_bus_close(s->l, &s->user);
    free(s);
}

const char *upcast_session_silent(const upcast_session *s) { return s->silent; }

/// False once the bus has gone.
static bool process(upcast_session *s, sd_bus *bus) {
    int status = 0;
    while (bus && (status = s->l->sd_bus_process(bus, NULL)) > 0) {}
    return status >= 0;
}

void upcast_session_look(upcast_session *s, upcast_session_state *state) {
    for (;;) {
        if (!process(s, s->system)) upcast_bus_close(s->l, &s->system);
        if (!process(s, s->user)) upcast_bus_close(s->l, &s->user);
        bool has_asked = false;
        for (int i = 0; i < SAVERS; i++) {
            if (!s->must_ask[i] || !s->user || s->silent) continue;
            s->must_ask[i] = false;
            has_asked = true;
            ask_saver(s, i);
        }
        if (s->system && s->is_stale && !s->silent) {
            refresh(s);
            has_asked = true;
        }
        // More signals may have come with the answers.
        if (!has_asked) break;
    }
    s->state.is_saver_on = false;
    for (int i = 0; i < SAVERS; i++) s->state.is_saver_on |= s->is_active[i];
    *state = s->state;
}

void upcast_session_descriptors(upcast_session *s, int *system, int *user) {
    *system = s->system ? s->l->sd_bus_get_fd(s->system) : -1;
    *user = s->user ? s->l->sd_bus_get_fd(s->user) : -1;
}
