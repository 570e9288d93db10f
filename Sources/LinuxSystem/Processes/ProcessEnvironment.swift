internal import Glibc

/// The process's environment as a dictionary, without Foundation.
package enum ProcessEnvironment {
    /// Read at each call. Call it before other threads exist that may change it.
    package static var current: [String: String] {
        var result: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let pair = unsafe String(cString: text)
            if let equals = pair.firstIndex(of: "=") {
                result[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
            }
            unsafe entry += 1
        }
        return result
    }
}
