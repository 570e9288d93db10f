# upcastd as an image: docs/operating.md, "Container". scripts/container builds it and shows that it works.
#
#   docker build -t upcast .                         the daemon, with a libavcodec that has only what upcast uses
#   docker build -t upcast:full --target full .      the daemon, with Debian's libavcodec and all encoders of it
#   docker build -t upcast-send --target client .    the reference client, for trying out
#   docker build -t upcast-server --target server .  an RTMP server that records, for trying out
#   docker build -t upcast-browser --target browser .  a web page as the client: Config/browser.yaml

ARG SWIFT=6.3-bookworm
ARG DEBIAN=bookworm-slim

FROM docker.io/library/swift:${SWIFT} AS build
COPY scripts/share/packages.sh /tmp/packages.sh
RUN apt-get update \
    && bash -c '. /tmp/packages.sh && apt-get install -y --no-install-recommends ca-certificates $library_packages' \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
# A layer of its own: it changes less often than the code.
COPY Package.swift ./
RUN swift package resolve
COPY Sources Sources
# The package names them, so that they must be there; nothing of them is built.
COPY Tests Tests
# Not the symbols: they are two thirds of the size. What a crash report of such a program names are addresses.
RUN for product in upcastd upcastctl upcast-send upcast-screen; do \
        swift build -c release --static-swift-stdlib --product "$product" || exit 1; \
    done \
    && cd "$(swift build -c release --static-swift-stdlib --show-bin-path)" \
    && install -D -s -t /products/bin upcastd upcastctl upcast-send upcast-screen

# The client links against nothing that the base image does not have.
FROM docker.io/library/debian:${DEBIAN} AS client
COPY --from=build /products/bin/upcast-send /products/bin/upcastctl /usr/local/bin/
# Not the daemon's user, who may do everything at the control socket; its group, whose members may use the sockets.
USER 10002:10001
ENTRYPOINT ["upcast-send"]

# A browser, its screen and its sound server in one container: the X server, which writes frames into memory that the
# daemon reads, and the sink have no other users. The scripts are those of scripts/run --screen.
FROM docker.io/library/debian:${DEBIAN} AS browser
# Pages in other writing systems need more, such as fonts-noto-cjk.
ARG FONTS="fonts-dejavu-core fonts-noto-color-emoji"
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium pulseaudio x11-utils xauth xvfb \
        libxcb-composite0 libxcb-damage0 libxcb-randr0 libxcb-render0 libxcb-res0 libxcb-shm0 libxcb-xfixes0 \
        libxcb-xinput0 \
        ${FONTS} \
    && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/*
COPY --from=build /products/bin/upcast-screen /usr/local/bin/
COPY scripts/share/messages.sh scripts/share/processes.sh scripts/share/browser.sh /usr/local/lib/upcast/
COPY scripts/share/container/browser /usr/local/lib/upcast/container/
# As the client above.
USER 10002:10001
ENTRYPOINT ["/usr/local/lib/upcast/container/browser"]

# An RTMP server for Config/compose.yaml: rtmp://server/live, which anybody in its network may publish to.
FROM docker.io/library/debian:${DEBIAN} AS server
RUN apt-get update \
    && apt-get install -y --no-install-recommends libnginx-mod-rtmp \
    && rm -rf /var/lib/apt/lists/* \
    && install -d -o www-data -g www-data /recordings
COPY Config/compose/nginx.conf /etc/nginx/nginx.conf
VOLUME ["/recordings"]
STOPSIGNAL SIGQUIT
ENTRYPOINT ["nginx", "-g", "daemon off;"]

# Debian's source of libavcodec, built with the encoders that upcastd opens and nothing else. The same version has the
# same binary interface, so that upcastd takes the one for the other.
FROM docker.io/library/debian:${DEBIAN} AS libavcodec
WORKDIR /build
# In the image's own list: apt refuses a second entry for the same address that does not name the same key.
RUN sed -i 's/^Types: deb$/Types: deb deb-src/' /etc/apt/sources.list.d/debian.sources \
    && apt-get update \
    && apt-get install -y --no-install-recommends dpkg-dev gcc libc6-dev make nasm pkg-config libx264-dev \
    && apt-get source ffmpeg \
    && rm -rf /var/lib/apt/lists/*
RUN cd ffmpeg-*/ \
    && ./configure --prefix=/usr --libdir=/usr/lib --shlibdir=/usr/lib --enable-gpl --enable-shared --disable-static \
        --disable-everything --disable-autodetect --enable-pthreads --disable-programs --disable-doc --disable-network \
        --disable-avdevice --disable-avfilter --disable-avformat --disable-postproc --disable-swscale \
        --enable-libx264 --enable-encoder=libx264,aac,mjpeg \
    && make -j"$(nproc)" \
    && make install-libs DESTDIR=/products \
    && strip --strip-unneeded /products/usr/lib/*.so.*

FROM docker.io/library/debian:${DEBIAN} AS runtime
COPY scripts/share/packages.sh /usr/local/lib/upcast/packages.sh
RUN apt-get update \
    && bash -c '. /usr/local/lib/upcast/packages.sh && apt-get install -y --no-install-recommends $daemon_packages' \
    && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/* \
    && install -d -o 10001 -g 10001 -m 0770 /run/upcast /run/upcast-capture \
    && install -d -o 10001 -g 10001 -m 0700 /var/lib/upcast
# Only the file that GnuTLS reads: its package brings OpenSSL, which is 9 MB.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY LICENSE /usr/share/doc/upcast/copyright
LABEL org.opencontainers.image.title="upcastd" \
    org.opencontainers.image.description="Takes raw frames and PCM at a Unix socket, encodes, publishes to RTMP" \
    org.opencontainers.image.licenses="GPL-2.0-or-later AND MIT"
# The capture and control sockets, and the state file: the only places that are written, so that the root may be
# read-only. Declared, so that a plain `docker run --read-only` has them without another option.
VOLUME ["/run/upcast", "/var/lib/upcast"]
# /run/upcast-capture is for a volume that clients share: with UPCAST_INGEST_SOCKET in it, they do not see the control
# socket.
ENV UPCAST_PRIVACY_STATE_FILE=/var/lib/upcast/state.json
# upcastd drains on it: give it `stop.drain_ms`, `buffer.delay_ms` and two seconds before it is killed.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 CMD ["upcastctl", "health"]
ENTRYPOINT ["upcastd"]

FROM runtime AS full
RUN apt-get update \
    && bash -c '. /usr/local/lib/upcast/packages.sh && apt-get install -y --no-install-recommends $codec_packages' \
    && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/*
COPY --from=build /products/bin/upcastd /products/bin/upcastctl /usr/local/bin/
USER 10001:10001

FROM runtime AS upcastd
RUN apt-get update \
    && apt-get install -y --no-install-recommends libx264-164 \
    && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/*
COPY --from=libavcodec /products/usr/lib/ /usr/lib/
RUN ldconfig
COPY --from=build /products/bin/upcastd /products/bin/upcastctl /usr/local/bin/
USER 10001:10001
