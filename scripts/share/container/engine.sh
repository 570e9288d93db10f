# shellcheck shell=bash
# Images and containers, with podman, docker or buildah. Sourced after processes.sh.

engine=${engine:-}
build_options=()
run_options=()
# The engine's id of each container, by the script's name for it.
declare -A container_id=()
health=()
memory_peak="" memory_kills=""

# find_engine: sets engine to the first one that answers, unless one is given. Ends the script with 77 if none answers.
find_engine() {
    local candidate why=""
    for candidate in ${engine:-podman docker buildah}; do
        command -v "$candidate" >/dev/null || continue
        if timeout 30 "$candidate" info >"$folder/logs/engine.log" 2>&1; then
            engine=$candidate
            return
        fi
        why+=" $candidate is here and does not answer: $(tail -n 1 "$folder/logs/engine.log" | cut -c 1-200)."
    done
    fail 77 "containers cannot be made on this machine.${why:- None of ${engine:-podman, docker and buildah} is here.}"
}

can_run() { [[ $engine != buildah ]]; }

# build_images: builds the images of the daemon, the client, the server and, if requested, the browser.
# shellcheck disable=SC2154 # image and its like, stage, browser, root and revision are the script's
build_images() {
    build_image "$image" "$stage"
    build_image "$client_image" client
    build_image "$server_image" server
    [[ $browser == no ]] || build_image "$browser_image" browser
}

# build_image NAME STAGE
# shellcheck disable=SC2154
build_image() {
    local options=(--tag "$1" --target "$2" --label "org.opencontainers.image.revision=$revision")
    # Only Docker's image format has health checks.
    [[ $engine == docker ]] || options+=(--format docker)
    local log=build-${1//[^a-z]/-}
    step "building $1 (many minutes the first time)"
    "$engine" build "${options[@]}" "${build_options[@]}" "$root" >"$folder/logs/$log.log" 2>&1 || {
        # If the network or the base images are missing, the Dockerfile is not the cause.
        ! grep -Eqi 'no such host|dial tcp|i/o timeout|connection refused|toomanyrequests|error creating build container|initializing source' \
            "$folder/logs/$log.log" || {
            show_log "$log"
            fail 77 "the base images cannot be fetched"
        }
        fail_with_log "$log" "$1 cannot be built"
    }
}

# image_size NAME: prints the size as the engine does: a number of bytes, or from buildah a number with its unit.
image_size() {
    if [[ $engine == buildah ]]; then
        buildah images --format '{{.Size}}' "$1" | head -n 1
    else
        "$engine" image inspect --format '{{.Size}}' "$1" 2>/dev/null | head -n 1
    fi
}

# check_size: checks that the daemon's image has at most 120 MB, as docs/operating.md states.
# shellcheck disable=SC2154 # image is the script's
check_size() {
    local size
    size=$(image_size "$image")
    case $size in
        *[!0-9]*) size=$(awk -v size="$size" 'BEGIN { print int(size * (size ~ /GB/ ? 1e9 : size ~ /MB/ ? 1e6 : 1e3)) }') ;;
    esac
    ((size <= 120000000)) || fail 1 "the image $image has $size bytes, more than 120 MB"
}

# weigh_images: prints the sizes of the images, and of the parts of the daemon's image.
weigh_images() {
    local name size base names
    echo
    # shellcheck disable=SC2154 # image and its like are the script's
    names=("$image" "$client_image" "$server_image")
    # shellcheck disable=SC2154
    [[ $browser == no ]] || names+=("$browser_image")
    for name in "${names[@]}"; do
        size=$(image_size "$name") || true
        [[ -n $size ]] || fail 1 "there is no image $name; without --no-build it is built"
        [[ ! $size =~ ^[0-9]+$ ]] || size=$(awk "BEGIN { printf \"%.1f MB\", $size / 1000000 }")
        printf '  %-10s %s\n' Image "$name, $size"
    done
    if can_run; then
        # The client's image has only the packages of the base image.
        # dpkg-query's own field, not the shell's.
        # shellcheck disable=SC2016
        base=$("$engine" run --rm "${run_options[@]}" --network none --entrypoint dpkg-query "$client_image" \
            -W -f '${Package} ')
        "$engine" run --rm "${run_options[@]}" --network none --env BASE="$base" --entrypoint sh "$image" \
            -c "$(<"$share/container/weigh.sh")"
    fi
    echo
}

# run_container NAME OPTION...: runs a container like `podman run`, and keeps its id under that name.
run_container() {
    local name=$1
    shift
    container_id[$name]=$("$engine" run "${run_options[@]}" --network host "$@" 2>>"$folder/logs/$name.log") &&
        [[ -n ${container_id[$name]} ]]
}

container() { echo "${container_id[$1]}"; }

container_state() { "$engine" container inspect --format "{{.State.$2}}" "${container_id[$1]}" 2>/dev/null; }

container_runs() { [[ $(container_state "$1" Running) == true ]]; }

container_ended() { ! container_runs "$1"; }

container_exit() { container_state "$1" ExitCode; }

container_log() {
    printf -- '--- the end of what %s said ---\n' "$1" >&2
    "$engine" logs "${container_id[$1]}" 2>&1 | tail -n 15 >&2
}

# signal_container NAME SIGNAL: sends a signal to the container's process number 1.
signal_container() { "$engine" kill --signal "$2" "${container_id[$1]}" >/dev/null; }

# health_command: sets health to the command in the image, unless it is set already.
health_command() {
    local text
    ((${#health[@]} == 0)) || return 0
    text=$("$engine" image inspect --format '{{json .Config.Healthcheck.Test}}' "$image" 2>/dev/null) || true
    [[ $text == *CMD* ]] || text=$("$engine" image inspect --format '{{json .HealthCheck.Test}}' "$image")
    mapfile -t health < <(jq -r '.[1:][]' <<<"$text")
    ((${#health[@]})) || fail 1 "the image has no health check"
}

# note_memory NAME: sets memory_peak and memory_kills from the container's control group, if it can be read.
note_memory() {
    local process group peak kills
    process=$(container_state "$1" Pid)
    group=$(sed -n 's/^[0-9]*:memory://p' "/proc/$process/cgroup" 2>/dev/null) || return 0
    if [[ -n $group ]]; then
        group=/sys/fs/cgroup/memory$group
        peak=$(cat "$group/memory.max_usage_in_bytes" 2>/dev/null) || true
        kills=$(sed -n 's/^oom_kill //p' "$group/memory.oom_control" 2>/dev/null) || true
    else
        group=/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$process/cgroup" 2>/dev/null)
        peak=$(cat "$group/memory.peak" 2>/dev/null) || true
        kills=$(sed -n 's/^oom_kill //p' "$group/memory.events" 2>/dev/null) || true
    fi
    memory_peak=${peak:-$memory_peak} memory_kills=${kills:-$memory_kills}
}

# remove_container NAME: removes the container; its output stays in the folder.
remove_container() {
    [[ -n ${container_id[$1]:-} ]] || return 0
    "$engine" logs "${container_id[$1]}" >>"$folder/logs/$1.log" 2>&1 || true
    "$engine" rm --force --volumes "${container_id[$1]}" >/dev/null 2>&1 || true
    unset "container_id[$1]"
}

remove_containers() {
    local name
    for name in "${!container_id[@]}"; do remove_container "$name"; done
}

nobody_publishes() { ! is_publishing demo; }
