internal import Grabbing
package import UpcastClient

/// What of each place for frames differs from the picture that is to be sent: only that is copied. Pure.
package struct StaleParts: Equatable, Sendable {
    /// A place in memory that frames lie in.
    package struct Place: Equatable, Sendable {
        package var memory: UInt32
        package var offset: Int

        package init(memory: UInt32, offset: Int) { (self.memory, self.offset) = (memory, offset) }
    }

    private var places: [(place: Place, parts: DamageList)] = []
    /// Those of one memory, and of one that it replaces.
    private static let capacity = 8

    package init() {}

    package static func == (a: Self, b: Self) -> Bool {
        a.places.elementsEqual(b.places) { $0.place == $1.place && $0.parts == $1.parts }
    }

    /// Nobody knows what any place has.
    package mutating func forget() { places.removeAll(keepingCapacity: true) }

    /// The picture has changed here; nil for anywhere.
    package mutating func note(_ rectangle: CaptureRectangle?) {
        for index in places.indices {
            if let rectangle { places[index].parts.note(rectangle) } else { places[index].parts.noteAll() }
        }
    }

    /// What has to be copied to a place; nil for all of the picture.
    package func parts(of place: Place) -> [CaptureRectangle]? {
        places.first { $0.place == place }?.parts.damage?.rectangles
    }

    /// A place has the picture, but for what was drawn over it.
    package mutating func filled(_ place: Place, but drawn: CaptureRectangle?) {
        var index = places.firstIndex { $0.place == place }
        if index == nil {
            if places.count >= Self.capacity { places.removeFirst() }
            places.append((place, DamageList()))
            index = places.count - 1
        }
        guard let index else { return }
        places[index].parts.clear()
        if let drawn { places[index].parts.note(drawn) }
    }
}
