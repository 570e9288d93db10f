/// Users and groups as written: `alice, 1000, @video, @44`. Names are resolved when they are used.
package struct RoleMembers: Equatable, Sendable {
    /// Names or numbers.
    package var users: [String] = []
    package var groups: [String] = []

    package init(users: [String] = [], groups: [String] = []) {
        (self.users, self.groups) = (users, groups)
    }

    package var isEmpty: Bool { users.isEmpty && groups.isEmpty }
}

extension ValueKind where Value == RoleMembers {
    static var roleMembers: ValueKind {
        ValueKind(
            summary: "users, and groups with @, separated by commas, or \"\" for no list",
            parse: { text throws(ValueProblem) in
                var members = RoleMembers()
                guard text.contains(where: { $0 != " " }) else { return members }
                for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                    let entry = part.drop { $0 == " " }
                    let trimmed = entry.prefix { $0 != " " }
                    let isGroup = trimmed.hasPrefix("@")
                    let name = isGroup ? trimmed.dropFirst() : trimmed
                    guard (1...32).contains(name.utf8.count), name.utf8.allSatisfy(isNameByte),
                        entry.dropFirst(trimmed.count).allSatisfy({ $0 == " " })
                    else {
                        throw ValueProblem(
                            what: "\"\(printable(String(part)))\" is neither a user nor a group",
                            remedy: "write names or numbers such as \"alice, @video, 1000\"")
                    }
                    if isGroup { members.groups.append(String(name)) } else { members.users.append(String(name)) }
                }
                return members
            },
            render: { members in
                "\"" + (members.users + members.groups.map { "@\($0)" }).joined(separator: ", ") + "\""
            })
    }

    /// The characters that useradd(8) and directory services allow.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        isWordByte(byte) || [UInt8(ascii: "$"), UInt8(ascii: "\\"), UInt8(ascii: "+")].contains(byte)
    }
}
