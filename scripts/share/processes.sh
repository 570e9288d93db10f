# shellcheck shell=bash
# A folder for the run, and the processes that use it. Sourced after messages.sh.
#
# Every process has its own session, so that Ctrl-C reaches only the script, which then ends the processes in order. If
# the script itself is killed, the kernel sends them SIGTERM.

folder=""
keep_folder=no
# The folder to remove at the end; only own_folder sets it. A trap sees the local variables of the function that it
# interrupts, one of which may be called `folder`. So the folder to remove must have another name.
folder_to_remove=""
declare -A process_pid=()
process_order=()
descendants=()
# Functions to call after every process has ended and before the folder is removed.
end_hooks=()

# A signal that comes while the script is ending is ignored. Bash may run a trap twice for one Ctrl-C, for itself and
# for a child that died of it. An exit inside end_all would then cut end_all short.
is_ending=no

# end_with STATUS: the action of a signal's trap.
end_with() {
    [[ $is_ending == no ]] || return 0
    is_ending=yes
    exit "$1"
}

# own_folder NAME: makes `folder`, and makes sure that it and the processes are gone when the script ends.
own_folder() {
    local base=${TMPDIR:-/tmp}
    # The path of a Unix socket has at most 107 bytes, and nginx's configuration allows no spaces.
    [[ $base =~ ^/[A-Za-z0-9/._-]{1,60}$ ]] || base=/tmp
    trap end_all EXIT
    # Signals are ignored until the script knows the new folder, and that it must remove it.
    trap '' INT TERM HUP PIPE
    folder_to_remove=$(mktemp -d "$base/upcast-$1.XXXXXX")
    folder=$folder_to_remove
    readonly folder folder_to_remove
    trap 'end_with 130' INT
    trap 'end_with 143' TERM
    trap 'end_with 129' HUP
    trap 'end_with 141' PIPE
    mkdir "$folder/logs"
}

# start_process NAME COMMAND...: starts a process in the background, with its output in logs/NAME.log.
start_process() {
    local name=$1
    shift
    # Other code may read the log at once, before the process has begun.
    : >>"$folder/logs/$name.log"
    setsid setpriv --pdeathsig TERM "$@" >>"$folder/logs/$name.log" 2>&1 </dev/null &
    process_pid[$name]=$!
    process_order+=("$name")
}

# start_idle_process NAME COMMAND...: starts a process that gets only processor time that is otherwise unused.
start_idle_process() {
    local name=$1
    shift
    # The kernel weighs whole sessions (autogroups) first, and the processes in each of them after that.
    # shellcheck disable=SC2016 # the process's own arguments
    start_process "$name" bash -c '(echo 19 >/proc/self/autogroup) 2>/dev/null; exec chrt --idle 0 "$@"' bash "$@"
}

# keep_busy COUNT: keeps as many processor cores busy, until the script ends.
keep_busy() {
    local index
    for ((index = 0; index < $1; index++)); do start_process "busy-$index" bash -c 'while :; do :; done'; done
}

# hurry_process NAME: gives an idle process and its children their full share from now on, as far as the user may do so.
hurry_process() {
    local pid
    for pid in $(ps -o pid= -s "${process_pid[$1]:-0}"); do
        chrt --all-tasks --other --pid 0 "$pid" 2>/dev/null || true
    done
    (echo 0 >"/proc/${process_pid[$1]:-0}/autogroup") 2>/dev/null || true
}

is_running() { [[ -n ${process_pid[$1]:-} ]] && kill -0 "${process_pid[$1]}" 2>/dev/null; }

# exit_status NAME: returns the status of a process that has ended by itself, and forgets the process.
exit_status() {
    local status=0
    # The redirection hides bash's own message about what killed the process.
    wait "${process_pid[$1]}" 2>/dev/null || status=$?
    unset "process_pid[$1]"
    return "$status"
}

# wait_until SECONDS COMMAND...: tries the command ten times a second until it succeeds; false when time is up.
wait_until() {
    local deadline=$((SECONDS + $1 + 1))
    shift
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.1
    done
}

