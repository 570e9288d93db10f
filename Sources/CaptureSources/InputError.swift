/// An input that cannot be read, or is not what it was said to be; one sentence for people.
package struct InputError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
