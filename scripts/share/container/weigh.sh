# Prints the sizes of the parts of the daemon's image. A plain sh runs it inside. BASE: packages of the base image, as
# words.
megabytes() { awk -v kilobytes="$1" -v what="$2" 'BEGIN { printf "  %8.1f MB  %s\n", kilobytes * 1024 / 1000000, what }'; }
own() { du -k -c "$@" 2>/dev/null | awk 'END { print $1 }'; }
# packages yes|no: prints size and name of each package that belongs to the base image, or does not.
packages() {
    dpkg-query -W -f '${Installed-Size} ${Package}\n' | awk -v base="$BASE" -v wanted="$1" '
        BEGIN { count = split(base, names, " "); for (i = 1; i <= count; i++) is_base[names[i]] = 1 }
        (($2 in is_base) ? "yes" : "no") == wanted'
}
sum() { awk '{ sum += $1 } END { print sum }'; }
megabytes "$(own -s -x / --exclude=/proc --exclude=/sys --exclude=/dev)" "all files"
megabytes "$(packages yes | sum)" "packages of the base image"
megabytes "$(packages no | sum)" "packages that came with what upcastd needs, of them:"
packages no | sort -rn | head -n 8 | while read -r size name; do
    megabytes "$size" "  $name"
done
for file in /usr/local/bin/upcastd /usr/local/bin/upcastctl; do megabytes "$(own "$file")" "$file"; done
megabytes "$(own /usr/lib/libav*.so.* /usr/lib/libsw*.so.*)" "libavcodec, libavutil and libswresample of our own"
printf '  %8s     %s\n' "$(ldd /usr/local/bin/upcastd | grep -c '=>')" "shared libraries are loaded"
