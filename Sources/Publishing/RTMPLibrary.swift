internal import CLibRTMP
internal import CRTMPSocket

/// librtmp as a whole: its globals, set up once, and the proof that its socket layer is ours.
package enum RTMPLibrary {
    /// Sets librtmp's globals up, once, before any thread uses them: its TLS context is created without a lock, and its
    /// log would print stream keys to standard error. Then begins a handshake with nobody: librtmp sends its greeting
    /// and reads the answer, by our functions or, with neither descriptor nor session, in vain.
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

    /// Proves that librtmp calls our socket functions and not its own, which have neither deadlines nor verified TLS.
    ///
    /// A librtmp that was linked with -Bsymbolic, or an executable that does not export the functions, would take
    /// ours out of the way silently. Cheap; runs once a process. Call it at start-up; connections call it too.
    package static func selfTest() throws(PublishError) {
        guard isOverridden else {
            throw PublishError(
                .system, "this build of librtmp does not use the program's socket functions; RTMP is not available")
        }
    }
}
