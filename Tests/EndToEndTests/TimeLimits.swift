import TestSupport
import Testing

extension Trait where Self == TimeLimitTrait {
    /// The time limit of a test that waits for processes. Most of it is for its turn behind the others; what the test
    /// waits for has deadlines of its own.
    static var inItsTurn: Self { .timeLimit(.minutes(Int(Patience.scaled(8)))) }
}
