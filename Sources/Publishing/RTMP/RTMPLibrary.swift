internal import CLibRTMP
internal import CRTMPSocket
internal import MediaCore

/// Global set-up of librtmp, and the check that it uses our socket functions.
package enum RTMPLibrary {
    /// Sets librtmp's globals once, before any thread uses them: librtmp creates its TLS context without a lock, and
    /// its log would print stream keys to standard error. Then starts a handshake on a probe. librtmp either calls our
    /// functions, or fails, because it has neither a descriptor nor a session.
    private static let isOverridden: Bool = {
        RTMP_LogSetLevel(RTMP_LOGCRIT)
        let rtmp = unsafe RTMP_Alloc()!
        unsafe RTMP_Init(rtmp)
        unsafe rtmp.pointee.m_sb.sb_socket = RTMPHandle.noDescriptor
        var probe = unsafe upcast_rtmp_socket()
        unsafe probe.is_probe = 1
        unsafe withUnsafeMutablePointer(to: &probe) {
            unsafe upcast_rtmp_use_socket($0)
            _ = unsafe RTMP_Connect1(rtmp, nil)
            upcast_rtmp_use_socket(nil)
        }
        unsafe rtmp.pointee.m_sb.sb_socket = -1
        unsafe RTMP_Close(rtmp)
        unsafe RTMP_Free(rtmp)
        return unsafe probe.sends > 0 && probe.reads > 0
    }()

    /// Checks that librtmp calls our socket functions. Its own have neither deadlines nor verified TLS.
    ///
    /// If librtmp was linked with -Bsymbolic, or the executable does not export the functions, ours are silently
    /// unused. Runs once in a process, and is cheap. Call it at start-up; connections call it too.
    package static func selfTest() throws(PublishError) {
        guard isOverridden else {
            throw PublishError(
                .system, "this build of librtmp does not use the program's socket functions; RTMP is not available")
        }
    }
}
