import Glibc

/// The environment of upcastctl.
enum Environment {
    /// The value of a variable; nil if it is unset or empty.
    static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
