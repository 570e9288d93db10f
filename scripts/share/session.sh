# shellcheck shell=bash
# A desktop session in a booted container: a user with their own systemd, and a display of this machine. Sourced after
# container.sh and browser.sh, which provides Xvfb.

session_user=viewer
screen_unit=upcast-screen.service

# make_session_user: makes the user before the container is booted. The options of the unit are in its file.
make_session_user() {
    local home=$system/home/$session_user
    chroot "$system" useradd --create-home --groups upcast-capture "$session_user"
    mkdir -p "$home/.config/upcast" "$home/.config/systemd/user"
    cat >"$home/.config/upcast/screen.env" <<'EOT'
UPCAST_SOCKET=/run/upcast/main.sock
UPCAST_SCREEN_OPTIONS=--fps 15 --hide "title=*Private Browsing*"
EOT
    # A desktop provides a target that starts graphical-session.target, which cannot be started by hand.
    cat >"$home/.config/systemd/user/desktop.target" <<'EOT'
[Unit]
BindsTo=graphical-session.target
Before=graphical-session.target
EOT
    chroot "$system" chown -R "$session_user:$session_user" "/home/$session_user"
}

# start_session WIDTH HEIGHT: starts a display, and the user's systemd with its variables.
start_session() {
    local home=/home/$session_user variable
    start_xvfb "$1" "$2"
    # X reads the entries for its own host name, and the container has another one. The family ffff stands for all
    # hosts.
    xauth -f "$folder/xauthority" nlist 2>/dev/null | sed 's/^..../ffff/' >"$folder/xauthority.list"
    xauth -q -f "$system$home/.Xauthority" nmerge - <"$folder/xauthority.list" 2>/dev/null
    chroot "$system" chown "$session_user:$session_user" "$home/.Xauthority"
    # This replaces a display manager: PAM registers the session with logind, which starts the user's systemd.
    inside systemd-run --quiet --unit=upcast-session --property=PAMName=login --property=User="$session_user" \
        --setenv=XDG_SESSION_CLASS=user --setenv=XDG_SESSION_TYPE=x11 sleep infinity
    wait_until 20 session_is_there || fail 1 "logind has no session of user $session_user in the container"
    inside systemctl start "user@$(inside id -u "$session_user").service" ||
        fail 1 "the systemd of user $session_user does not start in the container"
    for variable in "${browser_environment[@]}"; do
        [[ $variable != XAUTHORITY=* ]] || variable=XAUTHORITY=$home/.Xauthority
        user_systemctl set-environment "$variable"
    done
}

# session_id: prints logind's id of the user's graphical session.
session_id() { inside loginctl show-user "$session_user" --property Display --value 2>/dev/null; }
session_is_there() { [[ -n $(session_id) ]]; }

# hint_lock TRUE|FALSE: sends logind the message of a screen locker.
hint_lock() {
    local login=org.freedesktop.login1 path
    path=$(inside busctl call "$login" /org/freedesktop/login1 "$login.Manager" GetSession s "$(session_id)" |
        cut -d '"' -f 2)
    inside busctl call "$login" "$path" "$login.Session" SetLockedHint b "$1"
}

# as_user COMMAND...: runs a command in the container, as the session's user.
as_user() {
    inside setpriv --reuid "$session_user" --regid "$session_user" --init-groups \
        env HOME="/home/$session_user" XDG_RUNTIME_DIR="/run/user/$(inside id -u "$session_user")" "$@"
}

user_systemctl() { as_user systemctl --user "$@"; }

# screen_property NAME: prints a property of the unit from the user's systemd.
screen_property() { user_systemctl show --property "$1" --value "$screen_unit"; }

# screen_has_logged TEXT
screen_has_logged() {
    inside journalctl --no-pager --quiet --output cat "_SYSTEMD_USER_UNIT=$screen_unit" | grep -Fq -e "$1"
}

screen_is() { [[ $(screen_property ActiveState) == "$1" ]]; }

# screen_has_option TEXT: whether the program has received the text as one argument.
screen_has_option() { inside cat "/proc/$(screen_property MainPID)/cmdline" | tr '\0' '\n' | grep -Fxq -e "$1"; }
