internal import Glibc
internal import LinuxSystem

extension Configuration {
    /// What would fail on this machine as it is now: key files, certificates and folders, looked at but not kept.
    ///
    /// For `--check-config`; starting does not need it, since everything here is reported when it is used, too.
    package func problemsOnThisMachine(environment: [String: String]) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        func report(_ key: String, _ what: String, _ remedy: String) {
            problems.append(ConfigurationProblem(place: .machine, key: key, what: what, remedy: remedy))
        }
        for (key, path) in [("ingest.socket", ingest.socket), ("control.socket", control.socket)] {
            if let error = folderProblem(of: path) {
                report(key, "the folder of \(printable(path)) \(error)", "create it, or choose another path")
            }
        }
        for (index, destination) in destinations.enumerated() {
            let prefix = "destinations[\(index)]"
            do { _ = try destination.streamKey(environment: environment) } catch {
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

    private func folderProblem(of path: String) -> String? {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard unsafe access(folder, W_OK | X_OK) != 0 else { return nil }
        let error = Errno.current
        return error.code == ENOENT ? "does not exist" : "cannot be written to (\(error))"
    }
}
