internal import Glibc
internal import LinuxSystem

extension Configuration {
    /// What would fail on this machine as it is now: key files, certificates and folders, looked at but not kept.
    ///
    /// For `--check-config`; starting does not need it, since everything here is reported when it is used, too.
    ///
    /// - Parameter places: where the values were written; without, problems are the machine's.
    package func problemsOnThisMachine(
        environment: [String: String], places: ConfigurationPlaces = ConfigurationPlaces()
    ) -> [ConfigurationProblem] {
        var problems = socketFolderProblems()
        func report(_ key: String, _ what: String, _ remedy: String) {
            problems.append(ConfigurationProblem(place: places[key], key: key, what: what, remedy: remedy))
        }
        do { _ = try control.remote(environment: environment) } catch {
            report("control.token_file", "\(error.source) \(error.what)", error.remedy)
        }
        for (index, destination) in destinations.enumerated() {
            let prefix = "destinations[\(index)]"
            // What systemd will pass cannot be looked at from outside of the unit.
            let hasCredentials = environment["CREDENTIALS_DIRECTORY"] != nil
            let isPassedLater = destination.keyFile?.credentialName != nil && !hasCredentials
            do throws(SecretError) {
                if !isPassedLater { _ = try destination.streamKey(environment: environment) }
            } catch {
                report(
                    "\(prefix).\(destination.keyFile != nil ? "key_file" : "key_env")", "\(error.source) \(error.what)",
                    error.remedy)
            }
            do { _ = try destination.login(environment: environment) } catch {
                report(
                    "\(prefix).\(destination.loginFile != nil ? "login_file" : "login_env")",
                    "\(error.source) \(error.what)", error.remedy)
            }
            if let caFile = destination.caFile {
                do {
                    let text = String(decoding: try readFile(caFile, limit: 4 << 20), as: UTF8.self)
                    if !text.contains("-----BEGIN CERTIFICATE-----") {
                        report(
                            "\(prefix).ca_file", "\(printable(caFile)) holds no certificate",
                            "name a file in PEM format")
                    }
                } catch {
                    report("\(prefix).ca_file", "\(printable(caFile)) \(error.what)", error.remedy)
                }
            }
            if case .flvFile(let path) = destination.url, let error = folderProblem(of: path) {
                report(
                    "\(prefix).url", "the folder of \(printable(path)) \(error)", "create it, or choose another path")
            }
        }
        return problems
    }

    /// Folders of the two sockets that are not there or closed to this process, and how they come to be.
    ///
    /// - Parameter made: sections whose socket is there already: the service manager made it.
    package func socketFolderProblems(except made: [String] = []) -> [ConfigurationProblem] {
        [("ingest", ingest.socket), ("control", control.socket)].compactMap { section, path in
            guard !made.contains(section), let error = folderProblem(of: path) else { return nil }
            let folder = Self.folder(of: path)
            let underRun = folder.hasPrefix("/run/") ? printable(String(folder.dropFirst("/run/".count))) : ""
            let change = error == Self.missing ? "create it" : "make it this user's"
            return ConfigurationProblem(
                place: .machine, key: "\(section).socket", what: "the folder of \(printable(path)) \(error)",
                remedy: "\(change) (sudo install -d -o \"$USER\" \(printable(folder))"
                    + (underRun.isEmpty ? "" : "; in a systemd unit RuntimeDirectory=\(underRun)")
                    + "), or set UPCAST_\(section.uppercased())_SOCKET to a path in a folder of your own")
        }
    }

    private static let missing = "does not exist"

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    private func folderProblem(of path: String) -> String? {
        guard unsafe access(Self.folder(of: path), W_OK | X_OK) != 0 else { return nil }
        let error = Errno.current
        return error.code == ENOENT ? Self.missing : "cannot be written to (\(error))"
    }
}
