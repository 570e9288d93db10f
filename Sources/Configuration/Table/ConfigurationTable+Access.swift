extension ConfigurationTable {
    /// Keys that protect secrets from users of the control server and from other processes of the same user.
    static var access: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "control", "metrics_token_file", \.control.metricsTokenFile, .optionalPath,
                "File with a second token for TCP clients, which allows only /metrics.",
                memory: nothing),
            ConfigurationKey(
                "control", "secrets_folder", \.control.secretsFolder, .optionalPath,
                "Folder for key_file, login_file and ca_file of destinations that a command adds; they cannot name "
                    + "files elsewhere. \"\" allows no files.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "dumpable", \.privacy.dumpable, .boolean,
                "Allows core files, and lets other processes of the same user read memory and environment "
                    + "(PR_SET_DUMPABLE), which contain stream keys and pictures.",
                memory: nothing),
        ]
    }
}
