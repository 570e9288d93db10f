import Glibc

/// The one number from which everything follows that tests draw anew in each run.
///
/// UPCAST_TEST_SEED sets it, so that a run that failed can be run again; otherwise it is drawn. It is printed at its
/// first use. Generators with a seed in the code are not concerned: they are the same in every run.
package enum TestSeed {
    package static let value: UInt64 = {
        let wanted = unsafe getenv("UPCAST_TEST_SEED").flatMap { unsafe UInt64(String(cString: $0)) }
        let seed = wanted ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("random numbers: UPCAST_TEST_SEED=\(seed) draws the same again")
        return seed
    }()
}

extension SplitMix64 {
    /// A generator that draws something else in each run of the tests.
    ///
    /// - Parameter purpose: tells it from the others of the run, whatever order they are made in.
    package init(drawnFor purpose: String) {
        // FNV-1a.
        let hash = purpose.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        self.init(seed: hash ^ TestSeed.value)
    }
}
