# shellcheck shell=bash
# The packages that a Debian 12 machine needs to build, run and test upcast. Finds or installs them. Sourced after
# messages.sh.

# The libraries. The Dockerfile and scripts/package take them from here.
library_packages="pkg-config libavcodec-dev libswscale-dev libswresample-dev libyuv-dev librtmp-dev libgnutls28-dev
    libyaml-dev libxcb-shm0-dev libxcb-damage0-dev libxcb-xfixes0-dev libxcb-randr0-dev libxcb-res0-dev
    libxcb-render0-dev libxcb-composite0-dev libxcb-xinput-dev libpulse-dev libpipewire-0.3-dev libwayland-dev
    libsystemd-dev"

# The packages that upcastd needs to run. The Dockerfile uses the second list only if it does not build its own.
# shellcheck disable=SC2034 # for whoever sources this
daemon_packages="libgnutls30 librtmp1 libyaml-0-2 libyuv0"
# shellcheck disable=SC2034
codec_packages="libavcodec59 libswresample4"

declare -A package_groups=(
    # What Swift itself needs to run and to link, then the libraries.
    [build]="binutils ca-certificates git libc6-dev libcurl4 libncurses6 libsqlite3-0 libstdc++-12-dev libxml2
        $library_packages"
    [run]="nginx libnginx-mod-rtmp ffmpeg curl jq"
    [browser]="chromium fonts-dejavu-core pulseaudio util-linux x11-utils xauth xvfb"
    [bench]="python3 python3-numpy python3-venv mate-backgrounds gstreamer1.0-tools gstreamer1.0-plugins-base
        gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav glib-networking
        stunnel4 openssl xvfb pulseaudio pulseaudio-utils"
    [allocations]="python3 gcc binutils util-linux xauth xvfb sway"
    [syscalls]="linux-perf"
    [page]="chromium curl python3 python3-venv"
    [systemd]="systemd-container debootstrap util-linux xauth xvfb"
    [monitoring]="python3 python3-yaml"
    [package]="debhelper dpkg-dev lintian"
    [test]="xvfb sway swaybg weston x11-utils x11-xserver-utils xterm openbox icewm xfwm4 kwin-x11 xdotool dbus pulseaudio
        stunnel4 openssl python3 python3-numpy iproute2 tigervnc-standalone-server mutter pipewire wireplumber
        xdg-desktop-portal python3-dbus python3-gi tint2"
)

# require_machine GROUP...: puts a Swift of at least 6.2 on the PATH and installs the missing packages of these groups.
# If it cannot, it ends the script with 69, and says what is missing and how to get it.
require_machine() {
    if find_swift; then
        require_packages "$@"
        return
    fi
    # A toolchain that was only unpacked may lack Debian's libraries.
    if [[ $swift_found == "one that does not start" ]]; then
        require_packages "$@"
        find_swift && return
    fi
    cat >&2 <<EOF
$script_name: Swift 6.2 or newer is needed; found $swift_found. To get it:
  https://swift.org/install/linux has swiftly, which installs it for one user in a few minutes:
    curl -O https://download.swift.org/swiftly/linux/swiftly-\$(uname -m).tar.gz
    tar zxf swiftly-\$(uname -m).tar.gz && ./swiftly init
  A toolchain from the same page, unpacked so that /opt/swift/usr/bin/swift exists, is found too.
EOF
    exit 69
}

