# shellcheck shell=bash
# nginx with its RTMP module as a local RTMP server, process "nginx" in the run's folder. Sourced after processes.sh.

# start_rtmp_server STREAM RECORD: starts the server. Sets rtmp_port and http_port to free ports, unless they are set.
# RECORD is "all" or "off". Ends the script if nginx does not start.
start_rtmp_server() {
    local stream=$1 record=$2 fixed_rtmp=${rtmp_port:-} fixed_http=${http_port:-} _
    mkdir -p "$folder/www/hls" "$folder/recordings" "$folder/temp"
    cp "$share/watch.html" "$folder/www/index.html"
    local port
    for port in $fixed_rtmp $fixed_http; do
        ! is_listening "$port" || fail 1 "port $port is in use; without the option a free one is taken"
    done
    for _ in 1 2 3 4 5; do
        rtmp_port=${fixed_rtmp:-$(free_port)}
        http_port=${fixed_http:-$(free_port)}
        printf '{"stream": "%s", "rtmp": "%s", "hls": "hls/%s.m3u8"}\n' "$stream" \
            "rtmp://127.0.0.1:$rtmp_port/live/$stream" "$stream" >"$folder/www/stream.json"
        sed -e "s|@FOLDER@|$folder|g" -e "s|@RTMP_PORT@|$rtmp_port|" -e "s|@HTTP_PORT@|$http_port|" \
            -e "s|@RECORD@|$record|" -e "s|@USER@|$( ((EUID)) || echo 'user root;')|" \
            "$share/nginx-rtmp.conf.in" >"$folder/nginx.conf"
        start_process nginx "$(nginx_program)" -p "$folder" -e "$folder/logs/nginx.log" -c "$folder/nginx.conf"
        wait_until 10 server_is_decided || break
        is_running nginx && return
        # Another process has taken a port in the meantime. Other ports are tried, unless the user has set them.
        [[ -z $fixed_rtmp && -z $fixed_http ]] || break
        grep -q "Address already in use" "$folder/logs/nginx.log" || break
        exit_status nginx || true
        : >"$folder/logs/nginx.log"
    done
    fail_with_log nginx "nginx did not come up on 127.0.0.1, RTMP port $rtmp_port, HTTP port $http_port"
}

server_is_decided() { ! is_running nginx || server_answers; }

# The pid file appears once nginx has its ports. Without it, the answer may come from another server.
server_answers() { [[ -s $folder/nginx.pid ]] && curl -sf -o /dev/null -m 2 "http://127.0.0.1:$http_port/stream.json"; }

nginx_program() { PATH=$PATH:/usr/sbin command -v nginx || echo /usr/sbin/nginx; }

# free_port: prints a port on 127.0.0.1 without a listener, below those that the kernel assigns itself.
free_port() {
    local port
    while :; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 10000))
        is_listening "$port" || break
    done
    echo "$port"
}

is_listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# is_publishing STREAM: whether a client publishes the stream at this moment.
is_publishing() {
    curl -sf -m 2 "http://127.0.0.1:$http_port/stat" | tr -d '\n' |
        grep -q "<name>$1</name>.*<publishing/>"
}
