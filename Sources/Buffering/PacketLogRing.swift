internal import MediaCore

/// One packet's place in a `PacketLogRing`.
struct PacketLogEntry {
    var info: PacketInfo
    /// Where the payload starts, in bytes ever written; modulo the ring's size it is an index.
    var offset: Int
    var byteCount: Int
    /// Why the ring has no payload for this packet; readers count it as dropped. Nil for a stored packet.
    var missing: DropCause?
    /// The log's newest decode time at the write. A frame that the encoder held back is already late then; that is not
    /// the reader's lag.
    var writtenAt: MediaTime
    /// Packets of each track before this one, from which a reader computes what it missed.
    var before: TrackCounts
}

struct TrackCounts: Equatable {
    var video = 0
    var audio = 0

    subscript(track: Track) -> Int {
        get { track == .video ? video : audio }
        set { if track == .video { video = newValue } else { audio = newValue } }
    }
}

/// Two rings, one of payload bytes and one of entries. A new packet evicts the oldest ones if necessary.
///
/// Entries have consecutive sequence numbers from zero; the ring holds `first..<end`. Storage is allocated once, and
/// again by `resize`. Not thread-safe: `PacketLog` locks it. No clock: the packets' times are the only time.
@safe final class PacketLogRing {
    private(set) var limits: PacketLogLimits
    private var bytes: RingStorage
    private let entries: UnsafeMutablePointer<PacketLogEntry>
    /// The oldest sequence number in the ring.
    private(set) var first = 0
    /// One past the newest sequence number.
    private(set) var end = 0
    /// The latest decode time written on either track.
    private(set) var newestDTS = MediaTime.zero
    private(set) var written = TrackCounts()
    /// Packets that were refused because they were too large or out of order.
    private(set) var refused = 0
    private var writeOffset = 0
    private var lastKeyframe = -1
    /// Each track's latest decode time.
    private(set) var lastDTS: (video: MediaTime?, audio: MediaTime?) = (nil, nil)
    /// Decode time of the first packet ever.
    private(set) var firstDTS: MediaTime?
    /// How late pictures are against the newest sound: the maximum of the last 64 to 128 pictures; zero if they are
    /// ahead.
    var videoLateness: MediaTime { max(lateness.now, lateness.before) }
    private var lateness = (now: MediaTime.zero, before: MediaTime.zero, pictures: 0)
    /// The delay of the video encoder's lookahead and B-frames, from the newest packet. At most half of the log's
    /// duration.
    private(set) var encoderDelay = MediaTime.zero
    /// Packets of earlier epochs are refused.
    private(set) var epoch: CurtainEpoch = .first
    /// The latest decode time of each track that any cursor has read.
    private var delivered: (video: MediaTime?, audio: MediaTime?) = (nil, nil)

    init(limits: PacketLogLimits) {
        guard let storage = RingStorage(byteCount: limits.maxBytes) else {
            fatalError("the kernel has no room for a packet log of \(limits.maxBytes) bytes")
        }
        self.limits = limits
        bytes = storage
        unsafe entries = .allocate(capacity: limits.maxPackets)
    }

    deinit { unsafe entries.deallocate() }

    /// Changes the size and keeps the newest packets that fit. Returns false, and changes nothing, if the kernel has no
    /// memory.
    func resize(maxBytes: Int, maxDelay: MediaTime) -> Bool {
        guard let storage = RingStorage(byteCount: maxBytes) else { return false }
        while first < end, usedBytes > maxBytes { first += 1 }
        let start = offset(of: first)
        // Evicted packets are freed first; the others are moved in pieces.
        bytes.release(at: writeOffset, count: bytes.byteCount - usedBytes)
        bytes.move(at: start, count: usedBytes, to: storage)
        bytes = storage
        limits.maxBytes = maxBytes
        limits.maxDelay = maxDelay
        return true
    }

    /// The entry of a sequence number in `first..<end`.
    subscript(sequence: Int) -> PacketLogEntry {
        precondition(sequence >= first && sequence < end, "a packet that the log does not hold")
        return unsafe entries[sequence % limits.maxPackets]
    }

    /// The sequence number of the newest keyframe in the ring; nil for none.
    var newestKeyframe: Int? { lastKeyframe >= first ? lastKeyframe : nil }

    var usedBytes: Int { writeOffset - offset(of: first) }

    /// From the oldest packet's decode time to the newest's.
    var duration: MediaTime { first < end ? max(.zero, newestDTS - self[first].info.dts) : .zero }

    /// Where the payload of `sequence` starts; for `end`, where the next one will start.
    func offset(of sequence: Int) -> Int { sequence < end ? self[sequence].offset : writeOffset }

