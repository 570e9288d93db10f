/// What the ScreenCast portal of a desktop offers. Pure.
package struct PortalFacts: Equatable, Sendable {
    /// What users can choose, as the portal has it.
    package struct Sources: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let monitor = Sources(rawValue: 1)
        package static let window = Sources(rawValue: 2)
    }

    /// What becomes of the pointer, as the portal has it.
    package struct PointerModes: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let hidden = PointerModes(rawValue: 1)
        /// Drawn into the pictures.
        package static let embedded = PointerModes(rawValue: 2)
        /// Told beside the pictures.
        package static let metadata = PointerModes(rawValue: 4)
    }

    package var version: Int
    package var sources: Sources
    package var pointers: PointerModes

    package init(version: Int, sources: Sources, pointers: PointerModes) {
        (self.version, self.sources, self.pointers) = (version, sources, pointers)
    }

    /// For people.
    package var sourceNames: [String] {
        [(Sources.monitor, "monitor"), (.window, "window")].filter { sources.contains($0.0) }.map(\.1)
    }

    /// For people.
    package var pointerNames: [String] {
        [(PointerModes.hidden, "hidden"), (.embedded, "embedded"), (.metadata, "metadata")]
            .filter { pointers.contains($0.0) }.map(\.1)
    }
}
