/// Why a screen, or its sound, cannot be captured, and what to do about it; one sentence for the user.
package struct ScreenError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether trying again later may help: a server may come back.
    package let isTemporary: Bool

    package init(_ description: String, isTemporary: Bool = false) {
        self.description = description
        self.isTemporary = isTemporary
    }
}
