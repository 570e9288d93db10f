internal import Endpoints
internal import MediaCore

/// Members that only a destination from a request has, and their restrictions.
///
/// The sender of a request may not have the daemon's file permissions. A request therefore contains its secrets, or
/// names files in `control.secrets_folder`.
extension ConfigurationLoader {
    static let requestKeys = ["key", "login"]

    /// Reads a member that only a request may have.
    ///
    /// - Returns: false if the entry is another member.
    mutating func takeSecret(_ entry: YAMLEntry, of index: Int) -> Bool {
        let target: WritableKeyPath<DestinationConfiguration, Secret?>
        switch entry.key.text {
        case "key": target = \.key
        case "login": target = \.loginText
        default: return false
        }
        let name = "destinations[\(index)].\(entry.key.text)"
        remember(name, place(entry.value.mark))
        // Messages never quote a secret.
        guard case .scalar(let scalar) = entry.value, !scalar.isNull, let secret = Secret(line: scalar.text) else {
            report(
                place(entry.value.mark), name, "the secret is invalid",
                "write text of 1 to 1024 bytes without control characters")
            return true
        }
        if entry.key.text == "login", !secret.revealed.contains(":") {
            report(place(entry.value.mark), name, "the login has no password", "write user:password")
            return true
        }
        configuration.destinations[index][keyPath: target] = secret
        return true
    }

    /// Refuses names of secrets outside `control.secrets_folder`.
    mutating func confineSecrets(of index: Int) {
        let folder = configuration.control.secretsFolder
        let destination = configuration.destinations[index]
        func refuse(_ name: String, _ what: String, _ remedy: String) {
            let key = "destinations[\(index)].\(name)"
            report(origins[key] ?? .defaults, key, what, remedy)
        }
        let variables = [("key", destination.keyEnvironment), ("login", destination.loginEnvironment)]
        for (name, variable) in variables where variable != nil {
            refuse(
                "\(name)_env", "a request cannot name an environment variable of the daemon",
                "send the secret as \(name), or name a file in control.secrets_folder as \(name)_file")
        }
        let files = [
            ("key_file", destination.keyFile), ("login_file", destination.loginFile), ("ca_file", destination.caFile),
        ]
        for (name, file) in files {
            guard let file else { continue }
            let instead = name == "ca_file" ? "" : ", or send the secret as \(name.prefix { $0 != "_" })"
            if file.credentialName != nil {
                refuse(
                    name, "a request cannot name a credential of the daemon",
                    "name a file in control.secrets_folder\(instead)")
            } else if folder == nil {
                refuse(
                    name, "a request can name files only in control.secrets_folder, which is not set",
                    "set control.secrets_folder to the folder of this file and restart the daemon\(instead)")
            }
        }
        configuration.destinations[index].secretsFolder = folder ?? ""
    }
}
