# shellcheck shell=bash
# What a script says to people. Sourced.
#
# Exit codes: 0 done, 1 failed, 64 wrong option, 69 something needed is absent, 77 cannot be done on this machine,
# 130 interrupted.

script_name=scripts/$(basename "$0")

# step TEXT...: one line about what happens now.
step() { printf '%s: %s\n' "$script_name" "$*"; }

# fail CODE TEXT...: says why, on standard error, and ends the script.
fail() {
    local code=$1
    shift
    printf '%s: %s\n' "$script_name" "$*" >&2
    exit "$code"
}

# wrong_option TEXT...: for an option that is unknown or has a bad value.
wrong_option() { fail 64 "$*. See $script_name --help."; }

# need_number OPTION VALUE LOWEST HIGHEST: refuses what is not a whole number in that range.
need_number() {
    if ! [[ $2 =~ ^(0|[1-9][0-9]{0,11})$ ]] || (($2 < $3 || $2 > $4)); then
        wrong_option "$1 takes a whole number from $3 to $4, not \"$2\""
    fi
}
