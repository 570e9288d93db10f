# shellcheck shell=bash
# The broadcast "main" as a service of a booted container, and its checks. Sourced after container.sh.

service=upcastd@main.service
# shellcheck disable=SC2034 # for the scripts that source this
socket=upcastd@main.socket
# The folder of the executables in the container.
installed=/usr/local/bin

# property NAME: prints a property of the service from systemd.
property() { inside systemctl show --property "$1" --value "$service"; }

# shellcheck disable=SC2120 # not every script has options
# journal [OPTION...]: prints what the service has logged in this boot.
journal() { inside journalctl --no-pager --quiet --output cat --unit "$service" "$@"; }

# shellcheck disable=SC2119
has_logged() { journal | grep -q -e "$1"; }
is_active() { [[ $(property ActiveState) == active ]]; }
is_inactive() { [[ $(property ActiveState) == inactive || $(property ActiveState) == failed ]]; }
is_live() { [[ $(property StatusText) =~ ^on\ air:\ main.*,\ (0\.[1-9]|[1-9]).*\ Mbit/s ]]; }

# want WHAT COMMAND...: checks a condition that must be true now.
want() {
    local what=$1
    shift
    "$@" || give_up "$what"
    printf '  %s\n' "$what"
}

# soon SECONDS WHAT COMMAND...: checks a condition that must become true.
soon() {
    local seconds=$1 what=$2
    shift 2
    wait_until "$seconds" "$@" || give_up "$what, which did not come within $seconds s"
    printf '  %s\n' "$what"
}

# keep_journal: saves the journal with the other logs.
keep_journal() { inside journalctl --no-pager --quiet >"$folder/logs/journal.log" 2>&1 || true; }

# give_up WHAT: reports the failed condition, with the log of the service.
give_up() {
    keep_journal
    {
        inside systemctl status --no-pager --full --lines 5 "$service" "$socket" || true
    } >"$folder/logs/service.log" 2>&1
    fail_with_log service "not so: $1"
}

# write_service_configuration [EXTRA]: writes the configuration, with the key in a file that only root can read.
write_service_configuration() {
    cat >"$system/etc/upcast/main.yaml" <<EOT
video:
  width: 640
  height: 360
${1:-}
destinations:
  - name: main
    url: rtmp://localhost:$rtmp_port/live
    key_file: "credential:stream-key"
${2:-}
EOT
}

# A command that starts the client and is replaced by it.
client_wrapper=()

# connect_client: starts a capture client in the container that knows only the socket.
connect_client() {
    start_process upcast-send nsenter -t "$leader" -a env -i PATH=/usr/bin "${client_wrapper[@]}" "$installed/upcast-send" \
        --socket /run/upcast/main.sock --size 640x360 --name demo --app-audio tone:440 --mic none
}
