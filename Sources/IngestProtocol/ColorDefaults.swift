package import MediaCore

extension ColorDescription {
    /// What a sender means that leaves matrix or range out: BT.709 from 1280 pixels on the longer or more than 576 on
    /// the shorter side, else BT.601; video range for Y'CbCr, full range for RGB. The range of `420v`, `420f` and
    /// their like is in their names, whatever is given.
    package init(
        matrix: ColorMatrix?, range: ColorRange?, defaultsFor format: PixelFormat, width: Int, height: Int
    ) {
        let usual: ColorMatrix = max(width, height) >= 1280 || min(width, height) > 576 ? .bt709 : .bt601
        self.init(matrix: matrix ?? usual, range: format.rangeOfName ?? range ?? (format.isRGB ? .full : .video))
    }
}
