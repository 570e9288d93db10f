/// An input that cannot be read, or has another format than configured; one sentence for people.
package struct InputError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
