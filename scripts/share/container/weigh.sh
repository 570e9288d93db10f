# What weighs what in the daemon's image: run inside of it, by a plain sh.
megabytes() { awk -v kilobytes="$1" -v what="$2" 'BEGIN { printf "  %8.1f MB  %s\n", kilobytes * 1024 / 1000000, what }'; }
own() { du -k -c "$@" 2>/dev/null | awk 'END { print $1 }'; }
packages() { dpkg-query -W -f '${Installed-Size} ${Priority} ${Package}\n'; }
base() { packages | awk '$2 ~ /required|important|standard/ { sum += $1 } END { print sum }'; }
rest() { packages | awk '$2 !~ /required|important|standard/ { sum += $1 } END { print sum }'; }
megabytes "$(own -s -x / --exclude=/proc --exclude=/sys --exclude=/dev)" "all files"
megabytes "$(base)" "packages of the base image"
megabytes "$(rest)" "packages that came with what upcastd needs, of them:"
packages | awk '$2 !~ /required|important|standard/' | sort -rn | head -n 8 | while read -r size _ name; do
    megabytes "$size" "  $name"
done
for file in /usr/local/bin/upcastd /usr/local/bin/upcastctl; do megabytes "$(own "$file")" "$file"; done
megabytes "$(own /usr/lib/libav*.so.* /usr/lib/libsw*.so.*)" "libavcodec, libavutil and libswresample of our own"
printf '  %8s     %s\n' "$(ldd /usr/local/bin/upcastd | grep -c '=>')" "shared libraries are loaded"
