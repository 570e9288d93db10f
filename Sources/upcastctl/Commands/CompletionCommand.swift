import ArgumentParser

struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print a shell completion script.",
        discussion: """
            bash: upcastctl completion bash > /etc/bash_completion.d/upcastctl
            zsh:  upcastctl completion zsh > /usr/local/share/zsh/site-functions/_upcastctl
            fish: upcastctl completion fish > ~/.config/fish/completions/upcastctl.fish
            """)
    @Argument(help: "The shell.") var shell: Shell

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    func run() {
        let kind: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        Output.line(Upcastctl.completionScript(for: kind))
    }
}
