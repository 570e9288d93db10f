import Glibc

/// Another way to an X display, as `ssh -X` makes one: it passes on all bytes, but no descriptors.
package final class DisplayRelay: Sendable {
    package enum Kind: CaseIterable, Sendable { case tcp, unix }

    /// For `--display`.
    package let display: String
    private let relay: ChildProcess
    private let listener: String

    /// - Parameter server: the display of a server on this machine, such as `:7`.
    package init(to server: String, _ kind: Kind) throws {
        let folder = "/tmp/.X11-unix/X"
        // Displays begin at this port.
        var port = try Loopback.freePort()
        while port < 6_000 { port = try Loopback.freePort() }
        listener = "\(folder)\(port)"
        display = kind == .tcp ? "localhost:\(port - 6_000)" : ":\(port)"
        let arguments = [kind == .tcp ? "\(port)" : "0", listener, folder + server.dropFirst()]
        let relay = try ChildProcess("python3", ["-c", Self.program] + arguments)
        self.relay = relay
        try waitFor("the relay to listen", while: relay) { relay.output == "ready\n" }
    }

    deinit {
        relay.signal(SIGKILL)
        if display.hasPrefix(":") { unlink(listener) }
    }

    private static let program = """
        import os, socket, sys, threading
        port, listener, server = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        accepting = socket.socket(socket.AF_INET if port else socket.AF_UNIX)
        if not port and os.path.exists(listener):
            os.unlink(listener)
        accepting.bind(("127.0.0.1", port) if port else listener)
        accepting.listen()
        print("ready", flush=True)
        def pump(source, target):
            try:
                while data := source.recv(65536):
                    target.sendall(data)
            except OSError:
                pass
            for end in (source, target):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        while True:
            client, _ = accepting.accept()
            display = socket.socket(socket.AF_UNIX)
            display.connect(server)
            for ends in ((client, display), (display, client)):
                threading.Thread(target=pump, args=ends, daemon=True).start()
        """
}
