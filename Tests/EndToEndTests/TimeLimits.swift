import TestSupport
import Testing

extension Trait where Self == TimeLimitTrait {
    /// The time limit of a test that waits for processes. Nearly all of it is for its turn behind the others, which is
    /// twice what all of them take; what the test waits for has deadlines of its own.
    static var inItsTurn: Self { .timeLimit(.minutes(turn)) }
    static var turn: Int { Int(Patience.scaled(20)) }
}
