/// A choice or a file of the user's that is wrong, and that shows only when a command runs. Exit status 64.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String
}
