#!/usr/bin/python3
"""The part of a desktop that answers its ScreenCast portal, with a user who answers from a file.

xdg-desktop-portal talks to it as it does to xdg-desktop-portal-gnome, which shows a dialogue that no test can click.
Pictures come from mutter (org.gnome.Mutter.ScreenCast), as those of GNOME do.

ANSWER is a file: "yes" shares the first monitor, "window" the window that has the keyboard, "no" refuses, anything else
lets the dialogue wait. Each question is written to standard output. SIGUSR1 ends what is shared, as the user does on
GNOME's panel. POINTER is a file with the place that the pointer is moved to, as "X Y".
"""

import pathlib
import signal
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

SCREEN_CAST = "org.freedesktop.impl.portal.ScreenCast"
SESSION = "org.freedesktop.impl.portal.Session"
REQUEST = "org.freedesktop.impl.portal.Request"
MUTTER = "org.gnome.Mutter.ScreenCast"
MUTTER_PATH = "/org/gnome/Mutter/ScreenCast"
REMOTE = "org.gnome.Mutter.RemoteDesktop"
REMOTE_PATH = "/org/gnome/Mutter/RemoteDesktop"
# As GNOME: the portal's modes are bits, mutter's are numbers.
POINTERS = {1: 0, 2: 1, 4: 2}
MONITOR, WINDOW = 1, 2
SOURCES = {"yes": MONITOR, "window": WINDOW}
NOTHING = dbus.Dictionary(signature="sv")


def say(text):
    print(text, flush=True)


class Session(dbus.service.Object):
    """What an application was granted."""

    def __init__(self, bus, path):
        super().__init__(bus, path)
        self.path = path
        self.options = {}
        self.cast = None

    @dbus.service.method(SESSION)
    def Close(self):
        self.end()

    @dbus.service.signal(SESSION)
    def Closed(self):
        pass

    def end(self):
        sessions.pop(self.path, None)
        if self.cast:
            self.cast.Stop(ignore_reply=True)
            self.cast = None
        self.remove_from_connection()


class Request(dbus.service.Object):
    """A dialogue that is open."""

    def __init__(self, bus, path, close):
        super().__init__(bus, path)
        self.close = close

    @dbus.service.method(REQUEST)
    def Close(self):
        say("dialogue closed")
        self.close()


class ScreenCast(dbus.service.Object):
    def __init__(self, bus, answer):
        super().__init__(bus, "/org/freedesktop/portal/desktop")
        self.bus = bus
        self.answer = answer

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="s", out_signature="a{sv}")
    def GetAll(self, _):
        return {
            "version": dbus.UInt32(4),
            "AvailableSourceTypes": dbus.UInt32(MONITOR | WINDOW),
            "AvailableCursorModes": dbus.UInt32(sum(POINTERS)),
        }

    @dbus.service.method(SCREEN_CAST, in_signature="oosa{sv}", out_signature="ua{sv}")
    def CreateSession(self, _request, path, _app, _options):
        sessions[path] = Session(self.bus, path)
        return 0, NOTHING

    @dbus.service.method(SCREEN_CAST, in_signature="oosa{sv}", out_signature="ua{sv}")
    def SelectSources(self, _request, path, _app, options):
        sessions[path].options = options
        return 0, NOTHING

    @dbus.service.method(
        SCREEN_CAST, in_signature="oossa{sv}", out_signature="ua{sv}", async_callbacks=("answer", "fail"))
    def Start(self, request, path, _app, _parent, _options, answer, fail):
        session = sessions[path]
        if "restore_data" in session.options:
            say("restored")
            self.grant(session, MONITOR, answer, fail)
            return
        say("asked")
        waiting = [True]

        def refuse():
            if waiting.pop():
                answer(dbus.UInt32(1), NOTHING)

        dialogue = Request(self.bus, request, refuse)

        def look():
            text = self.answer.read_text().strip()
            if waiting and text in SOURCES and self.grant(session, SOURCES[text], answer, fail):
                waiting.pop()
            elif waiting and text == "no":
                refuse()
            if not waiting:
                dialogue.remove_from_connection()
            return bool(waiting)

        if look():
            GLib.timeout_add(20, look)

    def grant(self, session, source, answer, fail):
        """False if there is no window yet."""
        def mutter(path, interface):
            return dbus.Interface(self.bus.get_object(MUTTER, path), interface)

        cast = mutter(mutter(MUTTER_PATH, MUTTER).CreateSession({}), MUTTER + ".Session")
        pointer = dbus.UInt32(POINTERS[int(session.options.get("cursor_mode", 1))])
        options = {"cursor-mode": pointer}
        try:
            path = cast.RecordWindow(options) if source == WINDOW else cast.RecordMonitor("", options)
        except dbus.DBusException:
            cast.Stop(ignore_reply=True)
            if source == WINDOW:
                return False
            raise
        stream = mutter(path, MUTTER + ".Stream")
        session.cast = cast

        def added(node):
            facts = dbus.Dictionary({"source_type": dbus.UInt32(source)}, signature="sv")
            results = {"streams": dbus.Array([(dbus.UInt32(node), facts)], signature="(ua{sv})")}
            if session.options.get("persist_mode") and source == MONITOR:
                results["persist_mode"] = session.options["persist_mode"]
                data = dbus.String("the first monitor", variant_level=1)
                results["restore_data"] = dbus.Struct(("upcast", dbus.UInt32(1), data), signature="suv")
            answer(dbus.UInt32(0), results)

        stream.connect_to_signal("PipeWireStreamAdded", added)
        cast.Start(error_handler=fail, reply_handler=lambda: None)
        return True


class Pointer:
    """A mouse, which mutter takes from a program (org.gnome.Mutter.RemoteDesktop)."""

    def __init__(self, bus, place):
        self.place = place
        self.last = ""
        path = dbus.Interface(bus.get_object(REMOTE, REMOTE_PATH), REMOTE).CreateSession()
        self.session = dbus.Interface(bus.get_object(REMOTE, path), REMOTE + ".Session")
        self.session.Start()
        GLib.timeout_add(20, self.look)

    def look(self):
        text = self.place.read_text().strip() if self.place.exists() else ""
        if text and text != self.last:
            x, y = map(float, text.split())
            # From the upper left corner: there is no other way without a stream.
            self.session.NotifyPointerMotionRelative(-10000.0, -10000.0)
            self.session.NotifyPointerMotionRelative(x, y)
            say("pointer " + text)
        self.last = text
        return True


sessions = {}


def stop_sharing():
    for session in list(sessions.values()):
        session.Closed()
        session.end()
    return True


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    name = dbus.service.BusName("org.freedesktop.impl.portal.desktop.upcast", bus)
    backend = ScreenCast(bus, pathlib.Path(sys.argv[1]))
    pointer = Pointer(bus, pathlib.Path(sys.argv[2]))
    loop = GLib.MainLoop()
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, stop_sharing)
    # It goes with the compositor, as that of a desktop.
    bus.watch_name_owner(MUTTER, lambda owner: None if owner else loop.quit())
    say("ready")
    loop.run()
    del backend, name, pointer


main()
