import Endpoints
import Testing

/// Promise: the daemon connects to a private address only where it is listed, however the address is written.
@Suite struct AddressPolicyTests {
    private func refusal(
        _ text: String, host: String = "example.org", allowing items: [String] = []
    ) throws -> String? {
        var policy = AddressPolicy()
        for item in items {
            let isAllowed = policy.allow(item)
            #expect(isAllowed, "\(item)")
        }
        return policy.refusal(of: try #require(IPAddress(text)), for: host)
    }

    @Test(arguments: ["8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.0.1", "2606:4700::1111", "2a00::1"])
    func publicAddressesAreAllowed(text: String) throws {
        #expect(try refusal(text) == nil)
    }

    @Test(arguments: [
        "127.0.0.1", "127.255.255.255", "::1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.1.1", "169.254.169.254", "fe80::1", "febf::1", "fc00::1", "fdff::1", "fd00:ec2::254", "100.64.0.1",
        "100.127.255.255", "0.0.0.0", "0.1.2.3", "::", "224.0.0.1", "255.255.255.255", "ff02::1", "192.0.2.1",
        "2001:db8::1", "198.18.0.1", "fec0::1", "2001::1",
        // The same, as IPv6 carries them.
        "::ffff:127.0.0.1", "::ffff:a00:1", "::10.0.0.1", "64:ff9b::192.168.0.1", "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::1", "2002:c0a8:101::",
    ])
    func othersAreNot(text: String) throws {
        #expect(try refusal(text) != nil)
        #expect(try refusal(text, allowing: ["11.0.0.0/8", "fd12::/16", "example.com"]) != nil)
    }

    @Test func whatIsListedIsAllowed() throws {
        #expect(try refusal("127.0.0.1", allowing: ["127.0.0.1"]) == nil)
        #expect(try refusal("127.0.0.2", allowing: ["127.0.0.1"]) != nil)
        #expect(try refusal("::ffff:127.0.0.1", allowing: ["127.0.0.1"]) == nil)
        #expect(try refusal("10.9.8.7", allowing: ["192.168.0.0/16", "10.0.0.0/8"]) == nil)
        #expect(try refusal("10.128.0.1", allowing: ["10.0.0.0/9"]) != nil)
        #expect(try refusal("fd00::5", allowing: ["fd00::/8"]) == nil)
        #expect(try refusal("fd00::5", allowing: ["fd00::5"]) == nil)
        #expect(try refusal("10.0.0.1", host: "Hooks.LAN", allowing: ["hooks.lan"]) == nil)
        #expect(try refusal("10.0.0.1", host: "hooks.lan.evil.org", allowing: ["hooks.lan"]) != nil)
    }

    /// A name in a list must not open the way to credentials of the machine.
    @Test func aMetadataServerMustBeListedByItsAddress() throws {
        #expect(try refusal("169.254.169.254", host: "hooks.lan", allowing: ["hooks.lan"]) != nil)
        #expect(try refusal("169.254.169.254", allowing: ["169.254.169.254"]) == nil)
        #expect(try refusal("224.0.0.1", host: "hooks.lan", allowing: ["hooks.lan", "224.0.0.1"]) != nil)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/+8", "1.2.3.4/8/8",
        "::1/129", "1::2::3", ":::", "12345::", "::g", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1.2.3", "::1.2.3.4:5",
        "host name", "[::1]", "http://host", "host/8", "fe80::1%eth0", "::+1",
    ])
    func whatIsNeitherAddressNorName(text: String) {
        var policy = AddressPolicy()
        let isAllowed = policy.allow(text)
        #expect(!isAllowed && policy == AddressPolicy())
    }

    @Test func addressesAreRead() {
        func bytes(_ text: String) -> [UInt8]? { IPAddress(text)?.bytes }
        #expect(bytes("192.0.2.1") == [192, 0, 2, 1])
        #expect(bytes("::1") == [UInt8](repeating: 0, count: 15) + [1])
        #expect(bytes("1:2:3:4:5:6:7:8") == [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8])
        #expect(bytes("::ffff:1.2.3.4") == [UInt8](repeating: 0, count: 10) + [255, 255, 1, 2, 3, 4])
        #expect(bytes("2001:DB8::8:800:200C:417A") == [32, 1, 13, 184, 0, 0, 0, 0, 0, 8, 8, 0, 32, 12, 65, 122])
        #expect(bytes("1::") == [0, 1] + [UInt8](repeating: 0, count: 14))
    }
}
