#compdef upcastd
# zsh completion for upcastd. A test compares the options with those of the program.
_arguments -s \
    '(-c --config)'{-c,--config}'[configuration file, YAML]:file:_files' \
    '(--plan)--check-config[check the configuration and its key files, and exit]' \
    '(--check-config)--plan[print the memory plan of the configuration, and exit]' \
    '(- *)'{-V,--version}'[print the version, and exit]' \
    '(- *)'{-h,--help}'[print this help, and exit]'
