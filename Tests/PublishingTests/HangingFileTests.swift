import Buffering
import Endpoints
import Foundation
import LinuxSystem
import MediaCore
import TestSupport
@testable import Publishing
import Testing

/// Promise: a disk that hangs below one destination's file is reported, and affects only that destination.
@Suite struct HangingFileTests {
    private func check(_ run: DestinationRun, _ file: String) throws {
        // For the watchdog, the thread is in no piece of work.
        #expect(run.destination.work?.current == nil)
        #expect(run.destination.snapshot.lastError == nil)
        let sentence = "the disk of \(file) has not answered for \(FileReading.patience): it hangs"
        try waitFor("the disk to be named", within: 30) {
            run.destination.lookAtFiles()
            return run.destination.snapshot.lastError?.detail == sentence
        }
        #expect(run.notices.count { $0.contains(sentence) } == 1, "\(run.notices)")
        run.destination.lookAtFiles()
        #expect(run.notices.count { $0.contains(sentence) } == 1, "\(run.notices)")
        #expect(run.destination.lateEnd.contains("waits for the disk of \(file)"), "\(run.destination.lateEnd)")
        #expect(run.destination.work?.current == nil)
    }

    /// Bug: neither the log nor the status showed a disk that hung.
    @Test func theStreamKeysDisk() throws {
        let (isAsked, mayGoOn) = (Monitor(false), Monitor(false))
        let endpoint = try RTMPEndpoint("rtmp://127.0.0.1:\(Loopback.freePort())/live")
        var rtmp = RTMPDestinationSettings(endpoint: endpoint, key: Secret(""))
        rtmp.secretFiles = "key_file /disk/key"
        rtmp.readSecrets = {
            isAsked.signal { $0 = true }
            _ = mayGoOn.wait(until: MonotonicClock().now() + .seconds(60)) { $0 ? true : nil }
            return RTMPSecrets(key: Secret("k3y"))
        }
        let run = try DestinationRun(DestinationSettings(name: "main", kind: .rtmp(rtmp)))
        defer { mayGoOn.signal { $0 = true } }
        try waitFor("the key to be read", within: 30) { isAsked.withLock { $0 } }
        try check(run, "key_file /disk/key")
        mayGoOn.signal { $0 = true }
        #expect(try run.failure().cause == .connect)
        #expect(run.notices.contains { $0.contains("the disk of key_file /disk/key answers again") }, "\(run.notices)")
    }

    /// Bug: the thread counted as stuck, so that the watchdog ended the whole daemon.
    @Test(
        .enabled(if: HangingDisk.unavailable == nil && StunnelServer.isInstalled, "needs FUSE and openssl"),
        arguments: [false, true])
    func theAuthoritiesDisk(onlyReadingHangs: Bool) throws {
        let disk = try HangingDisk()
        let certificates = try TestCertificates.shared.get()
        disk.put(try Data(contentsOf: URL(filePath: certificates.ca)), "ca.pem")
        let pem = certificates.folder.file("localhost.pem")
        let server = try OpenSSLServer(certificate: pem, key: pem, ["-tls1_3"])
        var rtmp = RTMPDestinationSettings(
            endpoint: try RTMPEndpoint("rtmps://127.0.0.1:\(server.port)/live"), key: Secret("show"))
        rtmp.caFile = disk.file("ca.pem")
        disk.hang(onlyReading: onlyReadingHangs)
        let run = try DestinationRun(DestinationSettings(name: "main", kind: .rtmp(rtmp)))
        defer { disk.recover() }
        try waitFor("the file to be asked for", within: 30) { disk.waiting > 0 }
        try check(run, "ca_file \(disk.file("ca.pem"))")
        // The connection is watched again from then on.
        disk.recover()
        try waitFor("the disk to answer", within: 30) { run.notices.contains { $0.contains("answers again") } }
        run.destination.cancel()
        run.destination.join()
    }
}
