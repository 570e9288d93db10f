# shellcheck shell=bash
# The messages of a script. Sourced.
#
# Exit codes: 0 done, 1 failed, 64 wrong option, 69 a requirement is missing, 77 not possible on this machine, 130
# interrupted.

script_name=scripts/$(basename "$0")

# step TEXT...: prints a line about the current step.
step() { printf '%s: %s\n' "$script_name" "$*"; }

# fail CODE TEXT...: prints the reason on standard error, and ends the script.
fail() {
    local code=$1
    shift
    printf '%s: %s\n' "$script_name" "$*" >&2
    exit "$code"
}

# wrong_option TEXT...: ends the script because of an option that is unknown or has a bad value.
wrong_option() { fail 64 "$*. See $script_name --help."; }

# need_number OPTION VALUE LOWEST HIGHEST: refuses values that are not whole numbers in that range.
need_number() {
    if ! [[ $2 =~ ^(0|[1-9][0-9]{0,11})$ ]] || (($2 < $3 || $2 > $4)); then
        wrong_option "$1 takes a whole number from $3 to $4, not \"$2\""
    fi
}
