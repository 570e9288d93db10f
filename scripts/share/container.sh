# shellcheck shell=bash
# A separate Debian 12 that its own systemd boots (systemd-nspawn), process "nspawn". Sourced after processes.sh and
# packages.sh.

# The folder that a container is booted from; only make_system sets it.
system=""
# The PID of the container's first process on this machine.
leader=""
# On machines with cgroups of version 1: the container's own group in each controller.
container_group=upcast-systemd-$$
container_controllers=()

# The packages that upcast's executables need to run.
system_packages="systemd systemd-sysv dbus procps $codec_packages $daemon_packages libstdc++6 ca-certificates"
system_packages=${system_packages// /,}
# The packages for a session whose screen and sound are broadcast.
system_packages+=,libpam-systemd,pulseaudio,libxcb-composite0,libxcb-damage0,libxcb-randr0,libxcb-render0,libxcb-res0
system_packages+=,libxcb-shm0,libxcb-xfixes0,libxcb-xinput0

cannot_boot() { fail 77 "no systemd can be booted on this machine: $*"; }

# make_system CACHE: a fresh copy of a Debian that is made once, in CACHE; sets `system`.
make_system() {
    local cache=$1 mirror
    if [[ $(cat "$cache/complete" 2>/dev/null) != "$system_packages" ]]; then
        mirror=$(apt_mirror)
        step "making a Debian 12 in $cache from $mirror (a minute, once)"
        rm -rf -- "$cache/root" "$cache/complete"
        mkdir -p "$cache"
        debootstrap --variant=minbase --include="$system_packages" bookworm "$cache/root" "$mirror" \
            >"$folder/logs/debootstrap.log" 2>&1 || fail_with_log debootstrap "debootstrap failed"
        echo "$system_packages" >"$cache/complete"
    fi
    system=$folder/root
    readonly system
    cp -a --reflink=auto "$cache/root" "$system"
    # There is no console. Waiting for one would keep the boot from completing.
    ln -sf /dev/null "$system/etc/systemd/system/console-getty.service"
    printf 'upcast-test\n' >"$system/etc/hostname"
    printf '127.0.0.1 localhost\n::1 localhost\n' >"$system/etc/hosts"
    rm -f "$system/etc/machine-id"
    : >"$system/etc/machine-id"
}

# apt_mirror: prints the mirror of this machine's own packages.
apt_mirror() {
    local found
    # shellcheck disable=SC2016 # apt expands it
    found=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Codename: bookworm' 2>/dev/null | head -n 1)
    echo "${found:-http://deb.debian.org/debian}"
}

# boot_system: boots the system with this machine's network; returns when its systemd has started everything.
boot_system() {
    local options=(-D "$system" --boot --console=passive --machine="upcast-$$" --resolv-conf=copy-host)
    end_hooks+=(remove_container_groups)
    if [[ -d /run/systemd/system ]]; then
        start_process nspawn systemd-nspawn "${options[@]}"
    else
        # There is no systemd to register with, and that would make a group.
        make_container_groups
        # shellcheck disable=SC2016 # expanded by that shell
        start_process nspawn bash -c 'for group in '"$(printf '%q ' "${container_controllers[@]}")"'; do
            echo "$BASHPID" >"/sys/fs/cgroup/$group/'"$container_group"'/cgroup.procs" || exit 1
        done; exec "$@"' nspawn systemd-nspawn "${options[@]}" --register=no --keep-unit
    fi
    wait_until 20 leader_is_there || { show_log nspawn && cannot_boot "systemd-nspawn starts none"; }
    local controller
    # The container is confined to its own group, and may make groups below it.
    for controller in "${container_controllers[@]}"; do
        nsenter -t "$leader" -m mount -o remount,bind,rw "/sys/fs/cgroup/$controller" ||
            step "the container's $controller group stays read-only: limits of its units are not in force"
    done
    wait_until 60 system_is_up || { show_log nspawn && cannot_boot "its systemd did not start everything"; }
    # systemd checks again which controllers it may write to.
    ((${#container_controllers[@]} == 0)) || inside systemctl daemon-reexec
    wait_until 20 system_is_up || fail_with_log nspawn "systemd did not come back after daemon-reexec"
}

make_container_groups() {
    local controller
    for controller in memory pids cpu cpuacct; do
        [[ -e /sys/fs/cgroup/$controller/cgroup.procs ]] || continue
        mkdir "/sys/fs/cgroup/$controller/$container_group" 2>/dev/null || continue
        container_controllers+=("$controller")
    done
}

remove_container_groups() {
    local controller
    for controller in "${container_controllers[@]}"; do
        find "/sys/fs/cgroup/$controller/$container_group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
    done
}

leader_is_there() {
    is_running nspawn || return 0
    leader=$(pgrep -P "${process_pid[nspawn]}" | head -n 1)
    [[ -n $leader && $(cat "/proc/$leader/comm" 2>/dev/null) == systemd ]]
}

system_is_up() {
    local state
    state=$(inside systemctl is-system-running 2>/dev/null) || true
    [[ $state == running || $state == degraded ]]
}

# inside COMMAND...: runs a command in the container, as its root.
inside() { nsenter -t "$leader" -a env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin "$@"; }

# power_off: shuts the container down cleanly.
power_off() {
    [[ -n $leader ]] || return 0
    # systemd takes this signal as "power off" (systemd(1)).
    kill -s RTMIN+4 "$leader" 2>/dev/null || true
    wait_until 30 has_ended nspawn || return 1
    exit_status nspawn || true
}
