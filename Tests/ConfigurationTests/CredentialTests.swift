import Endpoints
import Foundation
import MediaCore
import Testing

@testable import Configuration

/// Secrets that a service manager passes: `credential:NAME` is a file in its folder, and no other.
@Suite struct CredentialTests {
    private func error(_ keyFile: String, _ environment: [String: String]) -> String {
        var destination = DestinationConfiguration()
        destination.keyFile = keyFile
        do throws(SecretError) {
            return "read: " + (try destination.streamKey(environment: environment)?.revealed ?? "")
        } catch {
            return error.description
        }
    }

    @Test func isReadFromTheFolder() throws {
        let folder = NSTemporaryDirectory() + "upcast-credentials-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "the-key\n".write(toFile: "\(folder)/stream-key", atomically: true, encoding: .utf8)
        let environment = ["CREDENTIALS_DIRECTORY": folder]
        #expect(error("credential:stream-key", environment) == "read: the-key")
        #expect(error("credential:other", environment).hasPrefix("key_file credential:other cannot be opened"))
        #expect(error("credential:stream-key", [:]).contains("LoadCredential=stream-key:"))
        for name in ["", ".", "..", "../stream-key", "/etc/passwd"] {
            #expect(error("credential:\(name)", environment).contains("is not a valid credential name"), "\(name)")
        }
    }
}
