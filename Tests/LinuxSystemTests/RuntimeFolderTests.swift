import Testing

@testable import LinuxSystem

/// Promise: whoever starts the daemon without root needs no folder that only root can create, and finds it again.
@Suite struct RuntimeFolderTests {
    private func folder(
        _ personal: String?, isRoot: Bool = false, standardExists: Bool = false, isWritable: Bool = true
    ) -> String {
        RuntimeFolder.path(
            personal: personal, isRoot: isRoot, exists: { $0 == "/run/upcast" && standardExists },
            isWritable: { _ in isWritable })
    }

    @Test func usersHaveTheirOwnFolder() {
        #expect(folder("/run/user/1000") == "/run/user/1000/upcast")
        #expect(folder("/run/user/1000/") == "/run/user/1000/upcast")
    }

    /// A folder that exists is for all: the daemon of the machine may be there.
    @Test func theFolderOfTheMachineComesFirst() {
        #expect(folder("/run/user/1000", standardExists: true) == "/run/upcast")
        #expect(folder("/run/user/0", isRoot: true) == "/run/upcast")
    }

    /// After su, the variable may still name another user's folder.
    @Test(arguments: [nil, "", "run/user/1000"]) func unusableFolders(personal: String?) {
        #expect(folder(personal) == "/run/upcast")
        #expect(folder("/run/user/1000", isWritable: false) == "/run/upcast")
    }
}
