# shellcheck shell=bash
# A browser with a screen and a sound device of its own: Xvfb, PulseAudio and Chromium, processes "xvfb", "pulseaudio" and
# "chromium". Sourced after processes.sh. Everything that they write is in `folder`, but the sockets of X.

# Without a bus's address, libraries would start a bus of their own (dbus-launch) and leave it behind.
no_bus=(DBUS_SESSION_BUS_ADDRESS=disabled:)

# What a program needs to show, hear or capture it: for env.
browser_environment=()
# The page's pixels, for upcast-screen --area.
browser_area=""

# is_url TEXT: whether it is a URL as RFC 3986 writes it, which has neither spaces nor quotation marks.
is_url() { [[ $1 =~ ^[A-Za-z][A-Za-z0-9+.-]*:[]A-Za-z0-9._~:/?#@\!\$\&\'\(\)*+,\;=%[-]+$ ]]; }

# start_browser URL WIDTH HEIGHT: returns when the page has a window.
start_browser() {
    browser_area=$2x$3+0+0
    start_xvfb "$2" "$3"
    start_pulseaudio
    start_chromium "$1" "$2" "$3"
}

# browser_is_well: ends the script when something of it has ended.
browser_is_well() {
    local name
    for name in xvfb pulseaudio chromium; do is_running "$name" || fail_with_end "$name"; done
}

# start_xvfb WIDTH HEIGHT: on a display that nobody uses, for those who have the folder's cookie.
start_xvfb() {
    local cookie number
    cookie=$(mcookie)
    # A file, as arguments are for everybody to see. The server takes an entry for any display as its own.
    xauth -q -f "$folder/xauthority" source - <<<"add :0 . $cookie" 2>/dev/null || fail 1 "xauth cannot write a cookie"
    # Chromium makes a window that would cover the whole screen a pixel smaller.
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

# The number is written when the server takes clients.
xvfb_is_decided() { has_ended xvfb || [[ $(cat "$folder/display" 2>/dev/null) ]]; }

# start_pulseaudio: with one sink, which nobody hears, and a socket of its own. Neither a server nor a configuration of
# the user's has a part in it.
start_pulseaudio() {
    mkdir -m 700 "$folder/home" "$folder/pulse"
    browser_environment+=(PULSE_SERVER="unix:$folder/pulse/native" PULSE_COOKIE="$folder/pulse/cookie"
        PULSE_CLIENTCONFIG=/dev/null)
    # Whoever may use the folder may use the server: there is no cookie.
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

# What Chromium is started with beyond its page.
chromium_options=()

# start_chromium URL WIDTH HEIGHT
start_chromium() {
    local options=(--kiosk "--window-position=0,0" "--window-size=$2,$3" --force-device-scale-factor=1
        --user-data-dir="$folder/home/chromium" --no-first-run --no-default-browser-check --disable-breakpad
        --disable-background-networking --disable-component-update --disable-sync --password-store=basic
        # There is no graphics card: the processor draws without the detour of an emulated one.
        --disable-gpu
        # Nobody is there to click.
        --autoplay-policy=no-user-gesture-required)
    # The page is in the profile: its URL may hold a token, and arguments are for everybody to see.
    mkdir -p "$folder/home/chromium/Default"
    printf '{"session": {"restore_on_startup": 4, "startup_urls": ["%s"]}}\n' "$1" \
        >"$folder/home/chromium/Default/Preferences"
    start_process chromium env "${browser_environment[@]}" HOME="$folder/home" XDG_RUNTIME_DIR="$folder/home" \
        "${no_bus[@]}" chromium "${options[@]}" "${chromium_options[@]}"
    wait_until 40 chromium_is_decided "$2x$3" || fail_with_log chromium "Chromium does not show the page"
    is_running chromium || fail_with_end chromium
}

# chromium_is_decided SIZE: the window gets its name with the page's title.
chromium_is_decided() {
    has_ended chromium ||
        env "${browser_environment[@]}" xwininfo -root -children 2>/dev/null | grep -Eq "^ *0x[0-9a-f]+ \".* $1[+]0[+]0 "
}