# find_swift: puts the first one that is new enough and runs on the PATH. Otherwise, swift_found describes the one that
# exists.
find_swift() {
    local place version
    swift_found="none"
    for place in "$(dirname "$(command -v swift || echo /nowhere/swift)")" /opt/swift/usr/bin /usr/libexec/swift/bin \
        "${SWIFTLY_BIN_DIR:-$HOME/.local/share/swiftly/bin}" "$HOME/.swiftly/bin"; do
        [[ -x $place/swift ]] || continue
        version=$("$place/swift" --version 2>&1 | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p') || true
        version=${version%%$'\n'*}
        if [[ -z $version ]] || ! "$place/swift" package --version >/dev/null 2>&1; then
            swift_found="one that does not start"
        elif ((${version%.*} * 1000 + ${version#*.} < 6002)); then
            swift_found="$place/swift, which is $version"
        else
            PATH=$place:$PATH
            return
        fi
    done
    return 1
}

# missing_packages PACKAGE...: prints the packages that are not installed.
missing_packages() {
    local package known
    # One query for all takes a hundredth of the time of one for each. It fails for packages that it does not know, and
    # lists the others.
    known=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null) || true
    for package; do
        [[ $'\n'$known$'\n' == *$'\n'"$package installed"$'\n'* ]] || echo "$package"
    done
}

# require_packages GROUP...: installs the missing packages of these groups with apt, as root or with sudo.
require_packages() {
    local group wanted=() missing=() as_root=()
    # shellcheck disable=SC2206 # the groups are words to be split
    for group; do wanted+=(${package_groups[$group]}); done
    command -v dpkg-query apt-get >/dev/null ||
        fail 69 "this script installs Debian packages, and this is no Debian." \
            "Install what these are here, then use swift build directly: ${wanted[*]}"
    mapfile -t missing < <(missing_packages "${wanted[@]}")
    ((${#missing[@]})) || return 0

    if ((EUID != 0)); then
        command -v sudo >/dev/null ||
            fail 69 "these packages are missing, and this is neither root nor is there sudo. As root:" \
                $'\n'"  apt-get install --no-install-recommends ${missing[*]}"
        as_root=(sudo)
        # Without a terminal, the user cannot type a password.
        [[ -t 0 ]] || as_root=(sudo -n)
        "${as_root[@]}" true ||
            fail 69 "sudo was refused. These packages are missing; as root:" \
                $'\n'"  apt-get install --no-install-recommends ${missing[*]}"
    fi
    step "installing ${missing[*]}"
    local log status=0
    log=$(mktemp)
    hold_back_services "${as_root[@]}"
    apt_install "${missing[@]}" >"$log" 2>&1 || status=$?
    release_services "${as_root[@]}"
    ((status == 0)) || tail -n 20 "$log" >&2
    rm -f "$log"
    mapfile -t missing < <(missing_packages "${wanted[@]}")
    ((${#missing[@]} == 0)) || fail 69 "apt-get could not install ${missing[*]}"
    ((status == 0)) || step "apt-get had an error after that; going on"
}

# apt_install PACKAGE...: fetches package lists only if the existing ones are not sufficient. Uses the caller's as_root.
apt_install() {
    # Recommended packages are left out. If another process holds the lock of the database, apt waits for it.
    local options=(-y -q --no-install-recommends --no-remove -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
    if apt-get "${options[@]}" --simulate install "$@" >/dev/null 2>&1 && apt_get "${options[@]}" install "$@"; then
        return
    fi
    # If one of several sources is unreachable, the script continues: the installation reports any error.
    apt_get -q -o DPkg::Lock::Timeout=300 update || true
    apt_get "${options[@]}" install "$@"
}

apt_get() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get "$@" </dev/null; }

# Debian starts a service when it installs one. The scripts run their own nginx, on loopback, and only while they run.
# So if they install nginx, it is started neither now nor at the next boot. An nginx that was installed before is left
# alone. Debian's means for that is /usr/sbin/policy-rc.d; an existing one is kept.
service_policy=/usr/sbin/policy-rc.d
nginx_was_here=no

hold_back_services() {
    if [[ -e /etc/init.d/nginx || -e /lib/systemd/system/nginx.service ]]; then
        nginx_was_here=yes
    elif [[ ! -e $service_policy ]]; then
        # The policy applies to nginx alone, so that it would do little harm if it were left behind.
        # shellcheck disable=SC2016 # the $1 is the policy's own
        printf '#!/bin/sh\n# From %s, while it installs packages.\ncase "$1" in nginx*) exit 101 ;; esac\n' \
            "upcast's $script_name" | "$@" tee "$service_policy" >/dev/null
        "$@" chmod 755 "$service_policy"
    fi
}

release_services() {
    if grep -qs "From upcast's" "$service_policy"; then "$@" rm -f "$service_policy"; fi
    if [[ $nginx_was_here == no && -e /etc/init.d/nginx ]]; then
        "$@" update-rc.d nginx disable >/dev/null 2>&1 || true
        step "the nginx package's own service stays off (to use it: systemctl enable --now nginx)"
    fi
}
