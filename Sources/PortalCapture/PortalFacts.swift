/// The capabilities of a desktop's ScreenCast portal. Pure.
package struct PortalFacts: Equatable, Sendable {
    /// The kinds of sources that users can choose, with the portal's bits.
    package struct Sources: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let monitor = Sources(rawValue: 1)
        package static let window = Sources(rawValue: 2)
    }

    /// The ways to handle the pointer, with the portal's bits.
    package struct PointerModes: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let hidden = PointerModes(rawValue: 1)
        /// The pointer is drawn into the pictures.
        package static let embedded = PointerModes(rawValue: 2)
        /// The pointer is reported separately from the pictures.
        package static let metadata = PointerModes(rawValue: 4)
    }

    package var version: Int
    package var sources: Sources
    package var pointers: PointerModes

    package init(version: Int, sources: Sources, pointers: PointerModes) {
        (self.version, self.sources, self.pointers) = (version, sources, pointers)
    }

    /// The names for messages.
    package var sourceNames: [String] {
        [(Sources.monitor, "monitor"), (.window, "window")].filter { sources.contains($0.0) }.map(\.1)
    }

    /// The names for messages.
    package var pointerNames: [String] {
        [(PointerModes.hidden, "hidden"), (.embedded, "embedded"), (.metadata, "metadata")]
            .filter { pointers.contains($0.0) }.map(\.1)
    }
}
