internal import Glibc
internal import LinuxSystem

extension Configuration {
    /// Checks key files, certificates and folders on this machine, for `--check-config`.
    ///
    /// The daemon reports the same problems when it uses the files.
    ///
    /// - Parameter places: where the values were written. Without it, problems have the place `machine`.
    package func problemsOnThisMachine(
        environment: [String: String], places: ConfigurationPlaces = ConfigurationPlaces()
    ) -> [ConfigurationProblem] {
        var problems = socketFolderProblems()
        if let path = privacy.stateFile, let error = folderProblem(of: path) {
            let key = "privacy.state_file"
            problems.append(
                .init(
                    place: places[key], key: key, what: "the folder of \(printable(path)) \(error)",
                    remedy: "create the folder as the daemon's user, or leave the key empty"))
        }
        do { _ = try control.remote(environment: environment) } catch {
            let key = ControlConfiguration.key(of: error)
            problems.append(
                .init(place: places[key], key: key, what: "\(error.source) \(error.what)", remedy: error.remedy))
        }
        return problems + destinationProblems(environment: environment, places: places)
    }

    /// The machine problems of the destinations.
    package func destinationProblems(
        environment: [String: String], places: ConfigurationPlaces = ConfigurationPlaces()
    ) -> [ConfigurationProblem] {
        destinations.enumerated().flatMap { index, destination in
            destination.problemsOnThisMachine(environment: environment).map { key, what, remedy in
                let path = "destinations[\(index)].\(key)"
                return ConfigurationProblem(place: places[path], key: path, what: what, remedy: remedy)
            }
        }
    }

    /// Socket folders that do not exist or that this process cannot write to.
    ///
    /// - Parameter made: sections whose socket the service manager has created.
    package func socketFolderProblems(except made: [String] = []) -> [ConfigurationProblem] {
        [("ingest", ingest.socket), ("control", control.socket)].compactMap { section, path in
            guard !made.contains(section), let error = folderProblem(of: path) else { return nil }
            let parent = folder(of: path)
            let underRun = parent.hasPrefix("/run/") ? printable(String(parent.dropFirst("/run/".count))) : ""
            let change = error == missing ? "create it" : "make it this user's"
            return ConfigurationProblem(
                place: .machine, key: "\(section).socket", what: "the folder of \(printable(path)) \(error)",
                remedy: "\(change) (sudo install -d -o \"$USER\" \(printable(parent))"
                    + (underRun.isEmpty ? "" : "; in a systemd unit RuntimeDirectory=\(underRun)")
                    + "), or set UPCAST_\(section.uppercased())_SOCKET to a path in a folder of your own")
        }
    }
}

extension DestinationConfiguration {
    /// Whether `problemsOnThisMachine` accesses a disk and may therefore block.
    package var namesFiles: Bool {
        url.localPath != nil || keyFile != nil || loginFile != nil || caFile != nil
    }

    /// The problems of this destination on this machine, by key name.
    package func problemsOnThisMachine(
        environment: [String: String]
    ) -> [(key: String, what: String, remedy: String)] {
        var problems: [(key: String, what: String, remedy: String)] = []
        // Outside the unit, systemd credentials are not accessible.
        let hasCredentials = environment["CREDENTIALS_DIRECTORY"] != nil
        let isPassedLater = secretsFolder == nil && keyFile?.credentialName != nil && !hasCredentials
        do throws(SecretError) {
            if !isPassedLater { _ = try streamKey(environment: environment) }
        } catch {
            problems.append((keyFile != nil ? "key_file" : "key_env", "\(error.source) \(error.what)", error.remedy))
        }
        do { _ = try login(environment: environment) } catch {
            problems.append(
                (loginFile != nil ? "login_file" : "login_env", "\(error.source) \(error.what)", error.remedy))
        }
        if let caFile {
            do {
                let begin = "-----BEGIN CERTIFICATE-----"
                if try !file(caFile, holds: begin, limit: 4 << 20, beneath: secretsFolder) {
                    problems.append(
                        ("ca_file", "\(printable(caFile)) contains no certificate", "name a file in PEM format"))
                }
            } catch {
                problems.append(("ca_file", "\(printable(caFile)) \(error.what)", error.remedy))
            }
        }
        if let path = url.localPath, let error = folderProblem(of: path) {
            problems.append(
                ("url", "the folder of \(printable(path)) \(error)", "create the folder, or choose another path"))
        }
        return problems
    }
}

private let missing = "does not exist"

private func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
}

private func folderProblem(of path: String) -> String? {
    guard unsafe access(folder(of: path), W_OK | X_OK) != 0 else { return nil }
    let error = Errno.current
    return error.code == ENOENT ? missing : "is not writable (\(error))"
}
