/// A duration of PCM for each source.
package struct AudioDurations: Equatable, Sendable {
    package var app: MediaTime
    package var microphone: MediaTime

    package init(app: MediaTime = .zero, microphone: MediaTime = .zero) {
        (self.app, self.microphone) = (app, microphone)
    }

    package subscript(source: AudioSource) -> MediaTime {
        get { source == .app ? app : microphone }
        set { if source == .app { app = newValue } else { microphone = newValue } }
    }

    package var isZero: Bool { app == .zero && microphone == .zero }
}