    /// Packets of each track written before `sequence`, which is in `first...end`.
    func counts(before sequence: Int) -> TrackCounts { sequence < end ? self[sequence].before : written }

    /// Appends a packet and evicts the oldest ones until it fits. A packet that is refused or taken back gets an entry
    /// without payload, so that readers count it.
    func append(_ info: PacketInfo, payload: UnsafeRawBufferPointer) {
        var missing: DropCause?
        if let last = info.track == .video ? lastDTS.video : lastDTS.audio, info.dts <= last { missing = .outOfOrder }
        if payload.count > limits.maxBytes { missing = .tooLarge }
        if info.epoch < epoch { missing = .takenBack }
        let count = missing == nil ? payload.count : 0
        if missing == nil {
            if info.track == .video {
                lastDTS.video = info.dts
                note(lateness: first == end ? .zero : newestDTS - info.dts)
                encoderDelay = min(info.encoderDelay, MediaTime(nanoseconds: limits.maxDuration.nanoseconds / 2))
            } else {
                lastDTS.audio = info.dts
            }
            firstDTS = firstDTS ?? info.dts
            newestDTS = first == end ? info.dts : max(newestDTS, info.dts)
        } else if missing != .takenBack {
            refused += 1
        }
        while first < end, !hasRoom(for: count) { first += 1 }

        let entry = PacketLogEntry(
            info: info, offset: writeOffset, byteCount: count, missing: missing, writtenAt: newestDTS,
            before: written)
        unsafe (entries + end % limits.maxPackets).initialize(to: entry)
        if count > 0 { unsafe store(UnsafeRawBufferPointer(rebasing: payload[..<count])) }
        if missing == nil, info.track == .video, info.isKeyframe { lastKeyframe = end }
        written[info.track] += 1
        end += 1
    }

    private func note(lateness late: MediaTime) {
        if lateness.pictures == 64 { lateness = (.zero, lateness.now, 0) }
        lateness.now = max(lateness.now, late)
        lateness.pictures += 1
    }

    // MARK: Taking back

    func noteDelivered(_ info: PacketInfo) {
        switch info.track {
        case .video: delivered.video = max(delivered.video ?? info.dts, info.dts)
        case .audio: delivered.audio = max(delivered.audio ?? info.dts, info.dts)
        }
    }

    /// Takes back all packets in the ring, even those that only some cursors have read, and refuses earlier epochs from
    /// now on. The next packets continue at the position of the foremost cursor.
    ///
    /// - Parameter age: takes back only packets newer than this, relative to the newest; nil for all.
    /// - Returns: where each track continues, and the number of packets that no cursor had read.
    func takeBack(epoch new: CurtainEpoch, newerThan age: MediaTime?) -> TakenBack {
        epoch = new
        var taken = TakenBack(lastVideo: delivered.video, lastAudio: delivered.audio)
        let bound = age.map { newestDTS - $0 }
        taken.keptUntil = bound
        lastKeyframe = -1
        for sequence in first..<end {
            let entry = self[sequence]
            guard entry.missing == nil else { continue }
            let (track, dts) = (entry.info.track, entry.info.dts)
            if let bound, dts <= bound {
                taken.lastKeptPTS = max(taken.lastKeptPTS ?? entry.info.pts, entry.info.pts)
                if track == .video {
                    taken.lastVideo = max(taken.lastVideo ?? dts, dts)
                    if entry.info.isKeyframe { lastKeyframe = sequence }
                } else {
                    taken.lastAudio = max(taken.lastAudio ?? dts, dts)
                }
                continue
            }
            if let last = track == .video ? delivered.video : delivered.audio, dts <= last {} else {
                if track == .video { taken.videoPackets += 1 } else { taken.audioPackets += 1 }
            }
            unsafe entries[sequence % limits.maxPackets].missing = .takenBack
        }
        lastDTS = (taken.lastVideo, taken.lastAudio)
        return taken
    }

    private func hasRoom(for count: Int) -> Bool {
        end - first < limits.maxPackets && usedBytes + count <= limits.maxBytes && duration <= limits.maxDuration
    }

    private func store(_ payload: UnsafeRawBufferPointer) {
        unsafe bytes.write(payload, at: writeOffset)
        writeOffset += payload.count
    }

    /// Copies the payload of a held packet (`byteCount` bytes) to `target`.
    func copyPayload(of sequence: Int, to target: UnsafeMutableRawPointer) {
        let entry = self[sequence]
        unsafe bytes.read(at: entry.offset, count: entry.byteCount, to: target)
    }
}
