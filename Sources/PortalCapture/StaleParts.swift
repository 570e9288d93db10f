internal import Grabbing
package import UpcastClient

/// The parts of each place for frames that differ from the picture to be sent. Only these are copied. Pure.
package struct StaleParts: Equatable, Sendable {
    /// A place in memory that frames lie in.
    package struct Place: Equatable, Sendable {
        package var memory: UInt32
        package var offset: Int

        package init(memory: UInt32, offset: Int) { (self.memory, self.offset) = (memory, offset) }
    }

    private var places: [(place: Place, parts: DamageList)] = []
    /// Enough for the places of one memory and of one that it replaces.
    private static let capacity = 8

    package init() {}

    package static func == (a: Self, b: Self) -> Bool {
        a.places.elementsEqual(b.places) { $0.place == $1.place && $0.parts == $1.parts }
    }

    /// Forgets the contents of all places: they are unknown.
    package mutating func forget() { places.removeAll(keepingCapacity: true) }

    /// Notes that the picture has changed in this rectangle; nil for anywhere.
    package mutating func note(_ rectangle: CaptureRectangle?) {
        for index in places.indices {
            if let rectangle { places[index].parts.note(rectangle) } else { places[index].parts.noteAll() }
        }
    }

    /// The parts that must be copied to a place; nil for the whole picture.
    package func parts(of place: Place) -> [CaptureRectangle]? {
        places.first { $0.place == place }?.parts.damage?.rectangles
    }

    /// Notes that a place has the picture, except for the rectangle that was drawn over it.
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
