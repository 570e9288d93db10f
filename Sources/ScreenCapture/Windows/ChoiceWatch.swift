internal import MediaCore

/// Decides whether to ask a window manager of mutter's family, after each picture, if it shows windows to choose from.
/// Pure.
///
/// GNOME Shell does so in its overview, with windows that may be secret, and says so only when it is asked.
struct ChoiceWatch: Sendable {
    /// How soon the manager is asked again, although nothing has changed on the screen. Its last change there may be
    /// earlier than the end of what it shows.
    static let pause = MediaTime.milliseconds(250)
    /// A desktop that begins cannot be asked yet. So a manager counts as unable only after this many pictures in a row.
    static let enoughRefusals = 3

    /// Whether the manager may show windows to choose from, as far as is known.
    private(set) var showsChoice = false
    /// Refusals in a row; nil once the manager has answered.
    private var refusals: Int? = 0

    /// Whether the manager cannot be asked.
    var cannotAsk: Bool { refusals.map { $0 >= Self.enoughRefusals } ?? false }
    /// Whether it is not known yet if the manager can be asked.
    private var isUndecided: Bool { refusals != nil && !cannotAsk }

    /// Whether to ask after the next picture. The first pictures find out whether the manager can be asked.
    func mustAsk(isOfMutter: Bool, hasSecure: Bool) -> Bool {
        isOfMutter && (hasSecure || isUndecided)
    }

    /// Whether to ask again after `pause`, even if nothing changes on the screen.
    var asksAgain: Bool { showsChoice || isUndecided }

    /// Notes whether the manager shows windows to choose from.
    ///
    /// - Parameters:
    ///   - hasFocus: whether it has the keyboard, as for all its menus. Then it is not asked.
    ///   - showsOverview: nil if it cannot be asked.
    mutating func note(hasFocus: Bool, showsOverview: Bool?) {
        showsChoice = hasFocus || showsOverview ?? false
        guard !hasFocus else { return }
        refusals = showsOverview == nil ? (refusals ?? 0) + 1 : nil
    }

    /// The manager is not asked any more, so that its last answer may be out of date.
    mutating func forgetAnswer() { showsChoice = false }
}
