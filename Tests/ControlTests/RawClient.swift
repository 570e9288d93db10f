import Foundation
import LinuxSystem
import TestSupport

/// A client that sends whatever bytes a test wants. Every wait ends after ten seconds (longer with a sanitizer),
/// by which time a test has failed.
final class RawClient {
    private let socket: Int32
    private static let seconds = Int(Patience.scaled(10))

    init(_ path: String) throws {
        socket = try UnixSocket.connect(path: path).relinquish()
        var limit = timeval(tv_sec: Self.seconds, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(socket) }

    /// Sends all of it, or as much as the server takes before it hangs up.
    @discardableResult func send(_ text: String) -> RawClient { send(Array(text.utf8)) }

    @discardableResult func send(_ bytes: [UInt8]) -> RawClient {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { break }
            sent += count
        }
        return self
    }

    @discardableResult func finishSending() -> RawClient {
        shutdown(socket, Int32(SHUT_WR))
        return self
    }

    /// Waits until the server has closed, without reading.
    func waitForHangUp() -> Bool {
        var descriptor = pollfd(fd: socket, events: 0, revents: 0)
        return poll(&descriptor, 1, Int32(Self.seconds * 1000)) == 1 && descriptor.revents & Int16(POLLHUP) != 0
    }

    /// Waits until there is something to read, without reading.
    func waitForFirstByte() -> Bool {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, Int32(Self.seconds * 1000)) == 1 && descriptor.revents & Int16(POLLIN) != 0
    }

    /// What comes until the server closes.
    func receive() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    func receiveText() -> String { String(decoding: receive(), as: UTF8.self) }
}
