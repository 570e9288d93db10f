/// What keeps sound from being captured, in a sentence.
package struct SoundError: Error, Equatable, CustomStringConvertible {
    package let description: String
    /// It can pass by itself.
    package let isTemporary: Bool

    package init(_ description: String, isTemporary: Bool = true) {
        (self.description, self.isTemporary) = (description, isTemporary)
    }
}
