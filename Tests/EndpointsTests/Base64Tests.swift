import Endpoints
import Testing

@Suite struct Base64Tests {
    /// RFC 4648, section 10.
    @Test func theVectorsOfTheStandard() {
        let texts = ["": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "foobar": "Zm9vYmFy"]
        for (text, encoded) in texts {
            #expect(Base64.encode(Array(text.utf8)) == encoded)
            #expect(Base64.decode(encoded) == Array(text.utf8))
            #expect(Base64.decode(encoded.filter { $0 != "=" }) == Array(text.utf8))
        }
        #expect(Base64.encode([0xfb, 0xff]) == "+/8=" && Base64.decode("+/8=") == [0xfb, 0xff])
        let all = (0...255).map { UInt8($0) }
        #expect(Base64.decode(Base64.encode(all)) == all)
    }

    @Test(arguments: ["A", "AAAAA", "Zg=", "Zg===", "Z===", "====", "Zm9v=", "Zm-v", "Zm 9v", "Zm9v\n", "=Zm9", "Zg=a"])
    func whatIsNotBase64(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
