# Caddy with the plugin, from this repository:
#
#	docker build -t caddy-robots .
#	docker run --name caddy -p 80:80 -p 443:443 -p 443:443/udp -v $PWD/conf:/etc/caddy -v caddy_data:/data caddy-robots
#	docker exec caddy /usr/bin/caddy reload --config /etc/caddy/Caddyfile
#	docker exec caddy /usr/bin/caddy robots status
#
# The folder conf has the Caddyfile. Mount the folder and not the file: the container may not see a file that an editor has replaced.
# Mount the site's files too, if Caddy serves them.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /caddy ./caddymodule/cmd/caddy

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /caddy /usr/bin/caddy
ENV HOME=/data XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
VOLUME /config /data
EXPOSE 80 443 443/udp
ENTRYPOINT ["/usr/bin/caddy"]
CMD ["run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
