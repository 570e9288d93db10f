/// The version that `--version`, the status and the published metadata name.
package enum Version {
    package static let current = "0.1.0"
}
