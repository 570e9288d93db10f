internal import CLinux

/// Reads numbers from text files of /proc and of the cgroup file systems without allocating. A String argument of a C
/// function is copied first; `withCString` avoids that.
enum KernelText {
    /// The number at the start of a file; nil for other text, such as "max".
    static func number(_ path: String) -> Int? {
        let value = unsafe path.withCString { unsafe upcast_kernel_number($0) }
        return value < 0 ? nil : value
    }

    /// The numbers of up to four fields; nil for each missing field, and nil for all if the file cannot be read.
    static func fields(
        _ path: String, _ a: StaticString, _ b: StaticString, _ c: StaticString = "", _ d: StaticString = ""
    ) -> (Int?, Int?, Int?, Int?)? {
        var values = (0, 0, 0, 0)
        let isRead = unsafe withUnsafeMutableBytes(of: &values) { buffer in
            unsafe path.withCString { path in
                unsafe upcast_kernel_fields(
                    path, text(a), text(b), text(c), text(d), buffer.assumingMemoryBound(to: Int.self).baseAddress!)
            }
        }
        guard isRead == 1 else { return nil }
        func there(_ value: Int) -> Int? { value < 0 ? nil : value }
        return (there(values.0), there(values.1), there(values.2), there(values.3))
    }

    /// A zero-terminated C string.
    private static func text(_ name: StaticString) -> UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
