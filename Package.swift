// swift-tools-version: 6.2
// upcast: a daemon that takes raw sample buffers at a Unix socket and pushes a broadcast to an RTMP server.
//
// Targets stand in rows, and imports go down (a test holds it). Within a row: C modules import those that load their
// libraries; Publishing imports Buffering, which it empties; Painting imports FrameGeometry, whose canvas it paints on;
// Pipeline imports Configuration, UpcastPrivacy ControlClient, LinuxSystem MediaCore. ScreenCapture, WaylandCapture and
// PortalCapture import the UpcastClient that they fill. They and SoundCapture import Grabbing, which has what grabbers
// have in common. PortalCapture has times and transforms as WaylandCapture has them. docs/architecture.md has the map.

import PackageDescription

let package = Package(
    name: "upcast",
    products: [
        .executable(name: "upcastd", targets: ["upcastd"]),
        .executable(name: "upcastctl", targets: ["upcastctl"]),
        .executable(name: "upcast-send", targets: ["upcast-send"]),
        .executable(name: "upcast-screen", targets: ["upcast-screen"]),
        .library(name: "UpcastClient", targets: ["UpcastClient"]),
        .library(name: "UpcastPrivacy", targets: ["UpcastPrivacy"]),
    ],
    // Exact, so that a commit is always built from the same sources: Package.resolved is not kept. A test holds it.
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        // What swift-nio links. Control names the products, because SwiftPM warns of packages that no target uses.
        .package(url: "https://github.com/apple/swift-atomics.git", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-collections.git", exact: "1.6.0"),
    ],
    targets: [
        // Row 0: C. Each media library has exactly one Swift importer.
        .systemLibrary(name: "CLibAV", pkgConfig: "libavcodec", providers: [.apt(["libavcodec-dev"])]),
        .systemLibrary(name: "CLibSWScale", pkgConfig: "libswscale", providers: [.apt(["libswscale-dev"])]),
        .systemLibrary(name: "CLibSWResample", pkgConfig: "libswresample", providers: [.apt(["libswresample-dev"])]),
        .systemLibrary(name: "CLibYUV", providers: [.apt(["libyuv-dev"])]),
        .systemLibrary(name: "CLibRTMP", pkgConfig: "librtmp", providers: [.apt(["librtmp-dev"])]),
        .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "CLinux"),
        .target(name: "CPlanes"),
        .target(
            name: "CXCB",
            linkerSettings: [
                "xcb", "xcb-shm", "xcb-damage", "xcb-xfixes", "xcb-randr", "xcb-res", "xcb-render", "xcb-composite",
                "xcb-xinput",
            ].map { .linkedLibrary($0) }),
        // CLoader loads the libraries of these when they are needed: their headers are needed, and nothing is linked.
        .target(name: "CLoader"),
        .target(name: "CPulse", dependencies: ["CLoader"]),
        .target(name: "CWayland", dependencies: ["CLoader"]),
        .target(name: "CBus", dependencies: ["CLoader"]),
        .target(name: "CSession", dependencies: ["CBus"]),
        .target(name: "CPortal", dependencies: ["CBus"]),
        // The headers lie in folders of their own; pkg-config would link the library, too.
        .target(
            name: "CPipeWire", dependencies: ["CLoader"],
            cSettings: [.unsafeFlags(["-isystem", "/usr/include/pipewire-0.3", "-isystem", "/usr/include/spa-0.2"])]),
        .target(name: "CRTMPSocket", dependencies: ["CLibRTMP", "CGnuTLS"]),

        // Row 1: vocabulary.
        .target(name: "MediaCore"),
        .target(name: "LinuxSystem", dependencies: ["CLinux", "MediaCore"]),
        .target(name: "Lettering"),
        .target(name: "Wording"),
        .target(name: "ProductVersion"),

        // Row 2: pure formats and rules; no C, no I/O, no clock.
        .target(name: "IngestProtocol", dependencies: ["MediaCore"]),
        .target(name: "FLV", dependencies: ["MediaCore"]),
        .target(name: "ControlProtocol", dependencies: ["MediaCore", "Wording"]),
        .target(name: "Timeline", dependencies: ["MediaCore"]),
        .target(name: "Adaptation", dependencies: ["MediaCore", "LinuxSystem"]),
        .target(name: "Endpoints", dependencies: ["MediaCore", "Wording"]),
        .target(name: "Measurement", dependencies: ["MediaCore"]),

        // Row 3: stages.
        .target(name: "Buffering", dependencies: ["MediaCore", "LinuxSystem"]),
        .target(
            name: "Ingest",
            dependencies: ["MediaCore", "LinuxSystem", "IngestProtocol", "Measurement", "CLinux"]),
        .target(name: "FrameGeometry", dependencies: ["MediaCore", "CLibYUV", "CPlanes"]),
        .target(name: "Painting", dependencies: ["MediaCore", "Lettering", "FrameGeometry"]),
        .target(name: "Privacy", dependencies: ["MediaCore", "LinuxSystem", "ControlProtocol"]),
        .target(name: "AudioMixing", dependencies: ["MediaCore", "CLibSWResample"]),
        .target(name: "Encoding", dependencies: ["MediaCore", "LinuxSystem", "FLV", "CLibAV"]),
        .target(
            name: "Publishing",
            dependencies: [
                "MediaCore", "LinuxSystem", "Endpoints", "ControlProtocol", "Measurement", "FLV", "Buffering",
                "Wording", "CLibRTMP", "CGnuTLS", "CRTMPSocket",
            ]),

        // Row 4: composition. Only Pipeline knows all stages.
        .target(
            name: "Configuration",
            dependencies: [
                "MediaCore", "LinuxSystem", "Lettering", "Wording", "Endpoints", "ControlProtocol", "CYAML",
            ]),
        .target(
            name: "Pipeline",
            dependencies: [
                "MediaCore", "LinuxSystem", "ProductVersion", "IngestProtocol", "ControlProtocol", "Endpoints",
                "Measurement", "Timeline", "Adaptation", "Configuration", "Ingest", "FrameGeometry", "Painting",
                "AudioMixing", "Encoding", "Buffering", "Publishing", "Privacy",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // Row 5: beside the pipeline.
        .target(
            name: "Control",
            dependencies: [
                "ControlProtocol", "LinuxSystem", "MediaCore",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Atomics", package: "swift-atomics"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            resources: [.embedInCode("Resources/page.html")]),
        .target(
            name: "Webhooks",
            dependencies: ["ControlProtocol", "Endpoints", "LinuxSystem", "MediaCore", "ProductVersion", "Publishing"]),
        .target(name: "UpcastClient", dependencies: ["MediaCore", "LinuxSystem", "IngestProtocol"]),
        .target(name: "ControlClient", dependencies: ["ControlProtocol", "LinuxSystem", "MediaCore", "Wording"]),
        .target(name: "UpcastPrivacy", dependencies: ["ControlClient", "ControlProtocol", "LinuxSystem", "MediaCore"]),
        .target(name: "CaptureSources", dependencies: ["MediaCore", "LinuxSystem", "IngestProtocol"]),
        .target(name: "Grabbing", dependencies: ["MediaCore", "LinuxSystem", "IngestProtocol", "UpcastClient"]),
        .target(name: "ScreenCapture", dependencies: ["MediaCore", "LinuxSystem", "UpcastClient", "Grabbing", "CXCB"]),
        .target(name: "SessionWatch", dependencies: ["CSession"]),
        .target(name: "SoundCapture", dependencies: ["MediaCore", "Grabbing", "CPulse"]),
        .target(
            name: "WaylandCapture", dependencies: ["MediaCore", "LinuxSystem", "UpcastClient", "Grabbing", "CWayland"]),
        .target(
            name: "PortalCapture",
            dependencies: [
                "MediaCore", "LinuxSystem", "UpcastClient", "Grabbing", "WaylandCapture", "CPipeWire", "CPortal",
            ]),

        // Row 6: executables.
        .executableTarget(
            name: "upcastd",
            dependencies: [
                "Pipeline", "Control", "Webhooks", "ControlProtocol", "Configuration", "Endpoints", "Ingest",
                "LinuxSystem", "MediaCore", "Privacy", "ProductVersion", "Wording",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .executableTarget(
            name: "upcastctl",
            dependencies: [
                "ControlClient", "ControlProtocol", "LinuxSystem", "MediaCore", "ProductVersion", "Wording",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "upcast-send",
            dependencies: [
                "UpcastClient", "CaptureSources", "IngestProtocol", "LinuxSystem", "MediaCore", "ProductVersion",
                "Wording", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "upcast-screen",
            dependencies: [
                "UpcastClient", "Grabbing", "ScreenCapture", "WaylandCapture", "PortalCapture", "SoundCapture",
                "SessionWatch", "CaptureSources", "ControlProtocol", "LinuxSystem", "MediaCore", "ProductVersion",
                "Wording", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),

        // Tests.
        .target(name: "SeededRandom", path: "Tests/SeededRandom"),
        .testTarget(name: "MediaCoreTests", dependencies: ["MediaCore"]),
        .testTarget(name: "EndpointsTests", dependencies: ["Endpoints"]),
        .testTarget(name: "MeasurementTests", dependencies: ["Measurement", "MediaCore"]),
        .testTarget(name: "LinuxSystemTests", dependencies: ["TestSupport", "LinuxSystem", "MediaCore", "CLinux"]),
        .testTarget(name: "IngestProtocolTests", dependencies: ["SeededRandom", "IngestProtocol", "MediaCore"]),
        .testTarget(name: "FLVTests", dependencies: ["SeededRandom", "TestSupport", "FLV", "MediaCore"]),
        .testTarget(name: "TimelineTests", dependencies: ["SeededRandom", "Timeline", "MediaCore"]),
        .testTarget(name: "AdaptationTests", dependencies: ["SeededRandom", "Adaptation", "MediaCore"]),
        .testTarget(
            name: "BufferingTests",
            dependencies: ["SeededRandom", "TestSupport", "Buffering", "MediaCore", "LinuxSystem"]),
        .testTarget(
            name: "IngestTests",
            dependencies: ["TestLimits", "TestSupport", "Ingest", "IngestProtocol", "LinuxSystem", "MediaCore"]),
        .testTarget(
            name: "PipelineTests",
            dependencies: [
                "TestLimits", "TestSupport", "Pipeline", "AudioMixing", "Buffering", "Configuration",
                "ControlProtocol", "Encoding", "FrameGeometry", "Ingest", "IngestProtocol", "LinuxSystem", "MediaCore",
                "Painting", "Privacy", "Publishing", "Timeline",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "FrameGeometryTests",
            dependencies: ["SeededRandom", "FrameGeometry", "MediaCore", "CLibSWScale", "CLibYUV"]),
        .testTarget(name: "PaintingTests", dependencies: ["Painting", "FrameGeometry", "Lettering", "MediaCore"]),
        .testTarget(
            name: "PrivacyTests",
            dependencies: ["TestLimits", "TestSupport", "Privacy", "ControlProtocol", "LinuxSystem", "MediaCore"]),
        .testTarget(name: "AudioMixingTests", dependencies: ["SeededRandom", "AudioMixing", "Timeline", "MediaCore"]),
        .testTarget(
            name: "EncodingTests",
            dependencies: ["SeededRandom", "TestSupport", "Encoding", "FLV", "LinuxSystem", "MediaCore"]),
        .testTarget(
            name: "PublishingTests",
            dependencies: [
                "SeededRandom", "TestLimits", "TestSupport", "Publishing", "Buffering", "ControlProtocol", "Endpoints",
                "FLV", "MediaCore", "LinuxSystem",
            ]),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: [
                "SeededRandom", "TestSupport", "Configuration", "ControlProtocol", "Endpoints", "LinuxSystem",
                "MediaCore", "Wording",
            ]),
        .testTarget(
            name: "ControlTests",
            dependencies: [
                "SeededRandom", "TestLimits", "TestSupport", "Control", "ControlClient", "ControlProtocol",
                "LinuxSystem", "MediaCore", "ProductVersion", "upcastctl",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),
        .testTarget(
            name: "WebhooksTests",
            dependencies: [
                "SeededRandom", "TestLimits", "TestSupport", "Webhooks", "ControlProtocol", "Endpoints", "LinuxSystem",
                "MediaCore",
            ]),
        .testTarget(name: "ControlClientTests", dependencies: ["SeededRandom", "ControlClient", "MediaCore"]),
        .testTarget(
            name: "UpcastPrivacyTests",
            dependencies: [
                "TestLimits", "TestSupport", "UpcastPrivacy", "ControlClient", "ControlProtocol", "LinuxSystem",
                "MediaCore",
            ]),
        .testTarget(
            name: "UpcastClientTests",
            dependencies: [
                "TestLimits", "TestSupport", "UpcastClient", "IngestProtocol", "LinuxSystem", "MediaCore",
                "SeededRandom",
            ]),
        .testTarget(
            name: "UpcastSendTests",
            dependencies: [
                "upcast-send", "CaptureSources", "MediaCore", "UpcastClient",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .target(name: "x11-windows", path: "Tests/x11-windows", linkerSettings: [.linkedLibrary("xcb")]),
        .executableTarget(name: "secret-window", dependencies: ["x11-windows"], path: "Tests/secret-window"),
        .executableTarget(
            name: "window-family", dependencies: ["x11-windows"], path: "Tests/window-family",
            linkerSettings: [.linkedLibrary("xcb-xfixes"), .linkedLibrary("xcb-composite")]),
        .executableTarget(
            name: "wayland-window", path: "Tests/wayland-window", linkerSettings: [.linkedLibrary("wayland-client")]),
        .testTarget(
            name: "ScreenCaptureTests",
            dependencies: ["TestSupport", "Grabbing", "ScreenCapture", "LinuxSystem", "MediaCore", "UpcastClient"]),
        .testTarget(name: "SoundCaptureTests", dependencies: ["SoundCapture", "LinuxSystem", "MediaCore"]),
        .testTarget(
            name: "WaylandCaptureTests",
            dependencies: ["Grabbing", "WaylandCapture", "MediaCore", "UpcastClient"]),
        .testTarget(
            name: "PortalCaptureTests",
            dependencies: [
                "SeededRandom", "TestSupport", "PortalCapture", "CPipeWire", "Grabbing", "MediaCore", "UpcastClient",
            ]),
        .testTarget(
            name: "UpcastScreenTests",
            dependencies: [
                "upcast-screen", "Grabbing", "ScreenCapture", "WaylandCapture", "PortalCapture", "SoundCapture",
                "MediaCore", "UpcastClient",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .testTarget(
            name: "UpcastdTests",
            dependencies: [
                "TestSupport", "upcastd", "Configuration", "Control", "ControlProtocol", "LinuxSystem", "MediaCore",
                "Endpoints", "Pipeline", "Publishing", "Webhooks",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "CaptureSourcesTests",
            dependencies: ["SeededRandom", "TestSupport", "CaptureSources", "LinuxSystem", "MediaCore"]),

        // The product as separate processes, with a real RTMP server; TestSupport is what those tests are made of.
        .target(
            name: "TestSupport", dependencies: ["MediaCore", "LinuxSystem", "IngestProtocol"],
            path: "Tests/TestSupport"),
        // Not in TestSupport, which programs also use: it needs Swift Testing.
        .target(
            name: "TestLimits", dependencies: ["TestSupport", "LinuxSystem", "MediaCore"], path: "Tests/TestLimits"),
        .testTarget(name: "TestLimitsTests", dependencies: ["TestLimits", "TestSupport", "LinuxSystem"]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "SeededRandom", "TestSupport", "FaultProxy", "ControlProtocol", "IngestProtocol", "LinuxSystem",
                "MediaCore", "UpcastPrivacy",
            ]),
        // An app that is captured, as a process of its own.
        .executableTarget(name: "captured-app", dependencies: ["UpcastPrivacy"], path: "Tests/captured-app"),
        // The programs of the libraries' articles.
        .executableTarget(
            name: "example-capture-client", dependencies: ["UpcastClient"],
            path: "Tests/examples/example-capture-client"),
        .executableTarget(
            name: "example-captured-app", dependencies: ["UpcastPrivacy"],
            path: "Tests/examples/example-captured-app"),
        // Other users who crowd the control socket.
        .executableTarget(name: "control-crowd", path: "Tests/control-crowd"),

        // A network that fails on command, for tests and scripts/faults; nothing of it is installed.
        .target(name: "FaultProxy", dependencies: ["CLinux", "LinuxSystem", "MediaCore"], path: "Tests/FaultProxy"),
        .executableTarget(
            name: "fault-proxy",
            dependencies: [
                "FaultProxy", "LinuxSystem", "MediaCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/fault-proxy"),
        .executableTarget(
            name: "fault-bench",
            dependencies: [
                "FaultProxy", "TestSupport", "LinuxSystem", "MediaCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/FaultBench"),
        .testTarget(name: "FaultProxyTests", dependencies: ["FaultProxy", "LinuxSystem", "MediaCore", "TestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)

// Functions with equal code are linked once, which saves 1.5 % of upcastd. Executables only: packages that use the
// libraries could not depend on targets with such flags.
for target in package.targets where ["upcastd", "upcastctl", "upcast-send", "upcast-screen"].contains(target.name) {
    target.linkerSettings = [.unsafeFlags(["-Xlinker", "--icf=safe"], .when(configuration: .release))]
}

// What scripts/bench times single steps with. Only builds that ask for it compile it: UPCAST_BENCH=1 swift build. (A
// package of its own would not see what has `package` access.)
if Context.environment["UPCAST_BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "upcast-bench",
            dependencies: [
                "AudioMixing", "Buffering", "Encoding", "FLV", "FrameGeometry", "IngestProtocol", "LinuxSystem",
                "MediaCore",
                // The rivals' own.
                "CLibAV", "CLibSWResample", "CLibYUV",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/upcast-bench"))
}

let systemLibraries: Set<String> = [
    "CLibAV", "CLibSWScale", "CLibSWResample", "CLibYUV", "CLibRTMP", "CGnuTLS", "CYAML",
]
let cTargets: Set<String> = [
    "CBus", "CLinux", "CLoader", "CPipeWire", "CPlanes", "CPortal", "CPulse", "CRTMPSocket", "CSession", "CWayland",
    "CXCB",
]
let testLibraries: Set<String> = [
    "TestSupport", "TestLimits", "FaultProxy", "fault-proxy", "fault-bench", "captured-app", "control-crowd",
    "example-capture-client", "example-captured-app",
]

// These compare pixel by pixel and sample by sample, which takes many times as long without optimization.
let optimizedTests: Set<String> = [
    "TestSupport", "FrameGeometryTests", "PaintingTests", "AudioMixingTests", "BufferingTests", "TimelineTests",
    "EncodingTests", "SoundCaptureTests", "CaptureSourcesTests",
]

// What touches every sample. With UPCAST_OPTIMIZED=1 a debug build optimizes it: the build takes longer, and the tests
// save more than that. (Not always: packages could not use the libraries.)
let hotModules: Set<String> = [
    "MediaCore", "LinuxSystem", "IngestProtocol", "FLV", "Timeline", "Buffering", "Ingest", "FrameGeometry", "Painting",
    "AudioMixing", "Encoding", "SoundCapture", "CaptureSources",
]
let isOptimized = Context.environment["UPCAST_OPTIMIZED"] != nil

// All symbols of the programs are bound at the start, so that the table of their addresses is read-only from then on.
for target in package.targets where target.type == .executable {
    target.linkerSettings = (target.linkerSettings ?? []) + [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])]
}

for target in package.targets where !systemLibraries.contains(target.name) && !cTargets.contains(target.name) {
    var settings = target.swiftSettings ?? []
    settings += [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableExperimentalFeature("Lifetimes"),
        .treatAllWarnings(as: .error),
    ]
    if target.type != .test && !testLibraries.contains(target.name) { settings.append(.strictMemorySafety()) }
    if optimizedTests.contains(target.name) || (isOptimized && hotModules.contains(target.name)) {
        settings.append(.unsafeFlags(["-O"], .when(configuration: .debug)))
    }
    target.swiftSettings = settings
}
