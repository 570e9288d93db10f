#!/usr/bin/python3
"""What logind tells of a user's sessions, on a bus of a test's own: no session of a test can be locked or end.

A test calls `test.Sessions` of the object: `Begin ID TYPE`, `Close ID`, `End ID`, and `Set ID PROPERTY VALUE`.
The newest session whose type is not `tty` is that of the user's screen, or else the newest. `Looks` is the number of
times that was asked for.
"""

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.login1"
PATH = "/org/freedesktop/login1"
MANAGER = NAME + ".Manager"
PROPERTIES = "org.freedesktop.DBus.Properties"


class NoSession(dbus.DBusException):
    _dbus_error_name = NAME + ".NoSuchSession"


class Session(dbus.service.Object):
    def __init__(self, bus, name, kind):
        self.path = f"{PATH}/session/_3{name}"
        super().__init__(bus, self.path)
        self.values = {
            "LockedHint": dbus.Boolean(False), "Active": dbus.Boolean(True), "State": "active",
            "Type": kind,
            "Seat": dbus.Struct(
                ("seat0" if kind == "x11" else "", dbus.ObjectPath("/")), signature="so", variant_level=1),
        }

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.values[name]

    def set(self, name, value):
        self.values[name] = value
        self.PropertiesChanged(NAME + ".Session", {name: value}, dbus.Array(signature="s"))

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass


class User(dbus.service.Object):
    def __init__(self, bus, sessions):
        super().__init__(bus, PATH + "/user/self")
        self.sessions, self.looks = sessions, 0

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        self.looks += 1
        names = list(reversed(self.sessions))
        desktops = [name for name in names if self.sessions[name].values["Type"] != "tty"]
        newest = next(iter(desktops + names), None)
        path = self.sessions[newest].path if newest else "/"
        return dbus.Struct((newest or "", dbus.ObjectPath(path)), signature="so", variant_level=1)


class Manager(dbus.service.Object):
    def __init__(self, bus):
        super().__init__(bus, PATH)
        self.bus, self.sessions, self.closing = bus, {}, {}
        self.user = User(bus, self.sessions)

    @dbus.service.method(MANAGER, in_signature="s", out_signature="o")
    def GetSession(self, name):
        session = self.sessions.get(name) or self.closing.get(name)
        if not session:
            raise NoSession(f"no session {name}")
        return session.path

    @dbus.service.method(MANAGER, in_signature="u", out_signature="o")
    def GetSessionByPID(self, process):
        raise NoSession("the process has none")

    @dbus.service.signal(MANAGER, signature="so")
    def SessionNew(self, name, path):
        pass

    @dbus.service.signal(MANAGER, signature="so")
    def SessionRemoved(self, name, path):
        pass

    @dbus.service.method("test.Sessions", out_signature="u")
    def Looks(self):
        return self.user.looks

    @dbus.service.method("test.Sessions", in_signature="ss")
    def Begin(self, name, kind):
        self.sessions[str(name)] = Session(self.bus, name, kind)
        self.SessionNew(name, self.sessions[str(name)].path)

    @dbus.service.method("test.Sessions", in_signature="s")
    def End(self, name):
        session = self.sessions.pop(str(name))
        session.remove_from_connection()
        self.SessionRemoved(name, session.path)

    @dbus.service.method("test.Sessions", in_signature="ssb")
    def Set(self, name, key, value):
        self.sessions[str(name)].set(str(key), dbus.Boolean(value))

    @dbus.service.method("test.Sessions", in_signature="s")
    def Close(self, name):
        """It has ended, but processes of it are left: it is not that of the user's screen any more."""
        session = self.sessions.pop(str(name))
        self.closing[str(name)] = session
        session.set("State", "closing")


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
system = dbus.SystemBus()
manager = Manager(system)
owned = dbus.service.BusName(NAME, system)
GLib.MainLoop().run()
