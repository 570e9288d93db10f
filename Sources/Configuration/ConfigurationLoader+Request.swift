internal import Endpoints
internal import MediaCore

/// What a destination from a request has beside, and instead of, what one from the file has.
///
/// Whoever may send requests need not be allowed to read what the daemon can read. So a request brings its secrets
/// along, or names files in the one folder that the operator keeps for that.
extension ConfigurationLoader {
    static let requestKeys = ["key", "login"]

    /// Takes members that only a request has.
    ///
    /// - Returns: false where the entry is none of these.
    mutating func takeSecret(_ entry: YAMLEntry, of index: Int) -> Bool {
        let target: WritableKeyPath<DestinationConfiguration, Secret?>
        switch entry.key.text {
        case "key": target = \.key
        case "login": target = \.loginText
        default: return false
        }
        let name = "destinations[\(index)].\(entry.key.text)"
        remember(name, place(entry.value.mark))
        // Never quoted back.
        guard case .scalar(let scalar) = entry.value, !scalar.isNull, let secret = Secret(line: scalar.text) else {
            report(
                place(entry.value.mark), name, "this is no secret",
                "write a text of 1 to 1024 bytes without control characters")
            return true
        }
        if entry.key.text == "login", !secret.revealed.contains(":") {
            report(place(entry.value.mark), name, "there is no user and password", "write user:password")
            return true
        }
        configuration.destinations[index][keyPath: target] = secret
        return true
    }

    /// Refuses what names secrets outside of `control.secrets_folder`.
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
                "\(name)_env", "a request may not name a variable of the daemon's environment",
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
                    name, "a request may not name a credential of the daemon's",
                    "name a file in control.secrets_folder\(instead)")
            } else if folder == nil {
                refuse(
                    name, "a request may name files in control.secrets_folder only, and it is not set",
                    "set it to the folder of this file and restart the daemon\(instead)")
            }
        }
        configuration.destinations[index].secretsFolder = folder ?? ""
    }
}
