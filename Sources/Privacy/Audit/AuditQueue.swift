internal import LinuxSystem
internal import MediaCore

/// Lines between those who add them and the thread that writes them, and what that thread reports.
///
/// A plain value: `AuditLog` keeps it behind a lock.
struct AuditQueue {
    enum Task {
        /// A line, and how many were lost since the line before; an empty one says only that.
        case write([UInt8], missing: Int)
        case reopen
        case end
    }

    private enum Told { case nothing, waiting, failing }

    /// Lines that wait for a disk that hangs.
    static let capacity = 512
    /// One call to the disk takes longer than this where the disk hangs.
    private static let usualWrite = MediaTime.seconds(1)

    var allowance = AuditAllowance()
    /// Lines that are in no file.
    private(set) var lost = 0
    private(set) var hasEnded = false
    var isEnding = false
    /// In their order, reopening among them.
    private var tasks: [Task] = []
    /// Found no room since the last line that did.
    private var crowdedOut = 0

    // What the writing thread reports.
    /// When its call to the disk began; nil while it is in none.
    private var busySince: MediaTime?
    /// A line is in its hands.
    private var isWriting = false
    /// Why the last line could not be written; nil where it was.
    private var failure: String?
    /// Why a line could not be written, which nobody has been told yet.
    private var untold: String?
    private var reopenFailure: String?
    /// Lines that were lost in writing, of which no line speaks yet.
    private var unsaid = 0
    private var told = Told.nothing

    init() { tasks.reserveCapacity(Self.capacity + 1) }

    // MARK: Adding

    /// A line more; counted as lost where there is no room.
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

    /// What is added from now on goes to the file that then has the log's name.
    mutating func reopen() {
        tasks.removeAll { if case .reopen = $0 { true } else { false } }
        tasks.append(.reopen)
    }

    /// Lines that are not written yet.
    var waiting: Int {
        tasks.count { if case .write(let line, _) = $0 { !line.isEmpty } else { false } } + (isWriting ? 1 : 0)
    }

    var isIdle: Bool { busySince == nil && tasks.isEmpty }

    // MARK: The writing thread

    /// What to do next; nil for nothing yet. What waits goes before the end.
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
    ///   - unsaid: lines that were lost in writing, of which no line speaks yet.
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

    /// What has changed since the last call. Where lines are missing and none comes that says so, adds an empty one.
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
