/// The shipped configuration file and the table in the docs, generated from `ConfigurationTable`.
package enum ConfigurationReference {
    /// `Config/upcastd.yaml`: every key with its default, below a comment with summary, values, unit and, if there is
    /// one, memory cost.
    ///
    /// Destinations and webhooks have no useful default. The lists are empty, and comments show an example.
    package static var yaml: String {
        let defaults = Configuration()
        var text = """
            # Configuration of upcastd. This file shows every key with its default; a file may omit any key. The
            # environment variable named above a key overrides the file. Durations, bitrates and sizes may have a unit
            # (2s, 1m30s; 4500k, 2.5M; 64KiB, 50MiB). To check a file:
            #   upcastd --check-config --config FILE
            # To see its memory plan:
            #   upcastd --plan --config FILE

            """
        for section in ConfigurationTable.sections {
            text += "\n# \(section.summary)\n"
            if section.name == "destinations" {
                text += example(
                    ConfigurationTable.destinationKeys, DestinationConfiguration(),
                    ["url": "rtmp://localhost/live/test"])
                continue
            }
            if section.name == "webhooks" {
                text += example(
                    ConfigurationTable.webhookKeys, WebhookConfiguration(),
                    ["url": "https://example.org/upcast", "secret_file": "/etc/upcast/webhook.secret"])
                continue
            }
            text += "\(section.name):\n"
            for key in ConfigurationTable.keys where key.section == section.name {
                text += comment(key, defaults, indent: "  ", variable: key.environmentName())
                text += "  \(key.name): \(key.render(defaults))\n\n"
            }
            text.removeLast()
        }
        return text
    }

    /// The empty list, and an item in comments.
    ///
    /// - Parameter values: what stands in place of defaults.
    private static func example<Item>(
        _ keys: [ConfigurationKey<Item>], _ defaults: Item, _ values: [String: String]
    ) -> String {
        let section = keys[0].section
        var text = "\(section): []\n# Instead of the empty list:\n# \(section):\n"
        for (index, key) in keys.enumerated() {
            text += comment(key, defaults, indent: "#     ", variable: key.environmentName(index: 0))
            let value = values[key.name].map(quoted) ?? key.render(defaults)
            text += "#   \(index == 0 ? "- " : "  ")\(key.name): \(value)\n"
        }
        return text
    }

    private static func comment<Root>(
        _ key: ConfigurationKey<Root>, _ defaults: Root, indent: String, variable: String
    ) -> String {
        let unit = key.unit.isEmpty ? "" : " Unit: \(key.unit)."
        let value = key.name == "url" ? "none, required" : key.render(defaults)
        let memory = key.memory.isEmpty ? [] : ["Memory: \(key.memory)"]
        let lines = [key.summary, "Values: \(key.allowed).\(unit) Default: \(value)"] + memory + [variable]
        return lines.map { wrapped($0, indent: "\(indent)# ") }.joined()
    }

    /// The key tables of `docs/configuration.md`, by section.
    package static var markdown: String {
        let defaults = Configuration()
        var text = ""
        for section in ConfigurationTable.sections {
            text += "\n### \(section.name)\n\n\(section.summary)\n\n"
            text += "| key | default | values | what it does | memory |\n|---|---|---|---|---|\n"
            switch section.name {
            case "destinations": text += rows(ConfigurationTable.destinationKeys, DestinationConfiguration())
            case "webhooks": text += rows(ConfigurationTable.webhookKeys, WebhookConfiguration())
            default:
                for key in ConfigurationTable.keys where key.section == section.name {
                    text += row(key, variable: key.environmentName(), value: "`\(key.render(defaults))`")
                }
            }
        }
        return text
    }

    private static func rows<Item>(_ keys: [ConfigurationKey<Item>], _ defaults: Item) -> String {
        keys.map { key in
            let value = key.name == "url" ? "none; required" : "`\(key.render(defaults))`"
            return row(key, variable: key.environmentName(index: 0), value: value)
        }.joined()
    }

    private static func row<Root>(_ key: ConfigurationKey<Root>, variable: String, value: String) -> String {
        let values = key.allowed + (key.unit.isEmpty ? "" : "; \(key.unit)")
        return "| `\(key.name)`<br>`\(variable)` | \(value) | \(values) | \(key.summary) | \(key.memory) |\n"
    }

    private static func wrapped(_ text: String, indent: String) -> String {
        var lines: [String] = []
        var line = indent
        for word in text.split(separator: " ") {
            if line.count > indent.count, line.count + 1 + word.count > 110 {
                lines.append(line)
                line = indent
            }
            line += (line.count > indent.count ? " " : "") + word
        }
        return (lines + [line]).joined(separator: "\n") + "\n"
    }
}
