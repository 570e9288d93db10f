/// Short numbers with units.
enum Quantity {
    /// `350 ms`, `12.3 s`, `5 min 20 s`, `3 h 5 min`, `2 d 3 h`.
    static func time(_ milliseconds: Int) -> String {
        let seconds = milliseconds / 1000
        switch milliseconds {
        case ..<1000: return "\(milliseconds) ms"
        case ..<60_000: return "\(fraction(milliseconds, 1000)) s"
        case ..<3_600_000: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400_000: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }

    /// `12 s`, `5 min 20 s`: a duration that is counted in seconds.
    static func seconds(_ milliseconds: Int) -> String {
        milliseconds < 60_000 ? "\(max(0, milliseconds) / 1000) s" : time(milliseconds)
    }

    /// `0.1 of 3.0 s`: a part of a span of seconds.
    static func seconds(_ milliseconds: Int, of whole: Int) -> String {
        "\(fraction(milliseconds, 1000)) of \(fraction(whole, 1000)) s"
    }

    /// `512 B`, `1.5 KiB`, `20.0 MiB`, `3.2 GiB`.
    static func bytes(_ bytes: Int) -> String {
        switch bytes {
        case ..<1024: "\(bytes) B"
        case ..<(1 << 20): "\(fraction(bytes, 1 << 10)) KiB"
        case ..<(1 << 30): "\(fraction(bytes, 1 << 20)) MiB"
        default: "\(fraction(bytes, 1 << 30)) GiB"
        }
    }

    /// `32.1 of 50.0 MiB`.
    static func part(_ bytes: Int, of whole: Int) -> String {
        let (part, all) = (Self.bytes(bytes), Self.bytes(whole))
        let unit = all.drop { $0 != " " }
        return part.hasSuffix(unit) ? "\(part.dropLast(unit.count)) of \(all)" : "\(part) of \(all)"
    }

    /// The duration of samples, in milliseconds. Accepts any number, because a server may send it.
    static func milliseconds(of samples: Int, rate: Int) -> Int {
        let (product, overflows) = samples.multipliedReportingOverflow(by: 1000)
        return (overflows ? Int.max : product) / max(1, rate)
    }

    /// `2500 kbit/s`.
    static func rate(_ bitsPerSecond: Int) -> String {
        "\(bitsPerSecond / 1000 + (bitsPerSecond % 1000 >= 500 ? 1 : 0)) kbit/s"
    }

    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// With one decimal, rounded down.
    static func fraction(_ value: Int, _ unit: Int) -> String { "\(value / unit).\(value % unit * 10 / unit)" }
}
