import TestSupport
import Testing

/// The colours that viewers have seen on each connection of a broadcast of pictures of one colour, oldest first. A
/// colour that fills several frames in a row is there once.
struct SeenColors {
    enum Color {
        case magenta, blue, green
        /// Any other: the daemon's own picture.
        case curtain
    }

    let connections: [[Color]]

    /// Ends a broadcast that showed a green picture and hid magenta ones behind one curtain.
    ///
    /// Fails the test where the first connection has not shown the green picture, or any has shown a magenta one.
    init(endOf stage: Stage) throws {
        let connections = try stage.end(afterCurtains: 1).map { recording in
            var colors: [Color] = []
            try DecodedVideo.forEachFrame(of: recording) { frame in
                let (u, v) = (frame.image.u[frame.image.u.count / 2], frame.image.v[frame.image.v.count / 2])
                let color: Color = u > 150 ? (v > 150 ? .magenta : .blue) : u < 110 && v < 110 ? .green : .curtain
                if colors.last != color { colors.append(color) }
            }
            return colors
        }
        self.connections = connections
        #expect(try #require(connections.first).contains(.green), "\(connections)")
        #expect(!connections.joined().contains(.magenta), "\(connections)")
    }

    /// The green picture, the curtain and `next` follow each other, and nothing else. Where the curtain has broken the
    /// connection, the next one begins with the curtain; where that one comes late, with `next`.
    func expectGreenCurtain(then next: Color) {
        let first = (connections.first ?? []).drop { $0 != .green }
        guard connections.count > 1 else { return #expect(first == [.green, .curtain, next]) }
        #expect([.green, .curtain, next].starts(with: first), "\(connections)")
        #expect([[.curtain, next], [next]].contains(connections[1]), "\(connections)")
    }
}
