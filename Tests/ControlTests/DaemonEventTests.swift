import ControlProtocol
import Foundation
import Testing

/// Promise: what a program knows an event by stays, and docs/control.md says all of it.
@Suite struct DaemonEventTests {
    /// A name that goes, or changes, breaks whoever waits for it.
    @Test func namesStay() {
        let names = """
            ready stopping stopped not_stopped_in_time thread_hangs thread_recovered control_not_encrypted
            control_token_refused test_hook_set service_manager_unreachable log_level_set repetitions_left_out
            media_library_warning client_not_accepted nothing_to_reload configuration_reloaded
            configuration_not_reloaded configuration_not_applied
            configuration_waits_for_the_next_broadcast configuration_waits_for_a_restart broadcast_started
            broadcast_not_started broadcast_ending broadcast_ended broadcast_failed nothing_was_published
            air_state_changed source_refused no_room_for_subpixel_motion no_picture_for_the_curtain annotated
            annotations_left_out
            stopped_by_an_operator paused_by_an_operator resumed_by_an_operator bitrate_ceiling_set
            video_bitrate_changed encoder_effort_lowered encoder_effort_raised memory_is_short
            memory_is_enough_again destination_live destination_retrying destination_failed destination_flapping
            destination_notice destination_warning destination_not_ready destination_ready destination_added
            destination_removed no_destination_is_left curtain_raised curtain_hold_added curtain_hold_released
            curtain_lowered paused_without_a_curtain region_hidden region_moved region_shown_again
            protection_turned_on protection_turned_off protection_kept_on protection_is_not_as_configured
            app_is_consulted app_is_no_longer_consulted app_has_answered apps_are_not_waited_for
            consulted_app_has_not_come_back no_state_file state_file_is_new state_restored state_file_cannot_be_read
            state_file_not_written state_file_written_again audit_log_not_written audit_log_waits_for_its_disk
            audit_log_written_again audit_lines_left_out webhook_failed
            """
        let known = names.split(whereSeparator: \.isWhitespace).map { String($0) }
        #expect(DaemonEvent.Name.allCases.map(\.rawValue) == known)
    }

    @Test func everyEventHasAnExample() {
        #expect(Set(DaemonEvent.examples.map(\.name)) == Set(DaemonEvent.Name.allCases))
    }

    /// The limits of the log count by the message: it is one for each name, and the same each time.
    @Test func messagesAreConstant() {
        let reports = DaemonEvent.examples.map(\.report)
        for (name, reports) in Dictionary(grouping: reports, by: \.name) {
            #expect(Set(reports.map(\.message)).count == 1, "\(name)")
            #expect(Set(reports.map { $0.fields.map(\.name) }.map(Set.init)).count <= 2, "\(name)")
        }
        #expect(Set(reports.map(\.message)).count == DaemonEvent.Name.allCases.count)
    }

    /// A line of the JSON log has these beside its fields: nothing is there twice.
    @Test(arguments: DaemonEvent.examples.map(\.report)) func fieldsAreNamedOnce(report: DaemonEvent.Report) {
        let names = report.fields.map(\.name)
        #expect(Set(names + ["time", "level", "event", "message"]).count == names.count + 4, "\(report)")
        for name in names { #expect(name.wholeMatch(of: /[a-z][a-z_]*/) != nil, "\(name)") }
        for field in report.fields {
            switch field.value {
            case .number, .integer, .bool, .string: break
            case .array(let items): #expect(items.allSatisfy { if case .string = $0 { true } else { false } })
            case .null, .object: Issue.record("\(report.name).\(field.name) is of no type that logs keep")
            }
        }
    }

    // MARK: The docs

    private static let begin = "<!-- the table below is made from Sources/ControlProtocol/DaemonEvent -->\n"
    private static let end = "<!-- the end of the table -->\n"

    private static func shown(_ field: JSONValue.Member) -> String {
        let type =
            switch field.value {
            case .integer, .number: " (number)"
            case .bool: " (boolean)"
            case .array: " (list)"
            default: ""
            }
        return "`\(field.name)`\(type)"
    }

    private static var table: String {
        let reports = Dictionary(grouping: DaemonEvent.examples.map(\.report), by: \.name)
        var lines = ["| event | level | when | fields |", "|---|---|---|---|"]
        for name in DaemonEvent.Name.allCases {
            let mine = reports[name] ?? []
            var (levels, fields): ([String], [String]) = ([], [])
            for report in mine {
                if !levels.contains(report.level.rawValue) { levels.append(report.level.rawValue) }
                for field in report.fields.map(shown) where !fields.contains(field) { fields.append(field) }
            }
            let columns = ["`\(name)`", levels.joined(separator: ", "), name.meaning, fields.joined(separator: ", ")]
            lines.append("| " + columns.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test func theDocsHaveTheTable() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/control.md")
        let file = try String(contentsOf: url, encoding: .utf8)
        let before = try #require(file.components(separatedBy: Self.begin).first)
        let after = try #require(file.components(separatedBy: Self.end).last)
        let expected = before + Self.begin + Self.table + Self.end + after
        if ProcessInfo.processInfo.environment["REGENERATE"] == "1" {
            try expected.write(to: url, atomically: true, encoding: .utf8)
        } else {
            #expect(file == expected, "run REGENERATE=1 swift test --filter DaemonEventTests")
        }
    }
}
