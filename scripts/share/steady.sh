# shellcheck shell=bash
# A broadcast that does not change, to count the cost of each frame. Sourced after broadcast.sh.

# make_material: makes two files of NV12 in the run's folder, 1920x1080. motion.nv12 has two seconds in which everything
# moves, and static.nv12 has one picture.
make_material() {
    local source="testsrc2=s=1920x1080:r=30,noise=alls=6:allf=t" kind count
    for kind in motion static; do
        [[ $kind == motion ]] && count=60 || count=1
        ffmpeg -nostdin -v error -y -f lavfi -i "$source" -frames:v "$count" -pix_fmt nv12 -f rawvideo \
            "$folder/$kind.nv12" || fail 1 "ffmpeg made no pictures"
    done
}

# start_steady KIND SECONDS [OPTION...]: starts a client that sends this material, turned by a quarter, and sound to
# both inputs. Returns after some seconds, when one-time work is over.
start_steady() {
    local kind=$1 seconds=$2
    shift 2
    start_process upcast-send "$bin/upcast-send" --quiet --socket "$folder/capture.sock" --name "$kind" \
        --video "$folder/$kind.nv12" --format 420v --size 1920x1080 --rate 30 --orientation right --loop \
        --app-audio tone:440 --mic tone:300 --seconds "$((seconds + steady_after + 30))" "$@"
    wait_until 15 broadcast_is_decided ||
        fail_with_log upcastd "the broadcast did not reach the RTMP server within 15 s"
    sleep "$steady_after"
    is_running upcastd || fail_with_end upcastd
    is_running upcast-send || fail_with_end upcast-send
}

# By then, the first keyframes have made every buffer as large as it gets, and a still picture is no longer encoded.
steady_after=8

end_steady() {
    end_process upcast-send 8 || fail_with_log upcast-send "upcast-send did not finish when told to"
    wait_until 8 nobody_publishes || fail_with_log nginx "the RTMP server still sees a publisher"
}
