extension ConfigurationTable {
    /// What keeps secrets from those who may use the control server, or the process's user.
    static var access: [ConfigurationKey<Configuration>] {
        [
            ConfigurationKey(
                "control", "metrics_token_file", \.control.metricsTokenFile, .optionalPath,
                "File with a second token for clients over TCP that may read /metrics and nothing else, such as "
                    + "Prometheus.",
                memory: "none."),
            ConfigurationKey(
                "control", "secrets_folder", \.control.secretsFolder, .optionalPath,
                "Folder with the files that a destination may name which is added by command (key_file, login_file, "
                    + "ca_file); their names are relative to it. Empty: such a destination names none, and brings its "
                    + "key along.",
                memory: "none."),
            ConfigurationKey(
                "privacy", "dumpable", \.privacy.dumpable, .boolean,
                "Whether the kernel may write a core file, and other processes of the same user may read this one's "
                    + "memory and environment (prctl PR_SET_DUMPABLE). Both hold stream keys and the picture.",
                memory: "none."),
        ]
    }
}
