/// Where one plane lies in a payload.
package struct PlaneLocation: Equatable, Sendable {
    /// Bytes from the payload's first byte to the plane's first row.
    package var offset: Int
    /// Bytes from one row to the next; at least the row's own bytes.
    package var stride: Int

    package init(offset: Int, stride: Int) {
        self.offset = offset
        self.stride = stride
    }

    package static let none = PlaneLocation(offset: 0, stride: 0)
}

/// The complete description of one raw picture: size, pixel format, where its planes lie, how its numbers are colours.
///
/// A value of this type has been checked or is about to be: `IngestProtocol` refuses what does not fit its payload.
package struct VideoSampleFormat: Equatable, Sendable {
    package var width: Int
    package var height: Int
    package var pixelFormat: PixelFormat
    /// For RGB formats `matrix` is not used and `range` says whether the RGB itself is full range.
    package var color: ColorDescription
    package var plane0: PlaneLocation
    package var plane1: PlaneLocation
    package var plane2: PlaneLocation

    package init(
        width: Int, height: Int, pixelFormat: PixelFormat, color: ColorDescription,
        plane0: PlaneLocation, plane1: PlaneLocation = .none, plane2: PlaneLocation = .none
    ) {
        self.width = width
        self.height = height
        self.pixelFormat = pixelFormat
        self.color = color
        self.plane0 = plane0
        self.plane1 = plane1
        self.plane2 = plane2
    }

    /// A picture whose planes follow each other without gaps and whose rows have no padding.
    package init(packed pixelFormat: PixelFormat, width: Int, height: Int, color: ColorDescription = .hd) {
        self.init(width: width, height: height, pixelFormat: pixelFormat, color: color, plane0: .none)
        var offset = 0
        for index in 0..<pixelFormat.planeCount {
            let shape = pixelFormat.plane(index)
            let stride = shape.rowBytes(pictureWidth: width)
            setPlane(index, PlaneLocation(offset: offset, stride: stride))
            offset += stride * shape.rows(pictureHeight: height)
        }
    }

    package func plane(_ index: Int) -> PlaneLocation {
        switch index {
        case 0: plane0
        case 1: plane1
        default: plane2
        }
    }

    package mutating func setPlane(_ index: Int, _ location: PlaneLocation) {
        switch index {
        case 0: plane0 = location
        case 1: plane1 = location
        default: plane2 = location
        }
    }

    /// Bytes that plane `index` occupies from its first row's start to its last row's last sample.
    package func planeBytes(_ index: Int) -> Int {
        let shape = pixelFormat.plane(index)
        let rows = shape.rows(pictureHeight: height)
        return plane(index).stride * (rows - 1) + shape.rowBytes(pictureWidth: width)
    }

    /// The least payload that holds every plane.
    package var minimumPayloadBytes: Int {
        (0..<pixelFormat.planeCount).reduce(0) { max($0, plane($1).offset + planeBytes($1)) }
    }
}
