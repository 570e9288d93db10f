import Endpoints
import MediaCore
import TestSupport
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
        let folder = try TemporaryDirectory("credentials")
        try folder.write("the-key\n", to: "stream-key")
        let environment = ["CREDENTIALS_DIRECTORY": folder.path]
        #expect(error("credential:stream-key", environment) == "read: the-key")
        #expect(error("credential:other", environment).hasPrefix("key_file credential:other cannot be opened"))
        #expect(error("credential:stream-key", [:]).contains("LoadCredential=stream-key:"))
        for name in ["", ".", "..", "../stream-key", "/etc/passwd"] {
            #expect(error("credential:\(name)", environment).contains("is not a valid credential name"), "\(name)")
        }
    }
}
