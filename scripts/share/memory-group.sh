# shellcheck shell=bash
# A cgroup with a memory limit and no swap, of either version. Sourced after processes.sh.

# The group's folder, which is removed with the run. Only make_memory_group sets it. No local variable has its name, for
# the same reason as folder_to_remove in processes.sh.
memory_group=""
group_version=""

# make_memory_group BYTES: makes `memory_group`, and sets group_version to 1 or 2. If it cannot, it ends the script with
# 77 and a sentence.
make_memory_group() {
    local limit=$1 own parent
    end_hooks+=(remove_memory_group)
    if [[ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]]; then
        group_version=1
        own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
        parent=/sys/fs/cgroup/memory$own
        # In a container, the path may be that of the host.
        [[ -d $parent ]] || parent=/sys/fs/cgroup/memory
    elif [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
        group_version=2
        parent=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
        hand_down_memory "$parent" ||
            cannot_cap "the memory controller cannot be handed down from $parent (try as root, or under systemd)"
    else
        cannot_cap "there is no memory controller under /sys/fs/cgroup"
    fi

    memory_group=$parent/upcast-cap-$$
    readonly memory_group
    mkdir "$memory_group" 2>/dev/null || cannot_cap "$parent cannot be written (try as root)"
    if [[ $group_version == 1 ]]; then
        echo "$limit" >"$memory_group/memory.limit_in_bytes" || cannot_cap "the limit was refused"
        # Only kernels that account for swap have this one.
        [[ ! -e $memory_group/memory.memsw.limit_in_bytes ]] ||
            echo "$limit" >"$memory_group/memory.memsw.limit_in_bytes"
    else
        echo "$limit" >"$memory_group/memory.max" || cannot_cap "the limit was refused"
        [[ ! -e $memory_group/memory.swap.max ]] || echo 0 >"$memory_group/memory.swap.max"
    fi 2>/dev/null
}

cannot_cap() { fail 77 "no memory cgroup can be made on this machine: $*"; }

# hand_down_memory PARENT: enables memory limits for the children of this group of version 2.
hand_down_memory() {
    local parent=$1 pid
    grep -qw memory "$parent/cgroup.controllers" 2>/dev/null || return 1
    if ! grep -qw memory "$parent/cgroup.subtree_control"; then
        if [[ -n ${own_scope:-} ]]; then
            # A group with its own processes cannot enable limits for children. All processes in this scope belong to
            # the script.
            mkdir -p "$parent/rest"
            for pid in $(<"$parent/cgroup.procs"); do
                echo "$pid" >"$parent/rest/cgroup.procs" || true
            done
        fi 2>/dev/null
        (echo +memory >"$parent/cgroup.subtree_control") 2>/dev/null || return 1
    fi
}

# With the group's folder after it, this is a command that runs another one inside the group.
# shellcheck disable=SC2016 # expanded by that shell
enter_memory_group=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"')

# group_peak: prints the maximum number of bytes charged to the group; nothing on kernels before 5.19 with version 2.
group_peak() { cat "$memory_group"/memory.{max_usage_in_bytes,peak} 2>/dev/null || true; }

# group_anonymous: prints the current bytes that are not a copy of a file. Without swap, they cannot be reclaimed.
group_anonymous() { sed -n -E 's/^(total_rss|anon) //p' "$memory_group/memory.stat" 2>/dev/null || true; }

# group_mapped: prints the current bytes of files that processes have mapped and that are charged to the group.
group_mapped() { sed -n -E 's/^(total_mapped_file|file_mapped) //p' "$memory_group/memory.stat" 2>/dev/null || true; }

# group_kills: prints how many processes the kernel killed because of the limit.
group_kills() { sed -n 's/^oom_kill //p' "$memory_group"/memory.{oom_control,events} 2>/dev/null || true; }

remove_memory_group() {
    [[ $memory_group == */upcast-cap-* && -d $memory_group ]] || return 0
    wait_until 2 rmdir "$memory_group" 2>/dev/null
}

# drop_page_cache PROGRAM: drops the cached pages of a program and its libraries, because pages are charged to the group
# that touches them first. Pages that another process has mapped stay: sets kept_bytes to their number of bytes, and
# dropped_files to the number of files.
drop_page_cache() {
    local file files=()
    mapfile -t files < <(echo "$1" && ldd "$1" | awk '{ file = ($2 == "=>") ? $3 : $1 } file ~ /^\// { print file }')
    sync -d "$1" 2>/dev/null || true
    for file in "${files[@]}"; do dd if="$file" iflag=nocache count=0 status=none; done
    dropped_files=${#files[@]}
    kept_bytes=$(fincore --bytes --noheadings --output RES "${files[@]}" 2>/dev/null |
        awk '{ sum += $1 } END { print +sum }')
}
