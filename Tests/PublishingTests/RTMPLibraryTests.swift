@testable import Publishing
import Testing

@Suite struct RTMPLibraryTests {
    /// Fails where the linker did not let our two functions come before librtmp's own.
    @Test func socketLayerIsOurs() throws { try RTMPLibrary.selfTest() }
}
