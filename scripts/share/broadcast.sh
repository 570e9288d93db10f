# shellcheck shell=bash
# Builds, configures, starts and watches upcast itself. Sourced after processes.sh and rtmp-server.sh.

# Additional groups of packages that a script needs.
more_packages=()

# build_upcast: builds the release executables and installs what they need to run. Sets `bin` to their folder, unless it
# is set.
build_upcast() {
    local options=(-c release --static-swift-stdlib --package-path "$root")
    if [[ -n ${bin:-} ]]; then
        [[ -x $bin/upcastd && -x $bin/upcastctl && -x $bin/upcast-send ]] ||
            fail 69 "$bin does not hold upcastd, upcastctl and upcast-send"
        # This needs no Swift, but the libraries, which come with the packages for building.
        require_packages build run "${more_packages[@]}"
        return
    fi
    require_machine build run "${more_packages[@]}"
    step "building for release (some minutes the first time)"
    if [[ -t 1 ]]; then
        swift build "${options[@]}" || fail 1 "the build failed"
    else
        swift build "${options[@]}" >"$folder/logs/build.log" 2>&1 || fail_with_log build "the build failed"
    fi
    bin=$(swift build "${options[@]}" --show-bin-path)
}

# write_configuration STREAM [WIDTH HEIGHT]: writes one destination, the RTMP server of this run. Everything else is the
# default, or from UPCAST_ variables in the environment.
write_configuration() {
    (umask 077 && printf '%s\n' "$1" >"$folder/stream.key")
    {
        [[ -z ${2:-} ]] || printf 'video:\n  width: %s\n  height: %s\n' "$2" "$3"
        # shellcheck disable=SC2154 # rtmp_port is rtmp-server.sh's
        cat <<EOF
ingest:
  socket: $folder/capture.sock
control:
  socket: $folder/control.sock
destinations:
  - name: local
    url: rtmp://127.0.0.1:$rtmp_port/live
    key_file: $folder/stream.key
EOF
    } >"$folder/upcastd.yaml"
    # These variables would send the broadcast to other places than those that this script checks.
    local variable
    for variable in $(compgen -e UPCAST_); do
        case $variable in
            UPCAST_DESTINATIONS_* | UPCAST_INGEST_SOCKET | UPCAST_CONTROL_SOCKET) unset "$variable" ;;
        esac
    done
}

# A command that starts upcastd and is replaced by it.
daemon_wrapper=()

# start_daemon: starts upcastd; returns when it accepts clients.
start_daemon() {
    start_process upcastd "${daemon_wrapper[@]}" "$bin/upcastd" --config "$folder/upcastd.yaml"
    wait_until 15 daemon_is_decided || fail_with_log upcastd "upcastd does not answer on $folder/control.sock"
    is_running upcastd || fail_with_end upcastd
}

daemon_is_decided() {
    has_ended upcastd || { [[ -S $folder/capture.sock ]] && daemon_status --json >/dev/null 2>&1; }
}

daemon_status() { "$bin/upcastctl" status --socket "$folder/control.sock" "$@"; }

# The capture client: the name of its program and of its process.
client_program=upcast-send

# start_client [OPTION...]: starts the synthetic capture client. It changes its orientation every three seconds.
start_client() {
    start_process upcast-send "$bin/upcast-send" --socket "$folder/capture.sock" --name demo \
        --orientation cycle:3 --app-audio tone:440 --mic none "$@"
    wait_for_broadcast
}

# start_screen_client [OPTION...]: starts upcast-screen with the page and the sound of browser.sh, whose sink is the
# default.
start_screen_client() {
    client_program=upcast-screen
    # shellcheck disable=SC2154 # browser_environment and browser_area are browser.sh's
    start_process upcast-screen env "${browser_environment[@]}" "$bin/upcast-screen" --socket "$folder/capture.sock" \
        --name demo --area "$browser_area" --no-pointer --sound default "$@"
    wait_for_broadcast
}

