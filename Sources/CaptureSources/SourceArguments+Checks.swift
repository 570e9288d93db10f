package import MediaCore

/// Checks of the options that both programs have in common.
extension SourceArguments {
    /// Refuses an option that a script gives without a value.
    ///
    /// - Parameter options: names, values, and what to write instead.
    package static func refuseEmpty(
        _ options: [(name: String, value: String?, remedy: String)]
    ) throws(InputError) {
        guard let empty = options.first(where: { $0.value?.isEmpty == true }) else { return }
        throw InputError("\(empty.name) is empty: \(empty.remedy)")
    }

    /// The remedy for an empty `--socket`.
    package static let socketRemedy = "name the capture socket of the daemon, such as /run/upcast/capture.sock, or "
        + "leave the option out"
    /// The remedy for an empty `--name`.
    package static let nameRemedy = "write the name that the daemon's log is to have, or leave the option out"

    /// Parses `--seconds`.
    package static func duration(_ seconds: Double) throws(InputError) -> MediaTime {
        guard seconds > 0, seconds <= 1e8 else {
            let text = "\(seconds)"
            let whole = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
            throw InputError(
                "--seconds \(whole) is no duration: write more than 0, and at most 100000000, such as 90 or 2.5; "
                    + "without the option, it goes on until it is stopped")
        }
        return MediaTime(seconds: seconds)
    }
}
