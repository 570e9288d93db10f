package import ControlProtocol
internal import LinuxSystem

/// Maps methods and paths to handlers.
///
/// Handlers run on the server's only thread. They read atomics or put a command into a mailbox, and never wait.
package struct ControlRoutes: Sendable {
    package typealias Handler = @Sendable (ControlRequest) -> ControlResponse

    private struct Route: Sendable {
        var method: String
        var path: String
        /// Whether the route is answered without a token.
        var isOpen: Bool
        /// The roles that may use the route. An open route is for all.
        var roles: ControlRoles
        var handler: @Sendable (ControlRequest) -> ControlAnswer
    }

    private var routes: [Route] = []

    package init() {}

    /// Adds a route. A duplicate method and path is a programming error.
    ///
    /// - Parameters:
    ///   - isOpen: whether the route is answered without a token, because it reveals nothing.
    ///   - roles: the roles at the Unix socket that may use the route.
    package mutating func add(
        _ method: String, _ path: String, isOpen: Bool = false, for roles: ControlRoles = .operator,
        _ handler: @escaping Handler
    ) {
        add(method, path, isOpen: isOpen, for: roles, answering: { .response(handler($0)) })
    }

    /// Adds a route with an asynchronous answer.
    package mutating func add(
        _ method: String, _ path: String, isOpen: Bool = false, for roles: ControlRoles = .operator,
        answering handler: @escaping @Sendable (ControlRequest) -> ControlAnswer
    ) {
        precondition(
            !routes.contains { ($0.method, $0.path) == (method, path) }, "route \(method) \(path) is there twice")
        routes.append(Route(method: method, path: path, isOpen: isOpen, roles: roles, handler: handler))
    }

    /// Every method and path, in the order in which they were added.
    package var all: [(method: String, path: String)] { routes.map { ($0.method, $0.path) } }

    /// Whether a request may be answered without a token.
    package func isOpen(_ request: ControlRequest) -> Bool {
        routes.contains { $0.isOpen && $0.method == request.method && $0.path == request.path }
    }

    /// Returns the handler's answer. Returns 404 for an unknown path, and 405 with `Allow` for a method that the path
    /// does not have.
    package func answer(to request: ControlRequest) -> ControlAnswer {
        let onPath = routes.filter { $0.path == request.path }
        guard !onPath.isEmpty else {
            let paths = routes.map(\.path).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            return .response(
                .failure(
                    404, "not_found", "there is nothing at this path; there is \(paths.joined(separator: ", "))"))
        }
        if let route = onPath.first(where: { $0.method == request.method }) {
            guard route.isOpen || !route.roles.isDisjoint(with: request.peer.roles) else {
                return .response(Self.forbidden(request))
            }
            return route.handler(request)
        }
        var methods = onPath.map(\.method)
        if methods.contains("GET") { methods.append("HEAD") }
        var response = ControlResponse.failure(
            405, "method_not_allowed", "\(request.path) answers \(methods.joined(separator: ", ")) only")
        response.headers.append(("Allow", methods.joined(separator: ", ")))
        return .response(response)
    }
}

extension ControlRoutes {
    private static func forbidden(_ request: ControlRequest) -> ControlResponse {
        let who = request.peer.credentials?.userID.map { "user \($0)" } ?? "whoever asks"
        let roles = request.peer.roles
        if let credentials = request.peer.credentials, credentials.userID == nil {
            return .failure(
                403, "forbidden",
                "the kernel cannot say which user asks (overflow number \(UserNamespace.overflowUser)), and such a "
                    + "user has no role; connect from the user namespace of the daemon")
        }
        if roles == .metricsReader {
            return .failure(
                403, "forbidden",
                "the token of control.metrics_token_file is for GET /metrics only; "
                    + "\(request.method) \(request.path) needs the token of control.token_file")
        }
        let what =
            roles.isEmpty
            ? "is in none of control.operators, control.clients and control.apps"
            : "is \(roles.contains(.captureClient) ? "a capture client" : "a captured app") here, and no operator"
        return .failure(403, "forbidden", "\(who) \(what), and may not ask for \(request.method) \(request.path)")
    }
}

/// Whether the daemon can take or is taking a broadcast.
package enum Readiness: Equatable, Sendable {
    case ready
    /// With the reason, as a sentence for everybody.
    case notReady(String)
    /// A destination's files are not in order, with the reason as a sentence that names them: for those who may read
    /// the status.
    case filesNotReady(String)
}

extension ControlRoutes {
    /// `GET /status`, `/healthz` (503 with a reason if a thread hangs) and `/readyz` (503 with a reason).
    ///
    /// - Parameter wedged: returns a sentence about the thread that hangs; nil if all threads make progress.
    package static func standard(
        status: @escaping @Sendable () -> StatusReport, readiness: @escaping @Sendable () -> Readiness,
        wedged: @escaping @Sendable () -> String? = { nil }
    ) -> ControlRoutes {
        var routes = ControlRoutes()
        routes.add("GET", "/status", for: .lookers) { _ in .success(status()) }
        routes.add("GET", "/healthz", isOpen: true) { _ in
            if let sentence = wedged() { return .failure(503, "wedged", sentence) }
            return ControlResponse(status: 200, json: .object([.init("status", .string("ok"))]))
        }
        routes.add("GET", "/readyz", isOpen: true) { request in
            switch readiness() {
            case .ready: ControlResponse(status: 200, json: .object([.init("status", .string("ready"))]))
            case .notReady(let reason): .failure(503, "not_ready", reason)
            case .filesNotReady(let reason):
                .failure(
                    503, "not_ready",
                    request.peer.roles.isDisjoint(with: .lookers)
                        ? "the files of a destination are not in order; the log and the control socket have the reason"
                        : reason)
            }
        }
        return routes
    }

    /// `GET /`: the page that shows the live state. The page itself contains no data, so it needs no token. It requests
    /// its data with the token that its reader enters.
    package mutating func addPage() {
        add("GET", "/", isOpen: true) { _ in
            var response = ControlResponse(
                status: 200, contentType: "text/html; charset=utf-8", body: PackageResources.page_html)
            // The page's own policy restricts it further.
            response.headers = [
                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                ("Content-Security-Policy", "frame-ancestors 'none'"),
            ]
            return response
        }
    }
}
