internal import LinuxSystem
internal import MediaCore

/// The lines between the threads that add them and the thread that writes them, and the writer's reports.
///
/// A plain value; `AuditLog` locks it.
struct AuditQueue {
    enum Task {
        /// A line, and the number of lines that were lost since the previous one. An empty line only reports that
        /// number.
        case write([UInt8], missing: Int)
        case reopen
        case end
    }

    private enum Told { case nothing, waiting, failing }

    /// The maximum number of lines that wait for a disk that hangs.
    static let capacity = 512
    /// A call to the disk that takes longer than this means that the disk hangs.
    private static let usualWrite = MediaTime.seconds(1)

    var allowance = AuditAllowance()
    /// The number of lines that are in no file.
    private(set) var lost = 0
    private(set) var hasEnded = false
    var isEnding = false
    /// In order, including reopening.
    private var tasks: [Task] = []
    /// The number of lines without room since the last line that had room.
    private var crowdedOut = 0

    // Reports of the writing thread:
    /// When the writer's current call to the disk began; nil between calls.
    private var busySince: MediaTime?
    /// Whether the writer holds a line.
    private var isWriting = false
    /// Why the last line could not be written; nil if it was.
    private var failure: String?
    /// A failure to write that has not been reported yet.
    private var untold: String?
    private var reopenFailure: String?
    /// Lines that were lost in writing and that no line in the file reports yet.
    private var unsaid = 0
    private var told = Told.nothing

    init() { tasks.reserveCapacity(Self.capacity + 1) }

    // MARK: Adding

    /// Adds a line, or counts it as lost if there is no room.
    mutating func add(_ line: [UInt8]) {
        guard tasks.count < Self.capacity else {
            crowdedOut += 1
            lost += 1
            return
        }
        tasks.append(.write(line, missing: crowdedOut))
        crowdedOut = 0
    }

    mutating func countLost(_ count: Int = 1) { lost += count }

    /// Lines that are added from now on go to the file that has the log's name by then.
    mutating func reopen() {
        tasks.removeAll { if case .reopen = $0 { true } else { false } }
        tasks.append(.reopen)
    }

    /// The number of lines that are not written yet.
    var waiting: Int {
        tasks.count { if case .write(let line, _) = $0 { !line.isEmpty } else { false } } + (isWriting ? 1 : 0)
    }

    var isIdle: Bool { busySince == nil && tasks.isEmpty }

    // MARK: The writing thread

    /// The next task; nil if there is none yet. Waiting lines come before the end.
    mutating func next(at now: MediaTime) -> Task? {
        guard !tasks.isEmpty else {
            guard isEnding else { return nil }
            hasEnded = true
            return .end
        }
        let task = tasks.removeFirst()
        busySince = now
        if case .write(let line, _) = task { isWriting = !line.isEmpty }
        return task
    }

    /// - Parameters:
    ///   - failure: why the line was not written.
    ///   - unsaid: lines that were lost in writing and that no line in the file reports yet.
    mutating func wrote(_ failure: String?, unsaid: Int) {
        if failure != nil, isWriting { lost += 1 }
        (busySince, isWriting) = (nil, false)
        self.failure = failure
        self.unsaid = unsaid
        if let failure { untold = failure }
    }

    mutating func reopened(_ failure: String?) {
        busySince = nil
        if let failure { reopenFailure = failure }
    }

    // MARK: Once a second

    /// Returns what has changed since the last call. If lines are missing and no line follows that reports them, adds
    /// an empty one.
    mutating func settle(at now: MediaTime) -> [AuditLog.News] {
        var news: [AuditLog.News] = []
        if let reason = reopenFailure {
            reopenFailure = nil
            news.append(.notReopened(reason))
        }
        if let reason = untold, told != .failing {
            told = .failing
            news.append(.failing(reason))
        }
        untold = nil
        let isHanging = busySince.map { now - $0 >= Self.usualWrite } ?? false
        if isHanging, told == .nothing {
            told = .waiting
            news.append(.waiting(lines: waiting))
        }
        if !isHanging, failure == nil, told != .nothing {
            told = .nothing
            news.append(.writing(lost: lost))
        }
        if isIdle, crowdedOut + unsaid > 0 { add([]) }
        return news
    }
}
