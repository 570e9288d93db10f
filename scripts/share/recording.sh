# shellcheck shell=bash
# Decodes and measures the recordings of the RTMP server. Sourced after processes.sh.

# check_recordings SECONDS TONE: prints the contents of the recordings in the run's folder. Ends the script unless there
# is one, all of them decode without an error and have both tracks, and they last at least 80 % of SECONDS in total.
# TONE is the frequency in Hz that the audio must have, or empty.
check_recordings() {
    local expected=$1 tone=$2 file total=0 files=()
    shopt -s nullglob
    files=("$folder"/recordings/*.flv)
    shopt -u nullglob
    ((${#files[@]})) || fail_with_log nginx "the RTMP server recorded nothing"
    for file in "${files[@]}"; do
        check_recording "$file" "$tone"
        total=$(awk "BEGIN { print $total + $recorded_seconds }")
    done
    awk "BEGIN { exit !($total >= 0.8 * $expected) }" ||
        fail_with_log upcastd "the recording lasts $total s, less than 80 % of the $expected s sent"
}

# check_recording FILE TONE: checks one recording; sets recorded_seconds.
check_recording() {
    local file=$1 tone=$2 name codec profile width height frames rate layout level frequency
    name=$(basename "$file")
    # The time base is FLV's milliseconds. At the frame rate that ffmpeg guesses, frames close to each other would count
    # as an error. Two frames in the same millisecond are not an error of the recording; only the null muxer reports
    # them.
    local harmless="non monotonically increasing dts|Last message repeated"
    if ! ffmpeg -nostdin -v error -xerror -i "$file" -map 0 -fps_mode passthrough -enc_time_base:v 1:1000 -f null - \
        >"$folder/logs/decode.log" 2>&1 || grep -Eqv "$harmless" "$folder/logs/decode.log"; then
        fail_with_log decode "the recording $name does not decode without an error"
    fi

    IFS='|' read -r codec profile width height frames < <(probe "$file" v -count_frames -show_entries \
        stream=codec_name,profile,width,height,nb_read_frames) || fail 1 "the recording $name has no video track"
    recorded_seconds=$(probe "$file" v -show_entries packet=pts_time |
        awk '$1 != "N/A" { if (!n++ || $1 < first) first = $1; if ($1 > last) last = $1 }
            END { printf "%.2f", (n > 1) ? (last - first) * n / (n - 1) : 0 }')
    printf '  %-10s %s s, %s bytes (%s)\n' Recording "$recorded_seconds" "$(stat -c %s "$file")" "$name"
    printf '  %-10s %s %s, %sx%s, %s frames, %s a second\n' Video "$codec" "$profile" "$width" "$height" "$frames" \
        "$(awk "BEGIN { printf \"%.1f\", $frames / ($recorded_seconds + 1e-9) }")"

    IFS='|' read -r codec profile rate layout < <(probe "$file" a -show_entries \
        stream=codec_name,profile,sample_rate,channel_layout) || fail 1 "the recording $name has no audio track"
    read -r level frequency < <(measure_audio "$file" "$rate")
    printf '  %-10s %s %s, %s Hz %s, %s\n' Audio "$codec" "$profile" "$rate" "$layout" \
        "$( ((frequency)) && echo "$level dBFS, $frequency Hz" || echo silence)"
    if [[ -n $tone ]]; then
        awk "BEGIN { exit !($level > -60 && $frequency > 0.9 * $tone && $frequency < 1.1 * $tone) }" ||
            fail 1 "the audio in $name is $frequency Hz at $level dBFS; a tone of $tone Hz was sent"
    fi
}

# check_pictures REQUIRED: prints what the recordings in the run's folder show, after check_recordings. If REQUIRED is
# "yes", it ends the script unless most frames show something, and most differ from the one before.
check_pictures() {
    local required=$1 file shown moved
    for file in "$folder"/recordings/*.flv; do
        read -r shown moved < <(measure_pictures "$file")
        printf '  %-10s %s %% of the frames show something, %s %% differ from the one before\n' Picture "$shown" "$moved"
        [[ $required == yes ]] || continue
        ((shown >= 80)) || fail 1 "most frames in $(basename "$file") are of one colour"
        ((moved >= 50)) || fail 1 "the picture in $(basename "$file") stands still"
    done
}

# measure_pictures FILE: prints how many of 100 frames have at least 32 levels between their darkest and brightest
# pixel, and how many differ from the one before by more than encoding causes.
measure_pictures() {
    # check_recording reports the errors.
    ffmpeg -nostdin -v quiet -i "$1" -map 0:v:0 -fps_mode passthrough -enc_time_base:v 1:1000 \
        -vf "signalstats,metadata=print:file=-" -f null - |
        awk -F = '
            /YMIN=/ { low = $2 }
            /YMAX=/ { frames++; if ($2 - low >= 32) shown++ }
            /YDIF=/ { if ($2 > 0.02) moved++ }
            END { if (frames) printf "%d %d\n", 100 * shown / frames, 100 * moved / frames; else print "0 0" }'
}

# check_sync: prints the time between the beeps and the lamp of scene.html in the recordings in the run's folder. Ends
# the script if it is more than 200 ms, or if most of them are missing.
check_sync() {
    local file count offset
    for file in "$folder"/recordings/*.flv; do
        read -r count offset < <(measure_sync "$file")
        ((count * 2 >= ${recorded_seconds%.*} - 2)) || fail 1 "only $count beeps in $(basename "$file") have their lamp"
        printf '  %-10s sound %d ms %s the picture (median of %d beeps)\n' Sync "${offset#-}" \
            "$( ((offset < 0)) && echo before || echo after)" "$count"
        ((${offset#-} <= 200)) || fail 1 "sound and picture in $(basename "$file") are apart"
    done
}

# measure_sync FILE: prints the number of beeps with a lamp within half a second, and their median distance in ms.
measure_sync() {
    {
        # The middle of the lamp, which scene.html places in parts of the page.
        ffmpeg -nostdin -v quiet -i "$1" -map 0:v:0 -fps_mode passthrough -enc_time_base:v 1:1000 \
            -vf "crop=ih*0.06:ih*0.06:iw*0.95-ih*0.14:ih*0.14,signalstats,metadata=print:file=-" -f null - |
            sed -n 's/.*pts_time:/time /p; s/.*YAVG=/light /p'
        ffmpeg -nostdin -hide_banner -i "$1" -map 0:a:0 -af silencedetect=noise=-40dB:d=0.3 -f null - 2>&1 |
            sed -n 's/.*silence_end: \([0-9.]*\).*/beep \1/p'
    } | awk '
        $1 == "time" { time = $2 }
        $1 == "light" { lit = $2 > 100; if (lit && !was) lamps[++lamp_count] = time; was = lit }
        $1 == "beep" {
            for (i = 1; i <= lamp_count; i++) {
                distance = ($2 - lamps[i]) * 1000
                if (distance > -500 && distance < 500) { print distance; break }
            }
        }' | sort -n | awk '{ all[NR] = $1 } END { printf "%d %d\n", NR, NR ? all[int((NR + 1) / 2)] : 0 }'
}

# probe FILE v|a OPTION...: runs ffprobe on the first track of that kind, with one line for each entry.
probe() {
    ffprobe -v error -select_streams "$2:0" "${@:3}" -of compact=nokey=1:print_section=0 "$1"
}

# measure_audio FILE RATE: prints the RMS level in dBFS and the frequency, on the assumption that the audio is one sine.
# For a sine of frequency f, the differences between neighbouring samples are 2 sin(pi f / RATE) times its level,
# however much silence is around it.
measure_audio() {
    ffmpeg -nostdin -hide_banner -i "$1" -map 0:a:0 -af astats -f null - 2>&1 | awk -v rate="$2" '
        /Overall/ { overall = 1 }
        overall && /RMS difference/ { difference = $NF }
        overall && /RMS level dB/ { level = $NF }
        END {
            if (level == "" || level == "-inf" || level < -100) { print "-100 0"; exit }
            half = difference / 10 ^ (level / 20) / 2
            if (half >= 1) half = 0.999999
            printf "%.1f %.0f\n", level, rate / 3.14159265 * atan2(half, sqrt(1 - half * half))
        }'
}
