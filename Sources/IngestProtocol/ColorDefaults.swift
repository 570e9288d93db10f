package import MediaCore

extension ColorDescription {
    /// The defaults for a sender that leaves out matrix or range. The matrix is BT.709 if the longer side has at least
    /// 1280 pixels or the shorter side more than 576, and BT.601 otherwise. The range is video for Y'CbCr, and full for
    /// RGB. The range of `420v`, `420f` and similar formats is in their names, whatever is given.
    package init(
        matrix: ColorMatrix?, range: ColorRange?, defaultsFor format: PixelFormat, width: Int, height: Int
    ) {
        let usual: ColorMatrix = max(width, height) >= 1280 || min(width, height) > 576 ? .bt709 : .bt601
        self.init(matrix: matrix ?? usual, range: format.rangeOfName ?? range ?? (format.isRGB ? .full : .video))
    }
}
