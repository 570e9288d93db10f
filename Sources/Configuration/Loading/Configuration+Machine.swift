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
            + webhookProblems(environment: environment, places: places)
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

    /// Secrets and certificates of webhooks that cannot be read.
    private func webhookProblems(
        environment: [String: String], places: ConfigurationPlaces
    ) -> [ConfigurationProblem] {
        webhooks.enumerated().flatMap { index, webhook in
            var problems: [ConfigurationProblem] = []
            func report(_ key: String, _ what: String, _ remedy: String) {
                let path = "webhooks[\(index)].\(key)"
                problems.append(ConfigurationProblem(place: places[path], key: path, what: what, remedy: remedy))
            }
            // Outside the unit, systemd credentials are not accessible.
            let isPassedLater =
                webhook.secretFile?.credentialName != nil && environment["CREDENTIALS_DIRECTORY"] == nil
            do throws(SecretError) {
                if !isPassedLater { _ = try webhook.secret(environment: environment) }
            } catch {
                report(
                    webhook.secretFile != nil ? "secret_file" : "secret_env", "\(error.source) \(error.what)",
                    error.remedy)
            }
            if let problem = certificateProblem(of: webhook.caFile) {
                report("ca_file", problem.what, problem.remedy)
            }
            return problems
        }
    }

    /// Socket folders that do not exist or that this process cannot write to.
    ///
    /// - Parameter made: sections whose socket the service manager has created.
    package func socketFolderProblems(except made: [String] = []) -> [ConfigurationProblem] {
        let sockets = [("ingest", ingest.socket), ("control", control.socket)].filter { !made.contains($0.0) }
        // Two sockets in one folder have one problem.
        let folders = sockets.map { folder(of: $0.1) }
        return folders.indices.compactMap { index in
            guard folders.firstIndex(of: folders[index]) == index, let error = folderProblem(of: sockets[index].1)
            else { return nil }
            let mine = sockets.indices.filter { folders[$0] == folders[index] }.map { sockets[$0] }
            let others = mine.dropFirst().map { " and \(printable(String($0.1.dropFirst(folders[index].count + 1))))" }
            let variables = mine.map { "UPCAST_\($0.0.uppercased())_SOCKET" }.joined(separator: " and ")
            return ConfigurationProblem(
                place: .machine, key: mine.map { "\($0.0).socket" }.joined(separator: ", "),
                what: "the folder of \(printable(mine[0].1))\(others.joined()) \(error)",
                remedy: Self.remedy(for: error, folder: folders[index])
                    + ", or set \(variables) to \(mine.count == 1 ? "a path" : "paths") in a folder of your own, "
                    + "such as $XDG_RUNTIME_DIR")
        }
    }

    /// What makes a folder usable for a socket.
    private static func remedy(for error: FolderProblem, folder: String) -> String {
        let underRun = folder.hasPrefix("/run/") ? printable(String(folder.dropFirst("/run/".count))) : ""
        if case .readOnly = error { return "mount a volume or a tmpfs at \(printable(folder))" }
        let change = if case .missing = error { "create it" } else { "make it this user's" }
        return "\(change) (sudo install -d -o \"$USER\" \(printable(folder))"
            + (underRun.isEmpty ? "" : "; in a systemd unit RuntimeDirectory=\(underRun)") + ")"
    }
}

extension DestinationConfiguration {
    /// Whether `problemsOnThisMachine` accesses a disk and may therefore block.
    package var namesFiles: Bool {
        url.localPath != nil || keyFile != nil || loginFile != nil || caFile != nil
    }

    /// Whether `secretProblems` accesses a disk.
    package var hasSecretFiles: Bool { keyFile != nil || loginFile != nil || caFile != nil }

    /// The problems of this destination on this machine, by key name.
    package func problemsOnThisMachine(
        environment: [String: String]
    ) -> [(key: String, what: String, remedy: String)] {
        // Outside the unit, systemd credentials are not accessible.
        let hasCredentials = environment["CREDENTIALS_DIRECTORY"] != nil
        let isPassedLater = secretsFolder == nil && keyFile?.credentialName != nil && !hasCredentials
        var problems = secretProblems(environment: environment, exceptKey: isPassedLater)
        if let path = url.localPath, let error = folderProblem(of: path) {
            problems.append(
                ("url", "the folder of \(printable(path)) \(error)", "create the folder, or choose another path"))
        }
        return problems
    }

    /// What is wrong with the stream key, the login and the certificates, by key name. Messages show none of them.
    ///
    /// - Parameter exceptKey: leaves the stream key out.
    package func secretProblems(
        environment: [String: String], exceptKey: Bool = false
    ) -> [(key: String, what: String, remedy: String)] {
        var problems: [(key: String, what: String, remedy: String)] = []
        do throws(SecretError) {
            if !exceptKey { _ = try streamKey(environment: environment) }
        } catch {
            problems.append((keyFile != nil ? "key_file" : "key_env", "\(error.source) \(error.what)", error.remedy))
        }
        do { _ = try login(environment: environment) } catch {
            problems.append(
                (loginFile != nil ? "login_file" : "login_env", "\(error.source) \(error.what)", error.remedy))
        }
        if let problem = certificateProblem(of: caFile, beneath: secretsFolder) {
            problems.append(("ca_file", problem.what, problem.remedy))
        }
        return problems
    }
}

/// Why no file can be created in a folder.
private enum FolderProblem: CustomStringConvertible {
    case missing
    case readOnly
    case notWritable(Errno)

    var description: String {
        switch self {
        case .missing: "does not exist"
        case .readOnly: "is on a read-only file system"
        case .notWritable(let error): "is not writable (\(error))"
        }
    }
}
/// Nil if the file has a certificate in PEM format, or if there is no file.
private func certificateProblem(of caFile: String?, beneath folder: String? = nil) -> ValueProblem? {
    guard let caFile else { return nil }
    do throws(ValueProblem) {
        let begin = "-----BEGIN CERTIFICATE-----"
        guard try !file(caFile, holds: begin, limit: 4 << 20, beneath: folder) else { return nil }
        return ValueProblem(
            what: "\(printable(caFile)) contains no certificate", remedy: "name a file in PEM format")
    } catch {
        return ValueProblem(what: "\(printable(caFile)) \(error.what)", remedy: error.remedy)
    }
}


private func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
}

private func folderProblem(of path: String) -> FolderProblem? {
    guard unsafe access(folder(of: path), W_OK | X_OK) != 0 else { return nil }
    let error = Errno.current
    return switch error.code {
    case ENOENT: .missing
    case EROFS: .readOnly
    default: .notWritable(error)
    }
}
