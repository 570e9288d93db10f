@testable import Publishing
import Testing

@Suite struct RTMPLibraryTests {
    /// Fails if the linker did not place our two functions before librtmp's own.
    @Test func socketLayerIsOurs() throws { try RTMPLibrary.selfTest() }
}
