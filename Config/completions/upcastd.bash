# bash completion for upcastd. A test compares the options with those of the program.
_upcastd() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    case $before in
        -c | --config)
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            ;;
        *)
            mapfile -t COMPREPLY < <(compgen -W "-c --config --check-config --plan -V --version -h --help" -- "$word")
            ;;
    esac
}
complete -F _upcastd upcastd
