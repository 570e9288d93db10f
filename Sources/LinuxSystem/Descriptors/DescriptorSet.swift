internal import CLinux

/// Combines several descriptors for `poll` (epoll): readable when one of them is. They must outlive it.
package final class DescriptorSet: Sendable {
    private let descriptor: OwnedDescriptor
    package var raw: CInt { descriptor.raw }

    package init(_ members: [CInt]) throws(Errno) {
        let raw = unsafe members.withUnsafeBufferPointer { unsafe upcast_poll_set($0.baseAddress, CInt($0.count)) }
        descriptor = try OwnedDescriptor(checking: raw)
    }
}
