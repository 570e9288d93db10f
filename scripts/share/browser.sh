# shellcheck shell=bash
# A browser with its own screen and sound device: Xvfb, PulseAudio and Chromium, processes "xvfb", "pulseaudio" and
# "chromium". Sourced after processes.sh. All their files are in `folder`, except the sockets of X.

# Without the address of a bus, libraries would start their own bus (dbus-launch) and leave it behind.
no_bus=(DBUS_SESSION_BUS_ADDRESS=disabled:)

# The variables with which a program can show, hear or capture the page: arguments for env.
browser_environment=()
# The area of the page in pixels, for upcast-screen --area.
browser_area=""

# is_url TEXT: whether it is a URL in the syntax of RFC 3986, which allows neither spaces nor quotation marks.
is_url() { [[ $1 =~ ^[A-Za-z][A-Za-z0-9+.-]*:[]A-Za-z0-9._~:/?#@\!\$\&\'\(\)*+,\;=%[-]+$ ]]; }

# start_browser URL WIDTH HEIGHT: returns when the page has a window.
start_browser() {
    browser_area=$2x$3+0+0
    start_xvfb "$2" "$3"
    start_pulseaudio
    start_chromium "$1" "$2" "$3"
}

# browser_is_well: ends the script if one of its processes has ended.
browser_is_well() {
    local name
    for name in xvfb pulseaudio chromium; do is_running "$name" || fail_with_end "$name"; done
}

# start_xvfb WIDTH HEIGHT: starts a server on a free display, for programs with the folder's cookie.
start_xvfb() {
    local cookie number
    cookie=$(mcookie)
    # The cookie is in a file, because all users can see arguments. The server accepts an entry for any display.
    xauth -q -f "$folder/xauthority" source - <<<"add :0 . $cookie" 2>/dev/null || fail 1 "xauth cannot write a cookie"
    # Chromium shrinks a window that would cover the whole screen by a pixel.
    # shellcheck disable=SC2016 # the inner shell's
    start_process xvfb bash -c 'exec "$@" 3>"$0"' "$folder/display" \
        Xvfb -displayfd 3 -screen 0 "$1x$(($2 + 1))x24" -auth "$folder/xauthority" -nolisten tcp -noreset
    wait_until 15 xvfb_is_decided || fail_with_log xvfb "Xvfb does not come up"
    is_running xvfb || fail_with_end xvfb
    number=$(<"$folder/display")
    xauth -q -f "$folder/xauthority" source - <<<"add :$number . $cookie" 2>/dev/null ||
        fail 1 "xauth cannot write a cookie"
    browser_environment=(DISPLAY=":$number" XAUTHORITY="$folder/xauthority")
}

# The server writes the number when it accepts clients.
xvfb_is_decided() { has_ended xvfb || [[ $(cat "$folder/display" 2>/dev/null) ]]; }

# start_pulseaudio: starts a server with its own socket and one sink without listeners. It uses neither a server nor a
# configuration of the user.
start_pulseaudio() {
    mkdir -m 700 "$folder/home" "$folder/pulse"
    browser_environment+=(PULSE_SERVER="unix:$folder/pulse/native" PULSE_COOKIE="$folder/pulse/cookie"
        PULSE_CLIENTCONFIG=/dev/null)
    # There is no cookie: every user with access to the folder may use the server.
    start_process pulseaudio env HOME="$folder/home" XDG_RUNTIME_DIR="$folder/pulse" PULSE_RUNTIME_PATH="$folder/pulse" \
        PULSE_STATE_PATH="$folder/pulse" "${no_bus[@]}" \
        pulseaudio -n --daemonize=no --use-pid-file=no --exit-idle-time=-1 --realtime=no --high-priority=no \
        --log-target=stderr --log-level=error \
        -L "module-null-sink sink_name=browser rate=48000 channels=2" \
        -L "module-native-protocol-unix socket=$folder/pulse/native auth-cookie-enabled=0"
    wait_until 15 pulseaudio_is_decided || fail_with_log pulseaudio "PulseAudio does not come up"
    is_running pulseaudio || fail_with_end pulseaudio
}

pulseaudio_is_decided() { has_ended pulseaudio || [[ -S $folder/pulse/native ]]; }

# Additional options for Chromium.
chromium_options=()

# start_chromium URL WIDTH HEIGHT
start_chromium() {
    local options=(--kiosk "--window-position=0,0" "--window-size=$2,$3" --force-device-scale-factor=1
        --user-data-dir="$folder/home/chromium" --no-first-run --no-default-browser-check --disable-breakpad
        --disable-background-networking --disable-component-update --disable-sync --password-store=basic
        # There is no graphics card. The processor draws directly, and not by emulating one.
        --disable-gpu
        # No user is there to click.
        --autoplay-policy=no-user-gesture-required)
    # The URL of the page is in the profile, because it may contain a token, and all users can see arguments.
    mkdir -p "$folder/home/chromium/Default"
    printf '{"session": {"restore_on_startup": 4, "startup_urls": ["%s"]}}\n' "$1" \
        >"$folder/home/chromium/Default/Preferences"
    start_process chromium env "${browser_environment[@]}" HOME="$folder/home" XDG_RUNTIME_DIR="$folder/home" \
        "${no_bus[@]}" chromium "${options[@]}" "${chromium_options[@]}"
    wait_until 40 chromium_is_decided "$2x$3" || fail_with_log chromium "Chromium does not show the page"
    is_running chromium || fail_with_end chromium
}

# chromium_is_decided SIZE: whether the window has got the title of the page, or Chromium has ended.
chromium_is_decided() {
    has_ended chromium ||
        env "${browser_environment[@]}" xwininfo -root -children 2>/dev/null | grep -Eq "^ *0x[0-9a-f]+ \".* $1[+]0[+]0 "
}
