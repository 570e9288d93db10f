/// A wrong choice, or an unusable file of the user, that is only found when a command runs. Exit status 64.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String
}
