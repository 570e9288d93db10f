internal import CLinux

package enum FileExchange {
    /// Exchanges the names of two files or folders at once: at no time does one of the names not exist.
    ///
    /// - Returns: false if the file system cannot, or one of them does not exist; then nothing has changed.
    package static func exchange(_ first: String, _ second: String) -> Bool {
        unsafe upcast_exchange(first, second) == 0
    }
}
