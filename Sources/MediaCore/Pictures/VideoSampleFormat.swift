/// The place of one plane in a payload.
package struct PlaneLocation: Equatable, Sendable {
    /// Bytes from the start of the payload to the plane's first row.
    package var offset: Int
    /// Bytes from one row to the next; at least the bytes of a row.
    package var stride: Int

    package init(offset: Int, stride: Int) {
        self.offset = offset
        self.stride = stride
    }

    package static let none = PlaneLocation(offset: 0, stride: 0)
}

/// The complete description of one raw picture: size, pixel format, the places of its planes, and its colour.
///
/// A value of this type has been checked or is about to be: `IngestProtocol` refuses formats that do not fit their
/// payload.
package struct VideoSampleFormat: Equatable, Sendable {
    package var width: Int
    package var height: Int
    package var pixelFormat: PixelFormat
    /// For RGB formats, `matrix` is not used, and `range` is the range of the RGB values.
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

    /// A picture whose planes follow each other without gaps, and whose rows have no padding.
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

    /// The bytes of plane `index`, from the start of its first row to the last sample of its last row.
    package func planeBytes(_ index: Int) -> Int {
        let shape = pixelFormat.plane(index)
        let rows = shape.rows(pictureHeight: height)
        return plane(index).stride * (rows - 1) + shape.rowBytes(pictureWidth: width)
    }

    /// The size of the smallest payload that holds all planes.
    package var minimumPayloadBytes: Int {
        (0..<pixelFormat.planeCount).reduce(0) { max($0, plane($1).offset + planeBytes($1)) }
    }
}
