# shellcheck shell=bash
# The folders in which upcast is installed. Sourced after messages.sh.

prefix=/usr/local destination=""

# take_place OPTION VALUE: handles --prefix and --destdir.
take_place() {
    [[ $2 == /* && $2 != *[[:space:]]* ]] || wrong_option "$1 takes an absolute path without spaces, not \"$2\""
    case $1 in
        --prefix) prefix=${2%/} ;;
        --destdir) destination=${2%/} ;;
    esac
}

# shellcheck disable=SC2034 # they are for the scripts that source this
# set_places: sets the folders, once the options are known.
set_places() {
    # systemd searches these folders. It would not find units under any other prefix.
    case $prefix in
        /usr | /usr/local)
            unit_folder=$prefix/lib/systemd/system user_unit_folder=$prefix/lib/systemd/user
            sysusers_folder=$prefix/lib/sysusers.d
            ;;
        *) unit_folder=/etc/systemd/system user_unit_folder=/etc/systemd/user sysusers_folder=/etc/sysusers.d ;;
    esac
    # zsh searches these folders: Debian's packages have their own.
    zsh_folder=$prefix/share/zsh/site-functions
    [[ $prefix != /usr ]] || zsh_folder=$prefix/share/zsh/vendor-completions
    share_folder=$prefix/share/upcast
    doc_folder=$prefix/share/doc/upcast
    man_folder=$prefix/share/man
    config_folder=/etc/upcast
    # The list of installed files, one path per line. scripts/uninstall removes these, and nothing else.
    manifest=$share_folder/installed
    readonly unit_folder user_unit_folder sysusers_folder zsh_folder share_folder doc_folder man_folder config_folder manifest
}

# is_this_machine: whether the installation is for this running system, and systemd runs it.
is_this_machine() { [[ -z $destination && -d /run/systemd/system ]] && command -v systemctl >/dev/null; }

# need_root: ends the script if the files could not be written.
need_root() {
    ((EUID == 0)) || [[ -n $destination ]] || fail 69 "this needs root: sudo $script_name, with the same options"
}