# wait_for_broadcast: returns when the server receives the broadcast.
wait_for_broadcast() {
    wait_until 15 broadcast_is_decided ||
        fail_with_log upcastd "the broadcast did not reach the RTMP server within 15 s"
    is_running upcastd || fail_with_end upcastd
    is_running "$client_program" || is_publishing demo || fail_with_end "$client_program"
}

broadcast_is_decided() { has_ended upcastd || has_ended "$client_program" || is_publishing demo; }

# watch_broadcast [SECONDS]: watches until the client ends by itself, as it must after SECONDS. The last status is in
# `status.json` in the folder, the peak memory in memory_peak_kb. Ends the script after a failure.
watch_broadcast() {
    local end=$((SECONDS + ${1:-1000000000}))
    local deadline=$((end + 20))
    while is_running "$client_program"; do
        ((SECONDS < deadline)) || fail_with_log "$client_program" "$client_program did not end by itself"
        is_running upcastd || fail_with_end upcastd
        is_running nginx || fail_with_end nginx
        note_status
        # The last figures must be close to those of the end.
        if ((SECONDS < end - 1)); then sleep 0.5; else sleep 0.1; fi
    done
    local status=0
    exit_status "$client_program" || status=$?
    ((status == 0)) || fail_with_log "$client_program" "$client_program failed (exit status $status)"
    note_status
}

# Functions to call with every check of the daemon.
note_hooks=()

# note_status: notes the daemon's status of a broadcast while there is one, and its peak resident memory so far.
note_status() {
    local report peak hook
    report=$(daemon_status --json 2>/dev/null) || true
    # The counters vanish with the client.
    [[ ! $report =~ \"frames_received\":\ *[1-9] ]] || printf '%s\n' "$report" >"$folder/status.json"
    peak=$(awk '/^VmHWM:/ { print $2 }' "/proc/${process_pid[upcastd]}/status" 2>/dev/null) || true
    memory_peak_kb=${peak:-${memory_peak_kb:-0}}
    for hook in "${note_hooks[@]}"; do "$hook"; done
}

# end_broadcast: ends client, daemon and server in this order, each with time to finish.
end_broadcast() {
    end_process "$client_program" 5 || fail_with_log "$client_program" "$client_program did not finish when told to"
    end_process upcastd 10 || fail_with_log upcastd "upcastd did not drain and stop cleanly"
    wait_until 5 nobody_publishes || fail_with_log nginx "the RTMP server still sees a publisher"
    end_process nginx 5 || fail_with_log nginx "nginx did not stop cleanly"
}

nobody_publishes() { ! is_publishing demo; }

# watch_daemon [SECONDS]: watches for that time, or forever. Ends the script after a failure.
watch_daemon() {
    local deadline=$((SECONDS + ${1:-1000000000}))
    while ((SECONDS < deadline)); do
        is_running upcastd || fail_with_end upcastd
        is_running nginx || fail_with_end nginx
        note_status
        sleep 0.5
    done
}

# describe_daemon: prints the last frames, drops and memory.
describe_daemon() {
    [[ -e $folder/status.json ]] || return 0
    jq --raw-output --argjson peak "$((memory_peak_kb * 1024))" '
        def mebibytes: . / 104857.6 | round / 10;
        def lost: .drops | to_entries[] | select(.value > 0);
        ([lost | "\(.value) \(.key)"] + [.destinations[] | "\(.name): \(lost | "\(.value) \(.key)")"]) as $lost |
        "  Frames     \(.video.frames_received) received, \(.video.frames_encoded) encoded, \(
            .video.frames_repeated) of these repeats\(
            .client | if . then ", \(.connected_ms / 100 | round / 10) s after it began" else "" end)",
        "  Dropped    \(if $lost == [] then "nothing" else $lost | join(", ") end)",
        "  Memory     \(.memory | "\(.needed_bytes | mebibytes) MiB needed, \(.plan_bytes | mebibytes) planned, \(
            .cap_bytes | mebibytes) allowed"); at most \($peak | mebibytes) resident, with unused code"
        ' "$folder/status.json"
}
