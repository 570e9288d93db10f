extension Daemon {
    /// Sends a request as another user. It uses perl, which every system that runs the tests has, and which supports
    /// sockets. Only root can do this.
    package func ask(
        asUser user: Int, group: Int? = nil, _ method: String, _ path: String, _ body: String = ""
    ) throws -> (status: Int, body: String) {
        let program = """
            use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "connect: $!\\n";
            my ($path, $method, $target, $body) = @ARGV; my $length = length $body;
            print $s "$method $target HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: $length\\r\\n\\r\\n$body";
            local $/; print(<$s>);
            """
        let answer = try ChildProcess.run(
            "setpriv",
            [
                "--reuid=\(user)", "--regid=\(group ?? user)", "--clear-groups", "perl", "-e", program, controlSocket,
                method, path, body,
            ])
        let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
        guard let status = answer.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw TestFailure("no answer: \(answer)")
        }
        return (status, parts.count == 2 ? parts[1] : "")
    }
}