has_ended() { ! is_running "$1"; }

# end_process NAME SECONDS: sends SIGTERM, and then SIGKILL to the process and its children if it takes longer. False if
# the process did not end in time, or ended with a status other than 0 and SIGTERM's.
end_process() {
    local pid=${process_pid[$1]:-} status=0
    [[ -n $pid ]] || return 0
    kill -TERM "$pid" 2>/dev/null || true
    if ! wait_until "$2" has_ended "$1"; then
        kill -KILL -- "-$pid" 2>/dev/null || true
        status=1
    fi
    local ended=0
    exit_status "$1" || ended=$?
    ((status == 0 && (ended == 0 || ended == 143)))
}

# find_descendants: sets `descendants` to what the script has started, and what that has started, without starting one.
find_descendants() {
    local file line pid ancestor
    local -A parent_of=()
    for file in /proc/[0-9]*/stat; do
        { read -r line <"$file"; } 2>/dev/null || continue
        pid=${line%% *}
        # The state and the parent follow the name, which may have spaces.
        line=${line##*) }
        line=${line#* }
        parent_of[$pid]=${line%% *}
    done
    descendants=()
    for pid in "${!parent_of[@]}"; do
        ancestor=${parent_of[$pid]}
        while [[ $ancestor != "$$" && -n ${parent_of[$ancestor]:-} ]]; do ancestor=${parent_of[$ancestor]}; done
        [[ $ancestor != "$$" ]] || descendants+=("$pid")
    done
}

# are_gone PID...: whether none of the processes runs any more. Nobody may wait for a zombie.
are_gone() {
    local pid line
    for pid in "$@"; do
        { read -r line <"/proc/$pid/stat"; } 2>/dev/null || continue
        [[ ${line##*) } == Z* ]] || return 1
    done
}

# end_descendants: ends what is in no list: a process whose start was interrupted, or a process substitution that the
# script was reading, which goes on after the interrupt.
end_descendants() {
    find_descendants
    ((${#descendants[@]} > 0)) || return 0
    kill -TERM "${descendants[@]}" || true
    if ! wait_until 8 are_gone "${descendants[@]}"; then
        kill -KILL "${descendants[@]}" || true
        wait_until 2 are_gone "${descendants[@]}" || true
    fi
}

# end_all: the trap. Processes end in the reverse order of their start.
end_all() {
    local status=$? index hook
    is_ending=yes
    trap '' INT TERM HUP PIPE
    trap - EXIT
    for ((index = ${#process_order[@]} - 1; index >= 0; index--)); do
        end_process "${process_order[index]}" 8 || true
    done
    # The redirection hides bash's own messages about what was killed.
    end_descendants 2>/dev/null
    # A hook that ends the script must not keep the next one from running.
    for hook in "${end_hooks[@]}"; do ("$hook") || true; done
    # An interrupt may come before the folder exists.
    if [[ $folder_to_remove == */upcast-*.?????? ]]; then
        if [[ $keep_folder == yes ]]; then
            printf '%s: kept %s\n' "$script_name" "$folder_to_remove" 2>/dev/null || true
        else
            rm -rf -- "$folder_to_remove"
        fi
    fi
    exit "$status"
}

# show_log NAME: prints the end of a log, for an error message.
show_log() {
    [[ -s $folder/logs/$1.log ]] || return 0
    printf -- '--- the end of %s.log ---\n' "$1" >&2
    tail -n 15 "$folder/logs/$1.log" | cut -c 1-400 >&2
}

# fail_with_log NAME TEXT...: prints the reason and the log, and ends the script with 1.
fail_with_log() {
    local name=$1
    shift
    printf '%s: %s\n' "$script_name" "$*" >&2
    show_log "$name"
    [[ $keep_folder == yes ]] || printf -- '--- all logs stay with --keep ---\n' >&2
    exit 1
}

# fail_with_end NAME: fails because of a process that ended too early.
fail_with_end() {
    local status=0
    exit_status "$1" || status=$?
    fail_with_log "$1" "$1 ended by itself, with exit status $status"
}
