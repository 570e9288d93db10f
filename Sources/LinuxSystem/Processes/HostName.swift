internal import Glibc

/// The name of this machine, or of the container.
package enum HostName {
    /// Empty if the kernel gives none.
    package static var current: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
