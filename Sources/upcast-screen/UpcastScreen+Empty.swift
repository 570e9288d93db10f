import CaptureSources

extension UpcastScreen {
    /// Refuses options that a script gives an empty value: an empty value does not mean that the option is left out.
    func refuseEmptyOptions() throws(ScreenPlan.Mistake) {
        let leaveOut = "or leave the option out"
        let files = hideFile.map { file in
            ("--hide-file", Optional(file), "name a file with a rule as of --hide on each line, \(leaveOut)")
        }
        do {
            try SourceArguments.refuseEmpty([
                ("--socket", socket, SourceArguments.socketRemedy), ("--name", name, SourceArguments.nameRemedy),
                ("--display", display, "name an X display, such as :0, \(leaveOut)"),
                ("--wayland", wayland, "name the socket of a Wayland compositor, such as wayland-1, \(leaveOut)"),
                ("--monitor", monitor, "name a monitor that --list shows, such as HDMI-1, \(leaveOut)"),
                ("--sound", sound, "write auto, default, none, app=NAME or the name of a sink that --list shows"),
                ("--microphone", microphone, "write none, default or the name of a source that --list shows"),
            ] + files)
        } catch {
            throw ScreenPlan.Mistake(description: "\(error)")
        }
    }
}
