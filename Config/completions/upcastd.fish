# fish completion for upcastd. A test compares the options with those of the program.
complete -c upcastd -f
complete -c upcastd -s c -l config -r -F -d 'configuration file, YAML'
complete -c upcastd -l check-config -d 'check the configuration and its key files, and exit'
complete -c upcastd -l plan -d 'print the memory plan of the configuration, and exit'
complete -c upcastd -s V -l version -d 'print the version, and exit'
complete -c upcastd -s h -l help -d 'print this help, and exit'
