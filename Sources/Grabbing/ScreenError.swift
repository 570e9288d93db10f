/// Why a screen, or its sound, cannot be captured, and what would be right; one sentence for people.
package struct ScreenError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether trying again later may help: a server may come back.
    package let isTemporary: Bool

    package init(_ description: String, isTemporary: Bool = false) {
        self.description = description
        self.isTemporary = isTemporary
    }
}
