internal import CLibRTMP
internal import CRTMPSocket

/// librtmp as a whole: its globals, set up once, and the proof that its socket layer is ours.
package enum RTMPLibrary {
    /// Sets librtmp's globals up, once, before any thread uses them: its TLS context is created without a lock, and its
    /// log would print stream keys to standard error.
    private static let isPrepared: Bool = {
        RTMP_LogSetLevel(RTMP_LOGCRIT)
        return unsafe withProbe { _ in true }
    }()

    private static let isOverridden: Bool = {
        guard isPrepared else { return false }
        let before = upcast_rtmp_refused_calls()
        unsafe withProbe { rtmp in
            // Neither a descriptor nor a session: were librtmp's own functions called, they would fail with EBADF.
            unsafe rtmp.pointee.m_sb.sb_socket = -2
            var bytes = [CChar](repeating: 0, count: Int(RTMP_MAX_HEADER_SIZE) + 4)
            unsafe bytes.withUnsafeMutableBufferPointer { buffer in
                var packet = unsafe RTMPPacket()
                unsafe packet.m_nChannel = 2
                unsafe packet.m_packetType = UInt8(RTMP_PACKET_TYPE_CHUNK_SIZE)
                unsafe packet.m_nBodySize = 4
                unsafe packet.m_body = buffer.baseAddress! + Int(RTMP_MAX_HEADER_SIZE)
                _ = unsafe RTMP_SendPacket(rtmp, &packet, 0)
            }
            unsafe rtmp.pointee.m_sb.sb_socket = -2
            var inbound = unsafe RTMPPacket()
            _ = unsafe RTMP_ReadPacket(rtmp, &inbound)
        }
        let after = upcast_rtmp_refused_calls()
        return after.send > before.send && after.fill > before.fill && after.close > before.close
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

    private static func withProbe<Result>(_ body: (UnsafeMutablePointer<RTMP>) -> Result) -> Result {
        let rtmp = unsafe RTMP_Alloc()!
        unsafe RTMP_Init(rtmp)
        defer {
            unsafe rtmp.pointee.m_sb.sb_socket = -1
            unsafe RTMP_Close(rtmp)
            unsafe RTMP_Free(rtmp)
        }
        return unsafe body(rtmp)
    }
}
