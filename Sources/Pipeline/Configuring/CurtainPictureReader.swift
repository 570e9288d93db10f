internal import Configuration
internal import Encoding
internal import LinuxSystem
internal import MediaCore

/// Reads the curtain's picture for a broadcast that begins, so that the ingest thread does not wait for a disk that
/// hangs.
enum CurtainPictureReader {
    /// The longest time to wait for the file.
    static let patience = MediaTime.seconds(2)

    private typealias File = Result<[UInt8], UnreadableFile>
    /// A thread that hangs keeps its buffer, so only one thread may read at a time.
    private static let isReading = Monitor(false)

    /// Returns all bytes of the file. A separate thread reads it, and is abandoned if that takes too long.
    static func read(_ privacy: PrivacyConfiguration) throws(UnreadableFile) -> [UInt8] {
        let deadline = MonotonicClock().now() + patience
        let isOurs = isReading.wait(until: deadline) { isReading -> Bool? in
            guard !isReading else { return nil }
            isReading = true
            return true
        }
        guard isOurs == true else { throw late }
        let file = Monitor<File?>(nil)
        let thread: WorkerThread
        do {
            thread = try WorkerThread(name: "up-picture", stackBytes: 128 * 1024) {
                let result: File
                do throws(UnreadableFile) {
                    result = .success(try privacy.curtainPictureFile(limit: StillPicture.maxFileBytes))
                } catch {
                    result = .failure(error)
                }
                isReading.signal { $0 = false }
                file.signal { $0 = result }
            }
        } catch {
            isReading.signal { $0 = false }
            throw UnreadableFile(what: "cannot be read: \(error)", remedy: "see what takes the machine's threads")
        }
        let result = file.wait(until: deadline) { file -> File? in
            // Frees this copy, so that only the returned one stays.
            defer { file = nil }
            return file
        }
        guard let result else {
            thread.abandon()
            throw late
        }
        thread.join()
        return try result.get()
    }

    private static var late: UnreadableFile {
        UnreadableFile(what: "cannot be read for \(patience): its disk hangs", remedy: "move it to another disk")
    }
}
