/// The version of all of the product: what `--version`, the status and the published metadata name.
package enum Version {
    package static let current = "0.1.0"
}
