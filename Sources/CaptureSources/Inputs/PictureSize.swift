internal import IngestProtocol

extension InputError {
    /// Refuses pictures whose size the protocol does not allow.
    ///
    /// - Parameter what: the beginning of the message, with the size.
    package static func checkSize(_ width: Int, _ height: Int, _ what: String) throws(InputError) {
        let sides = IngestLimits.sides
        guard sides.contains(width), sides.contains(height) else {
            let (least, most) = (sides.lowerBound, sides.upperBound)
            throw InputError("\(what); \(least)x\(least) to \(most)x\(most) can be sent")
        }
    }
}
