extension ConfigurationTable {
    /// Keys that protect secrets from users of the control server and from other processes of the same user.
    static var access: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "control", "metrics_token_file", \.control.metricsTokenFile, .optionalPath,
                "File with a second token for TCP clients. It allows only /metrics, for example to Prometheus.",
                memory: nothing),
            ConfigurationKey(
                "control", "secrets_folder", \.control.secretsFolder, .optionalPath,
                "Folder for the key_file, login_file and ca_file of destinations that a command adds. Paths are "
                    + "relative to it. If empty, such destinations cannot name files; the request contains the key.",
                memory: nothing),
            ConfigurationKey(
                "privacy", "dumpable", \.privacy.dumpable, .boolean,
                "Allows core files, and lets other processes of the same user read the daemon's memory and environment "
                    + "(prctl PR_SET_DUMPABLE). Both contain stream keys and pictures.",
                memory: nothing),
        ]
    }
}
