# Caddy with the plugin, in the layout of the official image: the Caddyfile in
# /etc/caddy, the site's files in /srv, certificates and other state in /data and
# /config.
#
#	docker build --build-arg VERSION="$(git describe --tags --always)" -t caddy-robots .
#	docker run -d --name caddy --read-only -p 80:80 -p 443:443 -p 443:443/udp -v "$PWD/conf:/etc/caddy:ro" -v "$PWD/site:/srv:ro" -v caddy_data:/data -v caddy_config:/config caddy-robots
#	docker exec -w /etc/caddy caddy caddy reload
#	docker exec caddy caddy robots status
#
# The folder conf has the Caddyfile. Mount the folder and not the file: the
# container may not see a file that an editor has replaced.
#
# Caddy runs as user 1000, and another one can be set with --user. Change the
# owner of volumes of an image that ran as root:
#
#	docker run --rm --user 0 -v caddy_data:/data -v caddy_config:/config caddy-robots chown -R 1000:1000 /data /config
#
# The health check asks the admin API. If that is not at its default address or
# at the one in CADDY_ADMIN, give a command with --health-cmd.
FROM --platform=$BUILDPLATFORM golang:1.26.8-alpine3.24@sha256:8ac98ca534ac3f51e1f420a1dd2c15e74c75cfa0f23f3ad27eb5d7236c349a0c AS build
RUN apk add --no-cache libcap mailcap
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION
ENV CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH
RUN go build -trimpath \
	-ldflags "-s -w -X github.com/caddy-robots/caddy-robots/internal/release.version=$VERSION" \
	-o /image/usr/bin/caddy ./caddymodule/cmd/caddy
RUN mkdir -p /image/usr/share/doc/caddy-robots \
	&& cp LICENSE /image/usr/share/doc/caddy-robots \
	&& internal/release/notices.sh ./caddymodule/cmd/caddy >/image/usr/share/doc/caddy-robots/NOTICES

# A file capability lets any user bind ports 80 and 443, in Docker's networks,
# the host's and Podman's. Without it, that is up to the network's
# ip_unprivileged_port_start, which only Docker's networks set to 0. The program
# does not start if this capability is dropped: --cap-drop ALL needs
# --cap-add NET_BIND_SERVICE.
RUN setcap cap_net_bind_service=+ep /image/usr/bin/caddy \
	&& mkdir -p /image/etc/caddy /image/etc/ssl/certs /image/data/caddy /image/config/caddy /image/srv \
	&& chmod -R 1777 /image/data /image/config \
	&& cp /etc/mime.types /image/etc/ \
	&& cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
	&& cp Caddyfile.image /image/etc/caddy/Caddyfile

# For wget, the shell of the health check, and yours. Nothing runs here during
# the build, so no emulator is needed for another architecture.
FROM alpine:3.24@sha256:294b683cb724975bec92580e1e685676bd4b50bda910ddb8c51d4cabeaec77e6
COPY --from=build /image/ /
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
VOLUME /config /data
WORKDIR /srv
EXPOSE 80 443 443/udp
USER 1000:1000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
	CMD timeout 4 wget -q -O /dev/null "http://${CADDY_ADMIN:-127.0.0.1:2019}/config/admin" || exit 1
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
ARG VERSION
LABEL org.opencontainers.image.title="Caddy with robots.txt enforced" \
	org.opencontainers.image.version=$VERSION \
	org.opencontainers.image.source=https://github.com/caddy-robots/caddy-robots \
	org.opencontainers.image.licenses=Apache-2.0
